// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that differ, of all elements or of the slices along a dimension, and
// rows of sparse matrices as their starts.
//
// Elements are numbered in ascending order, or, where only neighbours are
// compared, as they stand; a run of equal ones gives one value, the number of
// each of its elements, and its length. NaN equals nothing. PyTorch sorts
// where that is not asked for too, and along a dimension of a tensor of a CPU
// gives the numbers and the lengths unasked.

#include "Kernels.h"
#include "Reduce.h"
#include "Values.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Slices [count, width] of numbers, compared from the left.
template <typename T> struct Slices {
  std::vector<T> values;
  int64_t width = 1;

  const T *at(int64_t i) const { return values.data() + i * width; }
  bool less(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < width; ++k) {
      if (isLess(at(a)[k], at(b)[k]))
        return true;
      if (isLess(at(b)[k], at(a)[k]))
        return false;
    }
    return false;
  }
  bool equal(int64_t a, int64_t b) const {
    return std::equal(at(a), at(a) + width, at(b));
  }
};

/// The first of each run, the run of each slice, how long each run is.
struct Runs {
  std::vector<int64_t> first, number, lengths;
};

} // namespace

template <typename T>
static Runs runsOf(const Slices<T> &slices, int64_t count, bool isSorted) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (isSorted)
    llvm::stable_sort(order,
                      [&](int64_t a, int64_t b) { return slices.less(a, b); });
  Runs runs;
  runs.number.resize(count);
  int64_t last = -1;
  for (int64_t i : order) {
    if (last < 0 || !slices.equal(last, i)) {
      runs.first.push_back(i);
      runs.lengths.push_back(0);
    }
    last = i;
    runs.number[i] = static_cast<int64_t>(runs.first.size()) - 1;
    ++runs.lengths.back();
  }
  return runs;
}

/// The elements of `self` with those of one slice side by side.
template <typename T>
static Slices<T> slicesOf(const Tensor &self, const Along &along) {
  Slices<T> slices;
  slices.width = along.outer * along.inner;
  std::vector<T> values = load<T>(self);
  for (int64_t i = 0; i < along.length; ++i)
    for (int64_t o = 0; o < along.outer; ++o)
      for (int64_t n = 0; n < along.inner; ++n)
        slices.values.push_back(values[along.at(o, i, n)]);
  return slices;
}

/// A result that the call asks for, or that its type leaves room for.
static void putUnasked(const KernelCall &call, unsigned i, bool isAsked,
                       bool isAlong, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> values) {
  auto type = dyn_cast<RankedTensorType>(
      call.op.getOperation()->getResult(i).getType());
  if (isAsked || (isAlong && type && type.getShape() != ArrayRef<int64_t>{0}))
    call.make(i, sizes).assign(values);
  else
    call.make(i, {0});
}

template <bool isSorted> static LogicalResult unique(const KernelCall &call) {
  Tensor self = call.dense("self");
  if (isComplex(self.type))
    return call.error("runs on real numbers only");
  bool isAlong = !call.isNone(optional("dim"));
  int64_t dim = isAlong ? call.dim(optional("dim"), self.rank()) : 0;
  Sizes sizes(self.sizes), flat = {self.numel()};
  Along along(isAlong ? sizes : flat, dim);
  Runs runs = withAccumulator(self.type, [&](auto zero) {
    using T = std::conditional_t<std::is_same_v<decltype(zero), int64_t>,
                                 int64_t, double>;
    return runsOf(slicesOf<T>(self, along), along.length, isSorted);
  });
  auto count = static_cast<int64_t>(runs.first.size());
  Sizes wanted = isAlong ? sizes : flat;
  wanted[dim] = count;
  Along to(wanted, dim);
  Tensor result = call.make(0, wanted);
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      copyRun(self, along.at(o, runs.first[i], 0), result, to.at(o, i, 0),
              to.inner);
  Sizes places = isAlong ? Sizes{sizes[dim]} : sizes;
  putUnasked(call, 1, call.boolean("return_inverse"), isAlong, places,
             runs.number);
  if (call.op.getOperation()->getNumResults() > 2)
    putUnasked(call, 2, call.boolean(optional("return_counts")), isAlong,
               {count}, runs.lengths);
  return success();
}

/// Entry r is the number of entries in the rows before row r.
static LogicalResult rowStarts(const KernelCall &call) {
  std::vector<int64_t> rows = ints(call, "self");
  int64_t size = call.integer("size");
  std::vector<int64_t> starts(size + 1);
  for (int64_t row : rows) {
    if (failed(checkIndex(call, row, size)))
      return failure();
    ++starts[row + 1];
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  call.make(0, {size + 1}).assign(ArrayRef<int64_t>(starts));
  return success();
}

static LogicalResult rowsOfEntries(const KernelCall &call) {
  std::vector<int64_t> starts = ints(call, "crow_indices");
  std::vector<int64_t> columns = ints(call, "col_indices");
  auto count = static_cast<int64_t>(columns.size());
  std::vector<int64_t> rows(count);
  for (size_t row = 0; row + 1 < starts.size(); ++row)
    for (int64_t i = starts[row]; i < starts[row + 1]; ++i) {
      if (failed(checkIndex(call, i, count)))
        return failure();
      rows[i] = static_cast<int64_t>(row);
    }
  if (call.boolean("transpose"))
    std::swap(rows, columns);
  rows.insert(rows.end(), columns.begin(), columns.end());
  call.make(0, {2, count}).assign(ArrayRef<int64_t>(rows));
  return success();
}

const KernelFn kernels::unique = ::unique<true>;
const KernelFn kernels::uniqueConsecutive = ::unique<false>;
const KernelFn kernels::rowStarts = ::rowStarts;
const KernelFn kernels::rowsOfEntries = ::rowsOfEntries;
