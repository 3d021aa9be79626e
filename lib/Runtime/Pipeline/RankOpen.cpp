// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rank has before its first step:
//
//   1. the phases of its stages that the schedule runs, of both sizes of a
//      micro-batch where there are two
//   2. parameters and buffers, copied where steps change them
//   3. one arena for all phases
//
// It is found out whether each name has a maker and each micro-batch a mode; a
// schedule whose forwards of a stage are not in the order of micro-batches is
// refused where a stage writes buffers. Linear in what stages and the row have.

#include "RankStage.h"

#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Support/Text.h"

#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

/// Parameters and buffers: those that are written are copied, and so is what
/// is where kernels cannot read it.
bool Rank::findKept(Stage &stage, const FindTensor &weights, StepError &error) {
  for (size_t i = 0; i < stage.plan.kept.size(); ++i) {
    const ArtifactTensor &wanted = stage.plan.kept[i];
    char *&address = kept[wanted.name];
    if (!address) {
      auto given = weights(wanted.name);
      if (!given) {
        error = {"there is no tensor '" + wanted.name + "', which stage " +
                     std::to_string(stage.number) + " takes",
                 "--weights takes a safetensors file with it"};
        return false;
      }
      if (given->dtype != wanted.dtype || given->sizes != wanted.sizes) {
        error = {"tensor '" + wanted.name +
                     "' has another type or size than in the model",
                 "give the weights of the model that was split"};
        return false;
      }
      address = const_cast<char *>(given->bytes);
      bool isAligned = reinterpret_cast<uintptr_t>(address) % 16 == 0;
      if (stage.plan.isWritten[i] || !isAligned || options.isTraining ||
          options.memory) {
        BlockRef copy = Block::make(bytesOf(wanted), keptCount);
        if (copy->bytes())
          std::memcpy(copy->data(), given->bytes, copy->bytes());
        address = copy->data();
        ownKept[wanted.name] = copy;
      }
    }
    stage.kept.push_back(address);
  }
  return true;
}

/// Where messages go in an order, all ranks take it that gradients are made
/// with the first action of a backward.
std::string Rank::checkOrder(const Stage &stage) const {
  if (!peers.transport.isOrdered())
    return "";
  for (const SizedStage *size :
       {static_cast<const SizedStage *>(&stage),
        static_cast<const SizedStage *>(stage.smaller.get())})
    if (size)
      for (const StagePlan::Result &result :
           size->plan.phases[PipelineStage::Weight].results)
        if (result.receive >= 0)
          return "the weight phase of stage " + std::to_string(stage.number) +
                 " makes '" + kGradientPrefix +
                 size->of->receives[result.receive].name +
                 "', which is sent before it runs";
  return "";
}

/// The modes of micro-batches, and whether the stage can run in them.
bool Rank::checkStage(Stage &stage, StepError &error) {
  bool hasBackward = schedule.hasBackward();
  stage.modes.assign(schedule.microBatches, !hasBackward ? StagePlan::Evaluation
                                            : stage.isWhole ? StagePlan::Whole
                                                            : StagePlan::Split);
  int lastForward = -1;
  bool inOrder = true;
  for (const auto &[step, action] : actionsToRun) {
    if (action.stage != stage.number)
      continue;
    if (action.kind == ActionKind::Backward)
      stage.modes[action.microBatch] = stage.plan.modeOfWhole();
    if (action.kind == ActionKind::Forward) {
      inOrder &= action.microBatch > lastForward;
      lastForward = action.microBatch;
    }
  }
  std::string what = checkOrder(stage);
  for (int i = 0; i < schedule.microBatches && what.empty(); ++i)
    what = sizeOf(stage, i).plan.check(stage.modes[i]);
  for (int i = 0; i < schedule.microBatches && what.empty(); ++i)
    if (options.mayEvaluate)
      what = sizeOf(stage, i).plan.check(StagePlan::Evaluation);
  for (const PipelineBuffer &buffer : stage.of->buffers)
    if (what.empty() && buffer.isWritten && !inOrder)
      what = "stage " + std::to_string(stage.number) + " writes '" +
             buffer.name + "', and " + schedule.name +
             " does not run its micro-batches in their order";
  if (what.empty())
    return true;
  error = {what, "split the model again, or take another schedule"};
  return false;
}

