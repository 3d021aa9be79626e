// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From shapes and the argument `dim` to loops.
//
// A pick (`gather` of one element a row) is a reduction whose terms are masked,
// a placement (`scatter` of one) is elementwise with a mask: both are
// recognized by their shapes. What is asked for in another number, or at places
// that broadcast, stays a gather or has no loops.

#include "cutback/Dialect/Aten/Loops.h"

#include "cutback/Dialect/Aten/CallReader.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

bool loops::none(Operation *, Shapes, IterationSpace &) { return false; }

bool loops::pointwise(Operation *op, Shapes shapes, IterationSpace &space) {
  return joint::pointwiseSpace(shapes, op->getNumOperands(), space);
}

bool loops::gather(Operation *op, Shapes shapes, IterationSpace &space) {
  return joint::gatherSpace(shapes, op->getNumOperands(), space);
}

/// The dimension that parameter `dim` names among `rank`; -1 if it is not known
/// or none.
static int64_t dimOf(const CallReader &call, int64_t rank) {
  int64_t dim = call.integer("dim").value_or(0);
  dim = dim < 0 ? dim + rank : dim;
  return dim < rank ? dim : -1;
}

bool loops::reduction(Operation *op, Shapes shapes, IterationSpace &space) {
  CallReader call{CallOp(op)};
  auto rank = static_cast<int64_t>(shapes.empty() ? 0 : shapes[0].size());
  SmallVector<int64_t> dims;
  if (!call.isNone(optional("dim"))) {
    if (auto one = call.integer(optional("dim")))
      dims.push_back(*one);
    else if (auto list = call.integers(optional("dim")))
      dims = std::move(*list);
    else
      return false;
  }
  if (rank == 0)
    dims.clear();
  else if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + rank : dim;
  return joint::reductionSpace(shapes, op->getNumOperands(), dims, space);
}

bool loops::pick(Operation *op, Shapes shapes, IterationSpace &space) {
  CallReader call{CallOp(op)};
  // Its indices count modulo the size: no row is picked from.
  if (CallOp(op).getPacketName() == "aten.take_along_dim")
    return gather(op, shapes, space);
  int table = call.operand("self"), index = call.operand(optional("index"));
  if (index < 0)
    index = call.operand(optional("indices"));
  if (table == 0 && index == 1 && op->getNumOperands() == 2 &&
      !shapes[0].empty() && shapes[0].size() == shapes[1].size()) {
    int64_t dim = dimOf(call, shapes[0].size());
    if (dim >= 0 && shapes[1][dim] == 1 &&
        joint::reductionSpace(shapes, 2, dim, space)) {
      bool isRow = true;
      for (size_t i = 0; i < shapes[0].size(); ++i) {
        bool isPicked = static_cast<int64_t>(i) == dim;
        isRow &= isPicked || shapes[1][i] == shapes[0][i];
        space.operands[1].push_back(isPicked ? IterationSpace::kOnce
                                             : static_cast<int8_t>(i));
      }
      space.isPick = true;
      if (isRow)
        return true;
    }
  }
  if (!joint::pointwiseSpace(shapes.drop_front(), 1, space))
    return gather(op, shapes, space);
  // The index is read where the result is written.
  space.operands.insert(space.operands.begin(), IterationSpace::Dims());
  space.isGathered.insert(space.isGathered.begin(), 1);
  return op->getNumOperands() == 2 || gather(op, shapes, space);
}

bool loops::place(Operation *op, Shapes shapes, IterationSpace &space) {
  CallReader call{CallOp(op)};
  unsigned numOperands = op->getNumOperands();
  int index = call.operand("index");
  if (call.operand("self") != 0 || index < 1 || shapes.size() <= numOperands ||
      shapes[0].empty())
    return false;
  int64_t dim = dimOf(call, shapes[0].size());
  SmallVector<int64_t> row(shapes[0]);
  if (dim < 0)
    return false;
  row[dim] = 1;
  for (unsigned i = 1; i < numOperands; ++i)
    if (isa<ShapedType>(op->getOperand(i).getType()) &&
        shapes[i] != ArrayRef<int64_t>(row))
      return false;
  // Broadcasts along `dim` as any operand of one element there.
  return joint::pointwiseSpace(shapes, numOperands, space);
}

bool loops::update(Operation *op, Shapes shapes, IterationSpace &space) {
  if (CallReader{CallOp(op)}.operand("self") != 0 || !gather(op, shapes, space))
    return false;
  space.updated = 0;
  return true;
}

bool loops::lookup(Operation *op, Shapes shapes, IterationSpace &space) {
  if (op->getNumOperands() < 2 || !gather(op, shapes, space))
    return false;
  size_t rank = shapes[1].size();
  if (rank + 1 != space.extents.size() ||
      !std::equal(shapes[1].begin(), shapes[1].end(), space.extents.begin()))
    return true;
  space.isGathered[1] = 0;
  for (size_t dim = 0; dim < rank; ++dim)
    space.operands[1].push_back(static_cast<int8_t>(dim));
  return true;
}

bool loops::concat(Operation *op, Shapes shapes, IterationSpace &space) {
  if (!gather(op, shapes, space) || space.extents.empty())
    return false;
  space.concatAxis = dimOf(CallReader{CallOp(op)}, space.extents.size());
  return space.concatAxis >= 0;
}
