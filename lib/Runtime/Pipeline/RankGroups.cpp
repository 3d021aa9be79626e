// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replicas of a pipeline, and ranks that run a row together: which ranks are
// where, and what each of them takes of a batch.
//
// Replica r of R has ranks r * P to (r + 1) * P - 1, and micro-batches r * m to
// (r + 1) * m - 1 of R * m. Messages of a pipeline are those of a group of
// ranks, so that a rank knows nothing of other replicas but when gradients are
// added (RankReplicas.cpp); errors and reports are of all ranks.

#include "RankRun.h"
#include "Rows.h"

#include "cutback/Runtime/TensorFiles.h"
#include "cutback/Support/ExitCode.h"
#include "cutback/Support/Text.h"

#include <algorithm>
#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

int RankRun::openGroups(StepError &error) {
  int all = transport.size();
  grid.replicas = options.replicas;
  grid.width = options.groupSize;
  if (all % (grid.replicas * grid.width) != 0) {
    std::string with;
    if (grid.replicas > 1)
      with = "--replicas=" + std::to_string(grid.replicas);
    if (grid.width > 1)
      with += (with.empty() ? "--group=" : " and --group=") + options.group +
              "=" + std::to_string(grid.width);
    error = {
        formatCount(all, "rank") + " with " + with + ": " +
            std::to_string(all) + " is no multiple of " +
            std::to_string(grid.replicas * grid.width),
        "start as many ranks as a pipeline has, times the replicas and the "
        "size of the group"};
    return WrongUsage;
  }
  grid.rows = all / (grid.replicas * grid.width);
  group = std::make_unique<GroupTransport>(transport, GroupTransport::Pipeline,
                                           grid.pipelineOf(transport.rank()));
  replicas = std::make_unique<GroupTransport>(
      transport, GroupTransport::Replicas, grid.replicasOf(transport.rank()));
  members = std::make_unique<GroupTransport>(transport, GroupTransport::Members,
                                             grid.membersOf(transport.rank()));
  return Done;
}

std::string RankRun::pathOf(const std::string &path, int member) const {
  std::string own = path;
  size_t at = own.find(kMember);
  return at == std::string::npos
             ? own
             : own.replace(at, std::strlen(kMember), std::to_string(member));
}

bool RankRun::openCollectives(PhaseRunner &phase, const std::string &folder,
                              StepError &error) const {
  for (const ArtifactCollective &one : phase.collectives()) {
    std::string what = collectives ? collectives->check(one)
                                   : std::string(nameOf(one.kind)) +
                                         " is for the group '" + one.group +
                                         "', and there is none";
    if (what.empty())
      continue;
    error = {"'" + folder + "': " + what,
             "--group=" + one.group +
                 "=N says how many ranks run each stage together"};
    return false;
  }
  phase.setCollectives(collectives.get());
  return true;
}

std::string RankRun::mergeFiles(const std::vector<std::string> &files,
                                int member, std::string &merged) const {
  std::vector<std::pair<ArtifactTensor, std::string_view>> all;
  for (size_t rank = 0; rank < files.size(); ++rank) {
    if (grid.memberOf(static_cast<int>(rank)) != member)
      continue;
    const std::string &file = files[rank];
    std::vector<TensorEntry> entries;
    if (std::string what = readTensorHeader(file, entries); !what.empty())
      return what;
    for (const TensorEntry &entry : entries) {
      ArtifactTensor tensor;
      tensor.name = entry.name;
      tensor.dtype = typeOfFileType(entry.dtype);
      tensor.sizes = entry.sizes;
      all.emplace_back(tensor,
                       std::string_view(file).substr(entry.begin, entry.bytes));
    }
  }
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return a.first.name < b.first.name;
  });
  merged = encodeTensorFile(all);
  return "";
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
  memberWaiter = peers->over(*members);
  if (!options.group.empty())
    collectives =
        std::make_unique<GroupCollectives>(options.group, *memberWaiter);
}

/// What a replica's stages take of the inputs that are given.
int RankRun::takeShare(StepError &error) {
  int64_t count = grid.replicas;
  if (count == 1)
    return Done;
  for (int number : schedule.stagesOf(row()))
    for (const PipelineInput &input : pipeline.stages[number].inputs) {
      std::optional<GivenTensor> given = findInput(input.name);
      int64_t dim = input.splitDim;
      if (!given)
        continue; // Rank::checkInputs() says so.
      GivenTensor &taken = share[input.name] = *given;
      if (dim < 0 || dim >= static_cast<int64_t>(taken.sizes.size()))
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
      auto [outer, inner] = rowsOf(taken.dtype, taken.sizes, dim);
      std::string &bytes = shareBytes[input.name];
      bytes.resize(outer * inner);
      copyRows(outer, inner, given->bytes + replica() * inner, count * inner,
               bytes.data(), inner);
      taken.bytes = bytes.data();
    }
  findInput = [this](const std::string &name) -> std::optional<GivenTensor> {
    auto found = share.find(name);
    return found == share.end() ? std::nullopt : std::optional(found->second);
  };
  return Done;
}
