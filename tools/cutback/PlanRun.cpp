// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a command line to a plan: options, graph, gradients where it has none,
// preparation, plan, certificate. Each step says in its own messages what is
// wrong.
//
// A failed plan has printed why; whether the input is to blame (exit code 1) or
// there is no plan (3) is asked afterwards.
//
// A folder that `compile` wrote has its plan: it is taken as it is, once it is
// proved to be what its parts say.

#include "PlanRun.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Joint/Loss.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/TrainingGraph.h"

using namespace mlir;

namespace cutback {

int PlanRun::loadStored(Session &session) {
  if (int code = refusePlanOptions(session, session.line))
    return code;
  StoredHalves stored;
  if (int code = stored.load(session, session.line.arguments,
                             importOptionsOf(session.line)))
    return code;
  if (int code = stored.verify(session))
    return code;
  imported = std::move(stored.joint);
  result = std::move(stored.plan);
  options = result->options;
  return Done;
}

/// A plan of a forward alone saves nothing: there is nothing to compare.
void PlanRun::findInference(const TrainingGraphOptions &gradients,
                            bool hasTangents) {
  joint::GraphOp graph = imported.graph;
  if (imported.format != InputFormat::Pt2 || joint::hasBackward(graph) ||
      !gradients.differentiate.gradOf.empty() || gradients.second.isAsked())
    return;
  OperandRange results = graph.getOutput().getForwardResults();
  if (wantsNoGradient(graph, gradients))
    inference = "no parameter or input requires a gradient";
  else if (!hasTangents &&
           (results.empty() || !joint::isLossType(results[0].getType())))
    inference = "the first output is no loss";
  if (!inference)
    return;
  options.mayLackGradients = true;
  options.strategy = Strategy::Eager;
  options.bytePrice.reset();
  options.withinTorchPeak = options.figures = false;
}

int PlanRun::load(Session &session, const ImportOptions &importOptions,
                  bool mayInfer, bool hasTangents) {
  if (isStoredPlan(session.line.arguments[0]))
    return loadStored(session);
  std::string error;
  TrainingGraphOptions gradients;
  if (!readPlanOptions(session.line, options, error) ||
      !readGradientOptions(session.line, gradients, error)) {
    session.error(error);
    session.note("see `cutback report --help` for plan options");
    return WrongUsage;
  }
  FailureOr<ImportedModule> module = session.loadJoint(
      session.line.arguments[0], importOptions, importSeconds);
  if (failed(module))
    return WrongInput;
  imported = std::move(*module);
  if (mayInfer)
    findInference(gradients, hasTangents);
  gradients.forwardOnly = inference.has_value();
  session.progress.step("making the training graph");
  EagerCount count;
  count.symbols = options.symbols;
  if (failed(makeTrainingGraph(imported.graph, gradients, &count)))
    return WrongInput;
  eager = count.saves;
  return Done;
}

int PlanRun::plan(Session &session, bool memory) {
  if (result)
    return Done;
  session.progress.step("planning");
  if (memory)
    options.memory.emplace();
  auto planned = planStep(imported.graph, options);
  if (failed(planned))
    return inputAllowsPlan(imported.graph, options) ? NoPlan : WrongInput;
  result = std::move(*planned);
  options = result->options;
  result->seconds.import += importSeconds;
  return Done;
}

} // namespace cutback