/// Opens phases, for micro-batches of one size.
bool Rank::openSize(Stage &stage, SizedStage &size,
                    const std::vector<PipelineStage::PhaseKind> &wanted,
                    const OpenPhase &openPhase, StepError &error) {
  for (PipelineStage::PhaseKind kind : wanted) {
    if (!size.of->phases[kind])
      continue;
    size.runners[kind] = openPhase(stage.number, kind, error);
    if (!size.runners[kind])
      return false;
    size.runners[kind]->setThreads(options.threads);
    countArena(*size.runners[kind]);
  }
  std::string what =
      size.plan.make(pipeline, stage.number, size.runners, &size != &stage);
  if (what.empty())
    return true;
  error = {what, "split the model again: its folder is of several splits"};
  return false;
}

bool Rank::openStage(int number, const OpenPhase &openPhase, StepError &error) {
  auto &stage = *(stages[number] = std::make_unique<Stage>());
  stage.number = number;
  stage.of = &pipeline.stages[number];
  std::vector<PipelineStage::PhaseKind> wanted = {PipelineStage::Forward};
  bool hasSplit = false, hasWhole = false;
  for (const auto &[step, action] : actionsToRun) {
    hasWhole |= action.stage == number && action.kind == ActionKind::Backward;
    hasSplit |=
        action.stage == number && (action.kind == ActionKind::InputGradients ||
                                   action.kind == ActionKind::WeightGradients);
  }
  bool hasBackward = bool(stage.of->phases[PipelineStage::Backward]);
  stage.isWhole = hasBackward && !stage.of->phases[PipelineStage::Input] &&
                  !stage.of->phases[PipelineStage::Weight];
  if (hasBackward && (hasWhole || stage.isWhole))
    wanted.push_back(PipelineStage::Backward);
  if (hasSplit || (hasWhole && !hasBackward))
    wanted.insert(wanted.end(), {PipelineStage::Input, PipelineStage::Weight});
  if (!openSize(stage, stage, wanted, openPhase, error))
    return false;
  if (options.firstSmaller < schedule.microBatches) {
    stage.smaller = std::make_unique<SizedStage>();
    stage.smaller->of = &pipeline.smaller[number];
    if (!openSize(stage, *stage.smaller, wanted, options.openSmaller, error))
      return false;
  }
  if (options.isTraining && !openUpdate(stage, openPhase, error))
    return false;
  if (number == pipeline.lossStage)
    for (const ArtifactTensor &made :
         stage.runners[PipelineStage::Forward]->results())
      if (made.name == pipeline.loss)
        loss = made;
  return checkStage(stage, error);
}

void Rank::countArena(const PhaseRunner &runner) {
  if (runner.hasOwnArena())
    ownArenas += runner.arenaBytes();
  else
    arenaSize = std::max(arenaSize, runner.arenaBytes());
}

/// One arena for all phases, at a multiple of 256 bytes; of this machine's
/// memory NaN where nothing was written.
void Rank::shareArena() {
  if (arenaSize == 0)
    return;
  arena = Block::make(arenaSize + 256, keptCount);
  if (!options.memory)
    std::memset(arena->data(), 0xFF, arena->bytes());
  uintptr_t at = (reinterpret_cast<uintptr_t>(arena->data()) + 255) / 256 * 256;
  for (auto &[number, stage] : stages)
    for (auto &runner : stage->runners)
      if (runner)
        runner->setArena(reinterpret_cast<char *>(at));
  for (auto &[number, stage] : stages)
    if (stage->smaller)
      for (auto &runner : stage->smaller->runners)
        if (runner)
          runner->setArena(reinterpret_cast<char *>(at));
}

