// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops for each type. Floats and doubles are added as such. Of 16-bit floats a
// sum is made in double and rounded to the type: exact where its parts are less
// than 2^36 apart, and beyond that what is lost is far below half a step, so
// rounding twice changes nothing. One pass over both operands, without memory
// of its own.

#include "cutback/Runtime/Pipeline/Sums.h"

#include "cutback/Runtime/Elements.h"

#include <cmath>
#include <cstring>

using namespace cutback;

template <typename T, typename Function>
static void forEach(char *to, const char *more, int64_t bytes,
                    const Function &function) {
  for (int64_t at = 0; at + int64_t(sizeof(T)) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, more + at, sizeof b);
    a = function(a, b);
    std::memcpy(to + at, &a, sizeof a);
  }
}

/// `function` on floats of the type, or doubles for those that have no type
/// here.
template <typename Function>
static void combine(std::string_view dtype, char *to, const char *more,
                    int64_t bytes, const Function &function) {
  if (dtype == "f32")
    return forEach<float>(to, more, bytes, function);
  if (dtype == "f64")
    return forEach<double>(to, more, bytes, function);
  Elements left(to, bytes, dtype);
  Elements right(const_cast<char *>(more), bytes, dtype);
  for (int64_t i = 0; i < left.count(); ++i)
    left.set(i, function(left[i], right[i]));
}

bool pipeline::isAddedAsInteger(std::string_view dtype) {
  return dtype == "i64" || dtype == "i32";
}

std::string_view pipeline::componentOf(std::string_view dtype) {
  std::string_view prefix = "complex<";
  if (dtype.substr(0, prefix.size()) != prefix)
    return dtype;
  return dtype.substr(prefix.size(), dtype.size() - prefix.size() - 1);
}

void pipeline::addTo(std::string_view dtype, char *sum, const char *more,
                     int64_t bytes) {
  // Without a sign, so that a sum that wraps is defined.
  auto add = [](auto a, auto b) { return a + b; };
  if (dtype == "i64")
    return forEach<uint64_t>(sum, more, bytes, add);
  if (dtype == "i32")
    return forEach<uint32_t>(sum, more, bytes, add);
  combine(dtype, sum, more, bytes, add);
}

void pipeline::maximize(std::string_view dtype, char *to, const char *more,
                        int64_t bytes) {
  combine(dtype, to, more, bytes,
          [](auto a, auto b) { return a > b || std::isnan(a) ? a : b; });
}

/// function(element, number), in doubles, else in floats; `number` is rounded
/// to that first.
template <typename Function>
static void change(std::string_view dtype, char *to, double number,
                   int64_t bytes, const Function &function) {
  if (dtype == "f64")
    return forEach<double>(
        to, to, bytes, [&](double a, double) { return function(a, number); });
  auto rounded = static_cast<float>(number);
  if (dtype == "f32")
    return forEach<float>(to, to, bytes,
                          [&](float a, float) { return function(a, rounded); });
  Elements elements(to, bytes, dtype);
  for (int64_t i = 0; i < elements.count(); ++i)
    elements.set(i, function(static_cast<float>(elements[i]), rounded));
}

void pipeline::scale(std::string_view dtype, char *to, double factor,
                     int64_t bytes) {
  change(dtype, to, factor, bytes, [](auto a, auto b) { return a * b; });
}

void pipeline::divide(std::string_view dtype, char *to, double divisor,
                      int64_t bytes) {
  change(dtype, to, divisor, bytes, [](auto a, auto b) { return a / b; });
}
