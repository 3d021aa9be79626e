// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions: each result element comes from the elements along some
// dimensions, in row-major order.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_REDUCE_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_REDUCE_H

#include "../Elements.h"
#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

/// Moves the dimensions of `tensor` that `last` holds behind the others, both
/// in their order.
Tensor moveBehind(const Tensor &tensor, const llvm::SmallBitVector &last);

class Reduction {
public:
  /// Reads `self`, `dim` (none is all) and `keepdim`.
  explicit Reduction(const KernelCall &call, bool emptyIsAll = true);

  llvm::ArrayRef<int64_t> sizes() const { return resultSizes; }
  DType type() const { return source.type; }
  /// Elements behind one result element.
  int64_t count() const { return perResult; }
  int64_t results() const { return numResults; }

  /// Calls f(result element, its `count()` elements).
  template <typename V, typename F> void each(F f) const {
    std::vector<V> values(perResult);
    ElementCursor cursor(source);
    for (int64_t i = 0; i < numResults; ++i) {
      cursor.read(values.data(), perResult);
      f(i, llvm::ArrayRef<V>(values));
    }
  }

  /// Result 0 = f(elements).
  template <typename V, typename F> mlir::LogicalResult reduce(F f) const {
    using R = decltype(f(llvm::ArrayRef<V>()));
    using Out = std::conditional_t<std::is_same_v<R, bool>, int64_t, R>;
    std::vector<Out> out(numResults);
    each<V>([&](int64_t i, llvm::ArrayRef<V> values) { out[i] = f(values); });
    call.make(0, resultSizes).assign(llvm::ArrayRef<Out>(out));
    return mlir::success();
  }

private:
  const KernelCall &call;
  Tensor source; ///< reduced dimensions last
  llvm::SmallVector<int64_t> resultSizes;
  int64_t perResult = 1, numResults = 1;
};

/// Less in PyTorch's order: NaN is greater than every number.
inline bool isLess(int64_t a, int64_t b) { return a < b; }
inline bool isLess(double a, double b) { return a < b || (b != b && a == a); }

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_REDUCE_H
