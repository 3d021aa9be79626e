// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checkpoint region is run again as a whole, its random ops too: frameworks
// keep the state of the generator in front of each and set it for the second
// run. In the graph that is a number on the op, not a value: how large a state
// is, and whether it is kept as a tensor, as a counter or as a generator of its
// own, is the framework's business. It is 16 bytes of a counter-based
// generator, and not in any figure of ours.
//
// An op without a tag that asks for recomputation has no number: it is saved.

#include "cutback/Dialect/Joint/Replay.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

uint64_t joint::drawStreamOf(Operation *op) {
  StringRef name = getValueName(op->getResult(0));
  if (op->hasAttr(JointDialect::kRecompute))
    name.consume_back(kRecomputeSuffix);
  return llvm::xxh3_64bits(name);
}

bool joint::isReplayed(Operation *op) {
  return op->getDiscardableAttr(kReplay) != nullptr;
}

uint64_t joint::markReplays(GraphOp graph) {
  int64_t count = 0;
  Builder builder(graph.getContext());
  for (Operation &op : graph.getBlock()) {
    auto policy = op.getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    if (!policy || (policy.getKind() != PolicyKind::MustRecompute &&
                    policy.getKind() != PolicyKind::PreferRecompute))
      continue;
    auto model = dyn_cast<RematerializableOpInterface>(op);
    if (model && model.isRandom() && !model.hasOrderedEffects())
      op.setDiscardableAttr(kReplay, builder.getI64IntegerAttr(count++));
  }
  return static_cast<uint64_t>(count);
}
