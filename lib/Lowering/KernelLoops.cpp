// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests as the plan has them (KernelNest): ops that read each other are one
// nest, and so are those whose loops are of one shape, neighbours of one kind
// taken together. A concatenation has its own, one for each of its parts.
//
// Indices are affine over the axes of the nest, which leaves out loops of one
// iteration; a division that the extents answer disappears (IndexMath).

#include "KernelLoops.h"

#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Lowering/KernelBody.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

ArrayRef<int64_t> cutback::shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

int64_t cutback::product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

int64_t LoopOp::numReduced() const {
  int64_t count = 1;
  for (auto [extent, isReduced] :
       llvm::zip_equal(space.extents, space.isReduced))
    count *= isReduced ? extent : 1;
  return count;
}

SmallVector<int64_t> LoopOp::extents() const {
  if (isCopy)
    return SmallVector<int64_t>(shapeOf(op->getResult(0)));
  SmallVector<int64_t> list(space.extents.begin(), space.extents.end());
  for (auto [axis, extent] : llvm::enumerate(list))
    if (space.isReduced[axis] && !reduces())
      extent = 1;
  return list;
}

static bool fail(Operation *op, const Twine &why, std::string &problem) {
  if (problem.empty())
    problem = ("'" + op->getName().getStringRef() + "' " + why).str();
  return false;
}

bool LoopOps::find(ArrayRef<Operation *> given, std::string &problem) {
  for (Operation *op : given) {
    if (isFree(op) || isUndefined(op))
      continue;
    LoopOp one;
    one.op = op;
    if (!findSpace(one, problem))
      return false;
    for (Value value : op->getResults())
      numberOf[value] = ops.size();
    ops.push_back(std::move(one));
  }
  if (ops.empty())
    return fail(given.front(), "has nothing to compute", problem);
  findNests();
  return true;
}

bool LoopOps::findSpace(LoopOp &one, std::string &problem) const {
  Operation *op = one.op;
  if (op->getNumResults() == 0)
    return fail(op, "has no loops of its own", problem);
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value value : op->getOperands())
    shapes.push_back(shapeOf(value));
  for (Value value : op->getResults())
    shapes.push_back(shapeOf(value));
  if (int64_t viewed = getViewedOperand(op, 0); viewed >= 0) {
    one.isCopy = true;
    one.copied = isa<WriteOp>(op) ? 1 : static_cast<unsigned>(viewed);
    return op->getNumResults() == 1 ||
           fail(op, "has no loops of its own", problem);
  }
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  if (!fusible || !fusible.getIterationSpace(shapes, one.space) ||
      one.space.updated >= 0)
    return fail(op, "has no loops of its own", problem);
  if (product(one.space.extents) == 0)
    return fail(op, "has no elements", problem);
  one.isRowPick =
      one.space.isPick && contains(kernel::locate(op->getOperand(0)).root);
  auto lowerable = dyn_cast<LowerableOpInterface>(op);
  if (one.space.isPick || one.isConcat() || isa<RandomOp>(op) ||
      (lowerable && lowerable.hasElement()))
    return true;
  return fail(op, "has no element formula", problem);
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

using Shape = SmallVector<std::pair<int64_t, bool>>;

/// Loops, neighbours of one kind taken together, and those of one iteration
/// left out.
static Shape shapeOfLoops(const LoopOp &one) {
  Shape shape;
  for (auto [axis, extent] : llvm::enumerate(one.extents())) {
    bool isReduced = one.isReducedAxis(axis);
    if (extent == 1)
      continue;
    if (!shape.empty() && shape.back().second == isReduced)
      shape.back().first *= extent;
    else
      shape.push_back({extent, isReduced});
  }
  return shape;
}

static size_t numLoops(const LoopOp &one) {
  return llvm::count_if(one.extents(),
                        [](int64_t extent) { return extent != 1; });
}

