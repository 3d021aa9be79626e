// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of a call says by an expression of a number ("(k / 9) * 576 +
// k / 3 % 3 * 3") is here a list of its digits and how far each of them moves.
// A view is no copy: its strides stand in the digits, its offset is that of the
// tensor.

#include "CallDescription.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

std::optional<precompiled::Type> cuda::precompiledType(Value tensor) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (type.isF32())
    return precompiled::F32;
  if (type.isF64())
    return precompiled::F64;
  if (type.isBF16())
    return precompiled::BF16;
  if (type.isF16())
    return precompiled::F16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return precompiled::Bool;
  case 8:
    return isUnsigned ? precompiled::U8 : precompiled::I8;
  case 16:
    return isUnsigned ? precompiled::U16 : precompiled::I16;
  case 32:
    return isUnsigned ? precompiled::U32 : precompiled::I32;
  case 64:
    return isUnsigned ? precompiled::U64 : precompiled::I64;
  default:
    return std::nullopt;
  }
}

precompiled::Tensor cuda::describeTensor(Value tensor, int64_t operand,
                                         int64_t outer) {
  precompiled::Tensor described;
  described.operand = operand;
  described.type = precompiledType(tensor).value_or(precompiled::F32);
  described.at = kernel::locate(tensor).layout.offset;
  described.outer = outer;
  return described;
}

std::optional<precompiled::StridedTensor>
cuda::describeStrided(Value tensor, int64_t operand) {
  precompiled::StridedTensor described;
  Layout layout = kernel::locate(tensor).layout;
  std::optional<precompiled::Type> type = precompiledType(tensor);
  if (!type || layout.sizes.size() > precompiled::kMostDims)
    return std::nullopt;
  described.operand = operand;
  described.type = *type;
  described.at = layout.offset;
  described.rank = static_cast<int64_t>(layout.sizes.size());
  for (size_t dim = 0; dim < layout.sizes.size(); ++dim) {
    described.sizes[dim] = layout.sizes[dim];
    described.strides[dim] = strideOf(layout, dim);
  }
  return described;
}

std::optional<precompiled::StridedTensor>
cuda::withDims(std::optional<precompiled::StridedTensor> tensor,
               ArrayRef<StridedDim> dims) {
  if (!tensor || dims.size() > precompiled::kMostDims)
    return std::nullopt;
  tensor->rank = static_cast<int64_t>(dims.size());
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    tensor->sizes[dim] = dims[dim].size;
    tensor->strides[dim] = dims[dim].stride;
  }
  return tensor;
}

std::optional<precompiled::StridedTensor>
CallWriter::strided(StringRef name) const {
  precompiled::StridedTensor none;
  for (auto [operand, parameter] : llvm::enumerate(call.kernel.parameters)) {
    if (parameter.name != name)
      continue;
    if (Value tensor = call.tensors[operand])
      return describeStrided(tensor, int64_t(operand));
    none.operand = int64_t(operand); // a number
    none.type = precompiled::I64;
  }
  return none;
}

int64_t cuda::strideOf(const Layout &layout, size_t dim) {
  return layout.sizes[dim] > 1 ? layout.strides[dim] : 0;
}

precompiled::Index cuda::describeIndex(const Layout &layout, size_t dim) {
  precompiled::Index index;
  index.numDigits = 1;
  index.digits[0].stride = strideOf(layout, dim);
  return index;
}

/// A number as one digit a size, the last one moving fastest; at most as many
/// as an index has.
static precompiled::Index splitNumber(ArrayRef<int64_t> sizes) {
  precompiled::Index index;
  index.numDigits = static_cast<int64_t>(sizes.size());
  int64_t divisor = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    index.digits[i].divisor = divisor;
    index.digits[i].extent = i ? sizes[i] : 0;
    divisor *= sizes[i];
  }
  return index;
}

std::optional<precompiled::Index>
cuda::describeIndices(const Layout &layout, size_t first,
                      ArrayRef<int64_t> sizes) {
  if (sizes.size() > std::size(precompiled::Index().digits))
    return std::nullopt;
  precompiled::Index index = splitNumber(sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    index.digits[i].stride = strideOf(layout, first + i);
  return index;
}

precompiled::Index cuda::describeWindows(const Layout &layout, size_t first,
                                         ArrayRef<int64_t> sizes,
                                         ArrayRef<int64_t> scale,
                                         ArrayRef<int64_t> shift) {
  precompiled::Index index = splitNumber(sizes);
  index.digits[0].stride = strideOf(layout, first);
  for (size_t axis = 0; axis + 1 < sizes.size(); ++axis) {
    precompiled::Digit &digit = index.digits[axis + 1];
    int64_t stride = strideOf(layout, 2 + axis);
    digit.stride = scale[axis] * stride;
    digit.along[axis] = scale[axis];
    index.along[axis] = shift[axis];
    index.at += shift[axis] * stride;
  }
  return index;
}

std::optional<PrecompiledCall>
cuda::describeProducts(ArrayRef<precompiled::Product> products, int64_t outer,
                       ArrayRef<Value> tensors) {
  precompiled::Products all;
  all.count = static_cast<int64_t>(products.size());
  all.outer = outer;
  all.sum = sumTypeText(tensors.front()) == "double" ? precompiled::F64
                                                     : precompiled::F32;
  for (Value tensor : tensors) {
    std::optional<precompiled::Type> type = precompiledType(tensor);
    if (!type || (*type == precompiled::F64) != (all.sum == precompiled::F64))
      return std::nullopt;
  }
  PrecompiledCall call{"cutback_products", ""};
  appendDescription(call.description, all);
  for (const precompiled::Product &product : products) {
    appendDescription(call.description, product);
    call.flops += 2 * outer * product.rows * product.columns * product.steps;
  }
  return call;
}

static bool hasKnownSizes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || (type.hasStaticShape() && kernel::locate(value).isKnown);
}

std::optional<std::vector<CpuCall>> cutback::describeCpuCall(Operation *op) {
  if (!llvm::all_of(op->getOperands(), hasKnownSizes) ||
      !llvm::all_of(op->getResults(), hasKnownSizes))
    return std::nullopt;
  std::string problem;
  std::vector<CallKernel> kernels =
      writeCall(op, problem, {StepKernels::AreMachineCode, {}});
  std::vector<CpuCall> calls;
  for (CallKernel &kernel : kernels) {
    if (!kernel.kernel.precompiled ||
        llvm::is_contained(kernel.tensors, Value()))
      return std::nullopt;
    calls.push_back(
        {std::move(*kernel.kernel.precompiled), std::move(kernel.tensors)});
  }
  if (!problem.empty())
    return std::nullopt;
  return calls;
}
