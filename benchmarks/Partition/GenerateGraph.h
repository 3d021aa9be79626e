// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joint graphs of any size, as the text that PyTorch would print: a stack of
// gated residual blocks, or a decoder with attention, and their backward.
#ifndef CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H
#define CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H

#include <cstdint>
#include <string>

namespace cutback::bench {

struct GraphShape {
  uint64_t ops = 1000; ///< about; whole blocks are made
  int64_t rows = 4096; ///< batch × sequence; of a decoder in sequences of 1024
  int64_t width = 1024;
  /// One value (a rotary table, a mask) is read by every block.
  bool sharedValue = true;
};

constexpr int64_t kTokens = 1024;

/// Blocks of norm, one matrix product and a gate.
std::string generateJointText(const GraphShape &shape);
/// Layers of attention and a gated feed-forward network.
std::string generateDecoderText(const GraphShape &shape);

} // namespace cutback::bench

#endif // CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H
