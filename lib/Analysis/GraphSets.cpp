// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classifies ops and values into F, B and X (20-partition §1).
//
//   1. B: one walk in program order from tangents, gradient seeds and backward
//      random seeds. A joint graph without tangents has its loss inside: its
//      seed is the first op outside the ancestors of the forward results that
//      only asks for a forward result's shape (`full_like(loss, 1)`); it starts
//      B.
//      A `joint.rerun` is in B: regions run again there.
//   2. F: one walk backwards from the forward results, forward writes and
//      effects that no tangent reaches.
//   3. X: what is left.
//
// An op in F and B is a malformed graph; the error names the chain of values
// from the tangent to the forward result. Linear.

#include "cutback/Analysis/GraphSets.h"

#include "cutback/Dialect/Joint/Hook.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool startsBackward(RoleAttr role) {
  switch (role.getKind()) {
  case RoleKind::Tangent:
  case RoleKind::GradSeed:
    return true;
  case RoleKind::RngSeed:
  case RoleKind::RngOffset:
    return role.getBackward();
  default:
    return false;
  }
}

/// Marks what the given roots need, over operands. `needed` is by op.
static void markAncestors(const GraphView &view, std::vector<uint8_t> &needed) {
  for (uint32_t op = view.numOps(); op-- > 0;)
    if (needed[op])
      for (uint32_t value : view.operands(op))
        if (uint32_t def = view.definer[value]; def != GraphView::kNone)
          needed[def] = 1;
}

/// Marks what depends on a marked value or op.
static void markDescendants(const GraphView &view, std::vector<uint8_t> &values,
                            std::vector<uint8_t> &ops) {
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!ops[op])
      for (uint32_t value : view.operands(op))
        if (values[value]) {
          ops[op] = 1;
          break;
        }
    if (ops[op])
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        values[r] = 1;
  }
}

/// The seed of a graph without tangents: the first creation op on a forward
/// result that the forward does not need.
static uint32_t findGradientSeed(const GraphView &view,
                                 const std::vector<uint8_t> &forward) {
  std::vector<uint8_t> isResult(view.numValues(), 0);
  for (uint32_t value : view.forwardResults())
    isResult[value] = 1;
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (!forward[op] && view.traits[op].fusion == FusionKind::Create &&
        llvm::any_of(view.operands(op),
                     [&](uint32_t value) { return isResult[value] != 0; }))
      return op;
  return GraphView::kNone;
}

/// Names the values on one path from a tangent to the first op of `both`.
static LogicalResult reportOverlap(const GraphView &view,
                                   const std::vector<uint8_t> &backwardValues,
                                   uint32_t op) {
  std::vector<std::string> path;
  for (uint32_t at = op; at != GraphView::kNone && path.size() < 12;) {
    if (view.numResults(at))
      path.push_back(view.name(view.resultBegin[at]));
    uint32_t next = GraphView::kNone;
    for (uint32_t value : view.operands(at))
      if (backwardValues[value]) {
        next = view.definer[value];
        if (next == GraphView::kNone)
          path.push_back(view.name(value));
        break;
      }
    at = next;
  }
  std::string text;
  for (auto it = path.rbegin(); it != path.rend(); ++it)
    text += (text.empty() ? "" : " -> ") + *it;
  auto diag = view.ops[op]->emitOpError("is needed by the forward and depends "
                                        "on a tangent: ")
              << text;
  diag.attachNote() << "a forward result must not depend on a gradient; check "
                       "the number of forward outputs (--forward-outputs)";
  return failure();
}

std::vector<uint8_t> GraphSets::findBackwardOps(const GraphView &view) const {
  std::vector<uint8_t> inBackward(view.numOps(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    bool isBackward = ops[op] == GraphSet::Backward ||
                      (view.traits[op].ordered && ops[op] != GraphSet::Forward);
    for (uint32_t value : view.operands(op))
      isBackward =
          isBackward || (!view.isArg(value) && inBackward[view.definer[value]]);
    inBackward[op] = isBackward;
  }
  return inBackward;
}

/// What reads an argument behind a write of the backward belongs there too.
static bool markReadersOfBackwardWrites(const GraphView &view,
                                        std::vector<uint8_t> &backwardOp) {
  std::vector<uint8_t> isWritten(view.numArgs, 0);
  bool any = false;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    auto write =
        view.traits[op].ordered ? dyn_cast<WriteOp>(view.ops[op]) : WriteOp();
    if (view.traits[op].ordered && isa<RerunOp, HookOp>(view.ops[op]))
      backwardOp[op] = 1;
    bool inForward = write && write.getSide() == Side::Forward;
    for (uint32_t value : view.operands(op))
      if (any && !inForward && view.isArg(value) && isWritten[value])
        backwardOp[op] = 1;
    if (!write || inForward)
      continue;
    any = true;
    backwardOp[op] = 1;
    if (uint32_t arg = view.operands(op).front(); view.isArg(arg))
      isWritten[arg] = 1;
  }
  return any;
}

FailureOr<GraphSets> GraphSets::compute(const GraphView &view) {
  std::vector<uint8_t> backwardOp(view.numOps(), 0), forward(view.numOps(), 0);
  std::vector<uint8_t> backwardValue(view.numValues(), 0);
  GraphOp graph = view.graph;
  bool hasSeed = false;
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (startsBackward(graph.getRole(arg))) {
      backwardValue[arg] = 1;
      hasSeed = true;
    }
  if (markReadersOfBackwardWrites(view, backwardOp) || hasSeed)
    markDescendants(view, backwardValue, backwardOp);
  for (uint32_t value : view.forwardResults())
    if (uint32_t def = view.definer[value]; def != GraphView::kNone)
      forward[def] = 1;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!view.traits[op].ordered || backwardOp[op])
      continue;
    auto write = dyn_cast<WriteOp>(view.ops[op]);
    forward[op] = !write || write.getSide() != Side::Backward;
  }
  markAncestors(view, forward);
  if (!hasSeed) {
    uint32_t seed = findGradientSeed(view, forward);
    if (seed != GraphView::kNone) {
      backwardOp[seed] = 1;
      markDescendants(view, backwardValue, backwardOp);
    }
  }
  GraphSets sets;
  sets.ops.resize(view.numOps());
  sets.values.resize(view.numValues(), GraphSet::Forward);
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (backwardValue[arg])
      sets.values[arg] = GraphSet::Backward;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (forward[op] && backwardOp[op])
      return reportOverlap(view, backwardValue, op);
    GraphSet set = forward[op]      ? GraphSet::Forward
                   : backwardOp[op] ? GraphSet::Backward
                                    : GraphSet::Unclaimed;
    sets.ops[op] = set;
    ++(set == GraphSet::Forward    ? sets.numForward
       : set == GraphSet::Backward ? sets.numBackward
                                   : sets.numUnclaimed);
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      sets.values[r] = set;
  }
  return sets;
}
