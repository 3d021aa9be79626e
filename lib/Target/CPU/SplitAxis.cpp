// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where heads of attention are columns of a product, element k of a row lies at
// (k / 64) * stride + k mod 64. In one loop over k a compiler divides for every
// element, and gathers. As a loop over k / 64 and one over k mod 64 the inner
// loop steps by one element, which is a vector's load.
//
// Iterations and their order are the same, so every sum has the bits that it
// had.

#include "SplitAxis.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;

/// Below, an inner loop is not worth its begin and end.
static constexpr int64_t kLeastInner = 8;

/// Maps and indices of an access, where `op` is one.
static AffineMap mapOf(Operation *op, ValueRange &indices) {
  if (auto load = dyn_cast<kernel::LoadOp>(op)) {
    indices = load.getIndices();
    return load.getMap();
  }
  if (auto store = dyn_cast<kernel::StoreOp>(op)) {
    indices = store.getIndices();
    return store.getMap();
  }
  return {};
}

/// The number that `expr` divides dimension `dim` itself by; 0 otherwise.
static int64_t divisorOf(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::FloorDiv &&
                  expr.getKind() != AffineExprKind::Mod))
    return 0;
  auto divided = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divided && divided.getPosition() == dim && by ? by.getValue() : 0;
}

/// The least number from kLeastInner on that an access divides the innermost
/// axis by, and that divides its extent; 0 if there is none, or if something
/// else than accesses reads the axis.
static int64_t findDivisor(kernel::NestOp nest) {
  const int64_t extent = nest.getExtents().back();
  Value axis = nest.getBlock().getArguments().back();
  int64_t least = 0;
  for (Operation *user : axis.getUsers()) {
    ValueRange indices;
    AffineMap map = mapOf(user, indices);
    if (!map)
      return 0;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      if (index != axis)
        continue;
      map.getResult(0).walk([&, dim = unsigned(dim)](AffineExpr expr) {
        const int64_t by = divisorOf(expr, dim);
        if (by >= kLeastInner && by < extent && extent % by == 0 &&
            (least == 0 || by < least))
          least = by;
      });
    }
  }
  return least;
}

namespace {
/// Dimension `dim` as outer * by + inner.
struct Split {
  unsigned dim;
  int64_t by;
  AffineExpr outer, inner;

  AffineExpr of(AffineExpr expr) const {
    if (auto one = dyn_cast<AffineDimExpr>(expr))
      return one.getPosition() == dim ? outer * by + inner : expr;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return expr;
    const int64_t divisor = divisorOf(expr, dim);
    if (divisor == 0 || divisor % by != 0)
      return getAffineBinaryOpExpr(expr.getKind(), of(binary.getLHS()),
                                   of(binary.getRHS()));
    if (expr.getKind() == AffineExprKind::FloorDiv)
      return outer.floorDiv(divisor / by);
    return (outer % (divisor / by)) * by + inner;
  }
};
} // namespace

/// The access with `inner` as one more index.
template <typename AccessOp>
static void splitAccess(AccessOp access, Value axis, Value inner, int64_t by) {
  AffineMap map = access.getMap();
  MLIRContext *context = map.getContext();
  AffineExpr result = map.getResult(0);
  const unsigned last = map.getNumDims();
  bool isRead = false;
  for (auto [dim, index] : llvm::enumerate(access.getIndices())) {
    if (index != axis)
      continue;
    isRead = true;
    result = Split{unsigned(dim), by, getAffineDimExpr(dim, context),
                   getAffineDimExpr(last, context)}
                 .of(result);
  }
  if (!isRead)
    return;
  access.setMap(AffineMap::get(last + 1, map.getNumSymbols(), result));
  access.getIndicesMutable().append(inner);
}

kernel::NestOp cpu::splitInnermost(kernel::NestOp nest) {
  if (!nest.getSizes().empty() || nest.getExtents().empty())
    return {};
  const int64_t by = findDivisor(nest);
  if (by == 0)
    return {};
  OpBuilder builder(nest.getContext());
  builder.setInsertionPointAfter(nest);
  auto split = cast<kernel::NestOp>(builder.clone(*nest));
  auto extents = llvm::to_vector(nest.getExtents());
  SmallVector<bool> reduced; // to_vector would read two pointers as bools
  llvm::append_range(reduced, nest.getReduced());
  extents.back() /= by;
  extents.push_back(by);
  reduced.push_back(reduced.back());
  split.setExtents(extents);
  split.setReduced(reduced);
  Block &block = split.getBlock();
  Value axis = block.getArguments().back();
  Value inner = block.addArgument(builder.getIndexType(), axis.getLoc());
  for (Operation &op : block) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      splitAccess(load, axis, inner, by);
    if (auto store = dyn_cast<kernel::StoreOp>(op))
      splitAccess(store, axis, inner, by);
  }
  return split;
}
