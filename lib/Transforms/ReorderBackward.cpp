// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the backward (30-autograd §2). An extracted backward holds the
// recomputed forward ops in front of everything else; run so, each recomputed
// value would live until its use far behind. Here every op runs right before
// the first one that needs it.
//
//   1. Needed ops: from the results and effects towards the operands.
//   2. Dependencies: the definers of operands; the previous op with effects or
//      unseeded random draws; the last write of an argument for its readers,
//      and the readers since then for the next write.
//   3. Depth: longest path of dependencies, one walk in the present order.
//   4. Place: effects before the first op first; then from the first op that
//      uses a tangent to the end, what an op lacks (depth first, deepest
//      operand first) and the op; then what only results need.
//
// The walk keeps its own stack. Each op is expanded once, each dependency is
// pushed once: linear, but for sorting the dependencies of one op.

#include "ReorderProblem.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Dialect/Joint/Overlap.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {

class Placer {
public:
  explicit Placer(const ReorderProblem &problem)
      : problem(problem), depth(problem.numOps(), 0),
        state(problem.numOps(), Waiting) {
    order.reserve(problem.numOps());
  }

  std::vector<uint32_t> run() {
    for (uint32_t op = 0; op < problem.numOps(); ++op)
      for (uint32_t other : problem.depends[op])
        depth[op] = std::max(depth[op], depth[other] + 1);
    for (uint32_t op = 0; op < problem.first; ++op)
      if (problem.hasEffect[op] && problem.needed[op])
        place(op);
    for (uint32_t op = problem.first; op < problem.numOps(); ++op)
      if (problem.needed[op])
        place(op);
    for (uint32_t op = 0; op < problem.first; ++op)
      if (problem.needed[op])
        place(op);
    return std::move(order);
  }

private:
  enum State : uint8_t { Waiting, Expanded, Placed };

  void place(uint32_t root) {
    stack.push_back(root);
    while (!stack.empty()) {
      uint32_t op = stack.back();
      if (state[op] == Waiting) {
        state[op] = Expanded;
        expand(op);
        continue;
      }
      stack.pop_back();
      if (state[op] == Expanded) {
        state[op] = Placed;
        order.push_back(op);
      }
    }
  }

  /// Pushes what `op` lacks, so that the deepest, and of equals the first, is
  /// on top.
  void expand(uint32_t op) {
    size_t begin = stack.size();
    Rows::Row needs = problem.depends[op];
    for (size_t i = needs.size(); i-- > 0;)
      if (state[needs[i]] == Waiting)
        stack.push_back(needs[i]);
    auto isLower = [&](uint32_t a, uint32_t b) { return depth[a] < depth[b]; };
    if (stack.size() - begin > 16) {
      std::stable_sort(stack.begin() + begin, stack.end(), isLower);
      return;
    }
    // A stable sort without an allocation.
    for (size_t i = begin + 1; i < stack.size(); ++i)
      for (size_t j = i; j > begin && isLower(stack[j], stack[j - 1]); --j)
        std::swap(stack[j], stack[j - 1]);
  }

  const ReorderProblem &problem;
  std::vector<uint32_t> depth;
  std::vector<State> state;
  std::vector<uint32_t> stack, order;
};

} // namespace

std::string ReorderProblem::check() const {
  if (depends.size() != numOps() || hasEffect.size() != numOps())
    return "has other numbers of ops";
  for (uint32_t op = 0; op < numOps(); ++op) {
    if (hasEffect[op] && !needed[op])
      return "has an effect that nothing needs";
    for (uint32_t other : depends[op])
      if (other >= op)
        return "depends on an op that comes later";
      else if (needed[op] && !needed[other])
        return "needs an op that nothing needs";
  }
  return "";
}

std::vector<uint32_t> cutback::reorder(const ReorderProblem &problem) {
  return Placer(problem).run();
}

//===----------------------------------------------------------------------===//
// The problem of a partition
//===----------------------------------------------------------------------===//

namespace {

/// Positions are indices in `halves.backwardOps`.
class ProblemBuilder {
public:
  ProblemBuilder(const GraphView &view, const Halves &halves,
                 ArrayRef<uint32_t> results, ArrayRef<uint8_t> isStart)
      : view(view), halves(halves), results(results), isStart(isStart),
        ops(halves.backwardOps), position(view.numOps(), GraphView::kNone),
        handedIn(view.numValues(), 0) {
    for (uint32_t i = 0; i < ops.size(); ++i)
      position[ops[i]] = i;
    for (uint32_t value : halves.savedSizes)
      handedIn[value] = 1;
    for (uint32_t value : halves.savedTensors)
      handedIn[value] = 1;
  }

  ReorderProblem run() {
    markEffects();
    markNeeded();
    findFirst();
    problem.depends.begin.reserve(ops.size() + 1);
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (problem.needed[i])
        addDependencies(i);
      problem.depends.endRow();
    }
    return std::move(problem);
  }

private:
  /// Position of the op that `value` is computed by in this half, or kNone.
  uint32_t sourceOf(uint32_t value) const {
    if (view.isArg(value) || handedIn[value])
      return GraphView::kNone;
    return position[view.definer[value]];
  }

  void markEffects() {
    problem.hasEffect.assign(ops.size(), 0);
    for (uint32_t i = 0; i < ops.size(); ++i) {
      problem.hasEffect[i] = view.traits[ops[i]].ordered;
      hasWrites |= problem.hasEffect[i] && isa<WriteOp>(view.ops[ops[i]]);
    }
    if (hasWrites)
      findViews();
  }

  /// Saved views of arguments, which the forward makes, are of these too.
  void findViews() {
    argumentOf.assign(view.numValues(), GraphView::kNone);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (uint32_t base = view.aliasOf[value]; base != GraphView::kNone)
        argumentOf[value] = view.isArg(base) ? base : argumentOf[base];
  }

