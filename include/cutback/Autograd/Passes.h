// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differentiation as a pass.
#ifndef CUTBACK_AUTOGRAD_PASSES_H
#define CUTBACK_AUTOGRAD_PASSES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Autograd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cutback/Autograd/Passes.h.inc"

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_PASSES_H
