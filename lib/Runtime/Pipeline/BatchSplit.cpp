// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two sizes of a micro-batch are enough for any batch: `batch / parts` rows,
// and one more for the first `batch % parts`. A stage is compiled for both;
// what a tensor has along its dimension is a multiple of rows (tokens of all
// rows, say), so a run counts in the elements of a tensor, and the number of
// larger micro-batches follows from how many there are in all.
//
// Constant time but for areParts(), which is linear.

#include "cutback/Runtime/Pipeline/BatchSplit.h"

#include <algorithm>

using namespace cutback;

std::optional<BatchSplit> cutback::splitBatch(int64_t batch, int64_t parts) {
  if (parts < 1 || batch < parts)
    return std::nullopt;
  int64_t rest = batch % parts;
  if (rest == 0)
    return BatchSplit{batch / parts, parts};
  return BatchSplit{batch / parts + 1, rest};
}

std::optional<int64_t> cutback::countLarger(int64_t total, int64_t parts,
                                            int64_t larger, int64_t smaller) {
  if (parts < 1 || total < 0 || larger < smaller || total / parts < smaller)
    return std::nullopt;
  int64_t more = total - parts * smaller, step = larger - smaller;
  if (step == 0)
    return more == 0 ? std::optional(parts) : std::nullopt;
  if (more % step != 0 || more / step > parts)
    return std::nullopt;
  return more / step;
}

int64_t cutback::elementsBefore(int64_t part, int64_t count, int64_t larger,
                                int64_t smaller) {
  int64_t ofLarger = std::min(part, count);
  return ofLarger * larger + (part - ofLarger) * smaller;
}

bool cutback::areParts(int64_t dim, const std::vector<int64_t> &larger,
                       const std::vector<int64_t> &smaller) {
  if (larger.size() != smaller.size())
    return false;
  for (size_t i = 0; i < larger.size(); ++i)
    if (static_cast<int64_t>(i) == dim ? smaller[i] > larger[i]
                                       : smaller[i] != larger[i])
      return false;
  return true;
}
