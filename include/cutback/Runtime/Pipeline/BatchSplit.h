// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch in micro-batches whose number need not divide it. Numbers alone.
#ifndef CUTBACK_RUNTIME_PIPELINE_BATCHSPLIT_H
#define CUTBACK_RUNTIME_PIPELINE_BATCHSPLIT_H

#include <cstdint>
#include <optional>
#include <vector>

namespace cutback {

/// Rows of micro-batches: the first `larger` have `rows`, the others one less.
struct BatchSplit {
  int64_t rows = 0, larger = 0;
};

/// torch.tensor_split: the first `batch % parts` parts have a row more, all are
/// alike where there is no rest (then `larger` is `parts`). Nothing where there
/// are fewer rows than parts, or no parts.
std::optional<BatchSplit> splitBatch(int64_t batch, int64_t parts);

/// How many of `parts`, the first ones, have `larger` elements along a
/// dimension and the others `smaller`, so that all have `total`; as many as can
/// be where both are alike. Nothing where that is impossible.
std::optional<int64_t> countLarger(int64_t total, int64_t parts, int64_t larger,
                                   int64_t smaller);

/// Elements along a dimension before part `part`, of which the first `count`
/// have `larger` and the others `smaller`.
int64_t elementsBefore(int64_t part, int64_t count, int64_t larger,
                       int64_t smaller);

/// Whether sizes are those of one tensor for a larger and a smaller part of a
/// batch: alike, but that `smaller` may have less along `dim`; -1: alike.
bool areParts(int64_t dim, const std::vector<int64_t> &larger,
              const std::vector<int64_t> &smaller);

} // namespace cutback

#endif // CUTBACK_RUNTIME_PIPELINE_BATCHSPLIT_H
