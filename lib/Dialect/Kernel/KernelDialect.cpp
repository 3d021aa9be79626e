// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of dialect `kernel`, and the verifier of the arena that it lends
// to the partition of a step.

#include "cutback/Dialect/Kernel/Kernel.h"

#include "ArenaProof.h"
#include "cutback/Dialect/Joint/Joint.h"

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

LogicalResult
KernelDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  if (attribute.getName() != kArena)
    return op->emitOpError("has the attribute '")
           << attribute.getName() << "', which dialect `kernel` does not have";
  auto partition = dyn_cast<cutback::joint::PartitionOp>(op);
  auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!partition || !bytes || !bytes.getType().isInteger(64))
    return op->emitOpError("'")
           << kArena << "' must be an i64 at a joint.partition";
  return proveArena(partition, bytes.getInt());
}
