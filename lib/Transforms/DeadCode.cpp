// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dead code elimination on one block: from the last op to the first, erase
// what has no users and no effects. The walk sees all users of an op before
// the op, so one pass removes whole chains.
//
// What an op may do is asked of `RematerializableOpInterface` where it has it
// and of MLIR's memory effects elsewhere. An unseeded random op may go when
// nothing reads it: its draw is its own.
//
// MLIR's own region DCE costs ten times as much, because it iterates over
// regions to a fixed point. Linear; ops without users are the only ones asked.

#include "cutback/Transforms/DeadCode.h"

#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool mayGo(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (auto model = dyn_cast<RematerializableOpInterface>(op))
    return !model.hasOrderedEffects();
  return wouldOpBeTriviallyDead(op);
}

DeadCode cutback::eliminateDeadCode(Block &block) {
  DeadCode found;
  DictionaryAttr none =
      block.empty() ? nullptr : DictionaryAttr::get(block.front().getContext());
  for (Operation *op = block.empty() ? nullptr : &block.back(); op;) {
    Operation *before = op->getPrevNode();
    prefetchOp(before);
    if (op->use_empty() && mayGo(op)) {
      op->erase();
      ++found.erased;
    } else {
      ++found.kept;
      found.annotated |=
          op->getRawDictionaryAttrs() != none || op->getNumRegions() != 0;
    }
    op = before;
  }
  return found;
}

DeadCode cutback::eliminateDeadCode(GraphOp graph) {
  return eliminateDeadCode(graph.getBlock());
}
