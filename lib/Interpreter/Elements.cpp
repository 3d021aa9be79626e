// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between element types and numbers. A double is rounded once, to
// nearest with ties to even, straight to the element's format: its significand
// is shifted right by as many bits as the format has fewer (more for
// subnormals), and the exponent follows from the carry. Formats without
// infinity (f8E4M3FN) give their largest number where one is too large, as
// PyTorch 2.13 does.

#include "Elements.h"

#include <cmath>
#include <cstring>

using namespace cutback;
using namespace cutback::interpreter;

namespace {

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

/// Sign, `ExponentBits`, `FractionBits`. Without infinity, the largest pattern
/// is the only NaN.
template <typename Bits, int ExponentBits, int FractionBits, bool HasInfinity>
struct SmallFloat {
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr uint64_t maxExponent = (1 << ExponentBits) - 1;
  static constexpr uint64_t infinity = maxExponent << FractionBits;
  static constexpr uint64_t nan = HasInfinity
                                      ? infinity | 1ull << (FractionBits - 1)
                                      : infinity | ((1ull << FractionBits) - 1);
  static constexpr uint64_t overflow = HasInfinity ? infinity : nan - 1;
  static constexpr int signShift = ExponentBits + FractionBits;

  Bits bits;

  static SmallFloat from(double value) {
    uint64_t raw;
    std::memcpy(&raw, &value, sizeof(raw));
    uint64_t sign = raw >> 63 << signShift;
    int exponent = static_cast<int>(raw >> 52 & 0x7ff);
    uint64_t fraction = raw & ((1ull << 52) - 1);
    if (exponent == 0x7ff)
      return {static_cast<Bits>(sign | (fraction ? nan : overflow))};
    if (exponent == 0) // A subnormal double is far below every small format.
      return {static_cast<Bits>(sign)};
    uint64_t significand = fraction | 1ull << 52;
    int e = exponent - 1023, least = 1 - bias;
    int shift = 52 - FractionBits + std::max(0, least - e);
    if (shift > 54)
      return {static_cast<Bits>(sign)};
    uint64_t kept = significand >> shift;
    uint64_t rest = significand & ((1ull << shift) - 1);
    uint64_t half = 1ull << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    uint64_t magnitude = kept;
    if (e >= least)
      magnitude += static_cast<uint64_t>(e + bias - 1) << FractionBits;
    if (magnitude >= overflow)
      magnitude = overflow;
    return {static_cast<Bits>(sign | magnitude)};
  }

  double get() const {
    double sign = bits >> signShift & 1 ? -1.0 : 1.0;
    uint64_t magnitude = bits & ((1ull << signShift) - 1);
    uint64_t exponent = magnitude >> FractionBits;
    uint64_t fraction = magnitude & ((1ull << FractionBits) - 1);
    if (HasInfinity ? exponent == maxExponent : magnitude == nan)
      return HasInfinity && fraction == 0 ? sign * HUGE_VAL
                                          : std::copysign(NAN, sign);
    uint64_t significand =
        exponent == 0 ? fraction : fraction | 1ull << FractionBits;
    int power = static_cast<int>(exponent == 0 ? 1 : exponent) - bias;
    return sign *
           std::ldexp(static_cast<double>(significand), power - FractionBits);
  }
};

using F16 = SmallFloat<uint16_t, 5, 10, true>;
using BF16 = SmallFloat<uint16_t, 8, 7, true>;
using F8E4M3FN = SmallFloat<uint8_t, 4, 3, false>;
using F8E5M2 = SmallFloat<uint8_t, 5, 2, true>;
struct Truth {
  uint8_t bits;
};
struct HalfComplex {
  F16 real, imag;
};

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// As the processor converts: what does not fit gives the least integer.
template <typename T = int64_t> T truncate(double value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value >= 0x1p63 && value < 0x1p64)
      return static_cast<T>(value);
  if (!(value >= -0x1p63 && value < 0x1p63))
    return static_cast<T>(INT64_MIN);
  return static_cast<T>(static_cast<int64_t>(value));
}

template <typename T>
constexpr bool isStdComplex =
    std::is_same_v<T, Complex> || std::is_same_v<T, std::complex<float>>;

template <typename T> double toReal(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_same_v<T, Truth>)
    return value.bits != 0;
  else if constexpr (isStdComplex<T>)
    return value.real();
  else if constexpr (std::is_same_v<T, HalfComplex>)
    return value.real.get();
  else
    return value.get();
}

template <typename T> int64_t toInteger(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(value);
  else if constexpr (std::is_same_v<T, Truth>)
    return value.bits != 0;
  else
    return truncate(toReal(value));
}

template <typename V, typename T> V load(T value) {
  if constexpr (std::is_same_v<V, int64_t>)
    return toInteger(value);
  else if constexpr (std::is_same_v<V, double>)
    return toReal(value);
  else if constexpr (isStdComplex<T>)
    return Complex(value);
  else if constexpr (std::is_same_v<T, HalfComplex>)
    return Complex(value.real.get(), value.imag.get());
  else
    return Complex(toReal(value), 0);
}

