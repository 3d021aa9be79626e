// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a call at run time: the skeleton `args` of the op, with the
// values that its operands have now. The op is verified, so an argument has the
// kind that the schema says; an accessor answers 0 or nothing where it has not.
// Kernels are found by PyTorch's name, in the table that the ODS files make.

#include "cutback/Interpreter/Kernel.h"

#include "Elements.h"
#include "Kernels/Kernels.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

KernelFn interpreter::getKernel(OperationName op) {
  static const llvm::StringMap<KernelFn> map = {
#define ATEN_RULE_OF(op, kernel) {op, kernels::kernel},
#include "cutback/Dialect/Aten/AtenKernels.inc"
  };
  const aten::OpInfo *info = aten::getOpInfo(op);
  return info ? map.lookup(info->torchName) : nullptr;
}

bool interpreter::hasKernel(Operation *call) {
  return getKernel(call->getName()) ||
         (call->getNumResults() > 0 && getViewedOperand(call, 0) >= 0);
}

KernelCall::KernelCall(aten::CallOp op, ArrayRef<RuntimeValue> operands,
                       MutableArrayRef<RuntimeValue> results,
                       const InterpreterOptions &options)
    : Arguments(op.getSchema(), op.getArgs(), op.getLoc()), op(op),
      options(options), operands(operands), results(results) {}

//===----------------------------------------------------------------------===//
// Arguments and list entries
//===----------------------------------------------------------------------===//

RuntimeValue KernelCall::valueOf(const Item &item) const {
  if (!item.value)
    return {};
  if (item.isOperand())
    return item.operand < operands.size() ? operands[item.operand]
                                          : RuntimeValue();
  if (auto flag = dyn_cast<BoolAttr>(item.value))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(item.value))
    return integer.getInt();
  if (auto real = dyn_cast<FloatAttr>(item.value))
    return real.getValueAsDouble();
  return {};
}

bool KernelCall::isNone(const Item &item) const {
  return item.isNone() ||
         (item.isOperand() &&
          std::holds_alternative<std::monostate>(valueOf(item)));
}

