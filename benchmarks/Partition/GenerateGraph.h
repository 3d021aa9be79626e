// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joint graphs of any size, as the text that PyTorch would print: a stack of
// residual blocks with norm, matrix products, gating, and their backward.
#ifndef CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H
#define CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H

#include <cstdint>
#include <string>

namespace cutback::bench {

struct GraphShape {
  uint64_t ops = 1000;  ///< about; whole blocks are made
  uint64_t rows = 4096; ///< batch × sequence
  uint64_t width = 1024;
  /// One value (a rotary table, a mask) is read by every block.
  bool sharedValue = true;
};

std::string generateJointText(const GraphShape &shape);

} // namespace cutback::bench

#endif // CUTBACK_BENCHMARKS_PARTITION_GENERATEGRAPH_H
