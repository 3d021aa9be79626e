// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for MLIR's own pipelines to GPUs.
#ifndef CUTBACK_TARGET_NVVM_PASSES_H
#define CUTBACK_TARGET_NVVM_PASSES_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cutback {

#define GEN_PASS_DECL
#include "cutback/Target/NVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "cutback/Target/NVVM/Passes.h.inc"

} // namespace cutback

#endif // CUTBACK_TARGET_NVVM_PASSES_H