template <typename T, typename V> T store(V value) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(value != V(0))};
  } else if constexpr (isStdComplex<T>) {
    if constexpr (std::is_same_v<V, Complex>)
      return T(value);
    else
      return T(static_cast<typename T::value_type>(value), 0);
  } else if constexpr (std::is_same_v<T, HalfComplex>) {
    auto whole = store<Complex>(value);
    return {F16::from(whole.real()), F16::from(whole.imag())};
  } else if constexpr (std::is_same_v<V, Complex>) {
    return store<T>(value.real());
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_same_v<V, double>)
      return truncate<T>(value);
    else
      return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T::from(static_cast<double>(value));
  }
}

/// Calls `run` with a value of the type that holds an element of `type`.
template <typename Fn> void dispatch(DType type, Fn run) {
  // NOLINTBEGIN(bugprone-branch-clone): each call is of another type.
  switch (type) {
  case DType::F64:
    return run(double());
  case DType::F32:
    return run(float());
  case DType::F16:
    return run(F16());
  case DType::BF16:
    return run(BF16());
  case DType::F8E4M3FN:
    return run(F8E4M3FN());
  case DType::F8E5M2:
    return run(F8E5M2());
  case DType::I64:
    return run(int64_t());
  case DType::I32:
    return run(int32_t());
  case DType::I16:
    return run(int16_t());
  case DType::I8:
    return run(int8_t());
  case DType::U64:
    return run(uint64_t());
  case DType::U32:
    return run(uint32_t());
  case DType::U16:
    return run(uint16_t());
  case DType::U8:
    return run(uint8_t());
  case DType::Bool:
    return run(Truth());
  case DType::C32:
    return run(HalfComplex());
  case DType::C64:
    return run(std::complex<float>());
  case DType::C128:
    return run(Complex());
  }
  // NOLINTEND(bugprone-branch-clone)
}

} // namespace

Domain interpreter::domainOf(DType type) {
  if (isComplex(type))
    return Domain::Complex;
  return isIntegral(type) ? Domain::Integer : Domain::Real;
}

template <typename V>
void interpreter::loadElements(DType type, const char *from, int64_t stride,
                               int64_t n, V *to) {
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    constexpr auto size = static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < n; ++i) {
      T element; // a file may place it anywhere
      std::memcpy(&element, from + i * stride * size, sizeof(T));
      to[i] = load<V>(element);
    }
  });
}

template <typename V>
void interpreter::storeElements(DType type, char *to, int64_t stride, int64_t n,
                                const V *from) {
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    constexpr auto size = static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < n; ++i) {
      T element = store<T>(from[i]);
      std::memcpy(to + i * stride * size, &element, sizeof(T));
    }
  });
}

double interpreter::roundTo(DType type, double value) {
  if (type == DType::F32)
    return static_cast<float>(value);
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    value = load<double>(store<T>(value));
  });
  return value;
}

int64_t interpreter::roundTo(DType type, int64_t value) {
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    value = load<int64_t>(store<T>(value));
  });
  return value;
}

//===----------------------------------------------------------------------===//
// ElementCursor
//===----------------------------------------------------------------------===//

ElementCursor::ElementCursor(const Tensor &tensor)
    : tensor(tensor), itemBytes(itemSize(tensor.type)), base(tensor.data()) {
  for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides)) {
    if (size == 1)
      continue;
    if (!sizes.empty() && strides.back() == stride * size) {
      sizes.back() *= size;
      strides.back() = stride;
      continue;
    }
    sizes.push_back(size);
    strides.push_back(stride);
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    strides.push_back(0);
  }
  index.assign(sizes.size(), 0);
}

/// Calls run(address, stride, done, count) for pieces of the innermost
/// dimension until `n` elements are passed.
template <typename Fn> void ElementCursor::step(int64_t n, Fn run) {
  int64_t done = 0;
  size_t inner = sizes.size() - 1;
  while (done < n) {
    int64_t count = std::min(n - done, sizes[inner] - index[inner]);
    run(base + position * itemBytes, strides[inner], done, count);
    done += count;
    index[inner] += count;
    position += count * strides[inner];
    for (size_t d = inner; index[d] == sizes[d]; --d) {
      position -= sizes[d] * strides[d];
      index[d] = 0;
      if (d == 0)
        break;
      ++index[d - 1];
      position += strides[d - 1];
    }
  }
}

template <typename V> void ElementCursor::read(V *to, int64_t n) {
  step(n, [&](char *from, int64_t stride, int64_t done, int64_t count) {
    loadElements(tensor.type, from, stride, count, to + done);
  });
}

template <typename V> void ElementCursor::write(const V *from, int64_t n) {
  step(n, [&](char *to, int64_t stride, int64_t done, int64_t count) {
    storeElements(tensor.type, to, stride, count, from + done);
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define CUTBACK_INSTANTIATE(V)                                                 \
  template void interpreter::loadElements<V>(DType, const char *, int64_t,     \
                                             int64_t, V *);                    \
  template void interpreter::storeElements<V>(DType, char *, int64_t, int64_t, \
                                              const V *);                      \
  template void ElementCursor::read<V>(V *, int64_t);                          \
  template void ElementCursor::write<V>(const V *, int64_t);
CUTBACK_INSTANTIATE(int64_t)
CUTBACK_INSTANTIATE(double)
CUTBACK_INSTANTIATE(Complex)
// NOLINTEND(bugprone-macro-parentheses)
#undef CUTBACK_INSTANTIATE
