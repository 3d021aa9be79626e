// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements an op reads and writes, loop by loop: what two ops must agree
// on to become one kernel.
#ifndef CUTBACK_DIALECT_JOINT_ITERATIONSPACE_H
#define CUTBACK_DIALECT_JOINT_ITERATIONSPACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace cutback::joint {

/// The loop nest of one op. All results have one shape: the extents of the axes
/// that are not reduced, from the outermost on; a reduced axis may stand in a
/// result as a dimension of one.
struct IterationSpace {
  /// A dimension that is read at 0, whatever the axes.
  static constexpr int8_t kOnce = -1;

  using Dims = llvm::SmallVector<int8_t, 6>;

  /// Sizes in elements, and whether the axis is combined into one element.
  llvm::SmallVector<int64_t, 6> extents;
  llvm::SmallVector<uint8_t, 6> isReduced;
  /// By operand, by dimension: the axis that walks it, or kOnce. Empty for what
  /// is no tensor.
  llvm::SmallVector<Dims, 4> operands;
  /// By operand: read at indices that depend on values, or that one axis a
  /// dimension does not describe. Who takes the op in still can compute it for
  /// any element; its operand must be in memory.
  llvm::SmallVector<uint8_t, 4> isGathered;
  /// Each result is one element along the reduced axes, chosen by an index
  /// (`gather` of one element a row): reading that element alone will do.
  bool isPick = false;
  /// The result is this operand but for elements at places that depend on
  /// values (`index_put`), and may be written over it; -1 if it is none. The
  /// loops do not say which: such an op is a kernel of its own.
  int updated = -1;
  /// The results lie behind each other along an axis, one an operand.
  int concatAxis = -1;
};

using OpShapes = llvm::ArrayRef<llvm::ArrayRef<int64_t>>;

/// One element from the same place of each operand; an operand may lack leading
/// dimensions and have dimensions of one. `shapes` are those of the operands
/// and then of the results, as in CostModelOpInterface. False where the shapes
/// are not of that kind, or not known.
bool pointwiseSpace(OpShapes shapes, unsigned numOperands,
                    IterationSpace &space);

/// Operand 0 combined along the dimensions in `reduced`; the other operands
/// are not tensors. False where the results are not what is left of it.
bool reductionSpace(OpShapes shapes, unsigned numOperands,
                    llvm::ArrayRef<int64_t> reduced, IterationSpace &space);

/// The axes of the first result; every operand is gathered.
bool gatherSpace(OpShapes shapes, unsigned numOperands, IterationSpace &space);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_ITERATIONSPACE_H
