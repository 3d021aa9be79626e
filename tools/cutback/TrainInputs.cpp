// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs of a training. A file of tensors has a row for each micro-batch, which
// is a view into it; what is to be said of options, and of a file of tokens, is
// in Runtime/TrainInputs.h, as a training over ranks takes them too.
//
// A row takes a look-up by name; those of tokens are copied.

#include "TrainInputs.h"

#include "ArtifactRun.h"
#include "StepSources.h"

#include "cutback/Interpreter/Step.h"
#include "cutback/Runtime/Arguments.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Support/SizeExpr.h"
#include "cutback/Training/Optimizer.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

std::vector<OptionSpec> trainInputOptions() {
  std::vector<OptionSpec> options = {
      {"inputs", OptionSpec::Text, "F", "safetensors file with the batches"},
      {kAccumulate, OptionSpec::Integer, "N",
       "micro-batches of a step, a batch each: their gradients\n"
       "add up in their order, each of 1/N of its loss;\n"
       "default 1",
       false, 1},
      validTokensOption(),
  };
  std::vector<OptionSpec> batches = batchOptions();
  options.insert(options.end(), batches.begin(), batches.end());
  return options;
}

//===----------------------------------------------------------------------===//
// Inputs of a step
//===----------------------------------------------------------------------===//

std::vector<StepInput> inputsOf(joint::GraphOp graph,
                                const llvm::StringMap<int64_t> &symbols) {
  std::vector<StepInput> inputs;
  StepNames names = nameStep(graph);
  auto valueOf = [&](std::string_view name) -> std::optional<int64_t> {
    auto found = symbols.find(StringRef(name.data(), name.size()));
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  for (auto [i, name] : llvm::enumerate(names.arguments)) {
    auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[i]);
    std::optional<DType> element =
        type ? dtypeOf(type.getElementType()) : std::nullopt;
    if (!StringRef(name).starts_with("input.") || !element)
      continue;
    auto dims = graph.getArgAttrOfType<ArrayAttr>(static_cast<unsigned>(i),
                                                  joint::JointDialect::kDims);
    SmallVector<int64_t> sizes(type.getShape());
    bool isKnown = true;
    for (auto [d, size] : llvm::enumerate(sizes)) {
      if (!ShapedType::isDynamic(size))
        continue;
      auto text = dims ? dyn_cast<StringAttr>(dims[d]) : StringAttr();
      StringRef written = text ? text.getValue() : StringRef();
      std::optional<int64_t> value = evaluateSizeExpr(
          std::string_view(written.data(), written.size()), valueOf);
      isKnown &= value.has_value();
      size = value.value_or(0);
    }
    StepInput &input = inputs.emplace_back();
    input.name = name;
    input.dtype = nameOf(*element).str();
    input.sizes.assign(sizes.begin(), sizes.end());
    input.isSized = isKnown;
  }
  return inputs;
}

int inputsOf(Session &session, const std::string &folder,
             std::vector<StepInput> &inputs) {
  Artifact artifact;
  StepError why;
  if (!readStepFolder(folder, artifact, why)) {
    session.error(why.what);
    session.note(why.next);
    return NoPlan;
  }
  for (const ArtifactArgument &argument : artifact.arguments)
    if (StringRef(argument.name).starts_with("input."))
      static_cast<ArtifactTensor &>(inputs.emplace_back()) = argument;
  return Done;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

std::optional<Tensor> TrainBatches::find(StringRef name, int64_t batch,
                                         int64_t seed) {
  const Tensor *all = rows.find(name);
  const TokenInput *input =
      all || !tokens ? nullptr : tokens->find({name.data(), name.size()});
  if (input) {
    Tensor tensor = Tensor::zeros(dtypeNamed(input->dtype), input->sizes);
    tokens->read(*input, batch, seed, tensor.data());
    return tensor;
  }
  if (!all)
    return std::nullopt;
  if (all->rank() == 0 || all->sizes[0] == 0)
    return std::nullopt;
  Tensor row = *all;
  row.offset += (batch % all->sizes[0]) * all->strides[0];
  row.sizes.erase(row.sizes.begin());
  row.strides.erase(row.strides.begin());
  return row.contiguous();
}

std::vector<std::string> TrainBatches::names() const {
  std::set<std::string> sorted;
  for (const auto &[name, tensor] : rows.tensors())
    if (isInputName(name))
      sorted.insert(name);
  if (tokens)
    for (const TokenInput &input : tokens->inputs())
      sorted.insert(input.name);
  return {sorted.begin(), sorted.end()};
}

std::vector<NamedTensor> TrainBatches::at(int64_t batch, int64_t seed) {
  std::vector<NamedTensor> tensors;
  for (const std::string &name : names())
    if (auto tensor = find(name, batch, seed))
      tensors.emplace_back(name, std::move(*tensor));
  return tensors;
}

int64_t TrainBatches::count() const {
  int64_t least = tokens ? tokens->numBatches() : INT64_MAX;
  for (const auto &[name, tensor] : rows.tensors())
    if (isInputName(name) && tensor.rank() > 0)
      least = std::min(least, tensor.sizes[0]);
  return least == INT64_MAX ? 0 : least;
}

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

static int64_t countValid(const ValidTokens &valid, const Tensor &labels) {
  ArtifactTensor tensor;
  tensor.dtype = nameOf(labels.type).str();
  tensor.sizes.assign(labels.sizes.begin(), labels.sizes.end());
  Tensor dense = labels.contiguous();
  return valid.count(tensor, dense.data());
}

std::string MicroBatches::findShares(int64_t step, TrainBatches &batches,
                                     int64_t seed,
                                     std::vector<double> &shares) const {
  shares = equalShares(count);
  if (!valid)
    return "";
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < count; ++i) {
    auto labels = batches.find(valid->input, step * count + i, seed);
    counts.push_back(labels ? countValid(*valid, *labels) : 0);
  }
  return cutback::findShares(*valid, counts, shares);
}

