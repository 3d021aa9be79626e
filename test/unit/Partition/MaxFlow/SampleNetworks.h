// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks that tests and benchmarks make up: as of joint graphs, and the deep
// ones that are hard, from a seed, the same on every machine (the standard
// library's distributions are not).
#ifndef CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_SAMPLENETWORKS_H
#define CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_SAMPLENETWORKS_H

#include "cutback/Partition/MaxFlow/FlowNetwork.h"

#include <algorithm>

namespace cutback::samples {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In 0 .. bound - 1.
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(next() % bound);
  }
  bool percent(uint32_t chance) { return below(100) < chance; }

private:
  uint64_t state;
};

/// The in vertex of op i; its out vertex follows.
inline VertexId inOf(uint32_t op) { return 2 + 2 * op; }
inline VertexId outOf(uint32_t op) { return 3 + 2 * op; }

/// A network as of a joint graph of `numOps` forward ops: each op has one to
/// three operands, most of them just before it; `banned` percent of the ops may
/// not be recomputed, `tapped` percent are read by the backward. The result is
/// not finished.
inline FlowNetwork makeJointLike(uint32_t numOps, uint64_t seed,
                                 uint32_t banned = 25, uint32_t tapped = 30) {
  Random random(seed);
  FlowNetwork network(2 + 2 * numOps);
  network.reserve(5 * numOps);
  for (uint32_t op = 0; op < numOps; ++op) {
    bool argument = op == 0 || random.percent(10);
    if (argument || random.percent(banned))
      network.addInfiniteArc(kSource, inOf(op));
    int64_t bytes = int64_t(4) << (8 + random.below(16));
    network.addArc(inOf(op), outOf(op), bytes + random.below(1000));
    if (!argument) {
      static constexpr uint32_t operandCount[] = {1, 1, 1, 2, 2, 3};
      for (uint32_t i = operandCount[random.below(6)]; i-- > 0;) {
        uint32_t back = random.percent(5) ? 1 + random.below(op)
                                          : 1 + random.below(std::min(op, 8U));
        network.addInfiniteArc(outOf(op - back), inOf(op));
      }
    }
    if (random.percent(tapped))
      network.addInfiniteArc(outOf(op), kSink);
  }
  return network;
}

/// A ladder: rows of `width` ops, each reading two random ops of the row above;
/// the first row cannot be recomputed, the backward reads the last row only.
/// Every augmenting path is as long as the ladder. Not finished.
inline FlowNetwork makeLadder(uint32_t numOps, uint32_t width, uint64_t seed) {
  Random random(seed);
  FlowNetwork network(2 + 2 * numOps);
  network.reserve(4 * numOps);
  for (uint32_t op = 0; op < numOps; ++op) {
    uint32_t row = op / width;
    if (row == 0) {
      network.addInfiniteArc(kSource, inOf(op));
    } else {
      uint32_t above = (row - 1) * width;
      network.addInfiniteArc(outOf(above + random.below(width)), inOf(op));
      network.addInfiniteArc(outOf(above + random.below(width)), inOf(op));
    }
    network.addArc(inOf(op), outOf(op), 1 + random.below(100000));
    if (op + width >= numOps)
      network.addInfiniteArc(outOf(op), kSink);
  }
  return network;
}

/// Layers of `width` vertices, each with `degree` arcs of finite capacity to
/// random vertices of the next layer, from the source to the sink: nothing to
/// contract, and as many ways around as arcs. Not finished.
inline FlowNetwork makeLayered(uint32_t numLayers, uint32_t width,
                               uint32_t degree, uint64_t seed) {
  Random random(seed);
  FlowNetwork network(2 + numLayers * width);
  network.reserve(numLayers * width * degree);
  for (uint32_t v = 0; v < numLayers * width; ++v) {
    uint32_t layer = v / width, below = (layer + 1) * width;
    if (layer == 0)
      network.addInfiniteArc(kSource, 2 + v);
    if (layer + 1 == numLayers)
      network.addInfiniteArc(2 + v, kSink);
    else
      for (uint32_t i = 0; i < degree; ++i)
        network.addArc(2 + v, 2 + below + random.below(width),
                       1 + random.below(100000));
  }
  return network;
}

} // namespace cutback::samples

#endif // CUTBACK_TEST_UNIT_PARTITION_MAXFLOW_SAMPLENETWORKS_H
