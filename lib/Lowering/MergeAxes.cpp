// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes a and b, b inside of a, are one if every access depends on both or on
// neither, linearly, and the stride of a is that of b times its extent. Nothing
// else may use them: an index that is a number of a formula (a triangle's
// diagonal, an element of a random stream) keeps its axes.
//
// The order of iterations stays, so sums and choices along reduced axes do,
// too.

#include "MergeAxes.h"

#include <optional>

using namespace mlir;
using namespace cutback;

/// The factor of dimension `dim` in `expr`; nothing if it is not linear in it.
static std::optional<int64_t> factorOf(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() != AffineExprKind::Add &&
      expr.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  std::optional<int64_t> left = factorOf(binary.getLHS(), dim);
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<int64_t> right = factorOf(binary.getRHS(), dim);
    return left && right ? std::optional<int64_t>(*left + *right)
                         : std::nullopt;
  }
  auto times = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return left && times ? std::optional<int64_t>(*left * times.getValue())
                       : std::nullopt;
}

/// The number of `axis` among the indices of an access; -1 if it is none.
static int64_t placeOf(OperandRange indices, Value axis) {
  auto found = llvm::find(indices, axis);
  return found == indices.end() ? -1 : std::distance(indices.begin(), found);
}

template <typename Access>
static bool walksAsOne(Access access, Value outer, Value inner,
                       int64_t extent) {
  int64_t a = placeOf(access.getIndices(), outer);
  int64_t b = placeOf(access.getIndices(), inner);
  if (a < 0 || b < 0)
    return a < 0 && b < 0;
  AffineExpr expr = access.getMap().getResult(0);
  std::optional<int64_t> far = factorOf(expr, a), near = factorOf(expr, b);
  return far && near && *far == *near * extent &&
         llvm::count(access->getOperands(), outer) == 1 &&
         llvm::count(access->getOperands(), inner) == 1;
}

static bool areOne(kernel::NestOp nest, unsigned outer) {
  Value a = nest.getBody().getArgument(outer);
  Value b = nest.getBody().getArgument(outer + 1);
  int64_t extent = nest.getExtents()[outer + 1];
  if (nest.getReduced()[outer] != nest.getReduced()[outer + 1])
    return false;
  auto isFine = [&](Operation *user) {
    if (auto load = dyn_cast<kernel::LoadOp>(user))
      return walksAsOne(load, a, b, extent);
    auto store = dyn_cast<kernel::StoreOp>(user);
    return store && walksAsOne(store, a, b, extent);
  };
  return llvm::all_of(a.getUsers(), isFine) &&
         llvm::all_of(b.getUsers(), isFine);
}

/// The inner axis stands for both now.
template <typename Access> static void dropIndex(Access access, Value outer) {
  int64_t dropped = placeOf(access.getIndices(), outer);
  if (dropped < 0)
    return;
  MLIRContext *context = access.getContext();
  SmallVector<AffineExpr> dims;
  int64_t count = access.getIndices().size(), next = 0;
  for (int64_t i = 0; i < count; ++i)
    dims.push_back(i == dropped ? getAffineConstantExpr(0, context)
                                : getAffineDimExpr(next++, context));
  access.getIndicesMutable().erase(dropped);
  access.setMap(AffineMap::get(count - 1, 0,
                               access.getMap().getResult(0).replaceDims(dims)));
}

void cutback::mergeAxes(kernel::NestOp nest) {
  for (unsigned axis = nest.getBody().getNumArguments(); axis-- > 1;) {
    unsigned outer = axis - 1;
    if (!areOne(nest, outer))
      continue;
    Value dropped = nest.getBody().getArgument(outer);
    for (Operation *user : llvm::SmallSetVector<Operation *, 8>(
             dropped.user_begin(), dropped.user_end())) {
      if (auto load = dyn_cast<kernel::LoadOp>(user))
        dropIndex(load, dropped);
      else
        dropIndex(cast<kernel::StoreOp>(user), dropped);
    }
    SmallVector<int64_t> extents(nest.getExtents());
    SmallVector<bool> reduced(nest.getReduced());
    extents[axis] *= extents[outer];
    extents.erase(extents.begin() + outer);
    reduced.erase(reduced.begin() + outer);
    nest.setExtents(extents);
    nest.setReduced(reduced);
    nest.getBody().eraseArgument(outer);
  }
}
