// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what is handed over to three phases, on numbers.
//
// Kinds: one walk from the last op to the first. An op of the backward belongs
// to the input phase if an input's gradient needs it. What has an effect keeps
// its place among all that have one: the weight phase runs last, so an effect
// before one of the input phase is of the input phase too. So are writes that
// change what the input phase reads after them, and readers of what it writes
// after them.
//
// Split: three such walks, the weight phase first. A value that a phase needs
// is given to it (arguments, handed values, what may run only once), or its op
// runs there. What is given the phase before has to have. Linear.

#include "cutback/Partition/Phases.h"

#include "Writes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {

class KindFinder {
public:
  KindFinder(const GraphView &view, const GraphSets &sets, bool severalInFlight)
      : view(view), storage(view.findStorages()),
        inBackward(sets.findBackwardOps(view)), isInput(view.numOps(), 0),
        readInInput(view.numArgs, 0), writtenInInput(view.numArgs, 0),
        writtenInWeight(view.numArgs, 0),
        writtenAtAll(severalInFlight ? findWrittenArguments(view)
                                     : std::vector<uint8_t>(view.numArgs, 0)) {}

  PhaseKinds run() {
    kinds.pinned.assign(view.numOps(), 0);
    kinds.notInWeight.assign(view.numOps(), 0);
    listGradients();
    for (uint32_t i : kinds.inputGradients)
      need(view.gradients()[i]);
    for (uint32_t op = view.numOps(); op-- > 0;)
      visit(op);
    kinds.ops.resize(view.numOps());
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      kinds.ops[op] = isInput[op]      ? PhaseKind::Input
                      : inBackward[op] ? PhaseKind::Weight
                                       : PhaseKind::Forward;
      if (kinds.ops[op] == PhaseKind::Weight)
        pinReader(op);
    }
    return std::move(kinds);
  }

private:
  void listGradients() {
    GraphOp graph = view.graph;
    ArrayRef<int32_t> of = graph.getOutput().getGradientOf();
    for (uint32_t i = 0; i < of.size(); ++i)
      (graph.getRole(of[i]).getKind() == RoleKind::Input
           ? kinds.inputGradients
           : kinds.weightGradients)
          .push_back(i);
  }

  void need(uint32_t value) {
    if (uint32_t def = view.definer[value];
        def != GraphView::kNone && inBackward[def])
      isInput[def] = 1;
  }

  /// Whatever reads what the weight phase computes or writes, and is pinned,
  /// runs there too.
  void pinReader(uint32_t op) {
    for (uint32_t value : view.operands(op)) {
      uint32_t def = view.definer[value], arg = storage[value];
      if (def != GraphView::kNone && kinds.ops[def] == PhaseKind::Weight)
        kinds.pinned[op] |= kinds.pinned[def];
      if (view.isArg(arg))
        kinds.pinned[op] |= writtenInWeight[arg];
    }
    if (uint32_t written = writtenArgument(view, op);
        written != GraphView::kNone)
      writtenInWeight[written] = 1;
  }

  void visit(uint32_t op) {
    const OpTraits &traits = view.traits[op];
    uint32_t written = writtenArgument(view, op);
    bool readsWritten = false, runsOnce = false;
    for (uint32_t value : view.operands(op))
      if (uint32_t arg = storage[value]; view.isArg(arg)) {
        readsWritten |= writtenInInput[arg] != 0;
        runsOnce |= writtenAtAll[arg] != 0;
      }
    kinds.pinned[op] = traits.ordered || !traits.recomputable || runsOnce;
    if (!inBackward[op]) {
      kinds.notInWeight[op] = readsWritten;
      return;
    }
    kinds.pinned[op] |= readsWritten;
    if (readsWritten || (traits.keepsOrder() && hasEffectBehind) ||
        (written != GraphView::kNone && readInInput[written]))
      isInput[op] = 1;
    if (!isInput[op])
      return;
    hasEffectBehind |= traits.keepsOrder();
    if (written != GraphView::kNone)
      writtenInInput[written] = 1;
    for (uint32_t value : view.operands(op)) {
      need(value);
      if (uint32_t arg = storage[value]; view.isArg(arg))
        readInInput[arg] = 1;
    }
  }

  const GraphView &view;
  std::vector<uint32_t> storage;
  std::vector<uint8_t> inBackward, isInput;
  /// By argument: an op after the one at work does it in the input phase.
  std::vector<uint8_t> readInInput, writtenInInput;
  std::vector<uint8_t> writtenInWeight; ///< before it
  std::vector<uint8_t> writtenAtAll;    ///< empty flags with one micro-batch
  bool hasEffectBehind = false;
  PhaseKinds kinds;
};

} // namespace

