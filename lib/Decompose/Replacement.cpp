// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and tags of ops that replace another one. The value that stands for a
// result takes the result's name, so that reports and policies find it; the
// others are called after their op, with a number where that is taken. Tags
// (`joint.policy` above all) go to every op of the replacement: recomputing
// the op is recomputing all of them. What only describes a result (strides,
// symbolic sizes) is not passed on, because inference says it for the new ops;
// but for an op that gives all results itself, of which inference may know less
// (the lengths of what a bag of rows tells, which are others on a GPU).

#include "Replacement.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"

using namespace mlir;
using namespace cutback;

static bool isInherited(StringRef attribute) {
  return attribute != joint::JointDialect::kStrides &&
         attribute != joint::JointDialect::kDims &&
         attribute != "joint.aliases" && attribute != "joint.call" &&
         attribute != "joint.sequence_nr";
}

/// Whether several results are those of one op, in their order.
static bool areAllOf(ArrayRef<Value> results, Operation *created) {
  return results.size() > 1 && results.size() == created->getNumResults() &&
         llvm::equal(results, created->getResults());
}

void Replacement::settle(ArrayRef<Value> results) {
  Builder attributes(op->getContext());
  StringAttr names = attributes.getStringAttr("names");
  llvm::SmallDenseMap<Value, StringRef, 4> inherited;
  for (auto [i, value] : llvm::enumerate(results))
    if (value && i < op->getNumResults())
      inherited.try_emplace(value, joint::getValueName(op->getResult(i)));
  for (Operation *created : ArrayRef(ops).drop_front(settled)) {
    for (NamedAttribute tag : op->getDiscardableAttrs())
      if (isInherited(tag.getName()) && !created->hasAttr(tag.getName()))
        created->setDiscardableAttr(tag.getName(), tag.getValue());
    if (Attribute dims = op->getAttr(joint::JointDialect::kDims);
        dims && areAllOf(results, created))
      created->setDiscardableAttr(joint::JointDialect::kDims, dims);
    auto call = dyn_cast<joint::FrameworkCallOpInterface>(created);
    if (!call)
      continue;
    StringRef stem = call.getPacketName().rsplit('.').second;
    SmallVector<Attribute> list;
    for (Value result : created->getResults()) {
      StringRef name = inherited.lookup(result);
      list.push_back(name.empty() ? namer.next(stem)
                                  : attributes.getStringAttr(name));
    }
    created->setInherentAttr(names, attributes.getArrayAttr(list));
  }
  settled = ops.size();
}

void cutback::updateResultTypes(joint::GraphOp graph) {
  graph.setFunctionType(FunctionType::get(graph.getContext(),
                                          graph.getArgumentTypes(),
                                          graph.getOutput().getOperandTypes()));
}