bool KernelCall::isNone(aten::ParamRef param) const {
  return isNone(item(param));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// A number as a tensor without dimensions.
static Tensor tensorOf(const RuntimeValue &value) {
  if (const auto *tensor = std::get_if<Tensor>(&value))
    return *tensor;
  Tensor result;
  if (const auto *flag = std::get_if<bool>(&value)) {
    result = Tensor::zeros(DType::Bool, {});
    result.setInt(0, *flag);
  } else if (const auto *integer = std::get_if<int64_t>(&value)) {
    result = Tensor::zeros(DType::I64, {});
    result.setInt(0, *integer);
  } else {
    const auto *real = std::get_if<double>(&value);
    result = Tensor::zeros(DType::F64, {});
    result.set(0, real ? *real : 0);
  }
  return result;
}

Tensor KernelCall::tensor(aten::ParamRef param) const {
  return tensorOf(valueOf(item(param)));
}

bool KernelCall::isNumber(aten::ParamRef param) const {
  RuntimeValue value = valueOf(item(param));
  return !std::holds_alternative<Tensor>(value) &&
         !std::holds_alternative<std::monostate>(value);
}

std::optional<Tensor> KernelCall::optionalTensor(aten::ParamRef param) const {
  if (isNone(param))
    return std::nullopt;
  return dense(param);
}

std::vector<Tensor> KernelCall::tensors(aten::ParamRef param) const {
  std::vector<Tensor> list;
  for (const Item &entry : entries(param))
    list.push_back(tensorOf(valueOf(entry)).contiguous());
  return list;
}

std::vector<std::optional<Tensor>>
KernelCall::optionalTensors(aten::ParamRef param) const {
  std::vector<std::optional<Tensor>> list;
  for (const Item &entry : entries(param)) {
    if (isNone(entry))
      list.emplace_back();
    else
      list.emplace_back(tensorOf(valueOf(entry)).contiguous());
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static int64_t integerOf(const RuntimeValue &value, int64_t otherwise) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (const auto *real = std::get_if<double>(&value))
    return static_cast<int64_t>(*real);
  const auto *tensor = std::get_if<Tensor>(&value);
  return tensor && tensor->numel() == 1 ? tensor->getInt(0) : otherwise;
}

static double numberOf(const RuntimeValue &value, double otherwise) {
  if (const auto *real = std::get_if<double>(&value))
    return *real;
  const auto *tensor = std::get_if<Tensor>(&value);
  if (tensor && tensor->numel() == 1)
    return tensor->getDouble(0);
  if (std::holds_alternative<std::monostate>(value) || tensor)
    return otherwise;
  return static_cast<double>(integerOf(value, 0));
}

RuntimeValue KernelCall::scalar(aten::ParamRef param) const {
  return valueOf(item(param));
}

int64_t KernelCall::integer(aten::ParamRef param, int64_t ifNone) const {
  return integerOf(valueOf(item(param)), ifNone);
}

double KernelCall::number(aten::ParamRef param, double ifNone) const {
  return numberOf(valueOf(item(param)), ifNone);
}

bool KernelCall::boolean(aten::ParamRef param, bool ifNone) const {
  return integerOf(valueOf(item(param)), ifNone) != 0;
}

SmallVector<int64_t> KernelCall::integers(aten::ParamRef param,
                                          unsigned count) const {
  SmallVector<int64_t> list;
  for (const Item &entry : entries(param))
    list.push_back(integerOf(valueOf(entry), 0));
  if (count > 1 && list.size() == 1)
    list.assign(count, int64_t(list.front()));
  return list;
}

SmallVector<double> KernelCall::numbers(aten::ParamRef param) const {
  SmallVector<double> list;
  for (const Item &entry : entries(param))
    list.push_back(numberOf(valueOf(entry), 0));
  return list;
}

SmallVector<bool> KernelCall::booleans(aten::ParamRef param) const {
  SmallVector<bool> list;
  for (const Item &entry : entries(param))
    list.push_back(integerOf(valueOf(entry), 0) != 0);
  return list;
}

StringRef KernelCall::string(aten::ParamRef param) const {
  auto text = dyn_cast_or_null<StringAttr>(item(param).value);
  return text ? text.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool KernelCall::wants(unsigned i) const {
  return i < results.size() &&
         !isa<NoneType>(op.getOperation()->getResult(i).getType());
}

DType KernelCall::resultType(unsigned i) const {
  auto type =
      dyn_cast<RankedTensorType>(op.getOperation()->getResult(i).getType());
  std::optional<DType> dtype =
      type ? dtypeOf(type.getElementType()) : std::nullopt;
  return dtype.value_or(DType::F32);
}

/// True if a tensor of these sizes may have the declared type.
static bool fits(RankedTensorType declared, ArrayRef<int64_t> sizes) {
  return declared &&
         succeeded(verifyCompatibleShape(declared.getShape(), sizes));
}

Tensor KernelCall::make(unsigned i, ArrayRef<int64_t> sizes) const {
  Value result = op.getOperation()->getResult(i);
  auto declared = dyn_cast<RankedTensorType>(result.getType());
  if (!fits(declared, sizes)) {
    InFlightDiagnostic diag =
        op.getOperation()->emitError()
        << "result " << i << " of '" << op.getInfo().torchName << "' is a "
        << textOf(resultType(i), sizes) << ", which its type does not allow";
    diag.attachNote() << "the operands have other sizes than the graph was "
                         "made for";
    hasFailed = true;
    return Tensor::zeros(resultType(i), sizes);
  }
  if (!options.memory) {
    Tensor fresh = Tensor::zeros(resultType(i), sizes);
    set(i, fresh);
    return fresh;
  }
  Tensor place = options.memory->allocate(result, resultType(i), sizes);
  bool inPlace = llvm::any_of(operands, [&](const RuntimeValue &operand) {
    const auto *tensor = std::get_if<Tensor>(&operand);
    return tensor && sharesBytes(*tensor, place);
  });
  if (int64_t bytes = place.numel() * itemSize(place.type); bytes && !inPlace)
    std::memset(place.data(), 0, bytes);
  set(i, place);
  return place;
}

void KernelCall::set(unsigned i, RuntimeValue value) const {
  if (i < results.size())
    results[i] = std::move(value);
}

LogicalResult KernelCall::error(const Twine &message) const {
  hasFailed = true;
  op.getOperation()->emitError()
      << StringRef(op.getInfo().torchName) << ": " << message;
  return failure();
}
