// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the heavy kernels compute with: the elements of a tensor as a vector of
// double, int64_t or complex<double>, and positions in row-major order.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_VALUES_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_VALUES_H

#include "cutback/Interpreter/Kernel.h"

#include <limits>

namespace cutback::interpreter {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Sizes = llvm::SmallVector<int64_t, 5>;
using Complex = std::complex<double>;

/// All elements in row-major order; `T` is double, int64_t or Complex.
template <typename T> std::vector<T> load(const Tensor &tensor) {
  if constexpr (std::is_same_v<T, double>)
    return tensor.doubles();
  else if constexpr (std::is_same_v<T, int64_t>)
    return tensor.ints();
  else
    return tensor.complexes();
}
/// Rounds `values` into `to`.
template <typename T> void store(const Tensor &to, const std::vector<T> &v) {
  to.assign(llvm::ArrayRef<T>(v));
}

/// The elements as doubles; none for a tensor that is not there.
inline std::vector<double> doubles(const std::optional<Tensor> &tensor) {
  return tensor ? tensor->doubles() : std::vector<double>();
}
inline std::vector<double> doubles(const KernelCall &call,
                                   aten::ParamRef param) {
  return call.tensor(param).doubles();
}
inline std::vector<int64_t> ints(const KernelCall &call, aten::ParamRef param) {
  return call.tensor(param).ints();
}
inline void put(const KernelCall &call, unsigned result,
                llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values) {
  call.make(result, sizes).assign(values);
}

/// Calls `fn` with a zero of the type that elements of `type` are added in.
template <typename Fn> auto withAccumulator(DType type, Fn fn) {
  if (isComplex(type))
    return fn(Complex());
  if (isIntegral(type))
    return fn(int64_t());
  return fn(double());
}

int64_t product(llvm::ArrayRef<int64_t> sizes);
/// Row-major strides of `sizes`.
Sizes rowMajor(llvm::ArrayRef<int64_t> sizes);
/// `dim` counted from 0; a tensor of rank 0 counts as one of rank 1.
int64_t wrapped(int64_t dim, int64_t rank);
/// A list of one number stands for `count` of them.
Sizes perDim(llvm::ArrayRef<int64_t> values, size_t count);
/// The sizes that two shapes broadcast to.
Sizes broadcastSizes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// For each element of shape `to`, the element of shape `from` that is
/// broadcast to it.
std::vector<int64_t> broadcastMap(llvm::ArrayRef<int64_t> from,
                                  llvm::ArrayRef<int64_t> to);

/// Offsets of the elements of `sizes` with `strides`, in row-major order.
std::vector<int64_t> offsetsOf(llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> strides);

/// A shape seen along one dimension: element (o, i, n) stands at
/// (o * length + i) * inner + n.
struct Along {
  Along(llvm::ArrayRef<int64_t> sizes, int64_t dim);
  int64_t outer = 1, length = 1, inner = 1;
  int64_t at(int64_t o, int64_t i, int64_t n) const {
    return (o * length + i) * inner + n;
  }
};

/// Advances `index` through `sizes` in row-major order; false after the last.
bool advance(llvm::MutableArrayRef<int64_t> index,
             llvm::ArrayRef<int64_t> sizes);

/// Copies the bits of `count` elements that follow each other from element
/// `from` of one contiguous tensor to element `to` of another of its type.
void copyRun(const Tensor &source, int64_t from, const Tensor &target,
             int64_t to, int64_t count = 1);

/// Fails unless `channels` can be divided into `groups`.
mlir::LogicalResult checkGroups(const KernelCall &call, int64_t channels,
                                int64_t groups);
/// Fails unless an operand has `wanted` elements.
mlir::LogicalResult checkCount(const KernelCall &call, aten::ParamRef param,
                               int64_t given, int64_t wanted);
/// The elements of an operand that must have `count` of them. Else the call has
/// failed, and zeros stand for them: inference does not compare every size.
std::vector<double> doubles(const KernelCall &call, aten::ParamRef param,
                            int64_t count);
/// The same; none for None.
std::vector<double> optionalDoubles(const KernelCall &call,
                                    aten::ParamRef param, int64_t count);
std::vector<int64_t> ints(const KernelCall &call, aten::ParamRef param,
                          int64_t count);
/// Fails unless 0 <= index < size.
mlir::LogicalResult checkIndex(const KernelCall &call, int64_t index,
                               int64_t size);
/// Counts a negative index from the end, then checks it.
mlir::LogicalResult wrapIndex(const KernelCall &call, int64_t &index,
                              int64_t size);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_VALUES_H
