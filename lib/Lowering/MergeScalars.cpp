// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal are ops of one kind and the same attributes on the same scalars, found
// by hash, from the first to the last. Then those that nobody reads are gone,
// from the last to the first. Stores stay as they are.
//
// Then an access has one dimension for each index that it takes, and none for a
// constant: so a module that is read from its text has the accesses that were
// written, and what is known of a place is no number that data say.
//
// Linear.

#include "MergeScalars.h"

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;

template <typename Access> static void mergeIndices(Access access) {
  MLIRContext *context = access->getContext();
  SmallVector<Value> indices;
  SmallVector<AffineExpr> dims;
  for (Value index : access.getIndices()) {
    APInt constant;
    if (matchPattern(index, m_ConstantInt(&constant))) {
      dims.push_back(getAffineConstantExpr(constant.getSExtValue(), context));
      continue;
    }
    auto *known = llvm::find(indices, index);
    dims.push_back(getAffineDimExpr(known - indices.begin(), context));
    if (known == indices.end())
      indices.push_back(index);
  }
  if (indices.size() == dims.size())
    return;
  AffineExpr expr = access.getMap().getResult(0).replaceDims(dims);
  access.setMap(AffineMap::get(indices.size(), 0, expr));
  access.getIndicesMutable().assign(indices);
}

void cutback::mergeScalars(Block &block) {
  using Equivalence = OperationEquivalence;
  constexpr auto flags = Equivalence::IgnoreLocations;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> earlier;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<kernel::StoreOp>(op))
      continue;
    size_t hash = Equivalence::computeHash(&op, Equivalence::directHashValue,
                                           Equivalence::ignoreHashValue, flags);
    auto &alike = earlier[hash];
    auto *same = llvm::find_if(alike, [&](Operation *other) {
      return Equivalence::isEquivalentTo(
          &op, other, Equivalence::exactValueMatch, nullptr, flags);
    });
    if (same == alike.end()) {
      alike.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*same);
    op.erase();
  }
  for (Operation &op : block) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      mergeIndices(load);
    else if (auto store = dyn_cast<kernel::StoreOp>(op))
      mergeIndices(store);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isa<kernel::StoreOp>(op) && op.use_empty())
      op.erase();
}
