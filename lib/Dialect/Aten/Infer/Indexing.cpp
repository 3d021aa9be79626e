// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that pick elements by index: index, gather, embedding and their kin.
//
// `index` follows NumPy: the index tensors broadcast with each other, and the
// broadcast shape stands where the indexed dimensions were if these are
// neighbours, else in front. A mask (i1, ui8) stands for as many index tensors
// as it has dimensions, of a length that depends on data: `?`.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

static bool isMask(Type type) {
  return type.isInteger(1) || type.isUnsignedInteger(8);
}

/// Replaces masks by the indices they stand for.
static LogicalResult
expandMasks(const InferCall &call, const TensorShape &self,
            ArrayRef<std::optional<TensorShape>> given,
            SmallVectorImpl<std::optional<TensorShape>> &indices) {
  for (const std::optional<TensorShape> &index : given) {
    if (!index || !isMask(index->element)) {
      if (index && (!isIntegral(index->element)))
        return call.error("indices must be integers, not ", index->element);
      indices.push_back(index);
      continue;
    }
    for (int64_t size : index->dims) {
      size_t at = indices.size();
      if (at < self.dims.size() &&
          failed(
              checkSame(call, "sizes of mask and tensor", size, self.dims[at])))
        return failure();
      TensorShape positions;
      positions.dims = {kUnknown};
      positions.element = intType(call);
      indices.push_back(positions);
    }
  }
  if (indices.size() > self.dims.size())
    return call.error(indices.size(), " indices for a tensor of rank ",
                      self.rank());
  return success();
}

static LogicalResult pushIndexed(const InferCall &call, Results &results,
                                 const TensorShape &self) {
  SmallVector<std::optional<TensorShape>> given, indices;
  if (failed(call.optionalTensors("indices", given)) ||
      failed(expandMasks(call, self, given, indices)))
    return failure();
  indices.resize(self.dims.size());
  Dims picked;
  int first = -1, last = -1, count = 0;
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    if (failed(broadcastInto(call, picked, index->dims)))
      return failure();
    first = first < 0 ? static_cast<int>(i) : first;
    last = static_cast<int>(i);
    ++count;
  }
  bool neighbours = count > 0 && last - first + 1 == count;
  Dims dims;
  if (!neighbours)
    dims = picked;
  for (auto [i, size] : llvm::enumerate(self.dims)) {
    if (neighbours && static_cast<int>(i) == first)
      dims.append(picked);
    if (!indices[i])
      dims.push_back(size);
  }
  return push(call, results, dims, self.element);
}

LogicalResult infer::indexTensor(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)))
    return failure();
  return pushIndexed(call, results, self);
}

LogicalResult infer::maskedIndex(const InferCall &call, Results &results) {
  return indexTensor(call, results);
}

LogicalResult infer::gather(const InferCall &call, Results &results) {
  TensorShape self, index;
  int64_t dim = 0;
  int param = call.getSchema().find("index");
  if (failed(getSelf(call, self)) ||
      failed(call.tensor(param < 0 ? ParamRef("indices") : ParamRef(param),
                         index)))
    return failure();
  if (call.isNone("dim")) { // both in a row
    int64_t count = 1;
    for (int64_t size : index.dims)
      count = mulSizes(count, size);
    return push(call, results, {count}, self.element);
  }
  if (failed(call.dimension("dim", self.rank(), dim)))
    return failure();
  // take_along_dim broadcasts all but `dim`; gather wants equal ranks.
  if (param < 0) {
    Dims dims = self.dims;
    if (self.rank() != index.rank() || dims.empty())
      return call.error("ranks of tensor and indices differ: ", self.rank(),
                        " and ", index.rank());
    dims[dim] = 1;
    Dims others = index.dims;
    others[dim] = 1;
    if (failed(broadcastInto(call, dims, others)))
      return failure();
    dims[dim] = index.dims[dim];
    return push(call, results, dims, self.element);
  }
  // No index at all may have any rank.
  if (countElements(index.dims) != 0 &&
      std::max<int64_t>(self.rank(), 1) != std::max<int64_t>(index.rank(), 1))
    return call.error("ranks of tensor and index differ: ", self.rank(),
                      " and ", index.rank());
  return push(call, results, index.dims, self.element);
}

LogicalResult infer::indexSelect(const InferCall &call, Results &results) {
  TensorShape self, index;
  int64_t dim = 0;
  if (failed(getSelf(call, self)) || failed(call.tensor("index", index)) ||
      failed(call.dimension("dim", self.rank(), dim)))
    return failure();
  if (index.rank() > 1)
    return call.error("the index must have at most 1 dimension, not ",
                      index.rank());
  if (!self.dims.empty())
    self.dims[dim] = index.dims.empty() ? 1 : index.dims[0];
  return push(call, results, self);
}

