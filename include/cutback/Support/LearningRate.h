// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast a training goes.
#ifndef CUTBACK_SUPPORT_LEARNINGRATE_H
#define CUTBACK_SUPPORT_LEARNINGRATE_H

#include <cstdint>

namespace cutback {

/// The learning rate of each step.
struct LearningRate {
  enum Kind { Constant, Cosine } kind = Constant;
  double peak = 0;
  double least = 0;   ///< where the cosine ends
  int64_t warmup = 0; ///< steps of a linear rise from peak / warmup to peak
  int64_t steps = 1;  ///< of the whole training: where the cosine ends

  /// Of step number `step`, counted from 0.
  double at(int64_t step) const;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_LEARNINGRATE_H
