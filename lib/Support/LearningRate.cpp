// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A linear rise, then a constant or half a cosine down to the least rate.

#include "cutback/Support/LearningRate.h"

#include <algorithm>
#include <cmath>

using namespace cutback;

double LearningRate::at(int64_t step) const {
  double rate = peak;
  if (warmup > 0)
    rate *= std::min(1.0, static_cast<double>(step + 1) /
                              static_cast<double>(warmup));
  if (kind == Cosine) {
    constexpr double kPi = 3.14159265358979323846;
    double part =
        std::min(1.0, static_cast<double>(step) / static_cast<double>(steps));
    double share = (1 + std::cos(kPi * part)) / 2;
    rate = least == 0 ? rate * share
                      : std::min(rate, least + (peak - least) * share);
  }
  return rate;
}
