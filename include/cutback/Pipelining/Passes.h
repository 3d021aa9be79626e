// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cutting into stages as a pass.
#ifndef CUTBACK_PIPELINING_PASSES_H
#define CUTBACK_PIPELINING_PASSES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Pipelining/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cutback/Pipelining/Passes.h.inc"

} // namespace cutback

#endif // CUTBACK_PIPELINING_PASSES_H
