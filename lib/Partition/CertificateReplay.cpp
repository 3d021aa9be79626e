// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops that PyTorch runs twice. Under a checkpoint it does not save what
// a random op drew, but the state of the generator before it: the forward
// calls `run_and_save_rng_state(op, ...)`, the backward
// `run_with_rng_state(state, op, ...)`. The import writes both as the op and a
// mark right in front of it, and this file says what the marks mean:
//
//   * a mark that saves gives a value of its own: the state that exactly the
//     next op has drawn with;
//   * the op behind a mark that replays is not another draw. It is the op that
//     the state was saved for, if the calls are equal and the classes of their
//     operands are; anything else is an error.
//
// An op that draws nothing (attention with dropout 0) is pure, and its class
// does not depend on a state. A mark that is not right in front of an op is an
// unknown effect like any other, which the joint graph does not have. A look
// at two words of each opaque op; nothing for others.
//
// In our halves a draw has a number, the one of the joint graph (Replay.h), and
// all runs of it are one draw; RandomStates.h makes marks of numbers.

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/Replay.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

bool cutback::certificate::savesRandomState(Operation *op) {
  auto mark = dyn_cast<OpaqueOp>(op);
  return mark && mark.getCallee() == kSavesState &&
         mark->getNumOperands() == 0 && mark->getNumResults() == 1;
}

static bool replaysRandomState(OpaqueOp mark) {
  return mark.getCallee() == kSetsState && mark->getNumOperands() == 1 &&
         mark->getNumResults() == 0;
}

bool ClassTable::noteMark(OpaqueOp mark) {
  bool saves = savesRandomState(mark);
  bool isMarked = savingMark || replayedState != kNone;
  if (isMarked || mark->getNextNode() == &block->back() ||
      (!saves && !replaysRandomState(mark)))
    return false;
  if (saves)
    savingMark = mark;
  else
    replayedState = classOf(mark->getOperand(0));
  return true;
}

void ClassTable::leaveMark(uint32_t opClass) {
  if (savingMark) {
    uint32_t state = add({savingMark, {}, {}}, Conduct::Pure,
                         /*isListed=*/false);
    definitions.insert(savingMark, classes[state].firstValue);
    if (classes[opClass].conduct == Conduct::Draw)
      drawOfState[classes[state].firstValue] = opClass;
  }
  savingMark = nullptr;
  replayedState = kNone;
}

FailureOr<uint32_t> ClassTable::replay(const Key &key) {
  auto saved = drawOfState.find(replayedState);
  if (saved != drawOfState.end() && matches(saved->second, key))
    return saved->second;
  auto diag = emitError(key.op->getLoc())
              << describe(key.op)
              << " is run again with a random state that was not saved for it";
  if (saved != drawOfState.end())
    diag.attachNote(classes[saved->second].op->getLoc())
        << "the state is that of " << describe(classes[saved->second].op);
  else
    diag.attachNote(graph.getLoc())
        << "no half has saved the state in front of a random op";
  return diag;
}

LogicalResult ClassTable::takeDraw(Operation *op, uint32_t instance) {
  if (lastDraw == kNone ||
      instances[lastDraw].sequence < instances[instance].sequence) {
    lastDraw = instance;
    return success();
  }
  Operation *other = classes[instances[lastDraw].opClass].op;
  auto diag = emitError(op->getLoc())
              << describe(op) << " draws after " << describe(other)
              << ", and before it in the joint graph: both get other random "
                 "numbers";
  diag.attachNote(other->getLoc()) << "the other draw in the joint graph";
  return diag;
}

FailureOr<uint32_t> ClassTable::drawNumbered(const Key &key, Attribute number,
                                             uint32_t head) {
  auto drawn = drawOfNumber.find(number);
  if (drawn != drawOfNumber.end() && matches(drawn->second, key))
    return drawn->second;
  for (uint32_t i = instances[head].cursor; i != kNone; i = instances[i].next) {
    uint32_t opClass = instances[i].opClass;
    if (instances[i].left <= 0 ||
        classes[opClass].op->getDiscardableAttr(kReplay) != number)
      continue;
    if (failed(takeDraw(key.op, i)))
      return failure();
    --instances[i].left;
    drawOfNumber[number] = opClass;
    return opClass;
  }
  return reportUsedUp(key.op, instances[head].opClass);
}