/// Says `error`. The code.
static int complain(Session &session, int code, const StepError &error) {
  session.error(error.what);
  if (!error.next.empty())
    session.note(error.next);
  return code;
}

int readMicroBatches(Session &session, MicroBatches &micro) {
  micro.count = session.line.integer(kAccumulate).value_or(1);
  // PyTorch's see what has added up by then.
  for (std::string_view hook : session.line.all("hook"))
    if (micro.count > 1 &&
        StringRef(hook.data(), hook.size()).starts_with("post-accumulate:")) {
      session.error("--hook=" + std::string(hook) +
                    ": there is no such hook on sums of micro-batches");
      session.note("leave post-accumulate: out: a hook of a tensor runs on the "
                   "gradient of each micro-batch");
      return WrongUsage;
    }
  auto text = session.line.get("valid-tokens");
  if (!text)
    return Done;
  if (micro.count == 1) {
    session.error("--valid-tokens has no effect on a step of one micro-batch");
    session.note("give --accumulate=N, or leave it out");
    return WrongUsage;
  }
  micro.valid = ValidTokens::parse(*text);
  if (micro.valid)
    return Done;
  session.error(ValidTokens::kWrong);
  return WrongUsage;
}

int checkMicroBatches(Session &session, const MicroBatches &micro,
                      TrainBatches &batches) {
  StepError error;
  if (int code =
          checkBatchCount("--accumulate", micro.count, batches.count(), error))
    return complain(session, code, error);
  if (!micro.valid)
    return Done;
  const std::string &name = micro.valid->input;
  auto labels = batches.find(name, 0, 0);
  if (labels && ValidTokens::isCountable(nameOf(labels->type).str()))
    return Done;
  session.error("--valid-tokens: '" + name + "' is " +
                (labels ? "of " + nameOf(labels->type).str()
                        : "none of what a batch has"));
  session.note("it has " + llvm::join(batches.names(), ", ") +
               "; valid are elements of integers");
  return WrongInput;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static int openTokens(Session &session, const TrainInputOptions &options,
                      bool isHeld, const std::vector<StepInput> &inputs,
                      TrainBatches &batches) {
  StepError error;
  auto isInFile = [&](const std::string &name) {
    return batches.rows.find(name) != nullptr;
  };
  int code = cutback::openTokens(options, isHeld, inputs, isInFile,
                                 batches.tokens, error);
  return code ? complain(session, code, error) : Done;
}

static int checkRows(Session &session, const char *option,
                     const TrainBatches &batches) {
  std::vector<std::pair<std::string, int64_t>> rows;
  for (const auto &[name, tensor] : batches.rows.tensors())
    if (isInputName(name) && tensor.rank() > 0)
      rows.emplace_back(name, tensor.sizes[0]);
  StepError error;
  int code = checkRowCounts(option, rows, error);
  return code ? complain(session, code, error) : Done;
}

int openTrainInputs(Session &session, const std::vector<StepInput> &inputs,
                    TrainBatches &batches, TrainBatches &held,
                    TrainInputOptions &options) {
  if (std::string wrong = readBatchOptions(session.line, options);
      !wrong.empty())
    return complain(session, WrongUsage, {wrong, ""});
  if (int code = openTokens(session, options, false, inputs, batches))
    return code;
  if (int code = checkRows(session, "--inputs", batches))
    return code;
  if (int code = openTensors(session, "eval-inputs", held.rows))
    return code;
  if (int code = checkRows(session, "--eval-inputs", held))
    return code;
  if (int code = openTokens(session, options, true, inputs, held))
    return code;
  StepError error;
  int code = options.evalEvery
                 ? checkHeld(batches.names(), held.names(), held.count(), error)
                 : Done;
  return code ? complain(session, code, error) : Done;
}

} // namespace cutback
