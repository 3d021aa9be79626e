// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs of a training. A file of tensors has a row for each micro-batch; a
// file of tokens is cut into windows, which go to inputs of integers. Which of
// these take tokens, and which the tokens after those, is not guessed where
// there are several: a model that shifts by itself takes the same ones twice,
// another does not, and both train.
//
// What is held out for evaluation must bring the same inputs.

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
  return {
      {"inputs", OptionSpec::Text, "F", "safetensors file with the batches"},
      {kAccumulate, OptionSpec::Integer, "N",
       "micro-batches of a step, a batch each: their gradients\n"
       "add up in their order, each of 1/N of its loss;\n"
       "default 1",
       false, 1},
      {"valid-tokens", OptionSpec::Text, "NAME[:NUMBER]",
       "with --accumulate: losses are means over the elements\n"
       "of this input that are not NUMBER (default -100), and\n"
       "so is that of the step, over all of them. NAME+1: but\n"
       "the first of each row, of a model that shifts them"},
      {"tokens", OptionSpec::Text, "F",
       "a flat file of token ids, without a header: batches\n"
       "are cut from it, a window a row, for the inputs of\n"
       "integers that --inputs does not have"},
      {"token-type", OptionSpec::Choice, "u16|u32",
       "of such files; default u16"},
      {"token-inputs", OptionSpec::Text, "NAME[+N],...",
       "the inputs that take tokens, where there are several;\n"
       "input.0,input.1+1: the second one the next tokens"},
      {"token-order", OptionSpec::Choice, "file|shuffled",
       "of windows: of the file (default), or another one\n"
       "each time through it, by --seed"},
      {"eval-inputs", OptionSpec::Text, "F",
       "batches that are held out, as in --inputs"},
      {"eval-tokens", OptionSpec::Text, "F",
       "tokens that are held out, as in --tokens"},
      {"eval-every", OptionSpec::Integer, "N",
       "after every so many steps, and the last one: the mean\n"
       "loss of the batches that are held out, by the forward\n"
       "as it was exported (dropout, batch statistics), with\n"
       "equal draws each time. Changes nothing",
       false, 1},
      {"eval-batches", OptionSpec::Integer, "N",
       "of these at most; default: all", false, 1},
  };
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
    inputs.push_back(
        {name, *element, isKnown ? std::optional(sizes) : std::nullopt});
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
      inputs.push_back(
          {argument.name, dtypeNamed(argument.dtype),
           SmallVector<int64_t>(argument.sizes.begin(), argument.sizes.end())});
  return Done;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

std::optional<Tensor> TrainBatches::find(StringRef name, int64_t batch,
                                         int64_t seed) {
  const Tensor *all = rows.find(name);
  if (!all)
    return tokens ? tokens->find(name, batch, seed) : std::nullopt;
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

std::string MicroBatches::findShares(int64_t step, TrainBatches &batches,
                                     int64_t seed,
                                     std::vector<double> &shares) const {
  shares = equalShares(count);
  if (!valid)
    return "";
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < count; ++i) {
    auto labels = batches.find(valid->input, step * count + i, seed);
    counts.push_back(labels ? valid->count(*labels) : 0);
  }
  shares = sharesOf(counts);
  return llvm::any_of(counts, [](int64_t count) { return count != 0; })
             ? ""
             : "no element of '" + valid->input + "' counts: all are " +
                   std::to_string(valid->ignored);
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
  micro.valid = ValidTokens::parse({text->data(), text->size()});
  if (micro.valid)
    return Done;
  session.error("--valid-tokens takes NAME, NAME:NUMBER or NAME+N:NUMBER, as "
                "input.1:-100");
  return WrongUsage;
}

