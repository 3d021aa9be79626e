// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading at computed places: index, gather, index_select, take and their kin,
// and ops whose result is as long as the data says (nonzero, masked_select).
//
// Elements are copied bit by bit, so every element type is exact.

#include "Kernels.h"
#include "Places.h"
#include "Reduce.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static LogicalResult index(const KernelCall &call) {
  Tensor self = call.dense(optional("self"));
  FailureOr<Places> places = placesOfIndices(call, self.sizes);
  return failed(places) ? failure() : pick(call, self, *places);
}

/// Elements under a false mask are `fill`; their indices may be anything.
static LogicalResult maskedIndex(const KernelCall &call) {
  Tensor self = call.dense("self"), mask = call.dense("mask");
  FailureOr<Places> places = placesOfIndices(call, self.sizes, /*clamp=*/true);
  if (failed(places))
    return failure();
  Tensor fill = Tensor::zeros(self.type, {1});
  fill.set(0, call.number("fill"));
  Tensor result = call.make(0, places->sizes);
  std::vector<int64_t> keep = mask.ints();
  for (auto [to, at] : llvm::enumerate(broadcastMap(mask.sizes, places->sizes)))
    copyRun(keep[at] != 0 ? self : fill, keep[at] != 0 ? places->at[to] : 0,
            result, static_cast<int64_t>(to));
  return success();
}

static LogicalResult gather(const KernelCall &call) {
  Tensor self = call.dense("self"), index = call.dense("index");
  int64_t dim = wrapped(call.integer("dim"), self.rank());
  FailureOr<Places> places = placesAlong(call, self.sizes, dim, index);
  return failed(places) ? failure() : pick(call, self, *places);
}

static LogicalResult takeElements(const KernelCall &call) {
  Tensor self = call.dense("self"), index = call.dense("index");
  Places places{Sizes(index.sizes), index.ints()};
  for (int64_t &at : places.at)
    if (failed(wrapIndex(call, at, self.numel())))
      return failure();
  return pick(call, self, places);
}

/// Without `dim` both are flattened, and an index is one of `gather`; else they
/// broadcast elsewhere, and it counts modulo the size, as PyTorch has it.
static LogicalResult takeAlongDim(const KernelCall &call) {
  Tensor self = call.dense("self"), indices = call.dense("indices");
  if (call.isNone("dim")) {
    indices.sizes = {indices.numel()};
    indices.strides = {1};
    FailureOr<Places> flat = placesAlong(call, {self.numel()}, 0, indices);
    return failed(flat) ? failure() : pick(call, self, *flat);
  }
  int64_t dim = wrapped(call.integer("dim"), self.rank());
  Sizes common = broadcastSizes(self.sizes, indices.sizes);
  Sizes from = common, to = common;
  from[dim] = self.sizes[dim];
  to[dim] = indices.sizes[dim];
  indices = indices.expand(to).contiguous();
  std::vector<int64_t> chosen = indices.ints();
  for (int64_t &i : chosen)
    i = from[dim] ? llvm::mod(i, from[dim]) : i;
  Tensor remainders = Tensor::zeros(DType::I64, indices.sizes);
  remainders.assign(ArrayRef<int64_t>(chosen));
  FailureOr<Places> places = placesAlong(call, from, dim, remainders);
  return failed(places) ? failure()
                        : pick(call, self.expand(from).contiguous(), *places);
}

static LogicalResult indexSelect(const KernelCall &call) {
  Tensor self = call.dense("self"), index = call.dense("index");
  Along along(self.sizes, call.integer("dim"));
  Sizes sizes(self.sizes);
  if (!sizes.empty())
    sizes[wrapped(call.integer("dim"), self.rank())] = index.numel();
  std::vector<int64_t> chosen = index.ints();
  Places places{sizes, {}};
  for (int64_t i : chosen)
    if (failed(checkIndex(call, i, along.length)))
      return failure();
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i : chosen)
      for (int64_t n = 0; n < along.inner; ++n)
        places.at.push_back(along.at(o, i, n));
  return pick(call, self, places);
}

//===----------------------------------------------------------------------===//
// Results as long as the data says
//===----------------------------------------------------------------------===//

/// Positions of the elements that are not zero.
static std::vector<int64_t> nonzeroPositions(const Tensor &tensor) {
  std::vector<int64_t> positions;
  for (auto [i, value] : llvm::enumerate(tensor.complexes()))
    if (value != Complex(0))
      positions.push_back(static_cast<int64_t>(i));
  return positions;
}

/// nonzero and argwhere; nonzero_static cuts or fills up to `size` rows.
static LogicalResult nonzero(const KernelCall &call) {
  Tensor self = call.dense("self");
  std::vector<int64_t> found = nonzeroPositions(self);
  int64_t rows =
      call.integer(optional("size"), static_cast<int64_t>(found.size()));
  int64_t fill = call.integer(optional("fill_value"), -1);
  Sizes strides = rowMajor(self.sizes);
  std::vector<int64_t> values;
  for (int64_t row = 0; row < rows; ++row)
    for (auto [size, stride] : llvm::zip_equal(self.sizes, strides))
      values.push_back(row < static_cast<int64_t>(found.size())
                           ? found[row] / stride % size
                           : fill);
  call.make(0, {rows, self.rank()}).assign(ArrayRef<int64_t>(values));
  return success();
}

static LogicalResult maskedSelect(const KernelCall &call) {
  Tensor self = call.tensor("self"), mask = call.tensor("mask");
  Sizes sizes = broadcastSizes(self.sizes, mask.sizes);
  Places places;
  places.at = nonzeroPositions(mask.expand(sizes));
  places.sizes = {static_cast<int64_t>(places.at.size())};
  return pick(call, self.expand(sizes).contiguous(), places);
}

const KernelFn kernels::index = ::index;
const KernelFn kernels::maskedIndex = ::maskedIndex;
const KernelFn kernels::gather = ::gather;
const KernelFn kernels::takeElements = ::takeElements;
const KernelFn kernels::takeAlongDim = ::takeAlongDim;
const KernelFn kernels::indexSelect = ::indexSelect;
const KernelFn kernels::nonzero = ::nonzero;
const KernelFn kernels::maskedSelect = ::maskedSelect;
