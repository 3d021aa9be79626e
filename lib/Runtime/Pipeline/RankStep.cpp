// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase of a stage for one micro-batch.
//
//   1. what it takes: parameters where they are, slots; an input is cut out
//      when the first phase takes it, gradients of what was sent are added,
//      from the last user to the first, before the first phase that takes one
//   2. blocks for the results that are wanted
//   3. the phase
//   4. results to where they go: sent, kept, added to a sum, merged
//   5. slots that no later phase takes are let go
//
// The first gradient is its sum, and the others are added to it in the
// gradient's type.

#include "RankStage.h"

#include "cutback/Runtime/Arguments.h"
#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <algorithm>
#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

/// Where micro-batches are side by side along `dim`: bytes of a row before one
/// of them, and of all.
std::pair<int64_t, int64_t> Rank::placeInRow(int microBatch,
                                             const ArtifactTensor &larger,
                                             const ArtifactTensor *smaller,
                                             int64_t dim) const {
  int64_t bytes = rowsOf(larger.dtype, larger.sizes, dim).second,
          fewer = smaller ? rowsOf(smaller->dtype, smaller->sizes, dim).second
                          : bytes;
  return {elementsBefore(microBatch, bytes, fewer),
          elementsBefore(schedule.microBatches, bytes, fewer)};
}

BlockRef Rank::sliceInput(Stage &stage, int number, int microBatch) {
  const PipelineInput &input = sizeOf(stage, microBatch).of->inputs[number];
  const char *from = (*inputs)(input.name)->bytes;
  BlockRef block = Block::make(bytesOf(input), slotCount);
  if (block->bytes() == 0)
    return block;
  if (input.splitDim < 0) {
    std::memcpy(block->data(), from, block->bytes());
    Elements elements(block->data(), block->bytes(), componentOf(input.dtype));
    for (int64_t i = 0; input.isWeighted && i < elements.count(); ++i)
      elements.set(i, elements[i] * shareOf(firstMicroBatch() + microBatch));
    return block;
  }
  auto [outer, inner] = rowsOf(input.dtype, input.sizes, input.splitDim);
  auto [before, all] =
      placeInRow(microBatch, stage.of->inputs[number],
                 stage.smaller ? &stage.smaller->of->inputs[number] : nullptr,
                 input.splitDim);
  copyRows(outer, inner, from + before, all, block->data(), inner);
  return block;
}

std::string Rank::collectReceives(Stage &stage, int microBatch) {
  MicroBatch &open = stage.open[microBatch];
  const StagePlan &plan = sizeOf(stage, microBatch).plan;
  open.slots.assign(plan.slots.size(), nullptr);
  Mode mode = modeOf(stage, microBatch);
  std::string error;
  for (int edge : exchange.into(stage.number)) {
    BlockRef block = exchange.take(edge, microBatch, Exchange::Value, error);
    if (!block)
      return error;
    // Slots of what is received come first, in this order.
    int slot = exchange.edges()[edge].receive;
    if (plan.slots[slot].lastUse[mode] >= 0)
      open.slots[slot] = std::move(block);
  }
  // What the forward changes, as it was.
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const StagePlan::Slot &slot = plan.slots[i];
    if (slot.origin != StagePlan::Slot::BufferCopy || slot.lastUse[mode] < 0)
      continue;
    open.slots[i] = Block::make(slot.bytes, slotCount);
    if (slot.bytes)
      std::memcpy(open.slots[i]->data(), stage.kept[slot.at], slot.bytes);
  }
  return "";
}

std::string Rank::collectTangents(Stage &stage, int microBatch) {
  MicroBatch &open = stage.open[microBatch];
  open.hasTangents = true;
  const StagePlan &plan = sizeOf(stage, microBatch).plan;
  const std::vector<int> &edges = exchange.outOf(stage.number);
  std::string error;
  for (auto it = edges.rbegin(); it != edges.rend(); ++it) {
    const Edge &edge = exchange.edges()[*it];
    if (!edge.hasGradient)
      continue;
    BlockRef block = exchange.take(*it, microBatch, Exchange::Gradient, error);
    if (!block)
      return error;
    auto isIt = [&](const StagePlan::Slot &slot) {
      return slot.origin == StagePlan::Slot::Tangent && slot.at == edge.send;
    };
    size_t slot = std::find_if(plan.slots.begin(), plan.slots.end(), isIt) -
                  plan.slots.begin();
    BlockRef &sum = open.slots[slot];
    if (!sum)
      sum = std::move(block);
    else if (sum.use_count() == 1)
      addTo(stage.of->sends[edge.send].dtype, sum->data(), block->data(),
            block->bytes());
    else {
      // It is held elsewhere: a result that is another one, too.
      BlockRef copy = Block::make(sum->bytes(), slotCount);
      std::memcpy(copy->data(), sum->data(), sum->bytes());
      sum = copy;
      addTo(stage.of->sends[edge.send].dtype, sum->data(), block->data(),
            block->bytes());
    }
  }
  return "";
}

