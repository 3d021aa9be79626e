// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase op by op: arguments are tensors on the memory of the caller, so that
// what the phase writes is written there; results are copied to where they are
// wanted. Messages of ops become the text of the error.
//
// A context of its own for each phase lets ranks be threads. Slow: for tests,
// and for ops without machine code.

#include "cutback/Pipelining/InterpretedPhase.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/Runnable.h"
#include "cutback/Support/MLIR/Silence.h"

#include "mlir/Parser/Parser.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class InterpretedPhase : public PhaseRunner {
public:
  bool read(MLIRContext &context, const std::string &text,
            const std::string &path, StepError &error);
  int64_t arenaBytes() const override { return 0; }
  std::string run(const std::vector<char *> &arguments,
                  const std::vector<char *> &results) override;

  std::string read(size_t result, char *to) override;

private:
  std::string listTensors();

  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph;
  std::vector<RuntimeValue> last; ///< results of the last run
};

} // namespace

/// Sizes and type of a tensor; false if they are not known.
static bool describe(Type type, ArtifactTensor &tensor) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.hasStaticShape() || !dtypeOf(shaped.getElementType()))
    return false;
  tensor.dtype = nameOf(*dtypeOf(shaped.getElementType())).str();
  tensor.sizes.assign(shaped.getShape().begin(), shaped.getShape().end());
  return true;
}

std::string InterpretedPhase::listTensors() {
  StepNames names = nameStep(graph);
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    ArtifactArgument argument;
    argument.name = names.arguments[arg];
    if (!describe(graph.getArgumentTypes()[arg], argument))
      return "the size of argument '" + graph.getArgName(arg).str() +
             "' is not known";
    if (graph.getRole(arg).getKind() == joint::RoleKind::RngSeed)
      argument.fill = ArtifactArgument::Seed;
    for (const auto &[written, number] : names.written)
      argument.isWritten |= number == arg;
    taken.push_back(std::move(argument));
  }
  for (auto [name, type] : llvm::zip(names.results, graph.getResultTypes())) {
    ArtifactTensor result;
    result.name = name;
    if (!describe(type, result))
      return "the size of result '" + name + "' is not known";
    made.push_back(std::move(result));
  }
  return "";
}

bool InterpretedPhase::read(MLIRContext &context, const std::string &text,
                            const std::string &path, StepError &error) {
  auto refuse = [&](const std::string &what) {
    error = {"'" + path + "' is no phase of a pipeline: " + what,
             "split the model again: cutback split MODEL -o DIR"};
    return false;
  };
  Silence said(context);
  context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return refuse(said.firstError);
  auto graphs = module->getOps<joint::GraphOp>();
  if (!llvm::hasSingleElement(graphs))
    return refuse("it holds no graph, or several");
  graph = *graphs.begin();
  if (!graph.getOutput().getGradientOf().empty())
    return refuse("its graph has gradients of its own");
  if (std::string what = listTensors(); !what.empty())
    return refuse(what);
  if (failed(makeRunnable(graph.getOperation())))
    return refuse(said.firstError);
  return true;
}

std::string InterpretedPhase::run(const std::vector<char *> &arguments,
                                  const std::vector<char *> &results) {
  std::vector<RuntimeValue> values;
  for (auto [argument, bytes] : llvm::zip(taken, arguments)) {
    auto storage = std::make_shared<Storage>();
    storage->data = bytes;
    storage->bytes = bytesOf(argument);
    storage->writable = argument.isWritten;
    auto shaped =
        cast<RankedTensorType>(graph.getArgumentTypes()[values.size()]);
    values.emplace_back(Tensor::on(
        storage, 0, *dtypeOf(shaped.getElementType()), argument.sizes));
  }
  Silence said(*graph.getContext());
  auto made = interpreter::run(graph, values);
  if (failed(made))
    return said.firstError;
  last.assign(made->begin(), made->end());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i])
      if (std::string error = read(i, results[i]); !error.empty())
        return error;
  return "";
}

std::string InterpretedPhase::read(size_t result, char *to) {
  auto *tensor = std::get_if<Tensor>(&last[result]);
  if (!tensor)
    return "result '" + made[result].name + "' is not defined";
  Tensor whole = tensor->contiguous();
  std::memcpy(to, whole.data(), bytesOf(made[result]));
  return "";
}

std::unique_ptr<PhaseRunner> cutback::interpretPhase(MLIRContext &context,
                                                     const std::string &text,
                                                     const std::string &path,
                                                     StepError &error) {
  auto phase = std::make_unique<InterpretedPhase>();
  if (!phase->read(context, text, path, error))
    return nullptr;
  return phase;
}
