// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The micro-batches of a step, and what each is of its loss.
#ifndef CUTBACK_TRAINING_MICROBATCHES_H
#define CUTBACK_TRAINING_MICROBATCHES_H

#include "cutback/Interpreter/TensorFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
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
  static std::optional<ValidTokens> parse(llvm::StringRef text);

  /// How many there are in `labels`, of integers. Linear.
  int64_t count(const interpreter::Tensor &labels) const;
};

/// What each of `count` micro-batches is of the mean over all of them.
std::vector<double> equalShares(int64_t count);
/// What each is of the mean over all valid tokens, where micro-batch i has
/// `counts[i]` of them: 0 for one that has none, and so has no mean; all are 0
/// where there is none at all.
std::vector<double> sharesOf(llvm::ArrayRef<int64_t> counts);

} // namespace cutback

#endif // CUTBACK_TRAINING_MICROBATCHES_H
