// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients that are sums of rows or of channels, of any sizes. The order of
// sums is that of the kernels for a device: rows of an embedding in the order
// of the indices, a channel in 32 sums by the number modulo 32 that are folded
// as a warp does.
//
// Which numbers have a row is a list for each row, made by one look at the
// indices; without memory for it all are looked at for each row. A part of the
// call has neighboring rows, or every other channel.

#include "Elements.h"

#include <cstdlib>

using cutback::precompiled::BiasGradient;
using cutback::precompiled::EmbeddingGradient;

//===--- Rows of an embedding -------------------------------------------===//

namespace {

/// Rows [first, last) of the table, and which numbers have them.
struct RowLists {
  int64_t first, last;
  int *heads = nullptr, *next = nullptr; ///< -1: none

  RowLists(int64_t first, int64_t last, int64_t count)
      : first(first), last(last), heads(static_cast<int *>(std::malloc(
                                      (last - first + count) * sizeof(int)))),
        next(heads ? heads + (last - first) : nullptr) {
    if (heads)
      std::fill(heads, next, -1);
  }
  ~RowLists() { std::free(heads); }
  RowLists(const RowLists &) = delete;
  RowLists &operator=(const RowLists &) = delete;

  bool has(int64_t row) const { return row >= first && row < last; }
};

template <typename T> struct EmbeddingRows {
  const EmbeddingGradient &call;
  void **operands;
  int *problem;

  int64_t rowOf(int number) const {
    const int64_t at = call.indices.at + Offset{call.indexRow}(number);
    const void *indices = operands[call.indices.operand];
    return checked(call.indices.type == precompiled::I32
                       ? static_cast<const int *>(indices)[at]
                       : static_cast<const int64_t *>(indices)[at],
                   call.rows, problem);
  }

  /// Adds columns [column, column + some) of row `number` of the gradient.
  template <typename E>
  void add(const E *gradient, int number, int64_t column, int some,
           T *sum) const {
    const E *from = gradient + Offset{call.gradientRow}(number) +
                    column * call.gradientColumn;
    if (call.gradientColumn == 1)
      for (int j = 0; j < some; ++j)
        sum[j] += T(toFloat(from[j]));
    else
      for (int j = 0; j < some; ++j)
        sum[j] += T(toFloat(from[j * call.gradientColumn]));
  }

  template <typename Out>
  void store(Out *out, int64_t row, int64_t column, int some, int64_t uses,
             const T *sum) const {
    out += row * call.outRow + column * call.outColumn;
    for (int j = 0; j < some; ++j) {
      const T x = !call.isScaled ? sum[j] : uses ? sum[j] / T(uses) : T(0);
      out[j * call.outColumn] = to<Out>(x);
    }
  }

  /// Calls `use(number)` for all that have `row`.
  template <typename Use>
  void eachOf(const RowLists &lists, int64_t row, Use use) const {
    if (row == call.padding)
      return;
    if (lists.heads)
      for (int i = lists.heads[row - lists.first]; i >= 0; i = lists.next[i])
        use(i);
    else
      for (int i = 0; i < int(call.count); ++i)
        if (rowOf(i) == row)
          use(i);
  }

  void run(int64_t first, int64_t last) const {
    const RowLists lists(first, last, call.count);
    for (int i = int(call.count); i-- > 0;) { // lists rise
      const int64_t row = rowOf(i);
      if (lists.heads && lists.has(row)) {
        lists.next[i] = lists.heads[row - first];
        lists.heads[row - first] = i;
      }
    }
    constexpr int columns = 1024;
    for (int64_t row = first; row < last; ++row)
      for (int64_t column = 0; column < call.width; column += columns) {
        const int some = int(std::min<int64_t>(call.width - column, columns));
        T sum[columns];
        std::fill(sum, sum + some, T(0));
        int64_t uses = 0;
        eachOf(lists, row, [&](int number) {
          ++uses;
          withElements<T>(call.gradient, operands, [&](const auto *gradient) {
            add(gradient, number, column, some, sum);
          });
        });
        withElements<T>(call.out, operands, [&](auto *out) {
          store(out, row, column, some, uses, sum);
        });
      }
  }
};

//===--- Channels -------------------------------------------------------===//

/// As lanes of a warp fold theirs.
template <typename T> T foldLanes(T *lanes) {
  for (int apart = 16; apart > 0; apart /= 2)
    for (int i = 0; i < apart; ++i)
      lanes[i] += lanes[i + apart];
  return lanes[0];
}

/// Channels first, first + every, ...: some at a time, whose numbers have the
/// same offsets.
template <typename T, typename E>
void sumChannels(const BiasGradient &call, const E *gradient, void **operands,
                 int64_t first, int64_t every) {
  constexpr int most = 16, block = 1024;
  while (first < call.channels) {
    T lanes[most][32] = {};
    const int64_t left = (call.channels - first + every - 1) / every;
    const int some = int(std::min<int64_t>(left, most));
    for (int number = 0; number < int(call.count); number += block) {
      int offsets[block];
      const int count = std::min(int(call.count) - number, block);
      const bool isSide = findOffsets(call.number, number, count, offsets);
      for (int c = 0; c < some; ++c) {
        const E *from = gradient + (first + c * every) * call.gradientChannel;
        for (int k = 0; k < count; k += 32) {
          const int whole = std::min(count - k, 32);
          for (int lane = 0; lane < whole; ++lane)
            lanes[c][lane] += T(toFloat(
                from[isSide ? offsets[0] + k + lane : offsets[k + lane]]));
        }
      }
    }
    withElements<T>(call.out, operands, [&](auto *out) {
      for (int c = 0; c < some; ++c)
        out[first + c * every] =
            to<std::remove_reference_t<decltype(*out)>>(foldLanes(lanes[c]));
    });
    first += some * every;
  }
}

} // namespace

extern "C" void cutback_embedding_gradient(void **operands, int64_t *cells,
                                           const EmbeddingGradient *call) {
  cutback_host::blockNow = {0, 0, 0};
  Mark mark;
  const int64_t first = call->rows * cells[2] / cells[3],
                last = call->rows * (cells[2] + 1) / cells[3];
  if (call->gradient.type == precompiled::F64)
    EmbeddingRows<double>{*call, operands, mark.words}.run(first, last);
  else
    EmbeddingRows<float>{*call, operands, mark.words}.run(first, last);
  mark.tell(cells);
}

extern "C" void cutback_bias_gradient(void **operands, int64_t *cells,
                                      const BiasGradient *call) {
  cutback_host::blockNow = {0, 0, 0};
  if (call->gradient.type == precompiled::F64)
    withElements<double>(call->gradient, operands, [&](const auto *gradient) {
      sumChannels<double>(*call, gradient, operands, cells[2], cells[3]);
    });
  else
    withElements<float>(call->gradient, operands, [&](const auto *gradient) {
      sumChannels<float>(*call, gradient, operands, cells[2], cells[3]);
    });
  cells[0] = 0;
}
