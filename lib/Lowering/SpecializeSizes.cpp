// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types first, then arguments: a call that takes sizes gets those that are
// known as literals, and no longer has them as operands.
//
// Sizes stay values of the function, because the forward hands them over; only
// who needs them to know a shape has them as numbers.

#include "SpecializeSizes.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Joint/Random.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Specializer {
public:
  Specializer(const StepProgram &program, const IRMapping &copies,
              ArrayRef<BlockArgument> saved) {
    for (const StepValue &value : program.values)
      if (Value copy = copies.lookupOrNull(value.value))
        set(copy, value);
    for (auto [argument, number] : llvm::zip(saved, program.saved))
      set(argument, program.values[number]);
  }

  void run(func::FuncOp half) {
    half.walk([&](Operation *op) {
      if (auto call = dyn_cast<aten::CallOp>(op))
        specialize(call);
      else if (auto random = dyn_cast<RandomOp>(op))
        if (cast<ShapedType>(random.getResult().getType()).hasStaticShape())
          random.getSizesMutable().clear();
    });
    Block &block = half.front();
    half.setType(
        FunctionType::get(half.getContext(), block.getArgumentTypes(),
                          TypeRange(block.getTerminator()->getOperands())));
  }

private:
  void set(Value copy, const StepValue &value) {
    if (isa<RankedTensorType>(copy.getType()))
      copy.setType(value.type);
    if (copy.getType().isIndex() && value.integer != ShapedType::kDynamic)
      numbers[copy] = value.integer;
  }

  void specialize(aten::CallOp call) {
    // What computes sizes keeps them.
    if (llvm::all_of(call->getResultTypes(),
                     [](Type type) { return !isa<ShapedType>(type); }))
      return;
    operand = 0;
    kept.clear();
    this->call = call;
    auto args = cast<ArrayAttr>(replaced(call.getArgs()));
    if (kept.size() == call->getNumOperands())
      return;
    call->setOperands(kept);
    call.getProperties().args = args;
  }

  /// `arg` with the numbers that are known.
  Attribute replaced(Attribute arg) {
    MLIRContext *context = arg.getContext();
    if (auto list = dyn_cast<ArrayAttr>(arg)) {
      SmallVector<Attribute> entries;
      for (Attribute entry : list)
        entries.push_back(replaced(entry));
      return ArrayAttr::get(context, entries);
    }
    if (!isa<OperandAttr>(arg))
      return arg;
    Value value = call->getOperand(operand++);
    auto found = numbers.find(value);
    if (found == numbers.end()) {
      kept.push_back(value);
      return arg;
    }
    return IntegerAttr::get(IntegerType::get(context, 64), found->second);
  }

  llvm::DenseMap<Value, int64_t> numbers;
  aten::CallOp call; ///< at work
  unsigned operand = 0;
  SmallVector<Value> kept;
};

} // namespace

void cutback::specializeSizes(func::FuncOp half, const StepProgram &program,
                              const IRMapping &copies,
                              ArrayRef<BlockArgument> saved) {
  Specializer(program, copies, saved).run(half);
}
