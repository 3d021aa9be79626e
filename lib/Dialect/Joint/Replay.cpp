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

void joint::addNameSuffix(Operation *op, StringRef suffix) {
  Builder builder(op->getContext());
  auto longer = [&](StringAttr name) -> Attribute {
    return name.empty() ? name : builder.getStringAttr(name.strref() + suffix);
  };
  StringAttr id = builder.getStringAttr("names");
  Attribute names = op->getAttr(id);
  if (auto name = dyn_cast_or_null<StringAttr>(names)) {
    op->setAttr(id, longer(name));
  } else if (auto list = dyn_cast_or_null<ArrayAttr>(names)) {
    SmallVector<Attribute> renamed;
    for (Attribute name : list)
      renamed.push_back(longer(cast<StringAttr>(name)));
    op->setAttr(id, builder.getArrayAttr(renamed));
  }
}

StringRef joint::nameInGraph(Operation *op) {
  StringRef name = getValueName(op->getResult(0));
  if (op->hasAttr(JointDialect::kRecompute))
    name.consume_back(kRecomputeSuffix);
  auto policy = op->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
  if (policy && policy.getRun())
    name.consume_back((Twine(kRunSuffix) + Twine(policy.getRun())).str());
  return name;
}

uint64_t joint::drawStreamOf(Operation *op) {
  return llvm::xxh3_64bits(nameInGraph(op));
}

bool joint::isReplayed(Operation *op) {
  return op->getDiscardableAttr(kReplay) != nullptr;
}

/// A copy has the number of what it repeats.
static bool hasCopies(GraphOp graph) {
  return llvm::any_of(graph.getBlock(), [](Operation &op) {
    auto policy = op.getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    return policy && policy.getRun() > 0;
  });
}

uint64_t joint::markReplays(GraphOp graph) {
  if (hasCopies(graph))
    return 0;
  int64_t count = 0;
  Builder builder(graph.getContext());
  for (Operation &op : graph.getBlock()) {
    auto policy = op.getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    if (!policy || !policy.asksToRecompute())
      continue;
    auto model = dyn_cast<RematerializableOpInterface>(op);
    if (model && model.isRandom() && !model.hasOrderedEffects())
      op.setDiscardableAttr(kReplay, builder.getI64IntegerAttr(count++));
  }
  return static_cast<uint64_t>(count);
}