LogicalResult infer::take(const InferCall &call, Results &results) {
  TensorShape self, index;
  if (failed(getSelf(call, self)) || failed(call.tensor("index", index)))
    return failure();
  return push(call, results, index.dims, self.element);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

LogicalResult infer::embedding(const InferCall &call, Results &results) {
  TensorShape weight, indices;
  if (failed(getOfRank(call, "weight", 2, weight)) ||
      failed(call.tensor("indices", indices)))
    return failure();
  Dims dims = indices.dims;
  dims.push_back(weight.dims[1]);
  return push(call, results, dims, weight.element);
}

LogicalResult infer::embeddingDenseBackward(const InferCall &call,
                                            Results &results) {
  TensorShape gradient;
  int64_t rows = 0;
  if (failed(call.tensor("grad_output", gradient)) ||
      failed(call.integer("num_weights", rows)))
    return failure();
  if (gradient.dims.empty())
    return call.error("the gradient has no dimensions");
  return push(call, results, {rows, gradient.dims.back()}, gradient.element);
}

/// (output, offset2bag, bag_size, max_indices), modes 0 sum, 1 mean, 2 max.
/// Kernels differ in the lengths of what they do not need: CPU's for sums has
/// an empty offset2bag and, with a last offset, a bag_size for that too, the
/// GPU's an empty max_indices. Those are `?`.
LogicalResult infer::embeddingBag(const InferCall &call, Results &results) {
  TensorShape weight, indices, offsets;
  int64_t mode = 0;
  bool includeLast = false;
  if (failed(getOfRank(call, "weight", 2, weight)) ||
      failed(getOfRank(call, "indices", 1, indices)) ||
      failed(getOfRank(call, "offsets", 1, offsets)) ||
      failed(call.integer("mode", mode)) ||
      failed(call.boolean("include_last_offset", includeLast)))
    return failure();
  if (mode < 0 || mode > 2)
    return call.error("mode ", mode, " is none of 0 (sum), 1 (mean), 2 (max)");
  int64_t bags = addSizes(offsets.dims[0], includeLast ? -1 : 0);
  int64_t width = weight.dims[1];
  int64_t perIndex = mode == 0 ? kUnknown : indices.dims[0];
  int64_t sizes = mode == 0 && includeLast ? kUnknown : bags;
  Type type = indices.element;
  if (failed(push(call, results, {bags, width}, weight.element)) ||
      failed(push(call, results, {perIndex}, type)) ||
      failed(push(call, results, {sizes}, type)))
    return failure();
  return mode == 2 ? push(call, results, {bags, width}, type)
                   : push(call, results, {kUnknown}, type);
}

LogicalResult infer::embeddingBagBackward(const InferCall &call,
                                          Results &results) {
  TensorShape gradient;
  int64_t rows = 0;
  if (failed(getOfRank(call, "grad", 2, gradient)) ||
      failed(call.integer("num_weights", rows)))
    return failure();
  return push(call, results, {rows, gradient.dims[1]}, gradient.element);
}

LogicalResult infer::embeddingBagWeightsBackward(const InferCall &call,
                                                 Results &results) {
  TensorShape gradient, indices;
  if (failed(call.tensor("grad", gradient)) ||
      failed(getOfRank(call, "indices", 1, indices)))
    return failure();
  return push(call, results, indices.dims, gradient.element);
}

LogicalResult infer::maskedScatterBackward(const InferCall &call,
                                           Results &results) {
  TensorShape gradient;
  Dims sizes;
  if (failed(call.tensor("grad_output", gradient)) ||
      failed(getSizes(call, "sizes", sizes)))
    return failure();
  return push(call, results, sizes, gradient.element);
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

LogicalResult infer::segmentReduce(const InferCall &call, Results &results) {
  TensorShape data;
  std::optional<TensorShape> lengths, offsets;
  StringRef reduce;
  int64_t axis = 0;
  if (failed(call.tensor("data", data)) ||
      failed(call.string("reduce", reduce)) ||
      failed(call.optionalTensor("lengths", lengths)) ||
      failed(call.optionalTensor("offsets", offsets)) ||
      failed(call.dimension("axis", data.rank(), axis)))
    return failure();
  if (!llvm::is_contained({"sum", "mean", "max", "min", "prod"}, reduce))
    return call.error("segments are reduced by sum, mean, max, min or prod, "
                      "not by '",
                      reduce, "'");
  if (!lengths && !offsets)
    return call.error("neither lengths nor offsets say where segments end");
  if (call.getSchema().find("grad") >= 0)
    return push(call, results, data);
  const TensorShape &ends = lengths ? *lengths : *offsets;
  if (ends.rank() != axis + 1 || data.dims.empty())
    return call.error("segments along dimension ", axis, " need lengths of ",
                      axis + 1, " dimensions, not ", ends.rank());
  data.dims[axis] = addSizes(ends.dims[axis], lengths ? 0 : -1);
  return push(call, results, data);
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

LogicalResult infer::nonzero(const InferCall &call, Results &results) {
  TensorShape self;
  int64_t rows = kUnknown;
  if (failed(getSelf(call, self)) ||
      (!call.isNone(optional("size")) &&
       failed(call.integer(optional("size"), rows))))
    return failure();
  return push(call, results, {rows, self.rank()}, intType(call));
}

LogicalResult infer::maskedSelect(const InferCall &call, Results &results) {
  TensorShape self, mask;
  if (failed(call.tensor("self", self)) || failed(call.tensor("mask", mask)))
    return failure();
  Dims dims = self.dims;
  if (failed(broadcastInto(call, dims, mask.dims)))
    return failure();
  return push(call, results, {kUnknown}, self.element);
}
