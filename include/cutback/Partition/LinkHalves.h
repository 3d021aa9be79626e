// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two functions that were stored apart become a partition again.
#ifndef CUTBACK_PARTITION_LINKHALVES_H
#define CUTBACK_PARTITION_LINKHALVES_H

#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/Halves.h"

namespace cutback {

/// Moves `forward` and `backward` behind `graph`, brings their saved values
/// into one order (sizes, then tensors, first among the backward's arguments),
/// leaves out backward results that are no gradients, and adds the
/// `joint.partition`. `signature` is that of the certificate, which has
/// accepted the halves: nothing is checked here. Linear.
Partition linkHalves(joint::GraphOp graph, mlir::func::FuncOp forward,
                     mlir::func::FuncOp backward,
                     const HalvesSignature &signature);

} // namespace cutback

#endif // CUTBACK_PARTITION_LINKHALVES_H
