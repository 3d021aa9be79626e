// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The update of a stage is that of a step, but for what all gradients have in
// common, which stages find together: each gives the squares of its own, and
// is given the norm. Names of arguments become those in files.
//
// Patterns of parameters without weight decay are asked of each stage: one that
// fits parameters of another stage is no mistake. Linear.

#include "cutback/Pipelining/UpdatePhases.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Support/MLIR/Silence.h"
#include "cutback/Training/Update.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Whether `stage` has a parameter that `pattern` fits.
static bool fits(GraphOp stage, StringRef pattern, const Optimizer &optimizer) {
  Optimizer alone = optimizer;
  alone.undecayed = {pattern.str()};
  Silence silence(*stage.getContext());
  return succeeded(findParameters(stage, alone));
}

FailureOr<std::vector<Optimizer>>
cutback::distributeOptimizer(const CutProgram &program,
                             const Optimizer &optimizer) {
  std::vector<Optimizer> all(program.stages.size(), optimizer);
  for (Optimizer &one : all)
    one.undecayed.clear();
  for (const std::string &pattern : optimizer.undecayed) {
    bool isUsed = false;
    for (size_t stage = 0; stage < all.size(); ++stage)
      if (fits(program.stages[stage], pattern, optimizer)) {
        all[stage].undecayed.push_back(pattern);
        isUsed = true;
      }
    if (isUsed)
      continue;
    auto diagnostic =
        GraphOp(program.stages[0]).emitError("no parameter of any stage fits '")
        << pattern << "', which is not to decay";
    diagnostic.attachNote() << "`cutback import` prints the names";
    return diagnostic;
  }
  return all;
}

/// Gives the arguments and results of `update` their names in files.
static void nameInFiles(GraphOp stage, const UpdateGraph &update) {
  GraphOp graph = update.graph;
  Builder builder(graph.getContext());
  interpreter::StepNames names = interpreter::nameStep(stage);
  llvm::StringMap<std::string> inFiles;
  for (const UpdatedParameter &parameter : update.parameters) {
    inFiles[parameter.argumentName] = parameter.name;
    inFiles[parameter.gradientName] =
        names.results[stage.getNumForwardResults() + parameter.gradient];
  }
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    std::string name = inFiles.lookup(graph.getArgName(arg));
    graph.setArgAttr(
        arg, interpreter::kFileName,
        builder.getStringAttr(name.empty() ? graph.getArgName(arg) : name));
  }
  SmallVector<Attribute> results;
  for (Value value : graph.getOutput().getForwardResults())
    results.push_back(builder.getStringAttr(getValueName(value)));
  graph->setAttr(interpreter::kResultNames, builder.getArrayAttr(results));
}

FailureOr<std::vector<PhaseGraph>>
cutback::makeUpdatePhases(GraphOp stage, const Optimizer &optimizer) {
  std::vector<PhaseGraph> phases;
  Optimizer own = optimizer;
  own.accumulates = false; // whoever runs the stages adds
  FailureOr<std::vector<UpdatedParameter>> parameters =
      findParameters(stage, own);
  if (failed(parameters))
    return failure();
  if (parameters->empty())
    return phases;
  auto add = [&](StringRef name, FailureOr<UpdateGraph> update) {
    if (failed(update))
      return failure();
    nameInFiles(stage, *update);
    phases.push_back({name.str(), std::move(update->module), update->graph});
    return success();
  };
  if ((own.clipNorm != 0 || own.scalesLoss) &&
      failed(add("norms", buildNorms(stage, own))))
    return failure();
  if (failed(add("update", buildUpdate(stage, own, Norms::Given))))
    return failure();
  return phases;
}
