// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New tensors from sizes and numbers. `empty` gives zeros, so that every run
// gives the same bits. Ranges are counted in the numbers that were given:
// integers exactly, floats as start + i * step in double precision, rounded to
// the element type once. Layouts, devices and memory formats change no value
// and are not read.

#include "Kernels.h"
#include "Parts.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// `size`, else the sizes of `self`.
SmallVector<int64_t> sizesOf(const KernelCall &call) {
  if (!call.isNone(optional("size")))
    return call.integers(optional("size"));
  Tensor self = call.tensor(optional("self"));
  return SmallVector<int64_t>(self.sizes.begin(), self.sizes.end());
}

LogicalResult zeros(const KernelCall &call) {
  fill(call.make(0, sizesOf(call)), int64_t(0));
  return success();
}
LogicalResult ones(const KernelCall &call) {
  fill(call.make(0, sizesOf(call)), int64_t(1));
  return success();
}
LogicalResult full(const KernelCall &call) {
  fill(call.make(0, sizesOf(call)), call.scalar("fill_value"));
  return success();
}
LogicalResult scalarTensor(const KernelCall &call) {
  fill(call.make(0, {}), call.scalar("s"));
  return success();
}
/// A list without a size is empty.
LogicalResult emptySized(const KernelCall &call) {
  fill(call.make(0, call.integers("size")), int64_t(0));
  return success();
}

bool isWhole(const RuntimeValue &value) {
  return !std::holds_alternative<double>(value);
}

/// start, start + step, ... before `end`.
LogicalResult arange(const KernelCall &call) {
  bool whole = isWhole(call.scalar(optional("start"))) &&
               isWhole(call.scalar("end")) &&
               isWhole(call.scalar(optional("step")));
  if (call.number(optional("step"), 1) == 0)
    return call.error("the step is 0");
  if (whole || isIntegral(call.resultType())) {
    int64_t start = call.integer(optional("start")), end = call.integer("end");
    int64_t step = call.integer(optional("step"), 1);
    double count =
        std::ceil((call.number("end") - call.number(optional("start"))) /
                  call.number(optional("step"), 1));
    if (whole)
      count = std::ceil(static_cast<double>(end - start) /
                        static_cast<double>(step));
    std::vector<int64_t> values(static_cast<size_t>(std::max(count, 0.0)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = start + static_cast<int64_t>(i) * step;
    call.make(0, {static_cast<int64_t>(values.size())})
        .assign(ArrayRef<int64_t>(values));
    return success();
  }
  double start = call.number(optional("start")),
         step = call.number(optional("step"), 1);
  double count = std::ceil((call.number("end") - start) / step);
  std::vector<double> values(static_cast<size_t>(std::max(count, 0.0)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + static_cast<double>(i) * step;
  call.make(0, {static_cast<int64_t>(values.size())})
      .assign(ArrayRef<double>(values));
  return success();
}

/// From both ends, so that both are exact.
LogicalResult linspace(const KernelCall &call) {
  double start = call.number("start"), end = call.number("end");
  int64_t steps = call.integer("steps");
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  std::vector<double> values(std::max<int64_t>(steps, 0));
  for (int64_t i = 0; i < steps; ++i)
    values[i] = i < steps / 2 || steps == 1
                    ? start + static_cast<double>(i) * step
                    : end - static_cast<double>(steps - 1 - i) * step;
  call.make(0, {steps}).assign(ArrayRef<double>(values));
  return success();
}

LogicalResult iota(const KernelCall &call) {
  int64_t start = call.integer("start"), step = call.integer("step");
  std::vector<int64_t> values(call.integer("length"));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + static_cast<int64_t>(i) * step;
  call.make(0, {static_cast<int64_t>(values.size())})
      .assign(ArrayRef<int64_t>(values));
  return success();
}

LogicalResult eye(const KernelCall &call) {
  int64_t rows = call.integer("n"), columns = call.integer(optional("m"), rows);
  Tensor result = call.make(0, {rows, columns});
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    result.setInt(i * columns + i, 1);
  return success();
}

/// Row numbers, then column numbers, of the elements of a triangle.
template <bool lower> LogicalResult triangleIndices(const KernelCall &call) {
  int64_t rows = call.integer("row"), columns = call.integer("col");
  int64_t offset = call.integer("offset");
  std::vector<int64_t> places, columnPlaces;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (lower ? column - row <= offset : column - row >= offset) {
        places.push_back(row);
        columnPlaces.push_back(column);
      }
  auto count = static_cast<int64_t>(places.size());
  llvm::append_range(places, columnPlaces);
  call.make(0, {2, count}).assign(ArrayRef<int64_t>(places));
  return success();
}

} // namespace

const KernelFn kernels::full = ::full;
const KernelFn kernels::zeros = ::zeros;
const KernelFn kernels::ones = ::ones;
const KernelFn kernels::emptySized = ::emptySized;
const KernelFn kernels::arange = ::arange;
const KernelFn kernels::linspace = ::linspace;
const KernelFn kernels::scalarTensor = ::scalarTensor;
const KernelFn kernels::trilIndices = triangleIndices<true>;
const KernelFn kernels::triuIndices = triangleIndices<false>;
const KernelFn kernels::eye = ::eye;
const KernelFn kernels::iota = ::iota;
