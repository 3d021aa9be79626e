// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a step's messages, for a transport without tags: each rank finds
// that of all ranks, from the manifest and the schedule that all have, and
// takes its part.
//
//   1. The actions of each rank, overlaps in parts, as Rank runs them; their
//      durations are those of the manifest.
//   2. What crosses between two actions of two ranks is one transfer: a forward
//      makes values, the first action of a backward gradients.
//   3. orderTransfers()

#include "cutback/Runtime/Pipeline/Exchange.h"

#include "cutback/Schedule/TransferOrder.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// The places of actions that messages are between: by stage, whether it is the
/// forward, and micro-batch.
using Places = std::map<std::tuple<int, bool, int>, int>;

} // namespace

static Places findPlaces(const Schedule &schedule, const Costs &costs,
                         std::vector<std::vector<int64_t>> &durations) {
  Places places;
  for (const Row &row : schedule.rows) {
    std::vector<int64_t> &own = durations.emplace_back();
    for (const auto &action : row)
      if (action && isCompute(action->kind))
        forEachPart(*action, [&](const Action &part) {
          bool isForward = part.kind == ActionKind::Forward;
          if (isForward || makesInputGradients(part.kind))
            places[{part.stage, isForward, part.microBatch}] =
                static_cast<int>(own.size());
          own.push_back(costs.stages[part.stage].time(part.kind));
        });
  }
  return places;
}

std::vector<MessageGroup> Exchange::order(const Costs &costs) const {
  std::vector<std::vector<int64_t>> durations;
  Places places = findPlaces(schedule, costs, durations);
  std::vector<Transfer> transfers;
  std::vector<std::vector<int64_t>> tags; ///< by transfer
  std::map<std::tuple<int, int, int, int>, size_t> known;
  for (size_t i = 0; i < all.size(); ++i)
    for (int k = 0; k < schedule.microBatches; ++k)
      for (Direction direction : {Value, Gradient}) {
        bool isValue = direction == Value;
        int from = isValue ? all[i].from : all[i].to;
        int to = isValue ? all[i].to : all[i].from;
        auto made = places.find({from, isValue, k});
        auto used = places.find({to, isValue, k});
        Transfer one;
        one.from = schedule.rankOfStage[from];
        one.to = schedule.rankOfStage[to];
        bool isThere = made != places.end() && used != places.end() &&
                       (isValue || all[i].hasGradient);
        if (!isThere || one.from == one.to)
          continue;
        one.made = made->second;
        one.used = used->second;
        auto [found, isNew] = known.try_emplace(
            {one.from, one.made, one.to, one.used}, transfers.size());
        if (isNew) {
          transfers.push_back(one);
          tags.emplace_back();
        }
        tags[found->second].push_back(tagOf(static_cast<int>(i), k, direction));
      }
  std::vector<MessageGroup> groups;
  int own = peers.transport.rank();
  auto ordered = orderTransfers(durations, transfers);
  for (int number : ordered.value_or(std::vector<int>())) {
    const Transfer &one = transfers[number];
    if (one.from == own)
      groups.push_back({one.to, /*isSend=*/true, tags[number]});
    else if (one.to == own)
      groups.push_back({one.from, /*isSend=*/false, tags[number]});
  }
  return groups;
}
