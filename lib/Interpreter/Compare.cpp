// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results against expected values, element by element in double.
//
// Integers and truth values must be equal. NaN is right where NaN is expected,
// and infinitely wrong elsewhere. The scale is the largest finite magnitude of
// the expected tensor.

#include "cutback/Interpreter/Compare.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace cutback::interpreter;

double Difference::badness() const {
  if (!problem.empty())
    return std::numeric_limits<double>::infinity();
  if (largest == 0)
    return 0;
  return allowed > 0 ? largest / allowed
                     : std::numeric_limits<double>::infinity();
}

static std::string shapeText(const Tensor &tensor) {
  std::string text = nameOf(tensor.type).str() + "[";
  for (auto [i, size] : llvm::enumerate(tensor.sizes))
    text += (i ? ", " : "") + std::to_string(size);
  return text + "]";
}

/// Distance of two numbers; NaNs are equal to each other and infinitely far
/// from everything else.
static double distance(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) == std::isnan(b)
               ? 0
               : std::numeric_limits<double>::infinity();
  return a == b ? 0 : std::abs(a - b);
}

/// The same of integers: not 0 for large ones that are no doubles.
static double distance(int64_t a, int64_t b) {
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return static_cast<double>(a > b ? x - y : y - x);
}

Difference cutback::interpreter::compareTensors(StringRef name,
                                                const Tensor &actual,
                                                const Tensor &expected,
                                                const Tolerance &tolerance,
                                                bool half) {
  Difference difference;
  difference.name = name.str();
  bool sameKind = isFloating(actual.type) == isFloating(expected.type) &&
                  isComplex(actual.type) == isComplex(expected.type);
  if (actual.sizes != expected.sizes || !sameKind) {
    difference.problem =
        "is " + shapeText(actual) + ", expected " + shapeText(expected);
    return difference;
  }
  Tensor a = actual.contiguous(), b = expected.contiguous();
  bool exact = isIntegral(b.type), complex = isComplex(b.type);
  for (int64_t i = 0, e = b.numel(); i < e; ++i) {
    if (exact) {
      difference.largest =
          std::max(difference.largest, distance(a.getInt(i), b.getInt(i)));
      continue;
    }
    double apart, magnitude;
    if (complex) {
      apart =
          std::max(distance(a.getComplex(i).real(), b.getComplex(i).real()),
                   distance(a.getComplex(i).imag(), b.getComplex(i).imag()));
      magnitude = std::abs(b.getComplex(i));
    } else {
      apart = distance(a.getDouble(i), b.getDouble(i));
      magnitude = std::abs(b.getDouble(i));
    }
    difference.largest = std::max(difference.largest, apart);
    if (std::isfinite(magnitude))
      difference.scale = std::max(difference.scale, magnitude);
  }
  if (!exact) {
    half |= !complex && std::min(itemSize(a.type), itemSize(b.type)) < 4;
    difference.rtol = half ? tolerance.rtolHalf : tolerance.rtol;
    if (tolerance.byName)
      difference.rtol = tolerance.byName(name).value_or(difference.rtol);
    difference.allowed = tolerance.atol + difference.rtol * difference.scale;
  }
  return difference;
}
