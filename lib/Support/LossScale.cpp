// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a loss scale changes from step to step.
//
// Scales that are dynamic stay powers of two: multiplying a gradient by them
// and dividing again rounds nothing, so where no gradient is too small or too
// large for its type, a training has the same bits with any scale.
//
// PyTorch halves a scale for ever. Here a training ends where it would go below
// 2^-16: its gradients are not finite whatever the scale is.

#include "cutback/Support/LossScale.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

using namespace cutback;

static constexpr int64_t kGrowthInterval = 2000;
static constexpr double kLeastScale = 1.0 / 65536;

std::string LossScale::count(bool isSkipped) {
  if (!isSkipped) {
    if (isDynamic && ++good == kGrowthInterval) {
      scale = std::min(2 * scale, greatest);
      good = 0;
    }
    return "";
  }
  ++skipped;
  good = 0;
  if (!isDynamic)
    return "";
  if (scale <= kLeastScale) {
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", scale);
    return std::string("gradients are not finite at a loss scale of ") + number;
  }
  scale /= 2;
  return "";
}

double cutback::greatestLossScale(std::string_view type) {
  // f32 and bf16 have the same exponents.
  return std::ldexp(1.0, type == "f16" ? 15 : type == "f64" ? 1023 : 127);
}

void LossScale::limit(double most) {
  greatest = most;
  scale = std::min(scale, most);
}

std::optional<LossScale> LossScale::parse(std::string_view text) {
  LossScale made;
  if (text == "dynamic")
    return made;
  made.isDynamic = false;
  std::string number(text);
  const char *end = number.c_str() + number.size();
  auto [read, error] = std::from_chars(number.c_str(), end, made.scale);
  if (error != std::errc() || read != end || !std::isfinite(made.scale) ||
      made.scale <= 0)
    return std::nullopt;
  return made;
}
