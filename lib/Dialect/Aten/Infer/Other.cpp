// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms, recurrent layers as units, and collectives.
//
// A transform works along the dimensions `dim`; real transforms halve the last
// of them. Collectives gather and scatter along dimension 0.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// `self` and the last dimension of `dim`.
static LogicalResult getTransformed(const InferCall &call, TensorShape &self,
                                    int64_t &last) {
  llvm::SmallBitVector seen;
  Dims dims;
  if (failed(getSelf(call, self)) || failed(call.integers("dim", dims)) ||
      failed(getDims(call, "dim", self.rank(), seen, /*emptyIsAll=*/false)))
    return failure();
  if (dims.empty() || self.dims.empty())
    return call.error("a transform along no dimension");
  return call.wrapDimension(dims.back(), self.rank(), last);
}

LogicalResult infer::fftC2c(const InferCall &call, Results &results) {
  TensorShape self;
  llvm::SmallBitVector seen;
  if (failed(getSelf(call, self)) ||
      failed(getDims(call, "dim", self.rank(), seen, /*emptyIsAll=*/false)))
    return failure();
  if (!isComplex(self.element))
    return call.error("only complex numbers are transformed, not ",
                      self.element);
  return push(call, results, self);
}

LogicalResult infer::fftR2c(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t last = 0;
  bool oneSided = false;
  if (failed(getTransformed(call, self, last)) ||
      failed(call.boolean("onesided", oneSided)))
    return failure();
  if (!isa<FloatType>(self.element))
    return call.error("only real numbers are transformed, not ", self.element);
  if (oneSided)
    self.dims[last] = addSizes(floorDivSize(self.dims[last], 2), 1);
  return push(call, results, self.dims, complexType(self.element));
}

LogicalResult infer::fftC2r(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t last = 0, size = 0;
  if (failed(getTransformed(call, self, last)) ||
      failed(call.integer("last_dim_size", size)))
    return failure();
  self.dims[last] = size;
  return push(call, results, self.dims, realType(self.element));
}

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

/// Input [T, B, I] or [B, T, I] gives the output [.., directions * H]; states
/// [layers * directions, B, H] keep their shapes.
static LogicalResult pushRecurrent(const InferCall &call, Results &results,
                                   ArrayRef<TensorShape> states) {
  TensorShape input;
  bool bidirectional = false;
  if (failed(getOfRank(call, "input", 3, input)) ||
      failed(call.boolean("bidirectional", bidirectional)))
    return failure();
  for (const TensorShape &state : states)
    if (state.rank() != 3)
      return call.error("a state must have 3 dimensions, not ", state.rank());
  input.dims.back() = mulSizes(states.front().dims[2], bidirectional ? 2 : 1);
  if (failed(push(call, results, input)))
    return failure();
  for (const TensorShape &state : states)
    if (failed(push(call, results, state)))
      return failure();
  return success();
}

LogicalResult infer::lstm(const InferCall &call, Results &results) {
  SmallVector<TensorShape> states;
  if (failed(call.tensors("hx", states)))
    return failure();
  if (states.size() != 2)
    return call.error("hx has ", states.size(), " states, not 2");
  return pushRecurrent(call, results, states);
}

LogicalResult infer::gru(const InferCall &call, Results &results) {
  TensorShape state;
  if (failed(call.tensor("hx", state)))
    return failure();
  return pushRecurrent(call, results, state);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static LogicalResult getGroup(const InferCall &call, TensorShape &input,
                              int64_t &group) {
  if (failed(call.tensor("input", input)) ||
      failed(call.integer("group_size", group)))
    return failure();
  if (input.dims.empty())
    return call.error("the input has no dimension to gather or scatter");
  if (group != kUnknown && group <= 0)
    return call.error("group_size must be positive, not ", group);
  return success();
}

LogicalResult infer::allGather(const InferCall &call, Results &results) {
  TensorShape input;
  int64_t group = 1;
  if (failed(getGroup(call, input, group)))
    return failure();
  input.dims[0] = mulSizes(input.dims[0], group);
  return push(call, results, input);
}

LogicalResult infer::reduceScatter(const InferCall &call, Results &results) {
  TensorShape input;
  int64_t group = 1;
  if (failed(getGroup(call, input, group)))
    return failure();
  int64_t &size = input.dims[0];
  if (size != kUnknown && group != kUnknown && size % group != 0)
    return call.error("size ", size, " cannot be scattered to a group of ",
                      group);
  size = floorDivSize(size, group);
  return push(call, results, input);
}

LogicalResult infer::allToAll(const InferCall &call, Results &results) {
  TensorShape input;
  Dims splits;
  if (failed(call.tensor("input", input)) ||
      failed(getSizes(call, "output_split_sizes", splits)))
    return failure();
  if (splits.empty())
    return push(call, results, input);
  if (input.dims.empty())
    return call.error("the input has no dimension to exchange");
  input.dims[0] = 0;
  for (int64_t size : splits)
    input.dims[0] = addSizes(input.dims[0], size);
  return push(call, results, input);
}
