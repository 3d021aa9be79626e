// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction divides the body: what reads its result is computed in a later
// pass over the row. Stores of elements stand in the last pass, and behind all
// choices, so that a row is read before it is written. Functions that take
// longer than a store and a load are computed in one pass and kept for the
// others; everything else is computed again.

#include "NestPasses.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

NestPasses::NestPasses(kernel::NestOp nest, int64_t heldBytes)
    : nest(nest), isReduced(nest.findReduced()) {
  for (Operation &op : nest.getBlock()) {
    unsigned level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levelOf.lookup(operand));
    if (isa<kernel::ReduceOp, kernel::ReduceIndexOp>(op)) {
      if (sums.size() <= level)
        sums.resize(level + 1);
      sums[level++].push_back(&op);
    }
    if (isa<kernel::PickOp>(op))
      picks.push_back({&op, level});
    if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      bool isOfElement = llvm::any_of(
          store.getIndices(), [&](Value index) { return isElement(index); });
      (isOfElement ? elementStores : rowStores).push_back(store);
      if (isOfElement)
        storePass = std::max(storePass, level);
    }
    for (Value result : op.getResults())
      levelOf[result] = level;
  }
  for (auto [op, level] : picks)
    storePass = std::max(storePass, level);
  numPasses = static_cast<unsigned>(sums.size());
  if (!elementStores.empty()) {
    storePass = std::max(storePass, numPasses == 0 ? 0 : numPasses - 1);
    numPasses = std::max(numPasses, storePass + 1);
  }
  sums.resize(numPasses);
  held.resize(numPasses);
  if (!nest.getReduced().empty() && nest.getReduced().back())
    findHeld(heldBytes);
}

int64_t NestPasses::numReduced() const {
  kernel::NestOp loops = nest;
  int64_t count = 1;
  for (auto [extent, reduces] :
       llvm::zip_equal(loops.getExtents(), loops.getReduced()))
    count *= reduces ? extent : 1;
  return count;
}

/// Slower than to write a number and to read it again.
static bool isExpensive(Operation *op) {
  return isa<kernel::DrawOp>(op) ||
         (isa<math::MathDialect>(op->getDialect()) &&
          !isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::RsqrtOp,
               math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
               math::RoundEvenOp, math::CopySignOp, math::FmaOp, math::IsNaNOp,
               math::IsInfOp, math::IsFiniteOp>(op));
}

void NestPasses::findHeld(int64_t most) {
  llvm::DenseMap<Operation *, unsigned> firstPass;
  int64_t bytes = 0;
  for (unsigned pass = 0; pass < numPasses; ++pass) {
    llvm::DenseSet<Operation *> seen;
    SmallVector<Value> todo;
    for (Operation *op : sums[pass])
      todo.push_back(op->getOperand(0));
    if (isStorePass(pass))
      for (kernel::StoreOp store : elementStores)
        todo.push_back(store.getElement());
    while (!todo.empty()) {
      Value value = todo.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !isElement(value) || !seen.insert(op).second)
        continue;
      unsigned first = firstPass.try_emplace(op, pass).first->second;
      bool isKept = llvm::is_contained(held[first], value);
      if (first < pass && isExpensive(op) && !isKept &&
          bytes + 8 * numReduced() <= most) {
        bytes += 8 * numReduced();
        held[first].push_back(value);
        isKept = true;
      }
      if (!isKept)
        llvm::append_range(todo, op->getOperands());
    }
  }
}
