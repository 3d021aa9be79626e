// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types first, then arguments: a call that takes sizes gets those that are
// known as literals, and no longer has them as operands.
//
// Sizes stay values of the function, because the forward hands them over; only
// who needs them to know a shape has them as numbers.
//
// The way back (OpenSizes): operands where an argument list had them before it
// had literals, types from the ops that were there; a launch has those of what
// it yields.

#include "SpecializeSizes.h"

#include "cutback/Dialect/Aten/ScalarEvaluation.h"
#include "cutback/Dialect/Aten/SizedCall.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Specializer {
public:
  Specializer(const StepView &step, const StepSegment &segment,
              const IRMapping &copies, KnownReals &known)
      : isOpen(llvm::any_of(step.segments, takesSizes)), known(known) {
    for (auto [number, value] : llvm::enumerate(segment.view.values))
      if (Value copy = copies.lookupOrNull(value)) {
        set(copy, step.values[segment.valueOf(number)]);
        setReal(copy, segment.valueOf(number));
      }
  }

  void run(func::FuncOp half) {
    half.walk([&](Operation *op) {
      if (auto call = dyn_cast<aten::CallOp>(op))
        specialize(call);
      else if (auto random = dyn_cast<RandomOp>(op))
        if (isOpen &&
            cast<ShapedType>(random.getResult().getType()).hasStaticShape())
          random.getSizesMutable().clear();
    });
    Block &block = half.front();
    half.setType(
        FunctionType::get(half.getContext(), block.getArgumentTypes(),
                          TypeRange(block.getTerminator()->getOperands())));
  }

private:
  /// Whether an argument has a size, or is one, that is a symbol. Where there
  /// is none, all that is not known depends on data, and ops stay what they
  /// were.
  static bool takesSizes(const StepSegment &segment) {
    auto own = ArrayRef(segment.view.types)
                   .slice(segment.given.size(),
                          segment.view.numArgs - segment.given.size());
    return llvm::any_of(own, [](Type type) {
      auto shaped = dyn_cast<RankedTensorType>(type);
      return type.isIndex() || (shaped && !shaped.hasStaticShape());
    });
  }

  void set(Value copy, const StepValue &value) {
    if (isa<RankedTensorType>(copy.getType()))
      copy.setType(value.type);
    if (isOpen && copy.getType().isIndex() &&
        value.integer != ShapedType::kDynamic)
      numbers[copy] = value.integer;
  }

  void setReal(Value copy, uint32_t number) {
    if (!isOpen || !isa<FloatType>(copy.getType()))
      return;
    numberOf[copy] = number;
    if (auto found = known.find(number); found != known.end())
      reals[copy] = found->second;
  }

  /// What computes numbers keeps its operands.
  void noteNumber(aten::CallOp call) {
    auto value = aten::evaluateReal(call, [&](Value operand) {
      if (auto found = numbers.find(operand); found != numbers.end())
        return std::optional<double>(found->second);
      auto found = reals.find(operand);
      return found == reals.end() ? std::nullopt
                                  : std::optional<double>(found->second);
    });
    if (!value)
      return;
    Value result = call->getResult(0);
    reals[result] = *value;
    if (auto number = numberOf.find(result); number != numberOf.end())
      known[number->second] = *value;
  }

  void specialize(aten::CallOp call) {
    if (llvm::all_of(call->getResultTypes(),
                     [](Type type) { return !isa<ShapedType>(type); }))
      return noteNumber(call);
    SmallVector<unsigned> kept;
    ArrayAttr args = aten::withLiterals(
        call.getArgs(),
        [&](unsigned operand) { return literalOf(call->getOperand(operand)); },
        kept);
    if (kept.size() == call->getNumOperands())
      return;
    SmallVector<Value> operands;
    for (unsigned operand : kept)
      operands.push_back(call->getOperand(operand));
    call->setOperands(operands);
    call.getProperties().args = args;
  }

  /// Null where the number is not known.
  Attribute literalOf(Value value) const {
    MLIRContext *context = value.getContext();
    if (auto found = numbers.find(value); found != numbers.end())
      return IntegerAttr::get(IntegerType::get(context, 64), found->second);
    if (auto found = reals.find(value); found != reals.end())
      return FloatAttr::get(Float64Type::get(context), found->second);
    return {};
  }

  bool isOpen;
  llvm::DenseMap<Value, int64_t> numbers;
  llvm::DenseMap<Value, double> reals;      ///< that follow from them
  llvm::DenseMap<Value, uint32_t> numberOf; ///< of floats, in the step
  KnownReals &known;
};

} // namespace