  void markNeeded() {
    problem.needed = problem.hasEffect;
    auto need = [&](uint32_t value) {
      if (uint32_t source = sourceOf(value); source != GraphView::kNone)
        problem.needed[source] = 1;
    };
    for (uint32_t value : results)
      need(value);
    for (uint32_t i = ops.size(); i-- > 0;)
      if (problem.needed[i])
        for (uint32_t value : view.operands(ops[i]))
          need(value);
  }

  /// The first op that uses a tangent or the gradient seed; without those the
  /// loss is inside the graph, and the first op that is no recomputed one
  /// makes its gradient.
  void findFirst() {
    bool hasStart = llvm::is_contained(isStart, 1);
    std::vector<uint8_t> isCopy(view.numOps(), 0);
    for (uint32_t op : halves.recomputed)
      isCopy[op] = 1;
    auto starts = [&](uint32_t op) {
      if (!hasStart)
        return !isCopy[op];
      return llvm::any_of(view.operands(op), [&](uint32_t value) {
        return view.isArg(value) && isStart[value];
      });
    };
    for (uint32_t i = 0; i < ops.size(); ++i)
      if (starts(ops[i])) {
        problem.first = i;
        return;
      }
  }

  void addDependencies(uint32_t i) {
    uint32_t op = ops[i];
    for (uint32_t value : view.operands(op))
      if (uint32_t source = sourceOf(value); source != GraphView::kNone)
        problem.depends.add(source);
    if (hasWrites)
      addHazards(i);
    if (!view.traits[op].keepsOrder())
      return;
    if (lastOrdered != GraphView::kNone)
      problem.depends.add(lastOrdered);
    lastOrdered = i;
  }

  struct Access {
    uint32_t lastWrite = GraphView::kNone;
    SmallVector<uint32_t, 4> readers; ///< since the last write
  };

  /// Readers of an argument, and of views of it, stay between its writes.
  void addHazards(uint32_t i) {
    uint32_t op = ops[i];
    bool writes = isa<WriteOp>(view.ops[op]);
    for (uint32_t value : view.operands(op)) {
      uint32_t arg = view.isArg(value) ? value : argumentOf[value];
      if (arg == GraphView::kNone)
        continue;
      Access &access = accesses[arg];
      if (access.lastWrite != GraphView::kNone)
        problem.depends.add(access.lastWrite);
      access.readers.push_back(i);
    }
    if (!writes)
      return;
    Access &access = accesses[view.operands(op).front()];
    for (uint32_t reader : access.readers)
      if (reader != i)
        problem.depends.add(reader);
    access.readers.clear();
    access.lastWrite = i;
  }

  const GraphView &view;
  const Halves &halves;
  ArrayRef<uint32_t> results;
  ArrayRef<uint8_t> isStart; ///< by argument
  ArrayRef<uint32_t> ops;
  std::vector<uint32_t> position; ///< by op of the view
  std::vector<uint8_t> handedIn;  ///< by value
  bool hasWrites = false;
  uint32_t lastOrdered = GraphView::kNone;
  std::vector<uint32_t> argumentOf; ///< by value: the argument it is a view of
  llvm::DenseMap<uint32_t, Access> accesses; ///< by argument
  ReorderProblem problem;
};

} // namespace

bool cutback::detail::startsBackward(RoleAttr role) {
  return role && (role.getKind() == RoleKind::Tangent ||
                  role.getKind() == RoleKind::GradSeed);
}

ReorderProblem cutback::detail::makeReorderProblem(const GraphView &view,
                                                   const Halves &halves,
                                                   ArrayRef<uint32_t> results,
                                                   ArrayRef<uint8_t> isStart) {
  return ProblemBuilder(view, halves, results, isStart).run();
}

std::vector<uint32_t> cutback::reorderBackward(const GraphView &view,
                                               const Halves &halves) {
  GraphOp graph = view.graph;
  std::vector<uint8_t> isStart(view.numArgs, 0);
  for (uint32_t arg : halves.backwardArgs)
    isStart[arg] = cutback::detail::startsBackward(graph.getRole(arg));
  std::vector<uint32_t> order = reorder(cutback::detail::makeReorderProblem(
      view, halves, view.gradients(), isStart));
  for (uint32_t &op : order)
    op = halves.backwardOps[op];
  return order;
}

ReorderOutcome cutback::improveBackwardOrder(const GraphView &view,
                                             Halves &halves,
                                             ArrayRef<int64_t> bytes,
                                             ArrayRef<uint32_t> storage) {
  std::vector<uint32_t> order = reorderBackward(view, halves);
  // Recomputed ops in front of all would keep a transfer from its start.
  bool hasEarly = llvm::any_of(
      order, [&](uint32_t op) { return view.ops[op]->hasAttr(kEarly); });
  std::vector<uint8_t> isNeeded(view.numOps(), 0);
  for (uint32_t op : order)
    isNeeded[op] = 1;
  ReorderOutcome outcome;
  outcome.erased = halves.backwardOps.size() - order.size();
  llvm::erase_if(halves.backwardOps,
                 [&](uint32_t op) { return !isNeeded[op]; });
  auto peak = [&] {
    return simulateBackward(view, halves, bytes, storage).bytes;
  };
  outcome.peakBefore = peak();
  std::swap(halves.backwardOps, order);
  outcome.peakAfter = peak();
  outcome.reordered = outcome.peakAfter <= outcome.peakBefore || hasEarly;
  if (!outcome.reordered) {
    std::swap(halves.backwardOps, order);
    outcome.peakAfter = outcome.peakBefore;
  }
  return outcome;
}
