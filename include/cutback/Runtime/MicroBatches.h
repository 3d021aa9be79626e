// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-batches of a step, and what each is of its loss.
#ifndef CUTBACK_RUNTIME_MICROBATCHES_H
#define CUTBACK_RUNTIME_MICROBATCHES_H

#include "cutback/Runtime/Artifact.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// The elements of a batch that its loss is the mean of: those of an input of
/// integers that are not the number that a loss passes over.
struct ValidTokens {
  std::string input; ///< "input.1"
  int64_t first = 0; ///< those before it in each row are not read by the loss
  int64_t ignored = -100; ///< PyTorch's ignore_index

  /// "input.1", "input.1+1", "input.1:0" or "input.1+1:0"; nothing for another
  /// text.
  static std::optional<ValidTokens> parse(std::string_view text);
  /// What is said of another text.
  static constexpr const char *kWrong =
      "--valid-tokens takes NAME, NAME:NUMBER or NAME+N:NUMBER, as "
      "input.1:-100";

  /// Whether elements of this type can be counted: integers and flags.
  static bool isCountable(std::string_view dtype);
  /// How many there are in `labels`, whose elements are in row-major order.
  /// Linear.
  int64_t count(const ArtifactTensor &labels, const char *elements) const;
};

/// What each of `count` micro-batches is of the mean over all of them.
std::vector<double> equalShares(int64_t count);
/// What each is of the mean over all valid tokens, where micro-batch i has
/// `counts[i]` of them: 0 for one that has none, and so has no mean; all are 0
/// where there is none at all.
std::vector<double> sharesOf(const std::vector<int64_t> &counts);

/// The shares of micro-batches that have `counts` of such tokens. An empty
/// string, or that there is none in all of them.
std::string findShares(const ValidTokens &valid,
                       const std::vector<int64_t> &counts,
                       std::vector<double> &shares);

} // namespace cutback

#endif // CUTBACK_RUNTIME_MICROBATCHES_H
