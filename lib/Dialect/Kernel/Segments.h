// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verifiers and the assembly of a step's segments share.
#ifndef CUTBACK_LIB_DIALECT_KERNEL_SEGMENTS_H
#define CUTBACK_LIB_DIALECT_KERNEL_SEGMENTS_H

#include "cutback/Dialect/Kernel/Kernel.h"

namespace cutback::kernel {

/// Fails with an error at `arena` unless its first two segments are the halves
/// of `partition`.
mlir::LogicalResult verifyHalves(ArenaOp arena, joint::PartitionOp partition,
                                 const StepSegments &step);

mlir::ParseResult parseBytes(mlir::OpAsmParser &parser,
                             mlir::IntegerAttr &bytes);
void printBytes(mlir::OpAsmPrinter &p, mlir::Operation *op,
                mlir::IntegerAttr bytes);
mlir::ParseResult parseSegmentName(mlir::OpAsmParser &parser,
                                   mlir::StringAttr &name);
void printSegmentName(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      mlir::StringAttr name);
mlir::ParseResult parseTaken(mlir::OpAsmParser &parser, mlir::ArrayAttr &from,
                             mlir::DenseI32ArrayAttr &results,
                             mlir::DenseI32ArrayAttr &arguments);
void printTaken(mlir::OpAsmPrinter &p, mlir::Operation *op,
                mlir::ArrayAttr from, mlir::DenseI32ArrayAttr results,
                mlir::DenseI32ArrayAttr arguments);

} // namespace cutback::kernel

#endif // CUTBACK_LIB_DIALECT_KERNEL_SEGMENTS_H
