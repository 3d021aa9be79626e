// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument is memory: who reads a view of it behind a write would read the
// new value, though the graph means the old one. Such a view is a copy, and as
// an op of its own it is planned, priced, placed and launched as any other:
//
//   %v = aten.view(%buffer, …)          %view = aten.view(%buffer, …)
//   joint.write %buffer, …         →    %v = aten.clone(%view)
//   … reads %v                          joint.write %buffer, …
//                                       … reads %v
//
// A plan is not known yet. What is not of the forward alone may run behind all
// of its writes; so such readers count as the last ones. Writes of the backward
// (the update of parameters) stay after the readers of what was there before.

#include "cutback/Decompose/OldViews.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;

bool cutback::hasOldViews(joint::GraphOp graph) {
  return !findForcedCopies(graph, [](Operation *) { return true; }).empty();
}

/// The copy gets the view's name, by which plans and reports know the value.
static void moveName(Value view, Operation *copy, aten::ValueNamer &namer) {
  auto result = cast<OpResult>(view);
  auto names = result.getOwner()->getAttrOfType<ArrayAttr>("names");
  if (!names || result.getResultNumber() >= names.size())
    return;
  Builder builder(copy->getContext());
  SmallVector<Attribute> list(names.getValue());
  copy->setAttr("names",
                builder.getArrayAttr({list[result.getResultNumber()]}));
  list[result.getResultNumber()] = namer.next("view");
  result.getOwner()->setAttr("names", builder.getArrayAttr(list));
}

static void copyView(Value view, aten::ValueNamer &namer) {
  Operation *op = view.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  aten::CallBuilder calls(builder, op->getLoc());
  Value copy = calls.call(aten::op::clone, {view});
  if (!copy)
    return;
  copy.setType(view.getType());
  if (Attribute policy = op->getAttr(joint::JointDialect::kPolicy))
    copy.getDefiningOp()->setAttr(joint::JointDialect::kPolicy, policy);
  view.replaceAllUsesExcept(copy, copy.getDefiningOp());
  moveName(view, copy.getDefiningOp(), namer);
}

unsigned cutback::copyOldViews(joint::GraphOp graph, bool ofAnyPlan) {
  if (!hasOldViews(graph))
    return 0;
  llvm::DenseSet<Operation *> ofForward;
  if (!ofAnyPlan) {
    ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
    GraphView view = GraphView::build(graph);
    if (auto sets = GraphSets::compute(view); succeeded(sets))
      for (uint32_t op = 0; op < view.numOps(); ++op)
        if (sets->ops[op] == GraphSet::Forward)
          ofForward.insert(view.ops[op]);
  }
  Block *block = &graph.getBlock();
  llvm::SetVector<Value> copies = findForcedCopies(graph, [&](Operation *op) {
    Operation *outer = block->findAncestorOpInBlock(*op);
    return outer != block->getTerminator() && !ofForward.contains(outer);
  });
  aten::ValueNamer namer(graph);
  for (Value view : copies)
    if (view.getDefiningOp()->getBlock() == block)
      copyView(view, namer);
  return copies.size();
}
