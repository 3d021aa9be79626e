// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The network as a flat array of arcs, as they were added.
//
//   1. Check every arc and add up the finite capacities, watching for overflow:
//      the solvers rely on "1 + sum" being a number, and on no partial sum
//      overflowing.
//   2. If asked, merge arcs with equal ends: for each tail the heads it has
//      seen are stamped with the arc they were seen on.
//
// Linear in vertices and arcs, no allocation per vertex.

#include "cutback/Partition/MaxFlow/ArcIndex.h"

#include <algorithm>

using namespace cutback;

static std::string describe(const FlowArc &arc) {
  return "arc " + std::to_string(arc.from) + " -> " + std::to_string(arc.to) +
         " of capacity " + std::to_string(arc.capacity);
}

/// The sum of the finite capacities if checkArcs() and sumCapacities() have
/// nothing to say. One look at each arc, for the words are rarely needed.
static std::optional<int64_t> sumOfSoundArcs(const std::vector<FlowArc> &arcs,
                                             uint32_t numVertices) {
  if (numVertices >= (1U << 31) || arcs.size() >= (1U << 30))
    return std::nullopt;
  int64_t sum = 0, least = 0;
  VertexId last = 0;
  bool overflows = false;
  for (const FlowArc &arc : arcs) {
    last = std::max({last, arc.from, arc.to});
    least = std::min(least, arc.capacity);
    overflows |= __builtin_add_overflow(
        sum, arc.capacity + int64_t(arc.isInfinite()), &sum);
  }
  if (last >= numVertices || least < kInfiniteCapacity || overflows ||
      sum == INT64_MAX)
    return std::nullopt;
  return sum;
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

FlowError FlowNetwork::assignSound(uint32_t numVertices,
                                   std::vector<FlowArc> arcs,
                                   int64_t finiteSum) {
  assign(numVertices, std::move(arcs));
  if (FlowError error = checkSize())
    return error;
  this->finiteSum = finiteSum;
  finished = true;
  return std::nullopt;
}

FlowError FlowNetwork::checkSize() const {
  if (vertexCount >= (1U << 31) || arcList.size() >= (1U << 30))
    return "the network has " + std::to_string(vertexCount) + " vertices and " +
           std::to_string(arcList.size()) +
           " arcs; at most 2^31 - 1 and 2^30 - 1 are supported";
  return std::nullopt;
}

FlowError FlowNetwork::checkArcs() const {
  if (FlowError error = checkSize())
    return error;
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

void FlowNetwork::mergeParallelArcs(ParallelArcs rule) {
  ArcIndex index(*this);
  // By head: 1 + the arc of the current tail that goes there first.
  std::vector<ArcId> firstTo(vertexCount, 0);
  std::vector<uint8_t> absorbed(arcList.size(), 0);
  for (VertexId v = 0; v < vertexCount; ++v) {
    for (ArcId id : index.outArcs(v)) {
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
    for (ArcId id : index.outArcs(v))
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
  if (rule == ParallelArcs::Keep)
    if (auto sum = sumOfSoundArcs(arcList, vertexCount)) {
      finiteSum = *sum;
      finished = true;
      return std::nullopt;
    }
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