bool Rank::open(const OpenPhase &openPhase, const FindTensor &weights,
                StepError &error) {
  if (std::string what = exchange.check(); !what.empty()) {
    error = {what, "take fewer micro-batches"};
    return false;
  }
  for (int number : schedule.stagesOf(peers.transport.rank()))
    if (!openStage(number, openPhase, error) ||
        !findKept(*stages[number], weights, error))
      return false;
  if (peers.transport.isOrdered())
    peers.transport.setOrder(exchange.order(costsOf(pipeline)));
  shareArena();
  return true;
}

std::vector<int64_t> Rank::sizesOfBatch(int stage, size_t input) const {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  std::vector<int64_t> sizes = larger.sizes;
  if (int64_t dim = larger.splitDim; dim >= 0) {
    int64_t smaller = pipeline.smaller.empty()
                          ? sizes[dim]
                          : pipeline.smaller[stage].inputs[input].sizes[dim];
    sizes[dim] = elementsBefore(schedule.microBatches, sizes[dim], smaller);
  }
  return sizes;
}

/// "f32[4, 16]"
static std::string textOf(const ArtifactTensor &tensor,
                          const std::vector<int64_t> &sizes) {
  std::string all = tensor.dtype + "[";
  for (int64_t size : sizes)
    all += (all.back() == '[' ? "" : ", ") + std::to_string(size);
  return all + "]";
}

/// "2 micro-batches of f32[4, 16] and 1 of f32[3, 16] are f32[11, 16]"
std::string Rank::describeBatch(int stage, size_t input) const {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  int64_t count =
              std::min<int64_t>(options.firstSmaller, schedule.microBatches),
          rest = schedule.microBatches - count;
  std::string all;
  if (count)
    all = formatCount(count, "micro-batch", "micro-batches") + " of " +
          textOf(larger, larger.sizes);
  if (rest) {
    const PipelineInput &smaller = pipeline.smaller[stage].inputs[input];
    all += (count ? " and " + std::to_string(rest)
                  : formatCount(rest, "micro-batch", "micro-batches")) +
           " of " + textOf(smaller, smaller.sizes);
  }
  return all + (schedule.microBatches == 1 ? " is " : " are ") +
         textOf(larger, sizesOfBatch(stage, input));
}

/// What to give in the place of a batch of another size.
static std::string adviceOn(const Pipeline &pipeline, int stage, size_t input,
                            int64_t microBatches) {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  if (larger.splitDim < 0)
    return "each micro-batch takes all of it: give that type and size";
  std::string dim = std::to_string(larger.splitDim);
  if (pipeline.smaller.empty())
    return "give that size along dimension " + dim +
           ", or another number of --micro-batches; `cutback split --batch` "
           "takes any batch";
  int64_t most = larger.sizes[larger.splitDim],
          least = pipeline.smaller[stage].inputs[input].sizes[larger.splitDim];
  return "all inputs have the rows of one batch, in micro-batches of " +
         std::to_string(most) + " or " + std::to_string(least) +
         " along dimension " + dim + ", " +
         std::to_string(least * microBatches) + " to " +
         std::to_string(most * microBatches) +
         " in all: give others, or split the model for other ones (--batch)";
}

bool Rank::checkInputs(const FindTensor &find, StepError &error) const {
  for (const auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->of->inputs.size(); ++i) {
      const PipelineInput &input = stage->of->inputs[i];
      auto given = find(input.name);
      if (!given) {
        error = {"there is no tensor '" + input.name + "', which stage " +
                     std::to_string(number) + " takes",
                 "--inputs takes a safetensors file with it"};
        return false;
      }
      if (given->dtype == input.dtype &&
          given->sizes == sizesOfBatch(number, i))
        continue;
      error = {"tensor '" + input.name + "' is " +
                   textOf(*given, given->sizes) + ", and " +
                   describeBatch(number, i),
               adviceOn(pipeline, number, i, schedule.microBatches)};
      return false;
    }
  return true;
}
