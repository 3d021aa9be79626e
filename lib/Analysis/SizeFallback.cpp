// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes without a model. In this order:
//
//   1. a constant integer is its value;
//   2. a result that is tied to a destination (`outs` of structured ops) has
//      the destination's type;
//   3. an elementwise op has the shape of an operand;
//   4. a result that shares the storage of an operand of its type is as that;
//   5. an op that infers its types or shapes is asked, with stand-ins for the
//      operands whose types are known better than declared. Stand-ins are
//      arguments of a block of their own, so the graph is not touched.
//
// What none of these says stays as it is declared. Linear in the operands.

#include "cutback/Analysis/SizeFallback.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

/// `declared` with the dimensions of `shape` where they are of one rank.
static Type withShape(Type declared, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(declared);
  if (!tensor || static_cast<size_t>(tensor.getRank()) != shape.size())
    return declared;
  return tensor.clone(shape);
}

static bool inferTied(Operation *op, ArrayRef<Type> operandTypes,
                      MutableArrayRef<Type> types) {
  auto tied = dyn_cast<DestinationStyleOpInterface>(op);
  if (!tied)
    return false;
  for (OpResult result : op->getResults()) {
    OpOperand *init = tied.getTiedOpOperand(result);
    auto type =
        init
            ? dyn_cast<RankedTensorType>(operandTypes[init->getOperandNumber()])
            : RankedTensorType();
    if (type)
      types[result.getResultNumber()] =
          withShape(result.getType(), type.getShape());
  }
  return true;
}

static bool inferElementwise(Operation *op, ArrayRef<Type> operandTypes,
                             MutableArrayRef<Type> types) {
  if (!op->hasTrait<OpTrait::Elementwise>())
    return false;
  for (Type operand : operandTypes)
    if (auto shaped = dyn_cast<RankedTensorType>(operand))
      for (Type &type : types)
        if (auto known = dyn_cast<RankedTensorType>(type);
            !known || !known.hasStaticShape())
          type = withShape(type, shaped.getShape());
  return true;
}

/// What a write gives, say: the argument as it is then.
static bool inferAliased(Operation *op, ArrayRef<Type> operandTypes,
                         MutableArrayRef<Type> types) {
  auto model = dyn_cast<cutback::joint::RematerializableOpInterface>(op);
  bool isAny = false;
  for (unsigned r = 0; model && r < types.size(); ++r) {
    int64_t operand = model.getAliasedOperand(r);
    auto type = operand < 0 ? RankedTensorType()
                            : dyn_cast<RankedTensorType>(operandTypes[operand]);
    if (!type || op->getOperand(operand).getType() != types[r])
      continue;
    types[r] = withShape(types[r], type.getShape());
    isAny = true;
  }
  return isAny;
}

/// The operands, with stand-ins in `block` for those of another type.
static SmallVector<Value> standIns(Operation *op, ArrayRef<Type> operandTypes,
                                   Block &block) {
  SmallVector<Value> values(op->getOperands());
  for (auto [value, type] : llvm::zip(values, operandTypes))
    if (value.getType() != type)
      value = block.addArgument(type, op->getLoc());
  return values;
}

static void inferByInterface(Operation *op, ArrayRef<Type> operandTypes,
                             MutableArrayRef<Type> types) {
  auto shapes = dyn_cast<InferShapedTypeOpInterface>(op);
  auto whole = dyn_cast<InferTypeOpInterface>(op);
  if (!shapes && !whole)
    return;
  Block block;
  SmallVector<Value> operands = standIns(op, operandTypes, block);
  if (shapes) {
    SmallVector<ShapedTypeComponents> inferred;
    if (failed(shapes.inferReturnTypeComponents(
            op->getContext(), std::nullopt, ValueShapeRange(operands),
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), inferred)) ||
        inferred.size() != types.size())
      return;
    for (auto [type, components] : llvm::zip(types, inferred))
      if (components.hasRank())
        type = withShape(type, components.getDims());
    return;
  }
  SmallVector<Type> inferred;
  if (failed(whole.inferReturnTypes(
          op->getContext(), std::nullopt, operands, op->getAttrDictionary(),
          op->getPropertiesStorage(), op->getRegions(), inferred)) ||
      inferred.size() != types.size())
    return;
  for (auto [type, better] : llvm::zip(types, inferred))
    if (auto tensor = dyn_cast<RankedTensorType>(better))
      type = withShape(type, tensor.getShape());
}

void cutback::inferSizes(Operation *op, ArrayRef<Type> operandTypes,
                         SmallVectorImpl<Type> &types,
                         SmallVectorImpl<int64_t> &ints) {
  types.assign(op->result_type_begin(), op->result_type_end());
  ints.assign(op->getNumResults(), ShapedType::kDynamic);
  // What regions read stands behind the operands.
  operandTypes = operandTypes.take_front(op->getNumOperands());
  if (operandTypes.size() != op->getNumOperands())
    return;
  IntegerAttr constant;
  if (op->getNumResults() == 1 && matchPattern(op, m_Constant(&constant))) {
    ints[0] = constant.getValue().getSExtValue();
    return;
  }
  if (inferTied(op, operandTypes, types) ||
      inferElementwise(op, operandTypes, types) ||
      inferAliased(op, operandTypes, types))
    return;
  inferByInterface(op, operandTypes, types);
}
