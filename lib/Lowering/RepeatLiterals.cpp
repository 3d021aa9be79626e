// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the first launch to the last for which ops are literals or their views;
// from the last to the first for the copies, so that a view stands behind the
// copy of what it shows. A literal that somebody outside of the launches still
// reads moves to the beginning of the half.
// Linear.

#include "RepeatLiterals.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Literal.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Once in each launch with a reader, in front of it.
static void repeat(Operation *literal,
                   llvm::DenseMap<Operation *, size_t> &launchOf,
                   ArrayRef<std::vector<Operation *>> launches,
                   std::vector<SmallVector<Operation *, 2>> &repeated) {
  if (isLiteral(literal) && !isUniformLiteral(literal))
    return;
  llvm::MapVector<size_t, Operation *> copies;
  for (OpOperand &use : llvm::make_early_inc_range(literal->getUses())) {
    Operation *reader =
        literal->getBlock()->findAncestorOpInBlock(*use.getOwner());
    auto found = launchOf.find(reader);
    if (found == launchOf.end())
      continue;
    Operation *&copy = copies[found->second];
    if (!copy) {
      copy = literal->clone();
      auto &before = repeated[found->second];
      Operation *first =
          before.empty() ? launches[found->second].front() : before.back();
      literal->getBlock()->getOperations().insert(Block::iterator(first), copy);
      before.push_back(copy);
      launchOf[copy] = found->second;
    }
    use.set(copy->getResult(cast<OpResult>(use.get()).getResultNumber()));
  }
}

void cutback::repeatLiterals(std::vector<std::vector<Operation *>> &launches) {
  llvm::DenseMap<Operation *, size_t> launchOf;
  llvm::DenseSet<Operation *> literals;
  for (auto [number, launch] : llvm::enumerate(launches))
    for (Operation *op : launch) {
      launchOf[op] = number;
      auto isOfLiterals = [&](Value value) {
        Operation *definer = value.getDefiningOp();
        return definer ? literals.contains(definer) : isLiteral(op);
      };
      if ((isLiteral(op) || getViewedOperand(op, 0) >= 0) &&
          llvm::all_of(op->getOperands(), isOfLiterals))
        literals.insert(op);
    }
  std::vector<SmallVector<Operation *, 2>> repeated(launches.size());
  for (auto &launch : llvm::reverse(launches)) {
    std::vector<Operation *> others;
    for (Operation *op : llvm::reverse(launch)) {
      if (!literals.contains(op)) {
        others.push_back(op);
        continue;
      }
      repeat(op, launchOf, launches, repeated);
      if (op->use_empty())
        op->erase();
      else
        op->moveBefore(&op->getBlock()->front());
    }
    launch.assign(others.rbegin(), others.rend());
  }
  for (auto [launch, copies] : llvm::zip_equal(launches, repeated))
    launch.insert(launch.begin(), copies.rbegin(), copies.rend());
}
