// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of micro-batches in the loss of their step.
//
// The loss of a micro-batch is a mean over its rows, or over its valid tokens.
// The mean over all micro-batches weighs the first kind equally; the second by
// tokens, since the mean of means is none of all tokens where counts differ.
// Shares are quotients in double precision: times a loss seed in a smaller type
// they round once, to what PyTorch has for `loss / N` and `loss * (count /
// total)`.

#include "cutback/Training/MicroBatches.h"

#include <numeric>

using namespace cutback;
using interpreter::Tensor;

std::optional<ValidTokens> ValidTokens::parse(llvm::StringRef text) {
  ValidTokens made;
  auto [place, ignored] = text.split(':');
  auto [name, first] = place.split('+');
  made.input = name.str();
  bool isWrong = name.empty() ||
                 (text.contains(':') && ignored.getAsInteger(10, made.ignored));
  if (place.contains('+'))
    isWrong |= first.getAsInteger(10, made.first) || made.first < 0;
  return isWrong ? std::nullopt : std::optional(made);
}

int64_t ValidTokens::count(const Tensor &labels) const {
  Tensor dense = labels.contiguous();
  int64_t length = dense.rank() ? dense.sizes.back() : 1, valid = 0;
  for (int64_t e = 0, n = dense.numel(); e < n; ++e)
    valid += e % length >= first && dense.getInt(e) != ignored;
  return valid;
}

std::vector<double> cutback::equalShares(int64_t count) {
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

std::vector<double> cutback::sharesOf(llvm::ArrayRef<int64_t> counts) {
  auto total = static_cast<double>(
      std::accumulate(counts.begin(), counts.end(), int64_t(0)));
  std::vector<double> shares;
  for (int64_t count : counts)
    shares.push_back(count ? static_cast<double>(count) / total : 0);
  return shares;
}
