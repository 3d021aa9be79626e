// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes over training graphs and the halves made from them.
#ifndef CUTBACK_TRANSFORMS_PASSES_H
#define CUTBACK_TRANSFORMS_PASSES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cutback/Transforms/Passes.h.inc"

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_PASSES_H