int checkMicroBatches(Session &session, const MicroBatches &micro,
                      TrainBatches &batches) {
  int64_t count = batches.count();
  if (micro.count > 1 && micro.count > count) {
    session.error("--accumulate=" + std::to_string(micro.count) +
                  " is more than the batches, of which there are " +
                  std::to_string(count));
    session.note("a step takes each batch once: give more of them, or a "
                 "smaller number");
    return WrongInput;
  }
  if (!micro.valid)
    return Done;
  const std::string &name = micro.valid->input;
  auto labels = batches.find(name, 0, 0);
  if (labels && isIntegral(labels->type))
    return Done;
  session.error("--valid-tokens: '" + name + "' is " +
                (labels ? "of " + nameOf(labels->type).str()
                        : "none of what a batch has"));
  session.note("it has " + llvm::join(batches.names(), ", ") +
               "; valid are elements of integers");
  return WrongInput;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static int wrongInput(Session &session, const std::string &what,
                      const std::string &next) {
  session.error(what);
  session.note(next);
  return WrongInput;
}

static bool isTokenType(DType type) {
  return type == DType::I64 || type == DType::I32;
}

/// `NAME` or `NAME+N` of --token-inputs.
static int readTokenInput(Session &session, StringRef text,
                          ArrayRef<StepInput> inputs, TokenInput &input) {
  auto [name, ahead] = text.split('+');
  input.name = name.str();
  if (text.contains('+') &&
      (ahead.getAsInteger(10, input.ahead) || input.ahead < 0)) {
    session.error("--token-inputs takes NAME or NAME+N with commas, as "
                  "input.0,input.1+1");
    return WrongUsage;
  }
  const auto *found = llvm::find_if(
      inputs, [&](const StepInput &one) { return one.name == input.name; });
  if (found == inputs.end() || !isTokenType(found->type))
    return wrongInput(session,
                      "--token-inputs: '" + input.name + "' is " +
                          (found == inputs.end()
                               ? "no input of the step"
                               : "an input of " + nameOf(found->type).str()),
                      "tokens go to inputs of i64 or i32");
  return Done;
}

/// The inputs that take tokens: those that the line names, or the only one of
/// integers that `rows` does not have.
static int chooseTokenInputs(Session &session, ArrayRef<StepInput> inputs,
                             const TensorFile &rows,
                             std::vector<TokenInput> &chosen) {
  SmallVector<StringRef> texts;
  std::string named(session.line.get("token-inputs").value_or(""));
  if (!named.empty())
    StringRef(named).split(texts, ',');
  else
    for (const StepInput &input : inputs)
      if (isTokenType(input.type) && !rows.find(input.name))
        texts.push_back(input.name);
  if (named.empty() && texts.size() != 1)
    return texts.empty()
               ? wrongInput(session, "no input of the step takes tokens",
                            "tokens go to inputs of i64 or i32 that the file "
                            "of tensors does not have")
               : wrongInput(session,
                            "the step has " + std::to_string(texts.size()) +
                                " inputs that may take tokens: " +
                                llvm::join(texts, ", "),
                            "say which, and how many tokens ahead, as "
                            "--token-inputs=" +
                                texts[0].str() + "," + texts[1].str() + "+1");
  for (StringRef text : texts) {
    TokenInput &input = chosen.emplace_back();
    if (int code = readTokenInput(session, text, inputs, input))
      return code;
    if (rows.find(input.name))
      return wrongInput(session,
                        "'" + input.name +
                            "' is to take tokens, and the file "
                            "of tensors has it too",
                        "leave one of the two out");
    const auto *found = llvm::find_if(
        inputs, [&](const StepInput &one) { return one.name == input.name; });
    if (!found->sizes)
      return wrongInput(session,
                        "the size of '" + input.name +
                            "' is open, and tokens have none of their own",
                        "give sizes as --sym=NAME=N; `cutback import` prints "
                        "their names");
    input.type = found->type;
    input.sizes = *found->sizes;
  }
  return Done;
}

static int openTokens(Session &session, const char *option, bool isShuffled,
                      ArrayRef<StepInput> inputs, TrainBatches &batches) {
  auto path = session.line.get(option);
  if (!path)
    return Done;
  std::vector<TokenInput> chosen;
  if (int code = chooseTokenInputs(session, inputs, batches.rows, chosen))
    return code;
  batches.tokens.emplace();
  std::string error = batches.tokens->open(
      std::string(*path),
      session.line.get("token-type") == "u32" ? TokenBatches::Width::U32
                                              : TokenBatches::Width::U16,
      isShuffled, std::move(chosen));
  if (error.empty())
    return Done;
  return wrongInput(session, error,
                    "--" + std::string(option) +
                        " takes token ids one behind the other, each of "
                        "--token-type, least byte first");
}

/// The options that say nothing without another one.
static int checkUsage(Session &session) {
  const CommandLine &line = session.line;
  bool hasTokens = line.has("tokens") || line.has("eval-tokens");
  for (const char *name : {"token-type", "token-inputs", "token-order"})
    if (line.has(name) && !hasTokens) {
      session.error("--" + std::string(name) + " goes with --tokens");
      return WrongUsage;
    }
  bool isHeld = line.has("eval-inputs") || line.has("eval-tokens");
  if (line.has("eval-every") == isHeld && (isHeld || !line.has("eval-batches")))
    return Done;
  session.error("an evaluation takes --eval-inputs=F or --eval-tokens=F, and "
                "--eval-every=N");
  return WrongUsage;
}

int openTrainInputs(Session &session, const std::vector<StepInput> &inputs,
                    TrainBatches &batches, TrainBatches &held) {
  if (int code = checkUsage(session))
    return code;
  bool isShuffled = session.line.get("token-order") == "shuffled";
  if (int code = openTokens(session, "tokens", isShuffled, inputs, batches))
    return code;
  if (int code = openTensors(session, "eval-inputs", held.rows))
    return code;
  if (int code = openTokens(session, "eval-tokens", false, inputs, held))
    return code;
  if (!session.line.has("eval-every") || held.names() == batches.names())
    return held.count() || !session.line.has("eval-every")
               ? Done
               : wrongInput(session, "no batch is held out",
                            "tensors of --eval-inputs have a row a batch");
  return wrongInput(session,
                    "what is held out has " + llvm::join(held.names(), ", ") +
                        ", and the training takes " +
                        llvm::join(batches.names(), ", "),
                    "an evaluation takes the same inputs as a step");
}

} // namespace cutback
