// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy stands in no block; what it takes are arguments of a block of its
// own, of the types at the sizes that are known. So a formula that asks for a
// size, for a literal or for an operand sees what it will see when the step is
// formed for these sizes. Linear in the arguments of the call.

#include "cutback/Dialect/Aten/SizedCall.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

static Attribute
replaceOperands(Attribute arg, unsigned &operand,
                llvm::function_ref<Attribute(unsigned)> literalOf,
                SmallVectorImpl<unsigned> &kept) {
  if (auto list = dyn_cast<ArrayAttr>(arg)) {
    SmallVector<Attribute> entries;
    for (Attribute entry : list)
      entries.push_back(replaceOperands(entry, operand, literalOf, kept));
    return ArrayAttr::get(arg.getContext(), entries);
  }
  if (!isa<joint::OperandAttr>(arg))
    return arg;
  unsigned number = operand++;
  if (Attribute literal = literalOf(number))
    return literal;
  kept.push_back(number);
  return arg;
}

ArrayAttr aten::withLiterals(ArrayAttr args,
                             llvm::function_ref<Attribute(unsigned)> literalOf,
                             SmallVectorImpl<unsigned> &kept) {
  unsigned operand = 0;
  return cast<ArrayAttr>(replaceOperands(args, operand, literalOf, kept));
}

static bool isOpen(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return type.isIndex() || (tensor && !tensor.hasStaticShape());
}

bool SizedCall::takesSizes(Operation *op) {
  return isa<CallOp>(op) && (llvm::any_of(op->getOperandTypes(), isOpen) ||
                             llvm::any_of(op->getResultTypes(), isOpen));
}

SizedCall::SizedCall(CallOp call, ArrayRef<Type> types,
                     ArrayRef<int64_t> ints) {
  make(call, types, ints);
}

SizedCall::SizedCall(CallOp call) {
  // More than padding and shifts are, and divided by what sizes are divided by.
  constexpr int64_t kAssumedSize = 64;
  SmallVector<Type> types(call->getOperandTypes());
  llvm::append_range(types, call->getResultTypes());
  for (Type &type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      SmallVector<int64_t> sizes(tensor.getShape());
      for (int64_t &size : sizes)
        size = ShapedType::isDynamic(size) ? kAssumedSize : size;
      type = RankedTensorType::get(sizes, tensor.getElementType());
    }
  SmallVector<int64_t> ints(call->getNumOperands(), kAssumedSize);
  make(call, types, ints);
}

void SizedCall::make(CallOp call, ArrayRef<Type> types,
                     ArrayRef<int64_t> ints) {
  MLIRContext *context = call->getContext();
  auto literalOf = [&](unsigned operand) -> Attribute {
    if (!call->getOperand(operand).getType().isIndex() ||
        ShapedType::isDynamic(ints[operand]))
      return {};
    return IntegerAttr::get(IntegerType::get(context, 64), ints[operand]);
  };
  ArrayAttr args = withLiterals(call.getArgs(), literalOf, kept);
  operandBlock = std::make_unique<Block>();
  SmallVector<Value> operands;
  for (unsigned operand : kept)
    operands.push_back(
        operandBlock->addArgument(types[operand], call->getLoc()));
  OperationState state(call->getLoc(), call->getName());
  CallOp::build(state, types.drop_front(call->getNumOperands()), operands, args,
                /*names=*/ArrayAttr());
  copy = Operation::create(state);
}
