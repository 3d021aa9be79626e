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
  std::string type = elementTypeText(tensor);
  if (type == "float")
    return precompiled::F32;
  if (type == "double")
    return precompiled::F64;
  if (type == "bf16")
    return precompiled::BF16;
  if (type == "f16")
    return precompiled::F16;
  if (type == "int")
    return precompiled::I32;
  if (type == "long long")
    return precompiled::I64;
  return std::nullopt;
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
  for (const precompiled::Product &product : products)
    appendDescription(call.description, product);
  return call;
}
