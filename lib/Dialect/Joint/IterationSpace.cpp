// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three kinds of loop nests that nearly all ops have: pointwise, reduction,
// gather.
//
// Sizes decide: a dimension of one is read at 0, one of another size than the
// axis is no loop of this kind. A size that is not known is none either, so
// that nobody takes two unknown sizes for equal.

#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace cutback::joint;
using llvm::ArrayRef;

/// Sets the axes to `shape`. False if a size is not known.
static bool setAxes(ArrayRef<int64_t> shape, unsigned numOperands,
                    IterationSpace &space) {
  if (llvm::any_of(
          shape,
          [](int64_t size) { return mlir::ShapedType::isDynamic(size); }) ||
      shape.size() > 127)
    return false;
  space = IterationSpace();
  space.extents.assign(shape.begin(), shape.end());
  space.isReduced.assign(shape.size(), 0);
  space.operands.resize(numOperands);
  space.isGathered.assign(numOperands, 0);
  return true;
}

bool cutback::joint::pointwiseSpace(OpShapes shapes, unsigned numOperands,
                                    IterationSpace &space) {
  if (shapes.size() <= numOperands ||
      !llvm::all_equal(shapes.drop_front(numOperands)) ||
      !setAxes(shapes[numOperands], numOperands, space))
    return false;
  size_t rank = space.extents.size();
  for (unsigned i = 0; i < numOperands; ++i) {
    ArrayRef<int64_t> shape = shapes[i];
    if (shape.size() > rank)
      return false;
    size_t lead = rank - shape.size();
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      bool isWhole = shape[dim] == space.extents[lead + dim];
      if (!isWhole && shape[dim] != 1)
        return false;
      space.operands[i].push_back(isWhole ? static_cast<int8_t>(lead + dim)
                                          : IterationSpace::kOnce);
    }
  }
  return true;
}

bool cutback::joint::reductionSpace(OpShapes shapes, unsigned numOperands,
                                    ArrayRef<int64_t> reduced,
                                    IterationSpace &space) {
  if (!numOperands || shapes.size() <= numOperands ||
      !llvm::all_equal(shapes.drop_front(numOperands)) ||
      !setAxes(shapes.front(), numOperands, space))
    return false;
  for (int64_t dim : reduced) {
    if (dim < 0 || dim >= static_cast<int64_t>(space.extents.size()))
      return false;
    space.isReduced[dim] = 1;
  }
  for (size_t dim = 0; dim < space.extents.size(); ++dim)
    space.operands[0].push_back(static_cast<int8_t>(dim));
  llvm::SmallVector<int64_t> dropped, kept;
  for (auto [size, isReduced] :
       llvm::zip_equal(space.extents, space.isReduced)) {
    kept.push_back(isReduced ? 1 : size);
    if (!isReduced)
      dropped.push_back(size);
  }
  ArrayRef<int64_t> result = shapes[numOperands];
  return result == ArrayRef<int64_t>(dropped) ||
         result == ArrayRef<int64_t>(kept);
}

bool cutback::joint::gatherSpace(OpShapes shapes, unsigned numOperands,
                                 IterationSpace &space) {
  if (shapes.size() <= numOperands ||
      !llvm::all_equal(shapes.drop_front(numOperands)) ||
      !setAxes(shapes[numOperands], numOperands, space))
    return false;
  space.isGathered.assign(numOperands, 1);
  return true;
}
