// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops: broadcasting and element types.
//
// One loop collects what takes part: every tensor, and every number that is an
// operand in the mathematical sense. Factors (`alpha`, `beta`, `value`) and
// constants of an activation (`eps`, `scale`, `threshold`, ...) scale the
// result but do not promote it; in the schemas these are the Scalar parameters
// with other names than those below.

#include "Common.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

/// Parameters that broadcast and promote. What log_sigmoid keeps in `buffer`
/// is its kernel's own affair.
static bool promotes(const SchemaParam &param) {
  if (param.kind == ParamKind::Tensor)
    return param.name != "buffer";
  if (param.kind != ParamKind::Scalar)
    return false;
  return llvm::StringSwitch<bool>(param.name)
      .Cases({"self", "other", "exponent", "min", "max"}, true)
      .Cases({"min_val", "max_val", "weight", "end"}, true)
      .Default(false);
}

/// The operands from parameter `first` on.
static LogicalResult getOperands(const InferCall &call,
                                 SmallVectorImpl<TensorShape> &operands,
                                 unsigned first = 0) {
  const Schema &schema = call.getSchema();
  for (unsigned i = first, n = schema.params.size(); i < n; ++i) {
    const SchemaParam &param = schema.params[i];
    if (!promotes(param) || param.isList ||
        (param.isOptional && call.isNone(i)))
      continue;
    if (failed(call.tensorOrNumber(i, operands.emplace_back())))
      return failure();
  }
  return success();
}

static LogicalResult broadcastAll(const InferCall &call,
                                  ArrayRef<TensorShape> operands, Dims &dims) {
  for (const TensorShape &operand : operands)
    if (failed(broadcastInto(call, dims, operand.dims)))
      return failure();
  return success();
}

/// The operands of a pointwise op, and the shape that they broadcast to.
static LogicalResult getBroadcast(const InferCall &call,
                                  SmallVectorImpl<TensorShape> &operands,
                                  Dims &dims) {
  if (failed(getOperands(call, operands)))
    return failure();
  return broadcastAll(call, operands, dims);
}

LogicalResult infer::broadcast(const InferCall &call, Results &results) {
  SmallVector<TensorShape> operands;
  Dims dims;
  if (failed(getBroadcast(call, operands, dims)))
    return failure();
  return push(call, results, dims, promoteTypes(operands));
}

LogicalResult infer::broadcastFloat(const InferCall &call, Results &results) {
  SmallVector<TensorShape> operands;
  Dims dims;
  if (failed(getBroadcast(call, operands, dims)))
    return failure();
  Type type = promoteTypes(operands);
  return push(call, results, dims, type ? toFloating(call, type) : type);
}

LogicalResult infer::divMode(const InferCall &call, Results &results) {
  return call.isNone("rounding_mode") ? broadcastFloat(call, results)
                                      : broadcast(call, results);
}

LogicalResult infer::comparison(const InferCall &call, Results &results) {
  SmallVector<TensorShape> operands;
  Dims dims;
  if (failed(getBroadcast(call, operands, dims)))
    return failure();
  return push(call, results, dims, boolType(call));
}

LogicalResult infer::sameAsSelf(const InferCall &call, Results &results) {
  TensorShape self;
  return failed(getSelf(call, self)) ? failure() : push(call, results, self);
}

LogicalResult infer::absolute(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, self.dims, realType(self.element));
}

LogicalResult infer::realPart(const InferCall &call, Results &results) {
  return absolute(call, results);
}

LogicalResult infer::unaryFloat(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return push(call, results, self.dims, toFloating(call, self.element));
}

LogicalResult infer::where(const InferCall &call, Results &results) {
  TensorShape condition;
  SmallVector<TensorShape> operands;
  if (failed(call.tensor(0, condition)) ||
      failed(getOperands(call, operands, /*first=*/1)))
    return failure();
  if (!isBool(condition.element) &&
      condition.element !=
          Type(IntegerType::get(call.getContext(), 8, IntegerType::Unsigned)))
    return call.error("the condition must be of type i1 or ui8, not ",
                      condition.element);
  Dims dims = condition.dims;
  if (failed(broadcastAll(call, operands, dims)))
    return failure();
  return push(call, results, dims, promoteTypes(operands));
}

LogicalResult infer::maskedFill(const InferCall &call, Results &results) {
  TensorShape self, mask;
  if (failed(call.tensor("self", self)) || failed(call.tensor("mask", mask)))
    return failure();
  if (!isBool(mask.element))
    return call.error("the mask must be of type i1, not ", mask.element);
  Dims dims = self.dims;
  if (failed(broadcastInto(call, dims, mask.dims)))
    return failure();
  return push(call, results, dims, self.element);
}

LogicalResult infer::toDtype(const InferCall &call, Results &results) {
  TensorShape self;
  std::optional<TensorShape> other;
  Type type;
  if (failed(getSelf(call, self)) ||
      failed(call.optionalTensor(optional("other"), other)) ||
      failed(getDtype(call, other ? other->element : self.element, type)))
    return failure();
  return push(call, results, self.dims, type);
}

LogicalResult infer::convertElementType(const InferCall &call,
                                        Results &results) {
  TensorShape self;
  Type type;
  if (failed(call.tensorOrNumber(0, self)) ||
      failed(getDtype(call, self.element, type)))
    return failure();
  return push(call, results, self.dims, type);
}

LogicalResult infer::glu(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t dim = 0;
  if (failed(getSelf(call, self)) ||
      failed(call.dimension("dim", self.rank(), dim)))
    return failure();
  if (self.dims.empty())
    return call.error("glu of a tensor without dimensions");
  int64_t &size = self.dims[dim];
  if (size != kUnknown && size % 2 != 0)
    return call.error("dimension ", dim, " cannot be halved: its size is ",
                      size);
  size = floorDivSize(size, 2);
  return push(call, results, self);
}

LogicalResult infer::nativeDropout(const InferCall &call, Results &results) {
  TensorShape input;
  if (failed(getSelf(call, input)) || failed(push(call, results, input)))
    return failure();
  return push(call, results, input.dims, boolType(call));
}

LogicalResult infer::makeComplex(const InferCall &call, Results &results) {
  SmallVector<TensorShape> operands;
  Dims dims;
  if (failed(getBroadcast(call, operands, dims)))
    return failure();
  Type type = promoteTypes(operands);
  if (!isa_and_nonnull<FloatType>(type))
    return call.error("complex parts must be floats, not ", type);
  return push(call, results, dims, complexType(type));
}
