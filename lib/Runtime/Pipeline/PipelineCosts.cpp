// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the manifest of a pipeline to the costs of a simulation.
//
// The manifest knows values by name, a simulation crossings by stages: what a
// stage receives of one other is one crossing, with the bytes of all values and
// of the gradients that come back. A phase that a stage does not have is made
// of those that it has, as a rank runs it. Sizes that are not known count
// nothing.
//
// Linear in what the manifest lists.

#include "cutback/Runtime/Pipeline/PipelineCosts.h"

#include <algorithm>
#include <map>

namespace cutback {

using pipeline::ActionKind;
using pipeline::Crossing;
using pipeline::StageCosts;

static int64_t knownBytes(const ArtifactTensor &tensor) {
  return std::max<int64_t>(0, bytesOf(tensor));
}

static void addPhases(const PipelineStage &stage, StageCosts &costs) {
  const PipelinePhase &forward = stage.phases[PipelineStage::Forward];
  PipelinePhase full = stage.phases[PipelineStage::Backward];
  PipelinePhase inputs = stage.phases[PipelineStage::Input];
  PipelinePhase weights = stage.phases[PipelineStage::Weight];
  bool isSplit = inputs || weights;
  if (!isSplit)
    inputs = full;
  if (!full) {
    full.picoseconds = inputs.picoseconds + weights.picoseconds;
    // As a rank runs it: one after the other, with what is between them.
    full.arenaBytes =
        std::max(inputs.arenaBytes, weights.arenaBytes) + stage.inputSavedBytes;
  }
  costs.forward = forward.picoseconds;
  costs.backward = full.picoseconds;
  costs.inputGradients = inputs.picoseconds;
  costs.weightGradients = weights.picoseconds;
  costs.arena = {forward.arenaBytes, full.arenaBytes, inputs.arenaBytes,
                 weights.arenaBytes};
  costs.updateArena = std::max(stage.phases[PipelineStage::Norms].arenaBytes,
                               stage.phases[PipelineStage::Update].arenaBytes);
  costs.untilInputs = stage.forwardSavedBytes;
  costs.untilWeights = stage.inputSavedBytes;
  costs.throughout = stage.throughoutSavedBytes;
}

static int64_t keptBytes(const PipelineStage &stage) {
  int64_t bytes = 0, largest = 0;
  for (const PipelineParameter &parameter : stage.parameters) {
    bytes += knownBytes(parameter) * (parameter.gradient.empty() ? 1 : 2);
    if (!parameter.gradient.empty())
      largest = std::max(largest, knownBytes(parameter));
  }
  for (const PipelineBuffer &buffer : stage.buffers)
    bytes += knownBytes(buffer);
  // Gradients are added one at a time.
  return bytes + largest;
}

/// Of two sizes of a micro-batch the most of both: no more than that is needed,
/// whichever comes when. The smaller one may have a plan of its own, which
/// takes longer.
static void addSmaller(const PipelineStage &stage, StageCosts &costs) {
  StageCosts of;
  addPhases(stage, of);
  costs.forward = std::max(costs.forward, of.forward);
  costs.backward = std::max(costs.backward, of.backward);
  costs.inputGradients = std::max(costs.inputGradients, of.inputGradients);
  costs.weightGradients = std::max(costs.weightGradients, of.weightGradients);
  for (size_t kind = 0; kind < costs.arena.size(); ++kind)
    costs.arena[kind] = std::max(costs.arena[kind], of.arena[kind]);
  // By parts, as the simulation adds them.
  int64_t added = std::max(costs.untilWeights - costs.throughout,
                           of.untilWeights - of.throughout);
  costs.untilInputs = std::max(costs.untilInputs, of.untilInputs);
  costs.throughout = std::max(costs.throughout, of.throughout);
  costs.untilWeights = costs.throughout + added;
}

pipeline::Costs costsOf(const Pipeline &pipeline) {
  pipeline::Costs costs;
  std::map<std::pair<int64_t, int64_t>, Crossing> crossings;
  for (size_t i = 0; i < pipeline.stages.size(); ++i) {
    const PipelineStage &stage = pipeline.stages[i];
    StageCosts of;
    addPhases(stage, of);
    if (!pipeline.smaller.empty())
      addSmaller(pipeline.smaller[i], of);
    of.kept = keptBytes(stage);
    costs.stages.push_back(of);
    for (const PipelineReceive &value : stage.receives) {
      auto [entry, isNew] = crossings.try_emplace({value.from, i});
      Crossing &crossing = entry->second;
      if (isNew) {
        crossing.from = static_cast<int>(value.from);
        crossing.to = static_cast<int>(i);
        crossing.hasGradient = false;
      }
      crossing.bytes += knownBytes(value);
      crossing.hasGradient |= value.hasGradient;
      crossing.gradientBytes += value.hasGradient ? knownBytes(value) : 0;
    }
  }
  for (const auto &[stages, crossing] : crossings)
    costs.crossings.push_back(crossing);
  return costs;
}

/// Whether some gradient reaches a stage.
static bool hasBackward(const PipelineStage &stage) {
  return stage.phases[PipelineStage::Backward] ||
         stage.phases[PipelineStage::Input] ||
         stage.phases[PipelineStage::Weight];
}

static bool hasPhase(const PipelineStage &stage, ActionKind kind) {
  const auto &phases = stage.phases;
  switch (kind) {
  case ActionKind::Forward:
    return bool(phases[PipelineStage::Forward]);
  case ActionKind::Backward:
    return hasBackward(stage);
  case ActionKind::InputGradients:
  case ActionKind::WeightGradients:
    // A stage may have nothing to do in one of them.
    return phases[PipelineStage::Input] || phases[PipelineStage::Weight];
  default:
    return true;
  }
}

std::optional<pipeline::ScheduleError>
checkPhases(const pipeline::Schedule &schedule, const Pipeline &pipeline) {
  pipeline::ScheduleError error;
  if (static_cast<size_t>(schedule.stages) != pipeline.stages.size()) {
    error.message = "the schedule has " + std::to_string(schedule.stages) +
                    " stages, the pipeline " +
                    std::to_string(pipeline.stages.size());
    error.note = "give --ranks and --stages-per-rank whose product is the "
                 "number of stages, or split the model into as many";
    return error;
  }
  bool isTrained =
      std::any_of(pipeline.stages.begin(), pipeline.stages.end(), hasBackward);
  for (const pipeline::Row &row : schedule.rows)
    for (const auto &action : row) {
      if (action)
        forEachPart(*action, [&](const pipeline::Action &part) {
          const PipelineStage &stage = pipeline.stages[part.stage];
          // A stage that no gradient reaches has nothing to do there.
          bool isIdle = part.kind != ActionKind::Forward && isTrained &&
                        !hasBackward(stage);
          if (error.message.empty() && !isIdle && !hasPhase(stage, part.kind))
            error.message = format(part) + ": stage " +
                            std::to_string(part.stage) + " has no phase for it";
        });
      if (error.message.empty())
        continue;
      error.note = "split the model again with the phases that the schedule "
                   "needs, or take a schedule without: GPipe, 1F1B, "
                   "Interleaved1F1B and LoopedBFS have no I and W";
      return error;
    }
  return std::nullopt;
}

} // namespace cutback
