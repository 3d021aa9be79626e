// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a stage to its phases with their launches:
//
//   1. a copy of the stage; what it keeps: two halves, or three parts
//   2. phases as graphs of their own
//   3. of each phase a plan that saves nothing, which is its launches and their
//      arena, in the order that the first plan has given the ops

#include "cutback/Pipelining/PlanStage.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Planner/Planner.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;

/// Of a graph that has nothing to save.
static PartitionOptions phaseOptions(const PartitionOptions &partition) {
  PartitionOptions options = partition;
  options.policies.clear();
  options.checkpoint.clear();
  options.checkpointPolicies.clear();
  options.mayLackGradients = true;
  options.strategy = Strategy::Eager;
  options.costModel = CostModel::Roofline;
  options.bytePrice.reset();
  options.minimize = Minimize::Time;
  options.memoryLimit.reset();
  options.withinTorchPeak = options.figures = false;
  options.memory.emplace();
  return options;
}

static FailureOr<std::vector<PhaseGraph>>
makePlannedPhases(joint::GraphOp graph, const StagePlanRequest &request,
                  HandedNames &handed) {
  bool isForward = graph.getOutput().getGradientOf().empty();
  if (isForward || request.isWhole) {
    PartitionOptions options =
        isForward ? phaseOptions(request.partition) : request.partition;
    options.memory.emplace();
    options.figures = false;
    auto plan = planStep(graph, options);
    if (failed(plan) ||
        (!isForward && failed(verifyInFlight((*plan)->view, (*plan)->halves))))
      return failure();
    return makePhases(graph, (*plan)->partition);
  }
  ThreeWayOptions options;
  options.partition = request.partition;
  options.toInputPrice = options.toWeightPrice =
      request.partition.bytePrice.value_or(BytePrice());
  options.as = request.as;
  FailureOr<ThreeWayPartition> plan = partitionThreeWay(graph, options);
  if (failed(plan))
    return failure();
  handed = plan->handedNames();
  return makePhases(graph, plan->functions);
}

static PipelineStage::PhaseKind kindOf(StringRef phase) {
  for (int kind = 0; kind < PipelineStage::kPhases; ++kind)
    if (phase == nameOf(static_cast<PipelineStage::PhaseKind>(kind)))
      return static_cast<PipelineStage::PhaseKind>(kind);
  return PipelineStage::Forward;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  module.print(os, flags);
  os << "\n";
  return text;
}

FailureOr<PlannedPhase> cutback::planPhase(PhaseGraph phase,
                                           const PartitionOptions &options,
                                           PipelineStage &stage) {
  PlannedPhase planned;
  planned.text = print(*phase.module);
  auto plan = planStep(phase.graph, phaseOptions(options));
  if (failed(plan))
    return failure();
  planned.plan = std::move(*plan);
  planned.phase = std::move(phase);
  PipelinePhase &entry = stage.phases[kindOf(planned.phase.name)];
  entry.folder = stage.name + "/" + planned.phase.name;
  if (planned.plan->kernelPlan)
    entry.picoseconds = static_cast<int64_t>(planned.plan->kernelPlan->ps());
  if (planned.plan->memory)
    entry.arenaBytes = planned.plan->memory->arenaBytes();
  return planned;
}

FailureOr<PlannedStage> cutback::planStage(const CutProgram &program,
                                           unsigned number,
                                           const StageFacts &facts,
                                           const StagePlanRequest &request) {
  PlannedStage planned;
  planned.stage = describeStage(program, number, facts);
  joint::GraphOp stage = program.stages[number];
  OwningOpRef<ModuleOp> module = ModuleOp::create(stage.getLoc());
  joint::GraphOp graph = copyGraph(stage);
  module->push_back(graph);
  FailureOr<std::vector<PhaseGraph>> phases =
      makePlannedPhases(graph, request, planned.handed);
  if (failed(phases))
    return failure();
  describeSaved(*phases, planned.stage);
  for (PhaseGraph &phase : *phases) {
    FailureOr<PlannedPhase> one =
        planPhase(std::move(phase), request.partition, planned.stage);
    if (failed(one))
      return failure();
    planned.phases.push_back(std::move(*one));
  }
  return planned;
}
