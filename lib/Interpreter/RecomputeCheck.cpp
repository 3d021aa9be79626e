// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two runs of one op are two ops of the halves, tied by their names: what is
// put behind the name of a copy (Replay.h) is taken off again. Halves of
// PyTorch give both the same name.
//
//   1. Before the forward runs: which names the backward computes again.
//   2. Behind each op of the forward: a copy of what has such a name.
//   3. Behind each recomputed op: the comparison. Ops run in the order of their
//      operands, so the first op that differs is where the difference begins:
//      what it has read was the same.
//
// A value that is in memory in one half alone is not compared; what is computed
// from it, and is in memory, is.

#include "cutback/Interpreter/RecomputeCheck.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Support/Text.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Takes "SUFFIX12" off, if that is the end.
static bool dropNumbered(StringRef &name, StringRef suffix) {
  StringRef shorter = name.rtrim("0123456789");
  if (shorter.size() == name.size() || !shorter.consume_back(suffix))
    return false;
  name = shorter;
  return true;
}

/// Whether `op` is a copy that the compiler made.
static bool isCopy(Operation *op) {
  auto policy =
      op->getAttrOfType<joint::PolicyAttr>(joint::JointDialect::kPolicy);
  return op->hasAttr(joint::JointDialect::kRecompute) ||
         (policy && policy.getRun() > 0);
}

/// What a value is called in the graph.
static StringRef nameOfOriginal(Value value) {
  StringRef name = joint::getValueName(value);
  Operation *op = value.getDefiningOp();
  if (!op || !isCopy(op))
    return name;
  name.consume_back(joint::kRecomputeSuffix);
  if (dropNumbered(name, joint::kRunSuffix))
    dropNumbered(name, joint::kFreshSuffix);
  return name;
}

/// Whether a value draws other numbers than its original, as was asked for.
static bool isFresh(Value value) {
  StringRef name = joint::getValueName(value);
  name.consume_back(joint::kRecomputeSuffix);
  return dropNumbered(name, joint::kRunSuffix) &&
         dropNumbered(name, joint::kFreshSuffix);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

template <typename Visit>
static void forEachMade(Operation *half, Visit visit) {
  half->walk([&](Operation *op) {
    if (!isa<kernel::LaunchOp>(op))
      for (Value result : op->getResults())
        if (!joint::getValueName(result).empty())
          visit(result);
  });
}

void RecomputeCheck::readHalves(joint::PartitionOp link, Operation *forward) {
  if (partition == link.getOperation())
    return;
  partition = link;
  wanted.clear();
  recomputed.clear();
  seen.clear();
  forEachMade(forward, [&](Value made) {
    wanted.try_emplace(joint::getValueName(made), made, false);
  });
  Operation *backward =
      SymbolTable::lookupNearestSymbolFrom(link, link.getBackwardAttr());
  if (!backward)
    return;
  forEachMade(backward, [&](Value made) {
    auto found = wanted.find(nameOfOriginal(made));
    // In halves of others a name may be that of another op.
    if (found == wanted.end() ||
        found->second.first.getDefiningOp()->getName() !=
            made.getDefiningOp()->getName())
      return;
    found->second.second = true;
    recomputed.insert(made);
  });
}

LogicalResult RecomputeCheck::starts(Operation *function,
                                     ArrayRef<RuntimeValue>) {
  half = Half::None;
  auto symbol = dyn_cast<SymbolOpInterface>(function);
  auto module = function->getParentOfType<ModuleOp>();
  if (!symbol || !module)
    return success();
  for (auto link : module.getOps<joint::PartitionOp>()) {
    if (link.getForward() == symbol.getName()) {
      half = Half::Forward;
      kept.clear();
      compared = 0;
      bytes = 0;
      seen.clear();
      readHalves(link, function);
    } else if (link.getBackward() == symbol.getName()) {
      half = Half::Backward;
    }
  }
  return success();
}

uint64_t RecomputeCheck::numUnseen() const {
  return recomputed.size() - seen.size();
}

LogicalResult RecomputeCheck::ran(Operation *op,
                                  MutableArrayRef<RuntimeValue> results) {
  if (half == Half::None)
    return success();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) {
    // A result that nobody reads may be left out.
    if (std::holds_alternative<std::monostate>(value))
      continue;
    Value made = kernel::insideOf(result);
    if (half == Half::Forward)
      keep(made, value);
    else if (recomputed.contains(made) && failed(compare(made, value)))
      return failure();
  }
  return success();
}

