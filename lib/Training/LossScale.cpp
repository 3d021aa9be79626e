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

#include "cutback/Training/LossScale.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace cutback;
using interpreter::DType;
using interpreter::Tensor;

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
  if (scale <= kLeastScale)
    return "gradients are not finite at a loss scale of " +
           llvm::formatv("{0}", llvm::format("%.3g", scale)).str();
  scale /= 2;
  return "";
}

void LossScale::limit(double most) {
  greatest = most;
  scale = std::min(scale, most);
}

std::optional<LossScale> LossScale::parse(llvm::StringRef text) {
  LossScale made;
  if (text == "dynamic")
    return made;
  made.isDynamic = false;
  if (text.getAsDouble(made.scale) || !std::isfinite(made.scale) ||
      made.scale <= 0)
    return std::nullopt;
  return made;
}

double cutback::greatestScale(DType type) {
  switch (type) {
  case DType::F16:
    return std::ldexp(1.0, 15);
  case DType::F64:
    return std::ldexp(1.0, 1023);
  default: // f32 and bf16
    return std::ldexp(1.0, 127);
  }
}

void LossSeeds::add(size_t argument, const Tensor &seed) {
  seeds[argument] = copyOf(seed);
}

void LossSeeds::replace(size_t argument, const Tensor &value) {
  auto found = seeds.find(argument);
  if (found != seeds.end())
    found->second = copyOf(value);
}

double LossSeeds::greatest() const {
  double greatest = greatestScale(DType::F64);
  for (const auto &[argument, seed] : seeds)
    greatest = std::min(greatest, greatestScale(seed.type));
  return greatest;
}

void LossSeeds::forEach(
    double factor, llvm::function_ref<void(size_t, const Tensor &)> run) const {
  for (const auto &[argument, seed] : seeds) {
    Tensor scaled = copyOf(seed);
    for (int64_t e = 0, n = scaled.numel(); e < n; ++e)
      scaled.set(e, scaled.getDouble(e) * factor);
    run(argument, scaled);
  }
}