BlockRef Rank::makeArgument(int microBatch, const ArtifactArgument &argument,
                            StagePlan::Argument::Kind kind) {
  BlockRef block = Block::make(bytesOf(argument), slotCount);
  if (kind == StagePlan::Argument::LossTangent) {
    Elements elements(block->data(), block->bytes(), argument.dtype);
    for (int64_t i = 0; i < elements.count(); ++i)
      elements.set(i,
                   numbers.lossScale * shareOf(firstMicroBatch() + microBatch));
    return block;
  }
  cutback::fillArgument(
      argument, seedOfMicroBatch(numbers.seed, firstMicroBatch() + microBatch),
      block->data());
  return block;
}

std::string Rank::gatherArguments(Stage &stage, int microBatch,
                                  PipelineStage::PhaseKind kind,
                                  std::vector<char *> &addresses) {
  MicroBatch &open = stage.open[microBatch];
  const SizedStage &size = sizeOf(stage, microBatch);
  const auto &arguments = size.runners[kind]->arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const StagePlan::Argument &use = size.plan.phases[kind].arguments[i];
    if (use.kind == StagePlan::Argument::Kept) {
      addresses.push_back(stage.kept[use.at]);
    } else if (use.kind == StagePlan::Argument::Tied) {
      addresses.push_back(addresses[use.at]);
    } else if (use.kind == StagePlan::Argument::Slot) {
      BlockRef &block = open.slots[use.at];
      const StagePlan::Slot &slot = size.plan.slots[use.at];
      if (!block && slot.origin == StagePlan::Slot::Input)
        block = sliceInput(stage, slot.at, microBatch);
      if (!block)
        return fail("'" + slot.name + "' of micro-batch " +
                    std::to_string(microBatch) + " is not there");
      addresses.push_back(block->data());
    } else {
      open.slots.push_back(makeArgument(microBatch, arguments[i], use.kind));
      addresses.push_back(open.slots.back()->data());
    }
  }
  return "";
}

/// Runs the phase itself, if there is one, and takes what it makes.
std::string Rank::runHere(Stage &stage, int microBatch,
                          PipelineStage::PhaseKind kind) {
  const SizedStage &size = sizeOf(stage, microBatch);
  PhaseRunner *runner = size.runners[kind].get();
  if (!runner)
    return "";
  Mode mode = modeOf(stage, microBatch);
  std::vector<char *> arguments, results;
  std::string error = gatherArguments(stage, microBatch, kind, arguments);
  if (!error.empty())
    return error;
  const std::vector<StagePlan::Result> &uses = size.plan.phases[kind].results;
  std::vector<BlockRef> blocks(uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (size.plan.isWanted(uses[i], mode) &&
        !isSumAlone(size.plan, uses[i], mode))
      blocks[i] = Block::make(bytesOf(runner->results()[i]), slotCount);
    results.push_back(blocks[i] ? blocks[i]->data() : nullptr);
  }
  error = runner->run(arguments, results);
  if (!error.empty())
    return fail("stage " + std::to_string(stage.number) + ", " + nameOf(kind) +
                " of micro-batch " + std::to_string(microBatch) + ": " + error);
  stage.open[microBatch].slots.resize(size.plan.slots.size());
  for (size_t i = 0; i < uses.size(); ++i)
    if (blocks[i]) {
      error = keepResult(stage, microBatch, uses[i], blocks[i]);
      if (!error.empty())
        return fail(error);
    } else if (isSumAlone(size.plan, uses[i], mode)) {
      error = addGradient(stage, uses[i].parameter, *runner, i);
      if (!error.empty())
        return fail(error);
    }
  return "";
}

std::string Rank::runPhase(Stage &stage, int microBatch,
                           PipelineStage::PhaseKind kind) {
  Mode mode = modeOf(stage, microBatch);
  const auto &order = StagePlan::phasesOf(mode);
  auto ordinal = static_cast<int>(std::find(order.begin(), order.end(), kind) -
                                  order.begin());
  MicroBatch &open = stage.open[microBatch];
  const StagePlan &plan = sizeOf(stage, microBatch).plan;
  if (plan.firstWithTangents(mode) == ordinal && !open.hasTangents)
    if (std::string error = collectTangents(stage, microBatch); !error.empty())
      return error;
  if (std::string error = runHere(stage, microBatch, kind); !error.empty())
    return error;
  for (size_t i = 0; i < plan.slots.size(); ++i)
    if (plan.slots[i].lastUse[mode] <= ordinal)
      open.slots[i] = nullptr;
  return "";
}

