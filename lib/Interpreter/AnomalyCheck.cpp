// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a gradient stops being finite.
//
//   1. Behind each op its results are looked at, once, while they are there:
//      how many elements are not finite, and between which the others lie.
//      What is said later of an operand is what was seen when it was made,
//      since its bytes may be another value's by then.
//   2. A value that is not finite has an origin: that of the first operand that
//      has one, else its own op, if that is of the backward. So an op that only
//      passes a NaN on is never blamed.
//   3. The first op that reads a value with an origin, and belongs to another
//      forward op, stops the run at the origin.
//
// What the forward makes (masks of minus infinity, overflows) stops nothing; it
// is named where the backward reads it. A launch of the backward that keeps
// values to itself, or whose results are not finite, is looked at op by op: a
// NaN that is masked inside of it is one all the same. Linear in the elements
// that ops make; a few words a value are kept.

#include "cutback/Interpreter/AnomalyCheck.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Support/Text.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

ElementSummary interpreter::summarize(const Tensor &tensor) {
  ElementSummary summary;
  bool isPair = isComplex(tensor.type);
  if (!isPair && !isFloating(tensor.type))
    return summary;
  bool isFirst = true;
  auto add = [&](double value) {
    int64_t number = summary.count++;
    if (std::isfinite(value)) {
      summary.least = isFirst ? value : std::min(summary.least, value);
      summary.greatest = isFirst ? value : std::max(summary.greatest, value);
      isFirst = false;
      return;
    }
    if (summary.wrong++ == 0) {
      summary.first = number;
      summary.value = value;
    }
  };
  if (isPair) {
    for (std::complex<double> value : tensor.complexes())
      add(std::isfinite(value.real()) && std::isfinite(value.imag())
              ? std::abs(value)
              : std::nan(""));
  } else {
    for (double value : tensor.doubles())
      add(value);
  }
  return summary;
}

static std::string spellElement(double value) {
  if (std::isnan(value))
    return "NaN";
  return value > 0 ? "infinite" : "minus infinite";
}

/// "[3, 5]", of an element by its number.
static std::string indexText(Type type, int64_t number) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return "[" + std::to_string(number) + "]";
  return formatIndex(tensor.getShape().data(), tensor.getRank(), number);
}

static std::string wrongText(Value value, const ElementSummary &elements) {
  return spellElement(elements.value) + " at " +
         indexText(value.getType(), elements.first) + ", " +
         std::to_string(elements.wrong) + " of " +
         std::to_string(elements.count) + " elements";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The name of a value in the graph: that of what it repeats, for a copy.
static StringRef graphName(Value value) {
  StringRef name = joint::getValueName(value);
  Operation *op = value.getDefiningOp();
  if (op && value == op->getResult(0))
    return joint::nameInGraph(op);
  return name;
}

static Block &blockOf(Operation *function) {
  return function->getRegion(0).front();
}

void AnomalyCheck::readFunction(Operation *function) {
  if (!functions.insert(function).second)
    return;
  function->walk([&](Operation *op) {
    hasKeys |= BackwardKey::read(op->getLoc()).has_value();
    if (isa<kernel::LaunchOp>(op))
      return;
    for (Value result : op->getResults())
      if (StringRef name = graphName(result);
          !name.empty() && ops.try_emplace(name, op).second)
        named.push_back(op);
  });
  for (BlockArgument argument : blockOf(function).getArguments()) {
    auto graph = dyn_cast<joint::GraphOp>(function);
    auto half = dyn_cast<func::FuncOp>(function);
    unsigned number = argument.getArgNumber();
    auto role = half    ? half.getArgAttrOfType<joint::RoleAttr>(
                              number, joint::JointDialect::kRole)
                : graph ? graph.getRole(number)
                        : joint::RoleAttr();
    if (role && (role.getKind() == joint::RoleKind::Tangent ||
                 role.getKind() == joint::RoleKind::GradSeed))
      dependent.insert(argument);
  }
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<kernel::LaunchOp>(op))
      return;
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return dependent.contains(kernel::insideOf(operand));
        }))
      dependent.insert(op->getResults().begin(), op->getResults().end());
  });
}

LogicalResult AnomalyCheck::starts(Operation *function,
                                   ArrayRef<RuntimeValue> arguments) {
  readFunction(function);
  for (auto [argument, held] :
       llvm::zip_equal(blockOf(function).getArguments(), arguments)) {
    keep(argument, held, nullptr);
    auto made = handed.find(joint::getValueName(argument));
    if (made != handed.end())
      known[argument] = made->second;
  }
  return success();
}

