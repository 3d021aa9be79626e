// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The network as two flat arrays: the arcs as they were added, and their ids
// sorted by tail and by head.
//
//   1. Check every arc and add up the finite capacities, watching for overflow:
//      the solvers rely on "1 + sum" being a number, and on no partial sum
//      overflowing.
//   2. If asked, merge arcs with equal ends: for each tail the heads it has
//      seen are stamped with the arc they were seen on.
//   3. Two stable counting sorts.
//
// Linear in vertices and arcs, no allocation per vertex.

#include "cutback/Partition/MaxFlow/FlowNetwork.h"

#include <algorithm>

using namespace cutback;

static std::string describe(const FlowArc &arc) {
  return "arc " + std::to_string(arc.from) + " -> " + std::to_string(arc.to) +
         " of capacity " + std::to_string(arc.capacity);
}

/// `sum` + `capacity`, or nothing when no number is left above it to stand for
/// infinity.
static std::optional<int64_t> addCapacity(int64_t sum, int64_t capacity) {
  if (capacity >= INT64_MAX - sum)
    return std::nullopt;
  return sum + capacity;
}

static std::string overflowMessage() {
  return "the finite capacities add up to more than 2^63 - 2; scale them down";
}

void FlowNetwork::clear(uint32_t numVertices) {
  vertexCount = std::max(numVertices, 2U);
  arcList.clear();
  finiteSum = 0;
  finished = false;
}

FlowError FlowNetwork::checkArcs() const {
  if (vertexCount >= (1U << 31) || arcList.size() >= (1U << 30))
    return "the network has " + std::to_string(vertexCount) + " vertices and " +
           std::to_string(arcList.size()) +
           " arcs; at most 2^31 - 1 and 2^30 - 1 are supported";
  for (const FlowArc &arc : arcList) {
    if (arc.from >= vertexCount || arc.to >= vertexCount)
      return describe(arc) + " ends outside the " +
             std::to_string(vertexCount) + " vertices";
    if (arc.capacity < kInfiniteCapacity)
      return describe(arc) + " is neither infinite (-1) nor at least 0";
  }
  return std::nullopt;
}

FlowError FlowNetwork::sumCapacities() {
  finiteSum = 0;
  for (const FlowArc &arc : arcList) {
    if (arc.isInfinite())
      continue;
    std::optional<int64_t> sum = addCapacity(finiteSum, arc.capacity);
    if (!sum)
      return overflowMessage();
    finiteSum = *sum;
  }
  return std::nullopt;
}

/// Sorts the arc ids by `end` of the arc into `begin` and `ids`.
static void countingSort(const std::vector<FlowArc> &arcs, uint32_t numVertices,
                         VertexId FlowArc::*end, std::vector<uint32_t> &begin,
                         std::vector<ArcId> &ids) {
  begin.assign(numVertices + 2, 0);
  // Counts go two places up, so that after filling begin[v] is the start of v.
  for (const FlowArc &arc : arcs)
    ++begin[arc.*end + 2];
  for (uint32_t v = 2; v < numVertices + 2; ++v)
    begin[v] += begin[v - 1];
  ids.resize(arcs.size());
  for (ArcId a = 0, e = static_cast<ArcId>(arcs.size()); a < e; ++a)
    ids[begin[arcs[a].*end + 1]++] = a;
}

void FlowNetwork::sortByEnds() {
  countingSort(arcList, vertexCount, &FlowArc::from, outBegin, outIds);
  countingSort(arcList, vertexCount, &FlowArc::to, inBegin, inIds);
}

void FlowNetwork::mergeParallelArcs(ParallelArcs rule) {
  countingSort(arcList, vertexCount, &FlowArc::from, outBegin, outIds);
  // By head: 1 + the arc of the current tail that goes there first.
  std::vector<ArcId> firstTo(vertexCount, 0);
  std::vector<uint8_t> absorbed(arcList.size(), 0);
  for (VertexId v = 0; v < vertexCount; ++v) {
    for (ArcId id : outArcs(v)) {
      FlowArc &arc = arcList[id];
      if (firstTo[arc.to] == 0) {
        firstTo[arc.to] = id + 1;
        continue;
      }
      FlowArc &first = arcList[firstTo[arc.to] - 1];
      absorbed[id] = 1;
      if (rule == ParallelArcs::LastWins || arc.isInfinite())
        first.capacity = arc.capacity;
      else if (!first.isInfinite())
        first.capacity += arc.capacity; // at most the sum of all, checked
    }
    for (ArcId id : outArcs(v))
      firstTo[arcList[id].to] = 0;
  }
  uint32_t kept = 0;
  for (ArcId id = 0; id < absorbed.size(); ++id)
    if (!absorbed[id])
      arcList[kept++] = arcList[id];
  arcList.resize(kept);
}

FlowError FlowNetwork::finish(ParallelArcs rule) {
  finished = false;
  FlowError error = checkArcs();
  // A capacity that another one replaces counts for nothing.
  if (!error && rule == ParallelArcs::LastWins)
    mergeParallelArcs(rule);
  if (!error)
    error = sumCapacities();
  if (error)
    return error;
  if (rule == ParallelArcs::Sum) {
    mergeParallelArcs(rule);
    // Finite arcs may have vanished in infinite ones.
    error = sumCapacities();
  }
  sortByEnds();
  finished = true;
  return error;
}

FlowError FlowNetwork::setCapacity(ArcId id, int64_t capacity) {
  if (!finished || id >= arcList.size())
    return "no arc " + std::to_string(id) + " in a finished network of " +
           std::to_string(arcList.size()) + " arcs";
  FlowArc changed = arcList[id];
  int64_t others = finiteSum - (changed.isInfinite() ? 0 : changed.capacity);
  changed.capacity = capacity;
  if (!changed.isInfinite()) {
    if (capacity < 0)
      return describe(changed) + " is neither infinite (-1) nor at least 0";
    std::optional<int64_t> sum = addCapacity(others, capacity);
    if (!sum)
      return overflowMessage();
    others = *sum;
  }
  finiteSum = others;
  arcList[id] = changed;
  return std::nullopt;
}
