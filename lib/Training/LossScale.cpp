// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeds of losses that are scaled, and how far they can be.
//
// The scale itself, and how it changes, is in Support/LossScale.h.
// A seed times the scale must be finite in its type: the greatest power of two
// of the smallest type of all seeds bounds the scale.

#include "cutback/Training/LossScale.h"

#include <algorithm>
#include <cmath>

using namespace cutback;
using interpreter::DType;
using interpreter::Tensor;

double cutback::greatestScale(DType type) {
  return greatestLossScale(std::string_view(nameOf(type)));
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
