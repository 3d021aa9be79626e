// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all elementwise ops share: the shape that their operands broadcast to,
// and the type that they are promoted to. Promotion is that of inference
// (Dialect/Aten/Infer.h), asked with the shapes of the run: whether a tensor
// has dimensions decides, not how many. Half-precision ops compute in single
// precision, which is what a number beside such a tensor is rounded to.

#include "Pointwise.h"

#include "cutback/Dialect/Aten/Infer.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

DType interpreter::promote(const KernelCall &call, ArrayRef<Tensor> operands,
                           ArrayRef<bool> isNumber) {
  MLIRContext *context = call.op.getContext();
  SmallVector<aten::TensorShape> shapes;
  for (auto [tensor, number] : llvm::zip_equal(operands, isNumber)) {
    aten::TensorShape &shape = shapes.emplace_back();
    shape.dims.assign(tensor.sizes.begin(), tensor.sizes.end());
    shape.element = typeOf(tensor.type, context);
    shape.isNumber = number;
  }
  Type type = aten::promoteTypes(shapes);
  return (type ? dtypeOf(type) : std::nullopt).value_or(DType::F32);
}

/// Broadcasts `b` into `a`; false if they do not fit.
static bool broadcastInto(SmallVectorImpl<int64_t> &a, ArrayRef<int64_t> b) {
  while (a.size() < b.size())
    a.insert(a.begin(), 1);
  size_t added = a.size() - b.size();
  for (auto [i, size] : llvm::enumerate(b)) {
    int64_t &to = a[added + i];
    if (to != size && to != 1 && size != 1)
      return false;
    to = to == 1 ? size : to;
  }
  return true;
}

/// Single precision is what half-precision ops compute in.
static DType computeType(DType type) {
  return isFloating(type) && itemSize(type) < 4 ? DType::F32 : type;
}

Elementwise::Elementwise(const KernelCall &call,
                         std::initializer_list<aten::ParamRef> params,
                         bool exact)
    : call(call) {
  SmallVector<Tensor> tensors;
  SmallVector<bool> isNumber;
  for (aten::ParamRef param : params) {
    if (call.isNone(param))
      continue;
    tensors.push_back(call.tensor(param));
    isNumber.push_back(call.isNumber(param));
    fits &= broadcastInto(sizes, tensors.back().sizes);
  }
  common = promote(call, tensors, isNumber);
  if (!fits)
    return;
  for (const Tensor &tensor : tensors) {
    Input &input = inputs.emplace_back();
    input.tensor = tensor.expand(sizes);
    if (tensor.type != common)
      input.round = tensor.rank() == 0 && !exact ? computeType(common) : common;
  }
}
