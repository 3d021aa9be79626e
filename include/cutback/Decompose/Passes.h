// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from exported programs to graphs that can be differentiated.
#ifndef CUTBACK_DECOMPOSE_PASSES_H
#define CUTBACK_DECOMPOSE_PASSES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Decompose/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cutback/Decompose/Passes.h.inc"

} // namespace cutback

#endif // CUTBACK_DECOMPOSE_PASSES_H
