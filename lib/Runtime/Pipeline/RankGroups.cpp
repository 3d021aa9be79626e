// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replicas of a pipeline: which ranks are together, and what each of them takes
// of a batch.
//
// Replica r of R has ranks r * P to (r + 1) * P - 1, and micro-batches r * m to
// (r + 1) * m - 1 of R * m. Messages of a pipeline are those of a group of
// ranks, so that a rank knows nothing of other replicas but when gradients are
// added (RankReplicas.cpp); errors and reports are of all ranks.

#include "RankRun.h"

#include "cutback/Support/ExitCode.h"
#include "cutback/Support/Text.h"

#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

int RankRun::openGroups(StepError &error) {
  int all = transport.size();
  grid.replicas = options.replicas;
  if (all % grid.replicas != 0) {
    error = {formatCount(all, "rank") +
                 " with --replicas=" + std::to_string(grid.replicas) + ": " +
                 std::to_string(all) + " is no multiple",
             "start as many ranks as a pipeline has, times the replicas"};
    return WrongUsage;
  }
  grid.rows = all / grid.replicas;
  group = std::make_unique<GroupTransport>(transport, GroupTransport::Pipeline,
                                           grid.pipelineOf(transport.rank()));
  replicas = std::make_unique<GroupTransport>(
      transport, GroupTransport::Replicas, grid.replicasOf(transport.rank()));
  return Done;
}

void RankRun::openPeers() {
  scheduleOfAll = schedule;
  scheduleOfAll.ranks = grid.size();
  scheduleOfAll.rows.clear();
  for (int rank = 0; rank < grid.size(); ++rank)
    scheduleOfAll.rows.push_back(schedule.rows[grid.rowOf(rank)]);
  peers = std::make_unique<Peers>(transport, *group, timeout, scheduleOfAll);
  if (grid.replicas > 1)
    replicaWaiter = peers->over(*replicas);
}

/// What a step's stages take of the inputs that are given.
int RankRun::takeShare(StepError &error) {
  for (int number : schedule.stagesOf(row()))
    for (const PipelineInput &input : pipeline.stages[number].inputs) {
      const TensorFiles::Tensor *given = inputs.find(input.name);
      if (!given)
        continue; // Rank::checkInputs() says so.
      GivenTensor &taken = rows[input.name];
      taken.name = input.name;
      taken.dtype = typeOfFileType(given->entry.dtype);
      taken.sizes = given->entry.sizes;
      taken.bytes = given->bytes;
      int64_t dim = input.splitDim, count = grid.replicas;
      if (dim < 0 || count == 1)
        continue;
      if (dim >= static_cast<int64_t>(taken.sizes.size()))
        continue; // The same.
      int64_t wanted = microBatchesOfStep() * input.sizes[dim];
      if (taken.sizes[dim] != wanted) {
        error = {"tensor '" + input.name + "' has " +
                     std::to_string(taken.sizes[dim]) + " along dimension " +
                     std::to_string(dim) + ", and " + std::to_string(count) +
                     " replicas with " +
                     formatCount(schedule.microBatches, "micro-batch",
                                 "micro-batches") +
                     " of " + std::to_string(input.sizes[dim]) + " have " +
                     std::to_string(wanted),
                 "give that size, or another number of --replicas or "
                 "--micro-batches"};
        return WrongInput;
      }
      taken.sizes[dim] /= count;
      int64_t outer = 1, bytes = bytesOf(taken);
      for (int64_t i = 0; i < dim; ++i)
        outer *= taken.sizes[i];
      int64_t inner = outer ? bytes / outer : 0;
      std::string &share = rowBytes[input.name];
      share.resize(bytes);
      for (int64_t o = 0; o < outer && inner; ++o)
        std::memcpy(share.data() + o * inner,
                    given->bytes + (o * count + replica()) * inner, inner);
      taken.bytes = share.data();
    }
  return Done;
}
