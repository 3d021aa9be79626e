// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call as a function that the interpreter runs.
#ifndef CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H
#define CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H

#include "CallText.h"

namespace cutback::cuda {

/// The kernel of `op`, which has no machine code. Nothing where the interpreter
/// has no kernel either, where it draws random numbers, or where a size that it
/// takes is not known.
std::optional<CallKernel> writeInterpretedCall(mlir::Operation *op);

/// Values of a step that have no place in its memory, because their size
/// depends on data: the interpreter holds them.
class HeldValues {
public:
  explicit HeldValues(const kernel::StepSegments &segments)
      : segments(segments) {}

  /// Whether `launch` makes or reads such a value.
  bool areOf(kernel::LaunchOp launch) const;
  /// Such a launch as one kernel of the interpreter. Nothing where an op of it
  /// cannot be run by itself.
  std::optional<CallKernel> write(kernel::LaunchOp launch);

  /// Whether `op`, between launches, takes a number out of a tensor, or gives
  /// one to a later segment: the memory that it is from may be another's where
  /// the number is read.
  bool isNumber(mlir::Operation *op) const;
  std::optional<CallKernel> writeNumber(mlir::Operation *op);

  bool holds(mlir::Value value) const;
  /// Under which it is held, from now on.
  std::string nameOf(mlir::Value value);

private:
  bool isOfData(mlir::Value value) const;

  const kernel::StepSegments &segments;
  llvm::DenseMap<mlir::Value, size_t> names; ///< by number
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_INTERPRETEDCALL_H
