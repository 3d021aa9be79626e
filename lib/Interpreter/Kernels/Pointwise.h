// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops: operands broadcast against each other, are promoted to one
// element type, and go through one function of numbers.
//
// The function sees int64_t, double or complex<double>: the domain of the
// common type. An operand of another type is first rounded to the common type,
// as PyTorch casts it; a number or a 0-d tensor beside a half-precision tensor
// keeps single precision, except where its value decides (`exact`:
// comparisons). Elements are read and written in blocks of equal position, so a
// result may lie in place of an operand of its type and sizes.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_POINTWISE_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_POINTWISE_H

#include "../Elements.h"
#include "cutback/Interpreter/Kernel.h"

#include <array>

namespace cutback::interpreter {

/// The type that PyTorch's promotion gives tensors and numbers.
DType promote(const KernelCall &call, llvm::ArrayRef<Tensor> operands,
              llvm::ArrayRef<bool> isNumber);

//===-- Arithmetic that is defined for all numbers ------------------------===//
/// int64_t wraps around.
inline int64_t asSigned(uint64_t x) { return static_cast<int64_t>(x); }
inline int64_t plus(int64_t a, int64_t b) {
  return asSigned(uint64_t(a) + uint64_t(b));
}
inline int64_t minus(int64_t a, int64_t b) {
  return asSigned(uint64_t(a) - uint64_t(b));
}
inline int64_t times(int64_t a, int64_t b) {
  return asSigned(uint64_t(a) * uint64_t(b));
}
inline double plus(double a, double b) { return a + b; }
inline double minus(double a, double b) { return a - b; }
inline double times(double a, double b) { return a * b; }
inline Complex plus(Complex a, Complex b) { return a + b; }
inline Complex minus(Complex a, Complex b) { return a - b; }
inline Complex times(Complex a, Complex b) { return a * b; }

/// A factor such as `alpha`, in the type of the elements.
template <typename V> V factorAs(const RuntimeValue &value, V ifNone) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return V(*integer);
  if (const auto *flag = std::get_if<bool>(&value))
    return V(*flag);
  if (const auto *real = std::get_if<double>(&value)) {
    if constexpr (std::is_same_v<V, int64_t>)
      return static_cast<int64_t>(*real);
    else
      return V(*real);
  }
  return ifNone;
}

/// One elementwise call.
class Elementwise {
public:
  /// The operands are those parameters that are not None.
  Elementwise(const KernelCall &call,
              std::initializer_list<aten::ParamRef> params, bool exact = false);

  Domain domain() const { return domainOf(common); }
  /// The type that the operands are promoted to.
  DType commonType() const { return common; }

  /// Result 0 = f(operands...), with numbers of type V.
  template <typename V, unsigned N, typename F>
  mlir::LogicalResult in(F f) const;
  /// The same in the domain of the common type.
  template <unsigned N, typename F> mlir::LogicalResult all(F f) const;
  /// All but complex numbers.
  template <unsigned N, typename F> mlir::LogicalResult ordered(F f) const;
  /// In floating point; an integer is a double.
  template <unsigned N, typename F> mlir::LogicalResult real(F f) const {
    return in<double, N>(f);
  }

private:
  struct Input {
    Tensor tensor; ///< expanded to `sizes`
    std::optional<DType> round;
  };
  template <typename V>
  static void read(ElementCursor &cursor, const Input &input, V *to, int64_t n);

  const KernelCall &call;
  DType common = DType::F32;
  llvm::SmallVector<int64_t> sizes;
  std::vector<Input> inputs;
  bool fits = true;
};

template <typename V> constexpr Domain domainOfValue() {
  return std::is_same_v<V, int64_t>  ? Domain::Integer
         : std::is_same_v<V, double> ? Domain::Real
                                     : Domain::Complex;
}

template <typename V>
void Elementwise::read(ElementCursor &cursor, const Input &input, V *to,
                       int64_t n) {
  cursor.read(to, n);
  if (!input.round)
    return;
  // Integers that are computed on as floats are not wrapped.
  if constexpr (!std::is_same_v<V, Complex>)
    if (domainOf(*input.round) == domainOfValue<V>())
      for (int64_t i = 0; i < n; ++i)
        to[i] = roundTo(*input.round, to[i]);
}

template <typename V, unsigned N, typename F>
mlir::LogicalResult Elementwise::in(F f) const {
  if (!fits)
    return call.error("its operands have sizes that do not broadcast");
  constexpr int64_t block = 512;
  auto apply = [&](const auto &values, int64_t i) {
    if constexpr (N == 1)
      return f(values[0][i]);
    else if constexpr (N == 2)
      return f(values[0][i], values[1][i]);
    else
      return f(values[0][i], values[1][i], values[2][i]);
  };
  std::array<std::array<V, block>, N> values;
  using R = decltype(apply(values, 0));
  using Out = std::conditional_t<std::is_same_v<R, bool>, int64_t, R>;
  std::array<Out, block> results;
  Tensor out = call.make(0, sizes);
  std::vector<ElementCursor> cursors;
  for (const Input &input : inputs)
    cursors.emplace_back(input.tensor);
  ElementCursor writer(out);
  for (int64_t at = 0, n = out.numel(); at < n; at += block) {
    int64_t count = std::min(block, n - at);
    for (unsigned k = 0; k < N; ++k)
      read(cursors[k], inputs[k], values[k].data(), count);
    for (int64_t i = 0; i < count; ++i)
      results[i] = apply(values, i);
    writer.write(results.data(), count);
  }
  return mlir::success();
}

template <unsigned N, typename F>
mlir::LogicalResult Elementwise::all(F f) const {
  return domain() == Domain::Complex ? in<Complex, N>(f) : ordered<N>(f);
}

template <unsigned N, typename F>
mlir::LogicalResult Elementwise::ordered(F f) const {
  return domain() == Domain::Integer ? in<int64_t, N>(f) : in<double, N>(f);
}

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_POINTWISE_H
