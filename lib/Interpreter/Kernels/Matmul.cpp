// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products.
//
// One triple loop, over rows, the inner dimension in order, and columns; sums
// in double (integers in int64_t, complex numbers as such). `beta * self` is
// left out where beta is 0, as PyTorch does: a NaN there does not count.
// Scaled products take scales for the whole factor, for each row, or for
// blocks: a scale tensor of sizes [r, c] divides its factor in r x c blocks.
// Products of groups take offsets at which groups end.

#include "Matmul.h"

#include "Kernels.h"
#include "Values.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// `tensor` with its last two dimensions exchanged, contiguous.
static Tensor transposed(const Tensor &tensor) {
  Tensor result = tensor;
  if (result.rank() < 2)
    return result;
  size_t rank = result.sizes.size();
  std::swap(result.sizes[rank - 1], result.sizes[rank - 2]);
  std::swap(result.strides[rank - 1], result.strides[rank - 2]);
  return result.contiguous();
}

namespace {

/// Factors of a product as PyTorch's `matmul` sees them: vectors are rows on
/// the left and columns on the right, leading dimensions broadcast.
struct Factors {
  Factors(Sizes a, Sizes b) {
    bool row = a.size() == 1, column = b.size() == 1;
    if (row)
      a.insert(a.begin(), 1);
    if (column)
      b.push_back(1);
    rows = a[a.size() - 2];
    inner = a.back();
    columns = b.back();
    ArrayRef<int64_t> batchA = ArrayRef<int64_t>(a).drop_back(2);
    ArrayRef<int64_t> batchB = ArrayRef<int64_t>(b).drop_back(2);
    result = broadcastSizes(batchA, batchB);
    mapA = broadcastMap(batchA, result);
    mapB = broadcastMap(batchB, result);
    if (!row)
      result.push_back(rows);
    if (!column)
      result.push_back(columns);
  }
  int64_t rows, inner, columns;
  Sizes result;
  /// The matrix of each factor for each matrix of the result.
  std::vector<int64_t> mapA, mapB;
};

} // namespace

template <typename T>
static std::vector<T> multiplyAll(const Tensor &a, const Tensor &b,
                                  const Factors &f) {
  std::vector<T> x = load<T>(a), y = load<T>(b);
  std::vector<T> z(product(f.result), T());
  for (size_t i = 0; i < f.mapA.size(); ++i)
    multiply(x.data() + f.mapA[i] * f.rows * f.inner,
             y.data() + f.mapB[i] * f.inner * f.columns,
             z.data() + i * f.rows * f.columns, f.rows, f.inner, f.columns);
  return z;
}

/// Result 0 = beta * self + alpha * (a @ b); `self` may be missing.
static LogicalResult addProduct(const KernelCall &call,
                                const std::optional<Tensor> &self,
                                const Tensor &a, const Tensor &b,
                                double beta = 1, double alpha = 1) {
  Factors factors(Sizes(a.sizes), Sizes(b.sizes));
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> z = multiplyAll<T>(a, b, factors);
    if (alpha != 1)
      for (T &value : z)
        value *= static_cast<T>(alpha);
    if (self && beta != 0) {
      std::vector<T> added = load<T>(*self);
      std::vector<int64_t> map = broadcastMap(self->sizes, factors.result);
      for (auto [value, at] : llvm::zip_equal(z, map))
        value += static_cast<T>(beta) * added[at];
    }
    store<T>(call.make(0, factors.result), z);
    return success();
  });
}

static LogicalResult plainProduct(const KernelCall &call) {
  return addProduct(call, std::nullopt, call.dense(0), call.dense(1));
}

/// addmm, addmv, baddbmm: (self, a, b, beta, alpha).
static LogicalResult scaledSum(const KernelCall &call) {
  return addProduct(call, call.dense(0), call.dense(1), call.dense(2),
                    call.number("beta", 1), call.number("alpha", 1));
}

/// `dot`, and `vdot`, which conjugates its first operand.
template <bool conjugate> static LogicalResult dot(const KernelCall &call) {
  Tensor a = call.dense(0), b = call.dense(1);
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x = load<T>(a), y = load<T>(b);
    if constexpr (std::is_same_v<T, Complex>)
      if (conjugate)
        for (T &value : x)
          value = std::conj(value);
    T sum = zero;
    for (auto [u, v] : llvm::zip_equal(x, y))
      sum += u * v;
    store<T>(call.make(0, {}), {sum});
    return success();
  });
}

