// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of any width in memory of this machine, as doubles.
#ifndef CUTBACK_RUNTIME_ELEMENTS_H
#define CUTBACK_RUNTIME_ELEMENTS_H

#include <cstdint>
#include <string_view>

namespace cutback {

class Elements {
public:
  Elements(void *data, int64_t bytes, std::string_view type);

  /// Of "f64", "f32", "bf16" and "f16".
  static bool isKnown(std::string_view type);

  int64_t count() const { return number; }
  double operator[](int64_t i) const;
  /// Rounded to the type, to nearest, ties to even.
  void set(int64_t i, double value) const;

private:
  enum Kind { F64, F32, BF16, F16 };

  char *data;
  int64_t number;
  Kind kind;
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_ELEMENTS_H
