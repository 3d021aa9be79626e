// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers inside of ops that do more than draw: dropout of attention
// and of recurrent layers.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H

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

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_DRAWS_H