static LogicalResult linear(const KernelCall &call) {
  return addProduct(call, call.optionalTensor("bias"), call.dense("input"),
                    transposed(call.dense("weight")));
}

static LogicalResult linearBackward(const KernelCall &call) {
  Tensor input = call.dense("self"), weight = call.dense("weight");
  std::vector<double> x = load<double>(input);
  int64_t inner = weight.sizes[1], outer = weight.sizes[0];
  int64_t rows = inner == 0 ? 0 : static_cast<int64_t>(x.size()) / inner;
  std::vector<double> dy = doubles(call, "grad_output", rows * outer);
  if (call.wants(0)) {
    std::vector<double> dx(x.size());
    multiply(dy.data(), load<double>(weight).data(), dx.data(), rows, outer,
             inner);
    put(call, 0, input.sizes, dx);
  }
  std::vector<double> dw(outer * inner), db(outer);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < outer; ++o) {
      db[o] += dy[r * outer + o];
      for (int64_t i = 0; i < inner; ++i)
        dw[o * inner + i] += dy[r * outer + o] * x[r * inner + i];
    }
  if (call.wants(1))
    put(call, 1, weight.sizes, dw);
  if (call.wants(2))
    put(call, 2, {outer}, db);
  return success();
}

static LogicalResult outer(const KernelCall &call) {
  Tensor a = call.dense(0), b = call.dense(1);
  int64_t rows = a.numel(), columns = b.numel();
  return withAccumulator(call.resultType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> z(rows * columns, zero);
    multiply(load<T>(a).data(), load<T>(b).data(), z.data(), rows, 1, columns);
    store<T>(call.make(0, {rows, columns}), z);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// A part of a factor: `count` of its rows or columns from `first`.
static std::vector<double> columnsOf(const std::vector<double> &matrix,
                                     int64_t rows, int64_t columns,
                                     int64_t first, int64_t count) {
  std::vector<double> part;
  part.reserve(rows * count);
  for (int64_t i = 0; i < rows; ++i)
    part.insert(part.end(), matrix.begin() + i * columns + first,
                matrix.begin() + i * columns + first + count);
  return part;
}

/// Where groups begin and end: 0, then the offsets, which must not fall and
/// not pass `length`.
static LogicalResult groupBounds(const KernelCall &call, int64_t length,
                                 std::vector<int64_t> &bounds,
                                 std::optional<int64_t> groups = {}) {
  bounds = {0};
  int64_t given = call.isNone("offs") ? 0 : call.tensor("offs").numel();
  if (failed(checkCount(call, "offs", given, groups.value_or(given))))
    return failure();
  for (int64_t end : ints(call, "offs", given)) {
    if (end < bounds.back() || end > length)
      return call.error("offset " + Twine(end) + " of a group that begins at " +
                        Twine(bounds.back()) + " of " + Twine(length));
    bounds.push_back(end);
  }
  return success();
}

/// self [rows, K] with mat2 [G, K, N]: groups of rows.
static LogicalResult groupRows(const KernelCall &call, const Tensor &a,
                               const Tensor &b) {
  int64_t rows = a.sizes[0], inner = a.sizes[1], columns = b.sizes[2];
  std::vector<double> x = load<double>(a), y = load<double>(b);
  std::vector<double> z(rows * columns);
  std::vector<int64_t> bounds;
  if (failed(groupBounds(call, rows, bounds, b.sizes[0])))
    return failure();
  for (size_t g = 0; g + 1 < bounds.size(); ++g)
    multiply(x.data() + bounds[g] * inner, y.data() + g * inner * columns,
             z.data() + bounds[g] * columns, bounds[g + 1] - bounds[g], inner,
             columns);
  put(call, 0, {rows, columns}, z);
  return success();
}

/// self [G, M, K] with mat2 [K, N]: groups of columns.
static LogicalResult groupColumns(const KernelCall &call, const Tensor &a,
                                  const Tensor &b) {
  int64_t rows = a.sizes[1], inner = a.sizes[2], columns = b.sizes[1];
  std::vector<double> x = load<double>(a), y = load<double>(b);
  std::vector<double> z(rows * columns);
  std::vector<int64_t> bounds;
  if (failed(groupBounds(call, columns, bounds, a.sizes[0])))
    return failure();
  for (size_t g = 0; g + 1 < bounds.size(); ++g) {
    int64_t count = bounds[g + 1] - bounds[g];
    std::vector<double> part = columnsOf(y, inner, columns, bounds[g], count);
    std::vector<double> block(rows * count);
    multiply(x.data() + g * rows * inner, part.data(), block.data(), rows,
             inner, count);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < count; ++j)
        z[i * columns + bounds[g] + j] = block[i * count + j];
  }
  put(call, 0, {rows, columns}, z);
  return success();
}

/// self [M, K] with mat2 [K, N]: groups of the inner dimension.
static LogicalResult groupInner(const KernelCall &call, const Tensor &a,
                                const Tensor &b) {
  int64_t rows = a.sizes[0], inner = a.sizes[1], columns = b.sizes[1];
  std::vector<double> x = load<double>(a), y = load<double>(b);
  std::vector<int64_t> bounds;
  if (failed(groupBounds(call, inner, bounds)))
    return failure();
  int64_t groups = static_cast<int64_t>(bounds.size()) - 1;
  std::vector<double> z(groups * rows * columns);
  for (int64_t g = 0; g < groups; ++g) {
    int64_t count = bounds[g + 1] - bounds[g];
    std::vector<double> part = columnsOf(x, rows, inner, bounds[g], count);
    multiply(part.data(), y.data() + bounds[g] * columns,
             z.data() + g * rows * columns, rows, count, columns);
  }
  put(call, 0, {groups, rows, columns}, z);
  return success();
}

static LogicalResult groupedMm(const KernelCall &call) {
  Tensor a = call.dense("self"), b = call.dense("mat2");
  if (a.rank() == 3 && b.rank() == 3)
    return addProduct(call, call.optionalTensor("bias"), a, b);
  if (a.rank() == 2 && b.rank() == 3)
    return groupRows(call, a, b);
  if (a.rank() == 3)
    return groupColumns(call, a, b);
  return groupInner(call, a, b);
}

//===----------------------------------------------------------------------===//
// Scaled factors
//===----------------------------------------------------------------------===//

/// The elements of `matrix` times their scales.
static std::vector<double> scaledBy(const KernelCall &call,
                                    const Tensor &matrix, StringRef param) {
  std::vector<double> values = load<double>(matrix);
  Tensor scale = call.dense(param);
  int64_t rows = matrix.sizes[0], columns = matrix.sizes[1];
  bool one = scale.rank() != 2;
  std::vector<double> scales =
      doubles(call, param, one ? 1 : scale.sizes[0] * scale.sizes[1]);
  if (scales.empty() && failed(checkCount(call, param, 0, 1)))
    return values;
  int64_t blockRows = one ? 1 : scale.sizes[0];
  int64_t blockColumns = one ? 1 : scale.sizes[1];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values[i * columns + j] *= scales[i * blockRows / rows * blockColumns +
                                        j * blockColumns / columns];
  return values;
}

static LogicalResult scaledMm(const KernelCall &call) {
  Tensor a = call.dense("self"), b = call.dense("mat2");
  std::vector<double> x = scaledBy(call, a, "scale_a");
  std::vector<double> y = scaledBy(call, b, "scale_b");
  int64_t rows = a.sizes[0], inner = a.sizes[1], columns = b.sizes[1];
  std::vector<double> z(rows * columns);
  multiply(x.data(), y.data(), z.data(), rows, inner, columns);
  std::vector<double> bias = optionalDoubles(call, "bias", columns);
  if (!bias.empty())
    for (auto [i, value] : llvm::enumerate(z))
      value += bias[i % columns];
  // The scale of the result counts for 8-bit results only.
  DType type = call.resultType();
  if (std::optional<Tensor> scale = call.optionalTensor("scale_result"))
    if (type == DType::F8E4M3FN || type == DType::F8E5M2)
      for (double &value : z)
        value /= scale->getDouble(0);
  put(call, 0, {rows, columns}, z);
  return success();
}

const KernelFn kernels::plainProduct = ::plainProduct;
const KernelFn kernels::scaledSum = ::scaledSum;
const KernelFn kernels::dot = ::dot<false>;
const KernelFn kernels::vdot = ::dot<true>;
const KernelFn kernels::linear = ::linear;
const KernelFn kernels::linearBackward = ::linearBackward;
const KernelFn kernels::outer = ::outer;
const KernelFn kernels::groupedMm = ::groupedMm;
const KernelFn kernels::multiplyGroups = ::multiplyGroups;
const KernelFn kernels::multiplyGroupsBackward = ::multiplyGroupsBackward;
const KernelFn kernels::scaledMm = ::scaledMm;
