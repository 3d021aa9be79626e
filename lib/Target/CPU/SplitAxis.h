// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest whose innermost loop steps through memory.
#ifndef CUTBACK_LIB_TARGET_CPU_SPLITAXIS_H
#define CUTBACK_LIB_TARGET_CPU_SPLITAXIS_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback::cpu {

/// A copy of `nest` behind it, with equal ops in equal order, whose innermost
/// axis is two: one of as many iterations as a divisor of it has multiples, and
/// in it one of the divisor's. Nothing where no access has a quotient or
/// remainder of the innermost axis, or where a vector would not fit in it.
kernel::NestOp splitInnermost(kernel::NestOp nest);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_SPLITAXIS_H
