// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch may not move over. Two things are said in the module itself, so
// that no other order is needed to see that one was changed:
//
//   1. Who reads an argument behind a `joint.write` reads the result of the
//      write. So a value is of the argument as one write left it, or as it was
//      given, and must be read while that is so. (Upwards, dominance stands
//      against it.)
//   2. Random ops that take no seed have numbers (kDrawNumber), which rise.
//
// What a segment hands to a later one that writes an argument which the value
// is a view of, is a copy: who runs the step makes it.

#include "EffectProof.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::kernel;

namespace {

class EffectProof {
public:
  explicit EffectProof(const StepSegments &step) : handed(step.handed) {}

  LogicalResult run(ArrayRef<func::FuncOp> functions) {
    return success(llvm::all_of(functions, [&](func::FuncOp function) {
      return succeeded(check(function));
    }));
  }

private:
  LogicalResult check(func::FuncOp function) {
    return failure(function
                       .walk<WalkOrder::PreOrder>([&](Operation *op) {
                         return WalkResult(checkOp(op));
                       })
                       .wasInterrupted());
  }

  LogicalResult checkOp(Operation *op) {
    if (failed(checkDraw(op)))
      return failure();
    // What they name is read by the ops inside.
    if (isa<LaunchOp, YieldOp>(op) || isLookedAtOnly(op))
      return success();
    auto write = dyn_cast<joint::WriteOp>(op);
    for (Value operand : op->getOperands().drop_front(write ? 1 : 0))
      if (failed(checkRead(op, operand)))
        return failure();
    if (write)
      lastWrite[versionOf(write.getDestination()).first] = op;
    return success();
  }

  /// No element is read: a view, or a size.
  static bool isLookedAtOnly(Operation *op) {
    auto fusible = dyn_cast<joint::FusibleOpInterface>(op);
    bool isSize =
        fusible && fusible.getFusionKind() == joint::FusionKind::View &&
        llvm::none_of(op->getResultTypes(),
                      [](Type type) { return isa<ShapedType>(type); });
    return isSize || (!isa<joint::WriteOp>(op) && op->getNumResults() &&
                      llvm::all_of(op->getResults(), [](OpResult result) {
                        return locate(result).root != result;
                      }));
  }

  LogicalResult checkRead(Operation *op, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return success();
    auto [root, version] = versionOf(value);
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument)
      return success();
    Operation *last = lastWrite.lookup(argument);
    if (last == version)
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError("reads argument '")
        << joint::getValueName(argument)
        << "' behind a write, as it was in front of it";
    diagnostic.attachNote(last->getLoc()) << "it is written here";
    return diagnostic;
  }

  /// What `value` lies in, and for an argument the write that left it so, null
  /// where it is as it was given.
  std::pair<Value, Operation *> versionOf(Value value) {
    Operation *version = nullptr;
    Value root = locate(value).root;
    for (value = insideOf(value); value != root;) {
      auto result = cast<OpResult>(value);
      if (isa<joint::WriteOp>(result.getOwner()) && !version)
        version = result.getOwner();
      value = insideOf(result.getOwner()->getOperand(
          getViewedOperand(result.getOwner(), result.getResultNumber())));
    }
    if (Value from = handed.lookup(root)) {
      auto [base, earlier] = versionOf(from);
      return {base, version ? version : earlier};
    }
    return {root, version};
  }

  LogicalResult checkDraw(Operation *op) {
    auto number = op->getAttrOfType<IntegerAttr>(kDrawNumber);
    if (!number)
      return success();
    if (lastDraw && number.getInt() < lastNumber) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("is draw ")
          << number.getInt() << " of the step, behind draw " << lastNumber;
      diagnostic.attachNote(lastDraw->getLoc()) << "that one is here";
      return diagnostic;
    }
    lastDraw = op;
    lastNumber = number.getInt();
    return success();
  }

  const llvm::DenseMap<Value, Value> &handed;
  llvm::DenseMap<Value, Operation *> lastWrite; ///< by argument
  Operation *lastDraw = nullptr;
  int64_t lastNumber = 0;
};

} // namespace

LogicalResult kernel::verifyEffectOrder(const StepSegments &step) {
  return EffectProof(step).run(step.functions);
}
