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
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

void joint::addNameSuffix(Operation *op, StringAttr namesId, StringRef suffix) {
  MLIRContext *context = namesId.getContext();
  auto longer = [&](StringAttr name) -> Attribute {
    if (name.empty())
      return name;
    SmallString<64> text(name.getValue());
    text += suffix;
    return StringAttr::get(context, text);
  };
  Attribute names = op->getAttr(namesId);
  if (auto name = dyn_cast_or_null<StringAttr>(names)) {
    op->setAttr(namesId, longer(name));
  } else if (auto list = dyn_cast_or_null<ArrayAttr>(names)) {
    SmallVector<Attribute> renamed;
    for (Attribute name : list)
      renamed.push_back(longer(cast<StringAttr>(name)));
    op->setAttr(namesId, ArrayAttr::get(context, renamed));
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

uint64_t joint::markReplays(GraphOp graph) {
  MLIRContext *context = graph.getContext();
  auto policyId = StringAttr::get(context, JointDialect::kPolicy);
  DictionaryAttr none = DictionaryAttr::get(context);
  SmallVector<Operation *> draws;
  for (Operation &op : graph.getBlock()) {
    prefetchOp(op.getNextNode());
    if (op.getRawDictionaryAttrs() == none)
      continue;
    auto policy = dyn_cast_or_null<PolicyAttr>(op.getDiscardableAttr(policyId));
    if (!policy)
      continue;
    if (policy.getRun() > 0)
      return 0; // a copy has the number of what it repeats
    if (!policy.asksToRecompute())
      continue;
    auto model = dyn_cast<RematerializableOpInterface>(op);
    if (model && model.isRandom() && !model.hasOrderedEffects())
      draws.push_back(&op);
  }
  Builder builder(context);
  for (auto [number, op] : llvm::enumerate(draws))
    op->setDiscardableAttr(kReplay, builder.getI64IntegerAttr(number));
  return draws.size();
}

void joint::markReplays(GraphOp graph, ArrayRef<Operation *> draws) {
  int64_t next = 0;
  for (Operation &op : graph.getBlock())
    if (auto number = op.getAttrOfType<IntegerAttr>(kReplay))
      next = std::max(next, number.getInt() + 1);
  Builder builder(graph.getContext());
  for (Operation *op : draws)
    op->setDiscardableAttr(kReplay, builder.getI64IntegerAttr(next++));
}
