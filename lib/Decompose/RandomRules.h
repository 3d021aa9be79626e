// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops of dialect `aten`, each in terms of `joint.random` and pure ops.
#ifndef CUTBACK_LIB_DECOMPOSE_RANDOMRULES_H
#define CUTBACK_LIB_DECOMPOSE_RANDOMRULES_H

#include "Rules.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Random.h"

namespace cutback::decompose {

/// Where the numbers of an op come from.
struct RandomSource {
  mlir::Value seed;
  mlir::Value round;  ///< of the loop around; null outside
  int64_t stream = 0; ///< the next op's
};

/// Whether there is a rule for `op`, which draws.
bool hasRandomRule(aten::CallOp op);

/// Builds what stands for `op`, in front of it, from the next stream; the
/// values of its results, or nothing after an error.
Values buildRandom(aten::CallOp op, RandomSource &source,
                   aten::ValueNamer &namer);

} // namespace cutback::decompose

#endif // CUTBACK_LIB_DECOMPOSE_RANDOMRULES_H