std::string Rank::keepResult(Stage &stage, int microBatch,
                             const StagePlan::Result &use,
                             const BlockRef &block) {
  const StagePlan &plan = sizeOf(stage, microBatch).plan;
  if (plan.slots[use.slot].lastUse[modeOf(stage, microBatch)] >= 0)
    stage.open[microBatch].slots[use.slot] = block;
  if (use.send >= 0)
    for (int edge : exchange.outOf(stage.number))
      if (exchange.edges()[edge].send == use.send)
        exchange.give(edge, microBatch, Exchange::Value, block);
  if (use.receive >= 0)
    for (int edge : exchange.into(stage.number))
      if (exchange.edges()[edge].receive == use.receive)
        exchange.give(edge, microBatch, Exchange::Gradient, block);
  if (use.isLoss)
    lossBytes[microBatch].assign(block->data(), block->bytes());
  if (use.parameter >= 0)
    addGradient(stage, use.parameter, block);
  // A training has its results in the state.
  return use.output < 0 || options.isTraining
             ? ""
             : addOutput(stage, use.output, microBatch, *block);
}

/// Whether a result is a gradient of a parameter and nothing else: it is added
/// where it was made, and has no block of its own.
bool Rank::isSumAlone(const StagePlan &plan, const StagePlan::Result &use,
                      Mode mode) const {
  return use.parameter >= 0 && use.send < 0 && use.receive < 0 &&
         use.output < 0 && !use.isLoss &&
         (use.slot < 0 || plan.slots[use.slot].lastUse[mode] < 0);
}

/// The first micro-batch's is the sum; of the others one is read at a time.
std::string Rank::addGradient(Stage &stage, int parameter, PhaseRunner &runner,
                              size_t result) {
  BlockRef &sum = stage.sums[parameter];
  int64_t bytes = bytesOf(runner.results()[result]);
  if (!sum) {
    sum = Block::make(bytes, sumCount);
    return runner.read(result, sum->data());
  }
  BlockRef part = Block::make(bytes, sumCount);
  std::string error = runner.read(result, part->data());
  if (error.empty())
    addTo(stage.of->parameters[parameter].dtype, sum->data(), part->data(),
          bytes);
  return error;
}

void Rank::addGradient(Stage &stage, int parameter, const BlockRef &block) {
  BlockRef &sum = stage.sums[parameter];
  if (sum) {
    addTo(stage.of->parameters[parameter].dtype, sum->data(), block->data(),
          block->bytes());
    return;
  }
  // Of its own: the block may also be kept, or sent.
  sum = Block::make(block->bytes(), sumCount);
  if (block->bytes())
    std::memcpy(sum->data(), block->data(), block->bytes());
}

/// A result that is the same for each micro-batch. An empty string, or that it
/// is not.
static std::string checkEqual(const PipelineOutput &output, int microBatch,
                              Block &first, Block &other) {
  if (std::memcmp(first.data(), other.data(), other.bytes()) == 0)
    return "";
  return "'" + output.name + "' of micro-batch " + std::to_string(microBatch) +
         " is another one than before, and equal ones were asked for: `cutback "
         "split --merge` says what others become";
}

std::string Rank::addOutput(Stage &stage, int number, int microBatch,
                            Block &block) {
  const PipelineOutput &output = sizeOf(stage, microBatch).of->outputs[number];
  BlockRef &merged = stage.outputs[number];
  std::vector<int64_t> &sizes = stage.outputSizes[number];
  bool isFirst = !merged;
  if (output.merge != PipelineOutput::Concatenate) {
    if (isFirst) {
      merged = Block::make(block.bytes(), sumCount);
      sizes = output.sizes;
      if (block.bytes())
        std::memcpy(merged->data(), block.data(), block.bytes());
      return "";
    }
    if (output.merge == PipelineOutput::Equal)
      return checkEqual(output, microBatch, *merged, block);
    addTo(output.dtype, merged->data(), block.data(), block.bytes());
    return "";
  }
  const PipelineOutput &larger = stage.of->outputs[number],
                       *smaller = stage.smaller
                                      ? &stage.smaller->of->outputs[number]
                                      : nullptr;
  auto [outer, inner] = rowsOf(output.dtype, output.sizes, output.dim);
  auto [before, all] = placeInRow(microBatch, larger, smaller, output.dim);
  if (isFirst) {
    merged = Block::make(outer * all, sumCount);
    // Of a gradient that some micro-batches do not have.
    if (!numbers.extents.empty())
      std::memset(merged->data(), 0, merged->bytes());
    sizes = output.sizes;
    sizes[output.dim] =
        elementsBefore(schedule.microBatches, larger.sizes[output.dim],
                       (smaller ? *smaller : larger).sizes[output.dim]);
  }
  copyRows(outer, inner, block.data(), inner, merged->data() + before, all);
  return "";
}
