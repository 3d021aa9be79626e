// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Effects, aliasing and gradients of all ops of dialect `aten`, from the flags
// of the op's family and the alias annotations of its schema.
//
// Ops whose aliasing depends on strides (`reshape`, `contiguous`, `to`, …)
// carry an annotation in PyTorch's schema and the flag kMayAlias in ours: they
// are said to alias nothing, because only the declared strides can tell.

#include "DeclaredCalls.h"
#include "SchemaDetail.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Forgets.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

const Schema &CallOp::getSchema() {
  CallModel *model = CallModel::get(getOperation()->getName());
  // The first caller reads the table.
  static_cast<AtenDialect *>(model->getDialect())->getSchemas();
  return *model->schema;
}

/// The argument of the first of `names` that the schema has; null if it has
/// none of them.
static Attribute getArg(CallOp op, ArrayRef<StringRef> names) {
  const Schema &schema = op.getSchema();
  ArrayAttr args = op.getArgs();
  if (!args || args.size() != schema.params.size())
    return {};
  for (StringRef name : names)
    if (int i = schema.find(name); i >= 0)
      return args[i];
  return {};
}

bool CallOp::isRandom() {
  const OpInfo &info = getInfo();
  if (!info.has(kRandomWithDropout))
    return info.has(kRandom);
  return drawsRandomly(info, getArg(*this, {"train", "training"}),
                       getArg(*this, {"dropout_p", "p", "dropout"}));
}

void CallOp::getEffects(Effects &effects) {
  if (hasOrderedEffects()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  } else if (isRandom()) {
    for (OpResult result : getOperation()->getResults())
      effects.emplace_back(MemoryEffects::Allocate::get(), result,
                           RngResource::get());
  }
}

Speculation::Speculatability CallOp::getSpeculatability() {
  return isRecomputable() ? Speculation::Speculatable
                          : Speculation::NotSpeculatable;
}

int64_t CallOp::getAliasedOperand(unsigned result) {
  const Schema &schema = getSchema();
  ArrayAttr args = getArgs();
  if (!args || getInfo().has(kMayAlias) || schema.results.empty())
    return -1;
  // The results of one `Tensor(a)[]` alias one operand.
  const SchemaResult &declared =
      schema.results[std::min<size_t>(result, schema.results.size() - 1)];
  if (!declared.aliasSet)
    return -1;
  unsigned operand = 0;
  for (auto [arg, param] : llvm::zip(args, schema.params)) {
    if (param.aliasSet == declared.aliasSet && isa<joint::OperandAttr>(arg))
      return operand;
    operand += countOperandsIn(arg);
  }
  return -1;
}

static bool isDifferentiableType(Type type) {
  return isa<TensorType>(type) &&
         isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

bool CallOp::canHaveGradient(unsigned operand) {
  Operation *op = getOperation();
  const OpInfo &info = getInfo();
  bool forgets = operand == 0 && op->hasAttr(joint::kForgets);
  if (!getArgs() || (info.has(kNotDifferentiable) && !forgets) ||
      operand >= op->getNumOperands() ||
      !isDifferentiableType(op->getOperand(operand).getType()) ||
      llvm::none_of(op->getResultTypes(), isDifferentiableType))
    return false;
  unsigned end = 0;
  for (auto [i, arg] : llvm::enumerate(getArgs())) {
    end += countOperandsIn(arg);
    if (operand < end)
      return i >= 32 || !(info.noGradient >> i & 1);
  }
  return false;
}

bool CallOp::returnsTuple() { return getSchema().returnsTuple(); }

unsigned CallOp::getNumPositionalArgs() {
  return getSchema().getNumPositional();
}

/// "operator.add" has no overload.
StringRef CallOp::getPacketName() {
  StringRef name = getInfo().torchName;
  return name.count('.') < 2 ? name : name.rsplit('.').first;
}

StringRef CallOp::getOverloadName() {
  StringRef name = getInfo().torchName;
  return name.count('.') < 2 ? StringRef() : name.rsplit('.').second;
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Views and casts that change nothing. Nothing else folds: no identity of real
/// numbers holds for the bits of all floating-point numbers (x * 1 quiets a
/// signalling NaN, x + 0 changes -0). An op that carries a tag stays; the mark
/// of a recomputed copy is none, for its original has folded, too.
LogicalResult CallOp::fold(ArrayRef<Attribute>,
                           SmallVectorImpl<OpFoldResult> &results) {
  Operation *op = getOperation();
  auto isTag = [](NamedAttribute attr) {
    return attr.getName() != joint::JointDialect::kRecompute;
  };
  if (!getInfo().has(kIdentityIfSameType) || op->getNumResults() != 1 ||
      op->getNumOperands() == 0 ||
      llvm::any_of(op->getDiscardableAttrs(), isTag))
    return failure();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || op->getOperand(0).getType() != type)
    return failure();
  results.push_back(op->getOperand(0));
  return success();
}
