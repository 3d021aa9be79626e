// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers inside of ops that do more than draw: dropout of attention
// and of recurrent layers. Distributions that draw as often as they need to.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H

#include "../Philox.h"

#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

/// What the numbers that an op draws are a function of.
struct RandomState {
  uint64_t seed = 0, stream = 0;
};

/// The state of this op: the seed of the run and the name of the op's first
/// result.
RandomState randomState(const KernelCall &call);
/// `count` factors: 0 with probability `p`, else 1 / (1 - p). Empty if `p` is
/// 0.
std::vector<double> keepFactors(const RandomState &state, double p,
                                int64_t count);

/// Number `i`: how many waits fit into a time of `rate`, 2^24 at most.
double drawPoisson(Philox &generator, uint64_t i, double rate);
/// Number `i`: how many of `trials` succeed; NaN if they are not from 0 to
/// 2^31.
double drawBinomial(Philox &generator, uint64_t i, double trials,
                    double chance);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H