/// Whether what a function returns stays in the step: what the forward saves.
static bool isHandedOver(Operation *function, unsigned result) {
  auto half = dyn_cast<func::FuncOp>(function);
  auto module = function->getParentOfType<ModuleOp>();
  if (!half || !module)
    return false;
  for (auto link : module.getOps<joint::PartitionOp>())
    if (link.getForward() == half.getSymName())
      return result >= link.getNumForwardResults();
  return false;
}

LogicalResult AnomalyCheck::ends(Operation *function, ArrayRef<RuntimeValue>) {
  Operation *terminator = blockOf(function).getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    const Known *one = findKnown(operand.get());
    if (!one)
      continue;
    if (one->origin && !isHandedOver(function, operand.getOperandNumber()))
      return report(one->origin);
    if (StringRef name = joint::getValueName(kernel::insideOf(operand.get()));
        !name.empty())
      handed[name] = *one;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool AnomalyCheck::isOfBackward(Operation *op) const {
  if (hasKeys)
    return BackwardKey::read(op->getLoc()).has_value();
  return llvm::any_of(op->getResults(),
                      [&](Value result) { return dependent.contains(result); });
}

/// Whether both are of the backward of one forward op.
bool AnomalyCheck::sameBackward(Operation *a, Operation *b) const {
  if (a == b || !hasKeys)
    return a == b;
  auto first = BackwardKey::read(a->getLoc());
  auto second = BackwardKey::read(b->getLoc());
  return first && second && first->of == second->of &&
         first->number == second->number && first->forward == second->forward;
}

const AnomalyCheck::Known *AnomalyCheck::findKnown(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? nullptr : &found->second;
}

void AnomalyCheck::keep(Value value, const RuntimeValue &held,
                        Operation *from) {
  Known one;
  one.made = value;
  if (const auto *tensor = std::get_if<Tensor>(&held))
    one.elements = summarize(*tensor);
  else if (const auto *real = std::get_if<double>(&held);
           real && !std::isfinite(*real))
    one.elements = {1, 1, 0, *real, 0, 0};
  if (!one.elements.isFinite())
    one.origin = from;
  known[value] = one;
}

Operation *AnomalyCheck::originOf(Operation *op) const {
  for (Value operand : op->getOperands())
    if (const Known *read = findKnown(operand); read && read->origin)
      return read->origin;
  // A constant, which rules may share, is no gradient.
  return isOfBackward(op) && op->getNumOperands() > 0 ? op : nullptr;
}

/// Whether an op reads what has left the backward of another op.
LogicalResult AnomalyCheck::checkReads(Operation *op) {
  for (Value operand : op->getOperands()) {
    const Known *read = findKnown(operand);
    if (!read || !read->origin)
      continue;
    Operation *maker = read->made.getDefiningOp();
    if (!maker || !sameBackward(maker, op))
      return report(read->origin);
  }
  return success();
}

/// Whether a launch gives back `value`, which is made inside of it.
static bool leavesLaunch(Value value) {
  auto launch =
      dyn_cast<kernel::LaunchOp>(value.getDefiningOp()->getParentOp());
  return launch && llvm::is_contained(launch.getYield().getOperands(), value);
}

/// Whether a launch has a value of the backward that nobody sees behind it.
bool AnomalyCheck::keepsToItself(kernel::LaunchOp launch) const {
  return llvm::any_of(
      launch.getBlock().without_terminator(), [&](Operation &op) {
        return isOfBackward(&op) &&
               !llvm::all_of(op.getResults(),
                             [](Value value) { return leavesLaunch(value); });
      });
}

LogicalResult AnomalyCheck::ran(Operation *op,
                                MutableArrayRef<RuntimeValue> results) {
  if (isa<kernel::LaunchOp>(op)) {
    finishLaunch(op, results);
    return success();
  }
  if (failed(checkReads(op)))
    return failure();
  Operation *origin = originOf(op);
  bool counts = isOfBackward(op);
  for (auto [result, held] : llvm::zip_equal(op->getResults(), results)) {
    looked +=
        counts && std::holds_alternative<Tensor>(held) && !leavesLaunch(result);
    keep(result, held, origin);
    if (!hasKeys && known[result].origin)
      return report(known[result].origin);
  }
  return success();
}

bool AnomalyCheck::wantsOpsOf(Operation *launch,
                              ArrayRef<RuntimeValue> results) {
  auto readsAnomaly = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (const Known *read = findKnown(operand); read && read->origin)
        return WalkResult::interrupt();
    return WalkResult::advance();
  };
  auto isWrong = [](const RuntimeValue &held) {
    const auto *tensor = std::get_if<Tensor>(&held);
    return tensor && !summarize(*tensor).isFinite();
  };
  return keepsToItself(cast<kernel::LaunchOp>(launch)) ||
         llvm::any_of(results, isWrong) ||
         launch->walk(readsAnomaly).wasInterrupted();
}

