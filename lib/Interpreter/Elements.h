// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of tensors as numbers: how each type is read and rounded, and
// cursors that walk over a strided tensor in row-major order, many elements at
// a time.
#ifndef CUTBACK_LIB_INTERPRETER_ELEMENTS_H
#define CUTBACK_LIB_INTERPRETER_ELEMENTS_H

#include "cutback/Interpreter/Tensor.h"

namespace cutback::interpreter {

using Complex = std::complex<double>;

/// What elements are computed in: the value type V of a loop.
enum class Domain : uint8_t { Integer, Real, Complex };
Domain domainOf(DType type);

/// Reads or writes elements [i, i + n) of `type`, `stride` elements apart.
/// V is int64_t, double or Complex; conversions are those of Tensor::set.
template <typename V>
void loadElements(DType type, const char *from, int64_t stride, int64_t n,
                  V *to);
template <typename V>
void storeElements(DType type, char *to, int64_t stride, int64_t n,
                   const V *from);

/// The value that `value` has as an element of `type`.
double roundTo(DType type, double value);
int64_t roundTo(DType type, int64_t value);

/// Walks over the elements of a strided tensor in row-major order.
class ElementCursor {
public:
  explicit ElementCursor(const Tensor &tensor);
  template <typename V> void read(V *to, int64_t n);
  template <typename V> void write(const V *from, int64_t n);

private:
  template <typename Fn> void step(int64_t n, Fn run);

  Tensor tensor; ///< keeps the storage
  int64_t itemBytes;
  char *base;
  /// Dimensions that lie behind each other are one.
  llvm::SmallVector<int64_t, 5> sizes, strides, index;
  int64_t position = 0; ///< of `index`, in elements from `base`
};

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_ELEMENTS_H
