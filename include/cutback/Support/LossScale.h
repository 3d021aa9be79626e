// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The factor of a loss whose gradients are 16-bit floats.
#ifndef CUTBACK_SUPPORT_LOSSSCALE_H
#define CUTBACK_SUPPORT_LOSSSCALE_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cutback {

/// Gradients are of the loss times `scale`, so that small ones are not zero in
/// 16 bits; the update divides them again. A step whose gradients are not
/// finite changes nothing and is counted. Rules and constants are those of
/// torch.amp.GradScaler: half after such a step, twice after 2,000 others.
struct LossScale {
  double scale = 65536;
  bool isDynamic = true;
  double greatest = std::numeric_limits<double>::infinity();
  int64_t good = 0;    ///< steps since it changed
  int64_t skipped = 0; ///< steps of the whole training

  /// After a step. An empty string, or why there is no use in going on.
  std::string count(bool isSkipped);
  /// No more than `most` from now on, which the type of the loss still holds.
  void limit(double most);

  /// "dynamic", or a number.
  static std::optional<LossScale> parse(std::string_view text);
};

/// The greatest scale of a loss of this type ("f16"): the type's greatest power
/// of two, so that a seed of 1 times the scale is finite.
double greatestLossScale(std::string_view type);

} // namespace cutback

#endif // CUTBACK_SUPPORT_LOSSSCALE_H