/// Results of a launch are what its ops made. Where these gave other values one
/// by one, what the launch has made counts.
void AnomalyCheck::finishLaunch(Operation *launch,
                                ArrayRef<RuntimeValue> results) {
  for (auto [result, held] : llvm::zip_equal(launch->getResults(), results)) {
    Value inside = kernel::insideOf(result);
    Operation *maker = inside.getDefiningOp();
    looked += maker && isOfBackward(maker);
    keep(inside, held, maker ? originOf(maker) : nullptr);
    Known one = known[inside]; // the map may grow
    known[result] = one;
  }
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static std::string opText(Operation *op) {
  std::string text = shortOpName(op);
  if (op->getNumResults() == 0)
    return text;
  StringRef name = joint::getValueName(op->getResult(0));
  return name.empty() ? text : "'" + name.str() + "' = " + text;
}

/// The last op in front of the backward with the line of `location`.
Operation *AnomalyCheck::opOnLine(Location location) const {
  std::string line = wholePlaceText(location);
  Operation *last = nullptr;
  for (Operation *op : named)
    if (!line.empty() && !isOfBackward(op) &&
        wholePlaceText(op->getLoc()) == line)
      last = op;
  return last;
}

void AnomalyCheck::describeForward(InFlightDiagnostic &diag, Operation *op) {
  std::optional<BackwardKey> key = BackwardKey::read(op->getLoc());
  if (!key) {
    if (Operation *forward = opOnLine(op->getLoc()))
      diag.attachNote(forward->getLoc())
          << "the forward on this line ends with " << opText(forward);
    return;
  }
  for (unsigned depth = 0; key && key->forward; ++depth) {
    Diagnostic &note = diag.attachNote(key->forward);
    auto forward = ops.find(key->of);
    note << (depth ? "which is of the backward of " : "in the backward of ");
    if (forward == ops.end())
      note << "'" << key->of << "'";
    else
      note << opText(forward->second);
    note << " (number " << key->text() << ")";
    key = BackwardKey::read(*key->forward);
  }
}

void AnomalyCheck::describeOperands(InFlightDiagnostic &diag, Operation *op) {
  llvm::DenseSet<Value> told;
  for (Value operand : op->getOperands()) {
    const Known *read = findKnown(operand);
    if (!read || read->elements.count == 0 || !told.insert(operand).second)
      continue;
    StringRef name = joint::getValueName(kernel::insideOf(operand));
    Operation *maker = read->made.getDefiningOp();
    Diagnostic &note = diag.attachNote(maker ? maker->getLoc() : op->getLoc());
    note << "operand '" << name << "', " << typeText(operand.getType());
    if (read->elements.isFinite()) {
      note << llvm::formatv(", was finite: from {0} to {1}",
                            llvm::format("%g", read->elements.least),
                            llvm::format("%g", read->elements.greatest))
                  .str();
      continue;
    }
    note << ", was not: " << wrongText(operand, read->elements)
         << (!maker                ? ", given to the step"
             : isOfBackward(maker) ? ", a constant"
                                   : ", made in front of the backward");
  }
}

LogicalResult AnomalyCheck::report(Operation *origin) {
  found = origin;
  InFlightDiagnostic diag = mlir::emitError(origin->getLoc())
                            << opText(origin)
                            << " makes a gradient that is not finite";
  for (Value result : origin->getResults())
    if (const Known *one = findKnown(result);
        one && !one->elements.isFinite()) {
      diag << ": " << wrongText(result, one->elements);
      break;
    }
  describeForward(diag, origin);
  describeOperands(diag, origin);
  return diag;
}