void RecomputeCheck::keep(Value made, const RuntimeValue &value) {
  StringRef name = joint::getValueName(made);
  auto found = wanted.find(name);
  if (found == wanted.end() || !found->second.second || kept.count(name))
    return;
  Operation *op = made.getDefiningOp();
  unsigned number = op ? cast<OpResult>(made).getResultNumber() : 0;
  Kept &one = kept[name];
  one = {value, made, op && getViewedOperand(op, number) >= 0};
  auto *tensor = std::get_if<Tensor>(&one.value);
  if (!tensor || one.isView)
    return;
  *tensor = copyOf(*tensor);
  bytes += tensor->numel() * itemSize(tensor->type);
}

static bool isSame(const RuntimeValue &a, const RuntimeValue &b, bool isView) {
  const auto *first = std::get_if<Tensor>(&a);
  const auto *second = std::get_if<Tensor>(&b);
  if (!isView || !first || !second)
    return equalBits(a, b);
  return first->type == second->type && first->sizes == second->sizes;
}

LogicalResult RecomputeCheck::compare(Value made, const RuntimeValue &value) {
  auto found = kept.find(nameOfOriginal(made));
  if (found == kept.end() || !seen.insert(made).second)
    return success();
  ++compared;
  return isSame(found->second.value, value, found->second.isView)
             ? success()
             : report(found->second, made, value);
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static std::string opText(Value made) {
  std::string text = "'" + joint::getValueName(made).str() + "'";
  if (Operation *op = made.getDefiningOp())
    text += " = " + shortOpName(op);
  return text;
}

static std::string elementText(const Tensor &tensor, int64_t number) {
  if (isIntegral(tensor.type))
    return std::to_string(tensor.getInt(number));
  return llvm::formatv("{0}", llvm::format("%.9g", tensor.getDouble(number)))
      .str();
}

/// Where two tensors of equal type and sizes differ, which they do.
static std::string elementsText(const Tensor &was, const Tensor &is) {
  int64_t item = itemSize(is.type), first = -1, wrong = 0;
  for (int64_t i = 0; i < is.numel(); ++i)
    if (std::memcmp(was.data() + i * item, is.data() + i * item, item) != 0) {
      first = first < 0 ? i : first;
      ++wrong;
    }
  return elementText(is, first) + " at " +
         formatIndex(is.sizes.data(), is.sizes.size(), first) +
         ", the forward had " + elementText(was, first) + "; " +
         std::to_string(wrong) + " of " + std::to_string(is.numel()) +
         " elements differ";
}

LogicalResult RecomputeCheck::report(const Kept &kept, Value made,
                                     const RuntimeValue &value) {
  differs = true;
  InFlightDiagnostic diag = mlir::emitError(made.getLoc())
                            << "recomputed " << opText(made)
                            << " is not what the forward has computed";
  const auto *was = std::get_if<Tensor>(&kept.value);
  const auto *is = std::get_if<Tensor>(&value);
  if (was && is && (was->type != is->type || was->sizes != is->sizes))
    diag << ": a " << textOf(is->type, is->sizes) << ", the forward had a "
         << textOf(was->type, was->sizes);
  else if (was && is)
    diag << ": " << elementsText(*was, is->contiguous());
  diag.attachNote(kept.made.getLoc())
      << "the forward has computed " << opText(kept.made) << " here";
  if (isFresh(made))
    diag.attachNote(made.getLoc())
        << "it is in a region with preserve_rng = false, whose random ops draw "
           "other numbers when they run again; without that they draw the same";
  else
    diag.attachNote(made.getLoc())
        << "an op that gives other bits when it runs again must be saved: "
           "--policy="
        << joint::getValueName(kept.made) << "=must-save";
  return diag;
}
