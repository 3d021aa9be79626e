// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a saved set to two halves, on numbers (20-partition §6).
//
//   1. Backward: walk from the gradients, backward writes and backward effects
//      towards the operands. A saved value ends the walk; so does an argument.
//      A literal is made again, asked for or not.
//   2. A saved value that the walk never met is dropped. An argument of the
//      forward that it met joins the saved list: the backward must be given it.
//   3. Forward: walk from the forward results, forward effects and the values
//      that are left.
//   4. An op in both halves runs twice: it must be recomputable.
//
// Both walks go once over the ops from the last to the first, so an op is
// known to be needed before its operands are looked at. Linear.

#include "cutback/Partition/Halves.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Splitter {
public:
  Splitter(const GraphView &view, const GraphSets &sets, const Plan &plan)
      : view(view), sets(sets), plan(plan), inForward(view.numOps(), 0),
        inBackward(view.numOps(), 0) {}

  FailureOr<Halves> run() {
    handedOver = plan.bound;
    handedOver.resize(view.numValues(), 0);
    walkBackward();
    walkForward();
    Halves halves;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      (sets.values[arg] == GraphSet::Backward ? halves.backwardArgs
                                              : halves.forwardArgs)
          .push_back(arg);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (inForward[op])
        halves.forwardOps.push_back(op);
      if (inBackward[op])
        halves.backwardOps.push_back(op);
      bool isTwice = inForward[op] && inBackward[op];
      if (isTwice && failed(checkRecompute(op)))
        return failure();
      if (isTwice || (inBackward[op] && view.traits[op].copy))
        halves.recomputed.push_back(op);
    }
    for (uint32_t value = 0; value < view.numValues(); ++value)
      if (handedOver[value])
        (isa<ShapedType>(view.types[value]) ? halves.savedTensors
                                            : halves.savedSizes)
            .push_back(value);
    if (failed(checkWrites(halves)))
      return failure();
    return halves;
  }

private:
  /// The backward reads `value`: it is handed over, given, or computed there.
  void needInBackward(uint32_t value) {
    if (view.isArg(value)) {
      handedOver[value] |= sets.values[value] != GraphSet::Backward;
      return;
    }
    uint32_t def = view.definer[value];
    // What has an effect stays in its half, saved or not; what reads an old
    // value must be handed over, asked for or not.
    bool ofBackward =
        sets.ops[def] == GraphSet::Backward ||
        (view.traits[def].ordered && sets.ops[def] != GraphSet::Forward);
    bool isSaved = plan.saved[value] && !view.traits[def].literal;
    if ((isSaved || view.traits[def].readsOldValue) && !ofBackward)
      handedOver[value] = 1;
    else
      inBackward[def] = 1;
  }

  void walkBackward() {
    for (uint32_t value : view.gradients())
      needInBackward(value);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (view.traits[op].ordered && sets.ops[op] != GraphSet::Forward)
        inBackward[op] = 1;
      if (inBackward[op])
        for (uint32_t value : view.operands(op))
          needInBackward(value);
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
      if (handedOver[value])
        need(value);
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (view.traits[op].ordered && sets.ops[op] == GraphSet::Forward)
        inForward[op] = 1;
      if (inForward[op])
        for (uint32_t value : view.operands(op))
          need(value);
    }
  }

  LogicalResult checkRecompute(uint32_t op) {
    if (view.traits[op].recomputable && !view.traits[op].ordered)
      return success();
    auto diag = view.ops[op]->emitOpError("would run in both halves, but may "
                                          "run only once");
    if (view.numResults(op))
      diag.attachNote() << "save '" << view.name(view.resultBegin[op])
                        << "' (--policy=" << view.name(view.resultBegin[op])
                        << "=must-save)";
    return diag;
  }

  /// The forward is over when the backward begins: what the backward reads of
  /// an argument, in the joint graph's order, must come behind all writes of
  /// the forward to it.
  LogicalResult checkWrites(const Halves &halves) {
    std::vector<uint32_t> firstReader(view.numArgs, view.numOps());
    for (uint32_t op : llvm::reverse(halves.backwardOps))
      for (uint32_t value : view.operands(op))
        if (view.isArg(value))
          firstReader[value] = op;
    for (uint32_t op : halves.forwardOps) {
      auto write = dyn_cast<WriteOp>(view.ops[op]);
      if (!write)
        continue;
      uint32_t arg = view.operands(op).front();
      if (!handedOver[arg] || firstReader[arg] > op)
        continue;
      auto diag = write.emitOpError("changes argument '")
                  << view.name(arg) << "', whose old value the backward reads";
      diag.attachNote() << "copy the argument before the write and let the "
                           "backward read the copy";
      return diag;
    }
    return success();
  }

  const GraphView &view;
  const GraphSets &sets;
  const Plan &plan;
  std::vector<uint8_t> inForward, inBackward, handedOver;
};

} // namespace

FailureOr<Halves> cutback::splitGraph(const GraphView &view,
                                      const GraphSets &sets, const Plan &plan) {
  return Splitter(view, sets, plan).run();
}
