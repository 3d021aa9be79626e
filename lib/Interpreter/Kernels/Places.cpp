// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From index tensors to places.
//
// `self[i, :, j]`: the index tensors broadcast with each other; each element of
// the broadcast shape names an offset, and the dimensions without an index run
// in full. The broadcast shape stands where the indexed dimensions were if
// these are neighbours, else in front. A mask (i1, ui8) is replaced by the
// coordinates of its true elements, one index tensor for each of its
// dimensions. Every index is checked; negative ones count from the end.

#include "Places.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// The index of one dimension, before broadcasting.
struct DimIndex {
  Sizes sizes;
  std::vector<int64_t> values;
};

} // namespace

static bool isMask(const Tensor &tensor) {
  return tensor.type == DType::Bool || tensor.type == DType::U8;
}

/// One index a dimension of the mask: the coordinates of its true elements.
static void expandMask(const Tensor &mask,
                       SmallVectorImpl<std::optional<DimIndex>> &indices) {
  std::vector<int64_t> values = mask.ints();
  Sizes strides = rowMajor(mask.sizes);
  for (auto [size, stride] : llvm::zip_equal(mask.sizes, strides)) {
    DimIndex index;
    for (auto [i, value] : llvm::enumerate(values))
      if (value != 0)
        index.values.push_back(static_cast<int64_t>(i) / stride % size);
    index.sizes = {static_cast<int64_t>(index.values.size())};
    indices.push_back(std::move(index));
  }
}

/// Offsets of all elements of the dimensions `dims` of a tensor, in row-major
/// order, and their sizes appended to `sizes`.
static std::vector<int64_t> offsetsOfDims(ArrayRef<int64_t> self,
                                          ArrayRef<size_t> dims, Sizes &sizes) {
  Sizes natural = rowMajor(self), own, strides;
  for (size_t dim : dims) {
    own.push_back(self[dim]);
    strides.push_back(natural[dim]);
  }
  sizes.append(own);
  return offsetsOf(own, strides);
}

/// Offsets that the indices name together, one for each element of `picked`.
static FailureOr<std::vector<int64_t>>
indexedOffsets(const KernelCall &call, ArrayRef<int64_t> self,
               ArrayRef<std::optional<DimIndex>> indices,
               ArrayRef<int64_t> picked, bool clamp) {
  Sizes strides = rowMajor(self);
  std::vector<int64_t> offsets(product(picked));
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    for (auto [offset, from] :
         llvm::zip_equal(offsets, broadcastMap(index->sizes, picked))) {
      int64_t i = index->values[from], size = self[dim];
      if (clamp && size > 0)
        i = std::min(std::max(i, -size), size - 1);
      if (failed(wrapIndex(call, i, size)))
        return failure();
      offset += i * strides[dim];
    }
  }
  return offsets;
}

FailureOr<Places> interpreter::placesOfIndices(const KernelCall &call,
                                               ArrayRef<int64_t> self,
                                               bool clamp) {
  SmallVector<std::optional<DimIndex>> indices;
  for (const std::optional<Tensor> &given :
       call.optionalTensors(aten::optional("indices"))) {
    if (given && isMask(*given))
      expandMask(*given, indices);
    else if (given)
      indices.push_back(DimIndex{Sizes(given->sizes), given->ints()});
    else
      indices.push_back(std::nullopt);
  }
  if (indices.size() > self.size())
    return call.error(Twine(indices.size()) + " indices for a tensor of rank " +
                      Twine(self.size()));
  Sizes picked;
  SmallVector<size_t> indexed, before, behind;
  for (auto [dim, index] : llvm::enumerate(indices))
    if (index) {
      picked = broadcastSizes(picked, index->sizes);
      indexed.push_back(dim);
    }
  bool neighbours =
      !indexed.empty() && indexed.back() - indexed[0] + 1 == indexed.size();
  for (size_t dim = 0; dim < self.size(); ++dim)
    if (!llvm::is_contained(indexed, dim))
      (neighbours && dim < indexed[0] ? before : behind).push_back(dim);
  FailureOr<std::vector<int64_t>> named =
      indexedOffsets(call, self, indices, picked, clamp);
  if (failed(named))
    return failure();
  Places places;
  std::vector<int64_t> outer = offsetsOfDims(self, before, places.sizes);
  places.sizes.append(picked);
  std::vector<int64_t> inner = offsetsOfDims(self, behind, places.sizes);
  places.at.reserve(product(places.sizes));
  for (int64_t a : outer)
    for (int64_t b : *named)
      for (int64_t c : inner)
        places.at.push_back(a + b + c);
  return places;
}

FailureOr<Places> interpreter::placesAlong(const KernelCall &call,
                                           ArrayRef<int64_t> self, int64_t dim,
                                           const Tensor &index) {
  Places places;
  places.sizes = Sizes(index.sizes);
  Sizes shape = self.empty() ? Sizes{1} : Sizes(self);
  Sizes sizes = index.sizes.empty() ? Sizes{1} : Sizes(index.sizes);
  Sizes strides = rowMajor(shape), position(sizes.size(), 0);
  dim = wrapped(dim, static_cast<int64_t>(self.size()));
  if (product(sizes) == 0)
    return places;
  if (sizes.size() != shape.size())
    return call.error("an index of rank " + Twine(sizes.size()) +
                      " for a tensor of rank " + Twine(shape.size()));
  for (size_t d = 0; d < sizes.size() && index.numel() > 0; ++d)
    if (static_cast<int64_t>(d) != dim &&
        failed(checkIndex(call, sizes[d] - 1, shape[d])))
      return failure();
  for (int64_t i : index.ints()) {
    if (failed(checkIndex(call, i, shape[dim])))
      return failure();
    int64_t at = i * strides[dim];
    for (auto [d, coordinate] : llvm::enumerate(position))
      at += static_cast<int64_t>(d) == dim ? 0 : coordinate * strides[d];
    places.at.push_back(at);
    advance(position, sizes);
  }
  return places;
}

std::vector<int64_t> interpreter::cornerMap(ArrayRef<int64_t> from,
                                            ArrayRef<int64_t> sizes) {
  // A tensor of rank 0 may stand for one of rank 1.
  Sizes strides = rowMajor(from);
  strides.resize(sizes.size(), 0);
  return offsetsOf(sizes, strides);
}

LogicalResult interpreter::pick(const KernelCall &call, const Tensor &self,
                                const Places &places) {
  Tensor result = call.make(0, places.sizes);
  for (auto [to, from] : llvm::enumerate(places.at))
    copyRun(self, from, result, static_cast<int64_t>(to));
  return success();
}

Tensor interpreter::copyAsResult(const KernelCall &call, const Tensor &self) {
  Tensor result = call.make(0, self.sizes);
  copyElements(self, result);
  return result;
}
