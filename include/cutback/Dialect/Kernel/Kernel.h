// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `kernel`: launches of kernels, and their bodies on elements.
#ifndef CUTBACK_DIALECT_KERNEL_KERNEL_H
#define CUTBACK_DIALECT_KERNEL_KERNEL_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <vector>

#include "cutback/Dialect/Kernel/KernelDialect.h.inc"
#include "cutback/Dialect/Kernel/KernelEnums.h.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Kernel/KernelOps.h.inc"

namespace cutback::kernel {

/// Discardable attribute of a random op that takes no seed: its number among
/// the draws of the step, in whose order they run.
inline constexpr llvm::StringLiteral kDrawNumber = "kernel.draw_number";

/// Discardable attribute of an op in a graph of a call: its number there before
/// launches were formed. An op that several launches repeat has one number.
inline constexpr llvm::StringLiteral kGivenNumber = "kernel.given_number";

/// Discardable attribute of a launch of a step whose sizes are symbols: an op
/// of it computes another element than the one whose turn it is, so that no
/// result may lie where an operand lay.
inline constexpr llvm::StringLiteral kUnaligned = "kernel.unaligned";

/// Names of the segments that are the halves of a partition.
inline constexpr llvm::StringLiteral kForward = "forward";
inline constexpr llvm::StringLiteral kBackward = "backward";

/// The arena of the step of launches that `partition` belongs to; null if there
/// is none.
ArenaOp findArena(joint::PartitionOp partition);

/// Lists both halves of `partition`, functions of launches, in `arena`.
void addHalves(ArenaOp arena, joint::PartitionOp partition);

/// The segments of a step, with their functions.
struct StepSegments {
  llvm::SmallVector<SegmentOp, 3> ops;
  llvm::SmallVector<mlir::func::FuncOp, 3> functions;
  /// From the argument of a function to what an earlier one hands over.
  llvm::DenseMap<mlir::Value, mlir::Value> handed;
};

/// Those of `arena`. Fails with an error at a segment that is none.
mlir::FailureOr<StepSegments> findSegments(ArenaOp arena);

/// The tensor inside of launches that `value` is.
mlir::Value insideOf(mlir::Value value);

/// Where the elements of a tensor lie.
struct Place {
  /// An argument of the function, or the result of an op that is no view.
  mlir::Value root;
  Layout layout; ///< in the root's memory
  /// False of, and behind, a view whose size depends on data: there is no
  /// layout, and it may be a copy.
  bool isKnown = true;
};

/// The memory that a kernel has of all elements of `tensor`, an argument or
/// what is no view: signless, of a complex number both parts; of so many as are
/// not known where a size is not.
mlir::MemRefType memoryOf(mlir::RankedTensorType tensor);

/// Bytes of the arena that one result of a launch lies in.
struct HeldBytes {
  int64_t begin = 0, end = 0;
  /// The launch that writes them, and the last op that reads them; null for
  /// what is read behind the step.
  mlir::Operation *born = nullptr, *dies = nullptr;
};

/// All of the step of `arena`, which verifies, in the order of launches.
std::vector<HeldBytes> findHeldBytes(ArenaOp arena);

/// The place of `tensor`, launches and views looked through. O(views).
Place locate(mlir::Value tensor);

/// Whether all `indices` of an access are axes and places of kernel.choose: the
/// verifier has proved that it stays inside of its memory.
bool isInside(mlir::ValueRange indices);

/// Whether `expr`, at `indices` of an access, is made of axes and natural
/// numbers alone, or of chosen places: then it is never negative.
bool isNatural(mlir::AffineExpr expr, mlir::ValueRange indices);

} // namespace cutback::kernel

#endif // CUTBACK_DIALECT_KERNEL_KERNEL_H