void LoopOps::findNests() {
  // What an op of the launch reads belongs to it.
  std::vector<size_t> part(ops.size());
  std::iota(part.begin(), part.end(), 0);
  auto partOf = [&](size_t op) {
    while (part[op] != op)
      op = part[op];
    return op;
  };
  std::vector<uint8_t> isRead(ops.size(), 0);
  for (auto [number, one] : llvm::enumerate(ops))
    for (Value operand : one.op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      auto found = numberOf.find(kernel::locate(operand).root);
      if (found == numberOf.end() || found->second >= number)
        continue;
      isRead[found->second] = 1;
      part[partOf(found->second)] = partOf(number);
    }
  // The loops of a part are those of its last op that reduces, or last op.
  std::map<size_t, size_t> mainOf;
  for (size_t number = 0; number < ops.size(); ++number) {
    auto [main, isNew] = mainOf.try_emplace(partOf(number), number);
    if (ops[number].reduces() || !ops[main->second].reduces())
      main->second = number;
  }
  std::map<std::pair<size_t, Shape>, size_t> nestOf;
  for (size_t number = 0; number < ops.size(); ++number) {
    size_t main = mainOf[partOf(number)];
    size_t own = ops[main].isConcat() ? partOf(number) + 1 : 0;
    auto [found, isNew] =
        nestOf.try_emplace({own, shapeOfLoops(ops[main])}, nests.size());
    if (isNew)
      nests.push_back({main, {}});
    Nest &nest = nests[found->second];
    if (numLoops(ops[main]) > numLoops(ops[nest.main]))
      nest.main = main;
    ops[number].nest = found->second;
    if (!isRead[number])
      nest.last.push_back(number);
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

AffineExpr NestIndices::iteration(Axes axes) const {
  Indices indices;
  SmallVector<int64_t> strides;
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    if (!isOne(i, axes))
      continue;
    indices.push_back(getAffineDimExpr(i, context));
    strides.push_back(stride);
    stride *= extents[i];
  }
  return math().linearize(indices, strides, 0);
}

int64_t NestIndices::iterations(Axes axes) const {
  int64_t count = 1;
  for (auto [i, extent] : llvm::enumerate(extents))
    count *= isOne(i, axes) ? extent : 1;
  return count;
}

NestIndices::Indices NestIndices::ofResult(const LoopOp &one,
                                           ArrayRef<AffineExpr> axes,
                                           Value value) const {
  size_t rank = shapeOf(value).size();
  if (one.isCopy || rank == axes.size()) {
    Indices all(axes.begin(), axes.end());
    for (size_t axis = 0; !one.isCopy && axis < axes.size(); ++axis)
      if (one.space.isReduced[axis])
        all[axis] = getAffineConstantExpr(0, context);
    return all;
  }
  Indices kept;
  for (auto [axis, index] : llvm::enumerate(axes))
    if (!one.space.isReduced[axis])
      kept.push_back(index);
  return kept;
}

std::optional<NestIndices::Indices>
NestIndices::axesOf(const LoopOp &one, ArrayRef<AffineExpr> indices) const {
  if (one.isCopy)
    return Indices(indices.begin(), indices.end());
  size_t rank = one.space.extents.size();
  SmallVector<int64_t> sizes;
  for (auto [axis, extent] : llvm::enumerate(one.space.extents))
    if (one.space.isReduced[axis])
      sizes.push_back(extent);
  Indices reducedIndices(sizes.size(), getAffineConstantExpr(0, context));
  if (!sizes.empty() && one.reduces()) {
    if (iterations(Axes::Reduced) != product(sizes))
      return std::nullopt;
    reducedIndices = math().delinearize(iteration(Axes::Reduced), sizes);
  }
  bool hasAll = indices.size() == rank;
  Indices axes;
  size_t nextReduced = 0, next = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (one.space.isReduced[axis])
      axes.push_back(reducedIndices[nextReduced++]);
    else
      axes.push_back(indices[hasAll ? axis : next++]);
  }
  return axes;
}

NestIndices::Indices NestIndices::ofOperand(const LoopOp &one,
                                            ArrayRef<AffineExpr> axes,
                                            unsigned i) const {
  Value value = one.op->getOperand(i);
  if (one.isCopy) {
    ArrayRef<int64_t> shape = shapeOf(one.op->getResult(0));
    return math().delinearize(
        math().linearize(axes, Layout::contiguous(shape).strides, 0),
        shapeOf(value));
  }
  Indices indices;
  for (int8_t axis : one.space.operands[i])
    indices.push_back(axis == IterationSpace::kOnce
                          ? getAffineConstantExpr(0, context)
                          : axes[axis]);
  return indices;
}