void cutback::specializeSizes(func::FuncOp half, const StepView &step,
                              unsigned segment, const IRMapping &copies,
                              KnownReals &known) {
  Specializer(step, step.segments[segment], copies, known).run(half);
}

//===----------------------------------------------------------------------===//
// The way back
//===----------------------------------------------------------------------===//

/// Number of an op, while its half has sizes.
static constexpr llvm::StringLiteral kOpenOp = "kernel.open_op";

void OpenSizes::remember(func::FuncOp half) {
  Builder builder(half.getContext());
  for (Value argument : half.getArguments())
    types[argument] = argument.getType();
  half.front().walk([&](Operation *op) {
    op->setAttr(kOpenOp, builder.getI64IntegerAttr(entries.size()));
    Entry &entry = entries.emplace_back();
    entry.operands.assign(op->operand_begin(), op->operand_end());
    entry.types.assign(op->result_type_begin(), op->result_type_end());
    if (auto call = dyn_cast<aten::CallOp>(op))
      entry.args = call.getArgs();
  });
}

const OpenSizes::Entry *OpenSizes::entryOf(Operation *op) const {
  auto number = op->getAttrOfType<IntegerAttr>(kOpenOp);
  return number ? &entries[number.getInt()] : nullptr;
}

bool OpenSizes::tookSizes(Operation *op) const {
  const Entry *entry = entryOf(op);
  return entry && entry->operands.size() != op->getNumOperands();
}

/// By place among the operands that `args` takes: what was there where `now`
/// has a literal, null where `now` still has an operand.
static void findTaken(Attribute args, Attribute now, ArrayRef<Value> had,
                      SmallVectorImpl<Value> &taken) {
  if (auto list = dyn_cast<ArrayAttr>(args)) {
    for (auto [entry, literal] : llvm::zip_equal(list, cast<ArrayAttr>(now)))
      findTaken(entry, literal, had, taken);
    return;
  }
  if (isa<OperandAttr>(args))
    taken.push_back(isa<OperandAttr>(now) ? Value() : had[taken.size()]);
}

void OpenSizes::restoreOperands(func::FuncOp half) const {
  half.walk([&](Operation *op) {
    if (!tookSizes(op))
      return;
    const Entry &entry = *entryOf(op);
    if (auto random = dyn_cast<RandomOp>(op)) {
      random.getSizesMutable().assign(
          ValueRange(entry.operands)
              .take_back(entry.operands.size() - op->getNumOperands()));
      return;
    }
    auto call = cast<aten::CallOp>(op);
    SmallVector<Value> operands;
    findTaken(entry.args, call.getArgs(), entry.operands, operands);
    auto next = op->operand_begin();
    for (Value &operand : operands)
      if (!operand)
        operand = *next++;
    call->setOperands(operands);
    call.getProperties().args = entry.args;
  });
}

void OpenSizes::restoreTypes(func::FuncOp forward, func::FuncOp backward,
                             unsigned saved) const {
  for (func::FuncOp half : {forward, backward}) {
    for (BlockArgument argument : half.getArguments())
      argument.setType(types.lookup(argument));
    half.walk([&](Operation *op) {
      if (const Entry *entry = entryOf(op))
        for (auto [result, type] :
             llvm::zip_equal(op->getResults(), entry->types))
          result.setType(type);
      op->removeAttr(kOpenOp);
      if (auto launch = dyn_cast<kernel::LaunchOp>(op))
        for (auto [result, inside] :
             llvm::zip_equal(op->getResults(), launch.getYield().getOperands()))
          result.setType(inside.getType());
    });
  }
  OperandRange handed =
      forward.front().getTerminator()->getOperands().take_back(saved);
  for (auto [argument, value] : llvm::zip(backward.getArguments(), handed))
    argument.setType(value.getType());
  for (func::FuncOp half : {forward, backward}) {
    Block &block = half.front();
    half.setType(
        FunctionType::get(half.getContext(), block.getArgumentTypes(),
                          TypeRange(block.getTerminator()->getOperands())));
  }
}
