// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal are ops of one kind and the same attributes on the same scalars, found
// by hash, from the first to the last. Then those that nobody reads are gone,
// from the last to the first. Stores stay as they are.
//
// Linear.

#include "MergeScalars.h"

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback;

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
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isa<kernel::StoreOp>(op) && op.use_empty())
      op.erase();
}
