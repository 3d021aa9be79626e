// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a command line to a plan: options, graph, gradients where it has none,
// preparation, plan, certificate. Each step says in its own messages what is
// wrong.
//
// A failed plan has printed why; whether the input is to blame (exit code 1) or
// there is no plan (3) is asked afterwards.

#include "PlanRun.h"

#include "cutback/Pipelines/TrainingGraph.h"

using namespace mlir;

namespace cutback {

int PlanRun::load(Session &session, const ImportOptions &importOptions) {
  std::string error;
  if (!readPlanOptions(session.line, options, error)) {
    session.error(error);
    session.note("see `cutback report --help` for plan options");
    return WrongUsage;
  }
  FailureOr<ImportedModule> module = session.loadJoint(
      session.line.arguments[0], importOptions, seconds.import);
  if (failed(module))
    return WrongInput;
  imported = std::move(*module);
  session.progress.step("making the training graph");
  return succeeded(makeTrainingGraph(imported.graph)) ? Done : WrongInput;
}

int PlanRun::plan(Session &session) {
  session.progress.step("preparing the graph");
  auto prepared = preparePartition(imported.graph, options, seconds);
  if (failed(prepared))
    return inputAllowsPlan(imported.graph, options) ? NoPlan : WrongInput;
  session.progress.step("planning");
  auto planned = partitionGraph(imported.graph, options, std::move(*prepared));
  if (failed(planned))
    return inputAllowsPlan(imported.graph, options) ? NoPlan : WrongInput;
  result = std::move(*planned);
  result->seconds.import += seconds.import;
  result->seconds.prepare += seconds.prepare;
  return Done;
}

} // namespace cutback
