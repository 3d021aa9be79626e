// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided pieces, and copies by index maps: padding, repetition, flips and
// rolls all say, dimension by dimension, which element stands where. A copy by
// maps walks over the result and moves bytes, so it knows no element types; the
// gradient of one walks the same way and adds up in double precision.

#include "Parts.h"

#include "../Elements.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

Tensor interpreter::slicePart(Tensor tensor, int64_t dim, int64_t start,
                              int64_t length, int64_t step) {
  tensor.offset += start * tensor.strides[dim];
  tensor.strides[dim] *= step;
  tensor.sizes[dim] = length;
  return tensor;
}

Tensor interpreter::selectPart(Tensor tensor, int64_t dim, int64_t index) {
  tensor.offset += index * tensor.strides[dim];
  tensor.sizes.erase(tensor.sizes.begin() + dim);
  tensor.strides.erase(tensor.strides.begin() + dim);
  return tensor;
}

Tensor interpreter::diagonalPart(const Tensor &tensor, int64_t offset,
                                 int64_t dim1, int64_t dim2) {
  int64_t down = std::max<int64_t>(-offset, 0);
  int64_t right = std::max<int64_t>(offset, 0);
  int64_t length = std::max<int64_t>(
      std::min(tensor.sizes[dim1] - down, tensor.sizes[dim2] - right), 0);
  int64_t stride = tensor.strides[dim1] + tensor.strides[dim2];
  Tensor part = tensor;
  if (length > 0)
    part.offset += down * part.strides[dim1] + right * part.strides[dim2];
  for (int64_t dim : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    part.sizes.erase(part.sizes.begin() + dim);
    part.strides.erase(part.strides.begin() + dim);
  }
  part.sizes.push_back(length);
  part.strides.push_back(stride);
  return part;
}

std::pair<int64_t, int64_t> interpreter::sliceBounds(const KernelCall &call,
                                                     int64_t size) {
  auto bound = [&](const char *param, int64_t otherwise) {
    int64_t value = call.integer(param, otherwise);
    return std::clamp<int64_t>(value < 0 ? value + size : value, 0, size);
  };
  int64_t first = bound("start", 0);
  return {first, std::max(first, bound("end", size))};
}

IndexMaps interpreter::identityMaps(ArrayRef<int64_t> sizes) {
  IndexMaps maps;
  for (int64_t size : sizes) {
    std::vector<int64_t> &map = maps.emplace_back(size);
    for (int64_t i = 0; i < size; ++i)
      map[i] = i;
  }
  return maps;
}

void interpreter::fill(const Tensor &tensor, const RuntimeValue &value) {
  int64_t count = tensor.numel();
  if (const auto *real = std::get_if<double>(&value))
    return tensor.assign(std::vector<double>(count, *real));
  if (const auto *other = std::get_if<Tensor>(&value))
    return copyElements(other->expand(tensor.sizes), tensor);
  int64_t integer = 0;
  if (const auto *flag = std::get_if<bool>(&value))
    integer = *flag;
  else if (const auto *number = std::get_if<int64_t>(&value))
    integer = *number;
  tensor.assign(std::vector<int64_t>(count, integer));
}

/// Calls f(place in the source, place in the result) for all places of the
/// result that come from the source; strides are those of the source.
template <typename F>
static void forEachPlace(const IndexMaps &maps, ArrayRef<int64_t> strides,
                         F f) {
  int64_t count = 1;
  for (const std::vector<int64_t> &map : maps)
    count *= static_cast<int64_t>(map.size());
  SmallVector<int64_t> index(maps.size(), 0);
  for (int64_t to = 0; to < count; ++to) {
    int64_t from = 0;
    bool isInside = true;
    for (size_t d = 0; d < maps.size(); ++d) {
      int64_t place = maps[d][index[d]];
      isInside &= place >= 0;
      from += place * strides[d];
    }
    if (isInside)
      f(from, to);
    for (size_t d = maps.size(); d-- > 0;) {
      if (++index[d] < static_cast<int64_t>(maps[d].size()))
        break;
      index[d] = 0;
    }
  }
}

LogicalResult interpreter::gatherByMaps(const KernelCall &call,
                                        const Tensor &source,
                                        const IndexMaps &maps,
                                        const RuntimeValue &fillValue) {
  SmallVector<int64_t> sizes;
  for (const std::vector<int64_t> &map : maps)
    sizes.push_back(static_cast<int64_t>(map.size()));
  Tensor from = source.contiguous();
  Tensor result = call.make(0, sizes);
  if (!std::holds_alternative<std::monostate>(fillValue))
    fill(result, fillValue);
  int64_t bytes = itemSize(from.type);
  const char *input = from.data();
  char *output = result.data();
  forEachPlace(maps, from.strides, [&](int64_t place, int64_t to) {
    std::memcpy(output + to * bytes, input + place * bytes, bytes);
  });
  return success();
}

template <typename V>
static void addIn(const Tensor &gradient, const IndexMaps &maps,
                  const Tensor &result, std::vector<V> values) {
  std::vector<V> sums(result.numel());
  forEachPlace(maps, result.strides,
               [&](int64_t to, int64_t from) { sums[to] += values[from]; });
  result.assign(ArrayRef<V>(sums));
}

LogicalResult interpreter::addByMaps(const KernelCall &call,
                                     const Tensor &gradient,
                                     const IndexMaps &maps,
                                     ArrayRef<int64_t> sizes) {
  Tensor result = call.make(0, sizes);
  if (isComplex(result.type))
    addIn<Complex>(gradient, maps, result, gradient.complexes());
  else if (isIntegral(result.type))
    addIn<int64_t>(gradient, maps, result, gradient.ints());
  else
    addIn<double>(gradient, maps, result, gradient.doubles());
  return success();
}