PhaseKinds PhaseKinds::compute(const GraphView &view, const GraphSets &sets,
                               bool severalInFlight) {
  return KindFinder(view, sets, severalInFlight).run();
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

namespace {

class PhaseSplitter {
public:
  PhaseSplitter(const GraphView &view, const GraphSets &sets,
                const PhaseKinds &kinds, const PhasePlan &plan)
      : view(view), sets(sets), kinds(kinds), plan(plan),
        inForward(view.numOps(), 0), inInput(view.numOps(), 0),
        inWeight(view.numOps(), 0), toInput(view.numValues(), 0),
        toWeight(view.numValues(), 0) {}

  Phases run() {
    walkWeight();
    walkInput();
    walkForward();
    Phases phases;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      (sets.values[arg] == GraphSet::Backward ? phases.backwardArgs
                                              : phases.forwardArgs)
          .push_back(arg);
    phases.againInInput.assign(view.numOps(), 0);
    phases.againInWeight.assign(view.numOps(), 0);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (inForward[op])
        phases.forwardOps.push_back(op);
      bool isOfRun = view.traits[op].copy;
      phases.againInInput[op] = inInput[op] && (inForward[op] || isOfRun);
      phases.againInWeight[op] =
          inWeight[op] && (inForward[op] || inInput[op] || isOfRun);
    }
    phases.inputOps = place(inInput, PhaseKind::Forward);
    phases.weightOps = place(inWeight, PhaseKind::Input);
    phases.toInput = list(toInput);
    phases.toWeight = list(toWeight);
    return phases;
  }

private:
  /// An op of the weight phase is moved as a whole.
  bool isMoved(uint32_t op) const {
    if (kinds.ops[op] != PhaseKind::Weight || kinds.pinned[op])
      return false;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (plan.toWeight[r])
        return true;
    return false;
  }

  void needInWeight(uint32_t value) {
    if (view.isArg(value)) {
      toWeight[value] = 1;
      return;
    }
    uint32_t def = view.definer[value];
    bool isGiven = kinds.ops[def] == PhaseKind::Weight
                       ? isMoved(def)
                       : (plan.toWeight[value] && !view.traits[def].literal) ||
                             kinds.pinned[def] || kinds.notInWeight[def];
    (isGiven ? toWeight[value] : inWeight[def]) = 1;
  }

  void needInInput(uint32_t value) {
    if (view.isArg(value)) {
      toInput[value] |= sets.values[value] != GraphSet::Backward;
      return;
    }
    uint32_t def = view.definer[value];
    bool isGiven = kinds.ops[def] == PhaseKind::Forward &&
                   ((plan.toInput[value] && !view.traits[def].literal) ||
                    kinds.pinned[def]);
    (isGiven ? toInput[value] : inInput[def]) = 1;
  }

  void walkWeight() {
    for (uint32_t i : kinds.weightGradients)
      needInWeight(view.gradients()[i]);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (kinds.ops[op] == PhaseKind::Weight && view.traits[op].ordered)
        inWeight[op] = 1;
      if (inWeight[op])
        for (uint32_t value : view.operands(op))
          needInWeight(value);
    }
  }

  void walkInput() {
    for (uint32_t i : kinds.inputGradients)
      needInInput(view.gradients()[i]);
    for (uint32_t value = 0; value < view.numValues(); ++value)
      if (toWeight[value])
        needInInput(value);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (kinds.ops[op] == PhaseKind::Input && view.traits[op].ordered)
        inInput[op] = 1;
      if (inInput[op])
        for (uint32_t value : view.operands(op))
          needInInput(value);
    }
  }

  void walkForward() {
    auto need = [&](uint32_t value) {
      if (!view.isArg(value))
        inForward[view.definer[value]] = 1;
    };
    for (uint32_t value : view.forwardResults())
      need(value);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (toInput[value])
        need(value);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (view.traits[op].ordered && sets.ops[op] == GraphSet::Forward)
        inForward[op] = 1;
      if (inForward[op])
        for (uint32_t value : view.operands(op))
          need(value);
    }
  }

  std::vector<uint32_t> list(ArrayRef<uint8_t> isHanded) const {
    std::vector<uint32_t> handed;
    for (bool isTensor : {false, true})
      for (uint32_t value = 0; value < view.numValues(); ++value)
        if (isHanded[value] && isa<ShapedType>(view.types[value]) == isTensor)
          handed.push_back(value);
    return handed;
  }

  /// The ops of a phase in program order, but ops of kinds up to `last` right
  /// before the first that needs them, or at the end; not across a write of
  /// what they read.
  std::vector<uint32_t> place(ArrayRef<uint8_t> runs, PhaseKind last) const {
    std::vector<uint8_t> waits(view.numOps(), 0);
    std::vector<uint32_t> storage = view.findStorages();
    std::vector<uint8_t> isWritten = findWrittenArguments(view);
    auto readsWritten = [&](uint32_t op) {
      return llvm::any_of(view.operands(op), [&](uint32_t value) {
        return view.isArg(storage[value]) && isWritten[storage[value]];
      });
    };
    for (uint32_t op = 0; op < view.numOps(); ++op)
      waits[op] = runs[op] && kinds.ops[op] <= last && !readsWritten(op) &&
                  !view.traits[op].keepsOrder();
    std::vector<uint32_t> order, stack;
    std::vector<uint8_t> isPlaced(view.numOps(), 0);
    auto placeOp = [&](uint32_t root) {
      stack.push_back(root);
      while (!stack.empty()) {
        uint32_t op = stack.back();
        size_t size = stack.size();
        for (uint32_t value : llvm::reverse(view.operands(op)))
          if (uint32_t def = view.definer[value];
              def != GraphView::kNone && waits[def] && !isPlaced[def])
            stack.push_back(def);
        if (stack.size() > size)
          continue;
        stack.pop_back();
        if (!isPlaced[op])
          order.push_back(op);
        isPlaced[op] = 1;
      }
    };
    for (bool isEnd : {false, true})
      for (uint32_t op = 0; op < view.numOps(); ++op)
        if (runs[op] && !isPlaced[op] && (isEnd || !waits[op]))
          placeOp(op);
    return order;
  }

  const GraphView &view;
  const GraphSets &sets;
  const PhaseKinds &kinds;
  const PhasePlan &plan;
  std::vector<uint8_t> inForward, inInput, inWeight; ///< by op
  std::vector<uint8_t> toInput, toWeight;            ///< by value
};

} // namespace

Phases cutback::splitPhases(const GraphView &view, const GraphSets &sets,
                            const PhaseKinds &kinds, const PhasePlan &plan) {
  return PhaseSplitter(view, sets, kinds, plan).run();
}
