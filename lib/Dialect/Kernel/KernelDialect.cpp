// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of dialect `kernel`.

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cutback::kernel;

#include "cutback/Dialect/Kernel/KernelDialect.cpp.inc"
#include "cutback/Dialect/Kernel/KernelEnums.cpp.inc"

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "cutback/Dialect/Kernel/KernelOps.cpp.inc"
      >();
}
