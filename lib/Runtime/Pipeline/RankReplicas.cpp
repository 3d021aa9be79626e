// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rank does with the ranks of other replicas that have its stages, after
// its row:
//
//   1. one all-reduce a parameter, of the sum over its micro-batches (and over
//      stages, of a parameter of several): the sum over replicas in their
//      order, in the gradient's type
//   2. the same of outputs that are added; a mean is divided after that
//   3. losses of all, to all
//   4. buffers that forwards write: those of the first replica, to all, as
//      PyTorch's DistributedDataParallel does it. Each replica writes its own
//      while it runs, and the next step begins with the same everywhere, which
//      is what the state of a training has
//
// All ranks of a group have the same stages and the same row, so they come here
// with the same tensors in the same order. A replica none of whose
// micro-batches has gradients in a step gives -0, to which any number is added
// without a change.

#include "RankStage.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <algorithm>
#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

int64_t Rank::allMicroBatches() const {
  int64_t count = schedule.microBatches;
  return options.replicas ? count * options.replicas->transport.size() : count;
}

int64_t Rank::firstMicroBatch() const {
  int64_t count = schedule.microBatches;
  return options.replicas ? count * options.replicas->transport.rank() : 0;
}

/// Whether a micro-batch has gradients in this step, of all replicas or of this
/// one.
bool Rank::makesGradients(bool ofAll) const {
  if (numbers.extents.empty())
    return true;
  auto begin = numbers.extents.begin() + (ofAll ? 0 : firstMicroBatch()),
       end = begin + (ofAll ? allMicroBatches() : schedule.microBatches);
  return std::find(begin, end, Extent::All) != end;
}

std::string Rank::addOverReplicas(std::string_view dtype, Block &block) {
  // As much again, while messages are on their way.
  sumCount.add(block.bytes());
  std::string error = allReduce(*options.replicas, Reduction::Sum, dtype,
                                block.data(), block.bytes());
  sumCount.add(-block.bytes());
  return error;
}

/// What no number is changed by that is added to it.
static void clear(std::string_view dtype, Block &block) {
  std::memset(block.data(), 0, block.bytes());
  if (isAddedAsInteger(dtype))
    return;
  Elements elements(block.data(), block.bytes(), dtype);
  for (int64_t i = 0; i < elements.count(); ++i)
    elements.set(i, -0.0);
}

/// The sums of a stage whose micro-batches had no gradients.
void Rank::makeSums(Stage &stage) {
  for (size_t i = 0; i < stage.sums.size(); ++i) {
    const PipelineParameter &parameter = stage.of->parameters[i];
    std::vector<int64_t> all = parameter.replicatedIn;
    if (all.empty())
      all.push_back(stage.number);
    BlockRef shared; // with a stage of this rank
    bool isMade = false;
    for (int64_t other : all) {
      isMade |= hasGradient(pipeline.stages[other], parameter.name);
      if (other < stage.number && stages.count(static_cast<int>(other)))
        shared = sumOf(other, parameter);
    }
    if (isMade && !shared)
      clear(parameter.dtype,
            *(shared = Block::make(bytesOf(parameter), sumCount)));
    if (isMade)
      stage.sums[i] = shared;
  }
  // Those that there are not are gradients.
  for (size_t i = 0; i < stage.outputs.size() && !options.isTraining; ++i) {
    const PipelineOutput &output = stage.of->outputs[i];
    if (stage.outputs[i])
      continue;
    bool isJoined = output.merge == PipelineOutput::Concatenate;
    int64_t parts = isJoined ? schedule.microBatches : 1;
    stage.outputs[i] = Block::make(bytesOf(output) * parts, sumCount);
    stage.outputSizes[i] = output.sizes;
    if (isJoined) {
      stage.outputSizes[i][output.dim] *= parts;
      std::memset(stage.outputs[i]->data(), 0, stage.outputs[i]->bytes());
    } else {
      clear(output.dtype, *stage.outputs[i]);
    }
  }
}

std::string Rank::addOverReplicas() {
  if (!options.replicas)
    return "";
  std::string error;
  if (schedule.hasBackward() && makesGradients(/*ofAll=*/true) &&
      !makesGradients(/*ofAll=*/false))
    for (const auto &[number, stage] : stages)
      makeSums(*stage);
  std::set<const Block *> added; // stages of one rank share a sum
  for (const auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->sums.size() && error.empty(); ++i)
      if (stage->sums[i] && added.insert(stage->sums[i].get()).second)
        error =
            addOverReplicas(stage->of->parameters[i].dtype, *stage->sums[i]);
  for (const auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->outputs.size() && error.empty(); ++i) {
      const PipelineOutput &output = stage->of->outputs[i];
      if (stage->outputs[i] && (output.merge == PipelineOutput::Mean ||
                                output.merge == PipelineOutput::Sum))
        error = addOverReplicas(output.dtype, *stage->outputs[i]);
    }
  if (error.empty())
    error = gatherLosses();
  return error.empty() ? shareBuffers() : error;
}

std::string Rank::gatherLosses() {
  if (lossBytes.empty())
    return "";
  int64_t each = bytesOf(loss);
  std::string own;
  for (std::string &one : lossBytes) {
    one.resize(each); // of one that did not run none
    own += one;
  }
  int64_t replicas = options.replicas->transport.size();
  auto bytes = static_cast<int64_t>(own.size());
  std::string all(bytes * replicas, '\0');
  std::string error =
      allGather(*options.replicas, own.data(), bytes, all.data());
  lossBytes.assign(allMicroBatches(), "");
  for (size_t i = 0; i < lossBytes.size(); ++i)
    if (numbers.extents.empty() || numbers.extents[i] != Extent::None)
      lossBytes[i] = all.substr(i * each, each);
  return error;
}

std::string Rank::shareBuffers() {
  std::string error;
  if (numbers.keepsBuffers)
    return error;
  for (const auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->kept.size() && error.empty(); ++i)
      if (stage->plan.isWritten[i])
        error = broadcast(*options.replicas, 0, stage->kept[i],
                          bytesOf(stage->plan.kept[i]));
  return error;
}

std::string Rank::gatherOutputs() {
  if (!options.replicas)
    return "";
  for (const auto &[number, stage] : stages)
    for (size_t n = 0; n < stage->outputs.size(); ++n) {
      const PipelineOutput &output = stage->of->outputs[n];
      BlockRef &own = stage->outputs[n];
      if (!own || output.merge == PipelineOutput::Mean ||
          output.merge == PipelineOutput::Sum)
        continue;
      std::vector<std::string> all;
      std::string error = gather(*options.replicas, 0,
                                 std::string(own->data(), own->bytes()), all);
      if (!error.empty())
        return error;
      if (output.merge == PipelineOutput::Equal) {
        for (size_t replica = 1; replica < all.size(); ++replica)
          if (all[replica] != all[0])
            return "'" + output.name + "' of replica " +
                   std::to_string(replica) +
                   " is another one than before, and equal ones were asked "
                   "for: `cutback split --merge` says what others become";
        continue;
      }
      if (all.empty())
        continue;
      std::vector<int64_t> &sizes = stage->outputSizes[n];
      auto count = static_cast<int64_t>(all.size());
      auto [outer, inner] = rowsOf(output.dtype, sizes, output.dim);
      own = Block::make(own->bytes() * count, sumCount);
      sizes[output.dim] *= count;
      for (int64_t replica = 0; replica < count; ++replica)
        copyRows(outer, inner, all[replica].data(), inner,
                 own->data() + replica * inner, count * inner);
    }
  return "";
}
