// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of any width as doubles, where there is no LLVM that knows them. A
// float of 16 bits is a sign, an exponent and a mantissa: bf16 has 8 and 7 bits
// of these, f16 5 and 10. Reading is exact. Writing rounds once, from double:
// `ldexp` and `nearbyint` put the number on the grid of the type.

#include "cutback/Runtime/Elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace cutback;

namespace {

struct Format {
  int exponentBits, mantissaBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int special() const { return (1 << exponentBits) - 1; }
};
constexpr Format kBF16 = {8, 7}, kF16 = {5, 10};

double read(uint16_t bits, Format format) {
  int exponent = (bits >> format.mantissaBits) & format.special();
  int mantissa = bits & ((1 << format.mantissaBits) - 1);
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == format.special())
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  int hidden = exponent ? 1 << format.mantissaBits : 0;
  int least = exponent ? exponent : 1;
  return sign * std::ldexp(hidden + mantissa,
                           least - format.bias() - format.mantissaBits);
}

uint16_t write(double value, Format format) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int infinite = format.special() << format.mantissaBits;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | infinite |
                                 (1 << (format.mantissaBits - 1)));
  if (value == 0)
    return sign;
  value = std::fabs(value);
  int exponent = 0;
  std::frexp(value, &exponent); // value < 2^exponent
  int least = 1 - format.bias();
  int scale = std::max(exponent - 1, least) - format.mantissaBits;
  if (std::isinf(value) || exponent > 2 * format.bias())
    return static_cast<uint16_t>(sign | infinite);
  // In steps of the type; a carry goes on into the exponent.
  auto steps = static_cast<int>(std::nearbyint(std::ldexp(value, -scale)));
  int bits = steps;
  if (exponent - 1 >= least)
    bits += (exponent - 1 + format.bias() - 1) << format.mantissaBits;
  return static_cast<uint16_t>(sign | std::min(bits, infinite));
}

template <typename T> T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T> void store(char *to, T value) {
  std::memcpy(to, &value, sizeof value);
}

} // namespace

bool Elements::isKnown(std::string_view type) {
  return type == "f64" || type == "f32" || type == "bf16" || type == "f16";
}

Elements::Elements(void *data, int64_t bytes, std::string_view type)
    : data(static_cast<char *>(data)), kind(type == "f64"    ? F64
                                            : type == "f32"  ? F32
                                            : type == "bf16" ? BF16
                                                             : F16) {
  number = bytes / (kind == F64 ? 8 : kind == F32 ? 4 : 2);
}

double Elements::operator[](int64_t i) const {
  if (kind == F64)
    return load<double>(data + 8 * i);
  if (kind == F32)
    return load<float>(data + 4 * i);
  return read(load<uint16_t>(data + 2 * i), kind == BF16 ? kBF16 : kF16);
}

void Elements::set(int64_t i, double value) const {
  if (kind == F64)
    store(data + 8 * i, value);
  else if (kind == F32)
    store(data + 4 * i, static_cast<float>(value));
  else
    store(data + 2 * i, write(value, kind == BF16 ? kBF16 : kF16));
}
