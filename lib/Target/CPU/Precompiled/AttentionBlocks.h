// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as functions of this machine: a head at a time, a panel of kRows
// rows (queries; keys for their own gradients) by 32 others. Sums have the
// order of the kernels for a device, so that bits are theirs: products in the
// order of elements, of others, one fused step after the other; weights of a
// row in groups under a running maximum, as WarpOrder and TileOrder say. What
// does not depend on others is done in loops over 32 of them that compilers
// make vectors of.
//
// Others that no row of a panel looks at are passed over: a device adds zeros
// there. Where they are infinite or NaN it gets a NaN, and here is none.
//
// A block of rows, and what is held of it, lies on the stack: 540 KiB at most.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H

#include "ProductBlocks.h"
#include "cutback_reduce.cuh"

namespace cutback_host {

/// Others that a panel meets at once: as many as a device's warp has lanes.
constexpr int kOthers = 32;

/// How cutback_attention.cuh adds up: a lane has one key of 32.
struct WarpOrder {
  static constexpr int group = 32;

  static float sum(const float *x) {
    float half[16];
    for (int i = 0; i < 16; ++i)
      half[i] = x[i] + x[i + 16];
    for (int apart = 8; apart > 0; apart /= 2)
      for (int i = 0; i < apart; ++i)
        half[i] += half[i + apart];
    return half[0];
  }
  template <typename A, typename B> static float dot(int width, A a, B b) {
    float sum = 0;
    for (int e = 0; e < width; ++e)
      sum = std::fma(a(e), b(e), sum);
    return sum;
  }
  static float asFactor(float x) { return x; }
};

/// How cutback_tile_attention.cuh does: four threads have a row, and of each
/// eight keys two. Factors are rounded to T.
template <typename T, int kGroup> struct TileOrder {
  static constexpr int group = kGroup;

  static float ofFour(const float *x) { return (x[0] + x[2]) + (x[1] + x[3]); }
  static float sum(const float *x) {
    float threads[4] = {};
    for (int j = 0; j < kGroup; j += 8)
      for (int e = 0; e < 2; ++e)
        for (int thread = 0; thread < 4; ++thread)
          threads[thread] += x[j + thread * 2 + e];
    return ofFour(threads);
  }
  template <typename A, typename B> static float dot(int width, A a, B b) {
    float threads[4] = {};
    for (int e = 0; e < width; ++e)
      threads[e % 4] = std::fma(a(e), b(e), threads[e % 4]);
    return ofFour(threads);
  }
  static float asFactor(float x) { return toFloat(to<T>(x)); }
};

/// expOf() without calls and branches.
inline float expInLine(float x) {
  float bounded = x > kLeastExponent ? x : kLeastExponent;
  bounded = bounded < kGreatestExponent ? bounded : kGreatestExponent;
  const float result = expWithin(bounded);
  return x != x ? x : result;
}

/// The greatest of `count` (a power of two).
template <int count> inline float greatestOf(const float *x) {
  float half[count / 2];
  for (int i = 0; i < count / 2; ++i)
    half[i] = x[i] > x[i + count / 2] ? x[i] : x[i + count / 2];
  for (int apart = count / 4; apart > 0; apart /= 2)
    for (int i = 0; i < apart; ++i)
      half[i] = half[i] > half[i + apart] ? half[i] : half[i + apart];
  return half[0];
}

/// Which of some rows and others look at one another: those that do have a bias
/// of 0. Some: to be asked one by one.
enum class Sight { None, Some, All };

/// A bias for which keys are the rows.
template <typename Bias> struct ByKey {
  Bias bias;
  float operator()(int key, int query) const { return bias(query, key); }
  Sight sight(int key, int keys, int query, int queries) const {
    return bias.sight(query, queries, key, keys);
  }
};

/// A block of rows of a head, of up to kWidth elements, and 32 others.
/// A block of rows of a head, of up to kWidth elements, and 32 others.
template <int kWidth> struct AttentionBlock {
  static constexpr int lines = kWidth <= 128 ? 192 : 96;
  static constexpr int step = 2 * Lanes<float>::count; ///< columns of a panel
  static_assert(kWidth % kOthers == 0 && kOthers % step == 0, "whole panels");
  /// Both operands that are looked up by row, and both sums.
  alignas(64) float rows[2][lines * kWidth];
  alignas(64) float held[2][lines * kWidth];
  /// Both of the others: one behind the other, and by elements.
  alignas(64) float others[2][kOthers * kWidth];
  alignas(64) float across[2][kOthers * kWidth];
  /// Of a panel and the others.
  alignas(64) float bias[kRows * kOthers];
  alignas(64) float scores[2][kRows * kOthers];
  /// Of queries, rows or others: what gradients know of them.
  alignas(64) float logs[lines], dots[lines];

  /// Rows [first, first + count), zeros behind them and their elements.
  template <typename Read>
  static void fill(float *to, int all, int first, int count, int width,
                   Read read) {
    for (int line = 0; line < all; ++line, to += kWidth) {
      const int inside = line < count ? width : 0;
      for (int e = 0; e < inside; ++e)
        to[e] = read(first + line, e);
      std::fill(to + inside, to + kWidth, 0.0f);
    }
  }
  template <typename Read>
  void fillRows(int which, int first, int count, int width, Read read) {
    fill(rows[which], upTo(count, kRows), first, count, width, read);
  }
  template <typename Read>
  void fillOthers(int which, int first, int count, int width, Read read) {
    fill(others[which], kOthers, first, count, width, read);
    for (int e = 0; e < width; ++e)
      for (int j = 0; j < kOthers; ++j)
        across[which][e * kOthers + j] = others[which][j * kWidth + e];
  }

  /// Whether a row of the panel looks at one of the others.
  template <typename Bias>
  bool fillBias(int firstRow, int countRows, int first, int count, Bias at) {
    const int rows = std::min(countRows, kRows);
    const Sight sight = at.sight(firstRow, rows, first, count);
    if (sight == Sight::None)
      return false;
    if (rows < kRows || count < kOthers)
      std::fill(bias, bias + kRows * kOthers, lowest());
    int isSeen = sight == Sight::All;
    for (int i = 0; i < rows; ++i) {
      float *line = bias + i * kOthers;
      if (sight == Sight::All)
        std::fill(line, line + count, 0.0f);
      else
        for (int j = 0; j < count; ++j) {
          line[j] = at(firstRow + i, first + j);
          isSeen |=
              line[j] != lowest() ? 1 : 0; // as wide: compilers make vectors
        }
    }
    return isSeen != 0;
  }

  /// scores[which]: sums over `width` elements of rows and others.
  void multiply(int which, int panel, int width) {
    for (int j = 0; j < kOthers; j += step)
      addPanel<float, kWidth, 1, kOthers, kOthers>(
          rows[which] + panel * kWidth, across[which] + j, scores[which] + j,
          width, true);
  }
  /// held[sums] += scores[factors] by others[which], of which there are `count`
  /// from `first` on.
  void addOthers(int sums, int factors, int which, int panel, int width,
                 int first, int count) {
    for (int e = 0; e < width; e += step)
      addPanel<float, kOthers, 1, kWidth, kWidth>(
          scores[factors] + first, others[which] + first * kWidth + e,
          held[sums] + panel * kWidth + e, count, false);
  }
};

/// A row's sum of weights, and the greatest score that they are relative to.
struct RunningSum {
  float largest, sum;

  /// Makes scores weights, and returns what was held shrinks by.
  template <typename Order>
  float add(float *x, const float *bias, float scale) {
    for (int j = 0; j < Order::group; ++j)
      x[j] = x[j] * scale + bias[j];
    const float greatest = greatestOf<Order::group>(x);
    const float next = greatest > largest ? greatest : largest;
    for (int j = 0; j < Order::group; ++j) {
      const float weight = expInLine(x[j] - next);
      x[j] = x[j] == lowest() ? 0.0f : weight;
    }
    const float shrink = largest == next ? 1.0f : expOf(largest - next);
    sum = sum * shrink + Order::sum(x);
    largest = next;
    for (int j = 0; j < Order::group; ++j)
      x[j] = Order::asFactor(x[j]);
    return shrink;
  }
};

template <typename Order, int kWidth, typename Q, typename K, typename V,
          typename Bias, typename Out, typename LogSum>
inline void attendHead(int queries, int keys, int width, int outWidth,
                       float scale, Q q, K k, V v, Bias bias, Out out,
                       LogSum logSum) {
  using Block = AttentionBlock<kWidth>;
  Block block;
  RunningSum sums[Block::lines];
  for (int query = 0; query < queries; query += Block::lines) {
    const int rows = std::min(queries - query, Block::lines);
    block.fillRows(0, query, rows, width, q);
    std::fill(sums, sums + Block::lines, RunningSum{lowest(), 0.0f});
    std::fill(block.held[0], block.held[0] + upTo(rows, kRows) * kWidth, 0.0f);
    for (int key = 0; key < keys; key += kOthers) {
      const int others = std::min(keys - key, kOthers);
      bool isThere = false;
      for (int panel = 0; panel < rows; panel += kRows) {
        if (!block.fillBias(query + panel, rows - panel, key, others, bias))
          continue;
        if (!isThere) {
          block.fillOthers(0, key, others, width, k);
          block.fillOthers(1, key, others, outWidth, v);
        }
        isThere = true;
        block.multiply(0, panel, width);
        for (int group = 0; group < others; group += Order::group) {
          for (int i = 0; i < kRows; ++i) {
            const int at = i * kOthers + group;
            const float shrink = sums[panel + i].template add<Order>(
                block.scores[0] + at, block.bias + at, scale);
            float *held = block.held[0] + (panel + i) * kWidth;
            for (int e = 0; shrink != 1.0f && e < kWidth; ++e)
              held[e] *= shrink;
          }
          block.addOthers(0, 0, 1, panel, outWidth, group,
                          std::min(others - group, Order::group));
        }
      }
    }
    for (int i = 0; i < rows; ++i) {
      const float sum = sums[i].sum;
      for (int e = 0; e < outWidth; ++e)
        out(query + i, e,
            sum == 0.0f ? 0.0f : block.held[0][i * kWidth + e] / sum);
      logSum(query + i, sum == 0.0f ? lowest() : sums[i].largest + logOf(sum));
    }
  }
}

/// From sums over elements: weights in scores[0], the gradients of scores in
/// scores[1]. Queries are the panel's rows, or the others.
template <typename Order, bool isByQuery, int kWidth>
inline void weighGradients(AttentionBlock<kWidth> &block, int panel,
                           float scale) {
  // One query's numbers as often as the loop reads them: compilers make
  // vectors.
  float logs[kOthers], dots[kOthers];
  std::copy(block.logs, block.logs + kOthers, logs);
  std::copy(block.dots, block.dots + kOthers, dots);
  for (int i = 0; i < kRows; ++i) {
    float *weights = block.scores[0] + i * kOthers;
    float *scores = block.scores[1] + i * kOthers;
    if (isByQuery) {
      std::fill(logs, logs + kOthers, block.logs[panel + i]);
      std::fill(dots, dots + kOthers, block.dots[panel + i]);
    }
    for (int j = 0; j < kOthers; ++j) {
      const float log = logs[j];
      const float score = weights[j] * scale + block.bias[i * kOthers + j];
      const float weight = expInLine(score - log);
      const float gradient = weight * (scores[j] - dots[j]);
      const bool isSeen = (log != lowest()) & (score != lowest());
      weights[j] = isSeen ? weight : 0.0f;
      scores[j] = isSeen ? gradient : 0.0f;
    }
    for (int j = 0; j < kOthers; ++j) {
      weights[j] = Order::asFactor(weights[j]);
      scores[j] = Order::asFactor(scores[j]);
    }
  }
}

/// Calls `add(block, row, rows, panel, other, others)` for each panel of rows
/// and 32 others that it looks at, behind weighGradients(); `end(block, row,
/// rows)` behind each block of rows. Both have two operands; `query` fills in
/// what is known of one.
template <typename Order, bool isByQuery, int kWidth, typename A, typename B,
          typename C, typename D, typename Bias, typename Query, typename Add,
          typename End>
inline void gradientsOfHead(int allRows, int allOthers, int width, int outWidth,
                            float scale, A rowsA, B rowsB, C othersA, D othersB,
                            Bias bias, Query query, Add add, End end) {
  using Block = AttentionBlock<kWidth>;
  Block block;
  auto fillQueries = [&](int first, int count) {
    for (int i = 0; i < count; ++i)
      query(first + i, block.logs[i], block.dots[i]);
    const int all = upTo(count, isByQuery ? kRows : kOthers);
    std::fill(block.logs + count, block.logs + all, lowest());
    std::fill(block.dots + count, block.dots + all, 0.0f);
  };
  for (int row = 0; row < allRows; row += Block::lines) {
    const int rows = std::min(allRows - row, Block::lines);
    block.fillRows(0, row, rows, width, rowsA);
    block.fillRows(1, row, rows, outWidth, rowsB);
    if (isByQuery)
      fillQueries(row, rows);
    for (float *held : {block.held[0], block.held[1]})
      std::fill(held, held + upTo(rows, kRows) * kWidth, 0.0f);
    for (int other = 0; other < allOthers; other += kOthers) {
      const int others = std::min(allOthers - other, kOthers);
      bool isThere = false;
      for (int panel = 0; panel < rows; panel += kRows) {
        if (!block.fillBias(row + panel, rows - panel, other, others, bias))
          continue;
        if (!isThere) {
          block.fillOthers(0, other, others, width, othersA);
          block.fillOthers(1, other, others, outWidth, othersB);
          if (!isByQuery)
            fillQueries(other, others);
        }
        isThere = true;
        block.multiply(0, panel, width);
        block.multiply(1, panel, outWidth);
        weighGradients<Order, isByQuery>(block, panel, scale);
        add(block, row, rows, panel, other, others);
      }
    }
    end(block, row, rows);
  }
}

/// What is held of rows, times `scale`.
template <int kWidth, typename Put>
inline void putRows(const float *held, int row, int rows, int width,
                    float scale, Put put) {
  for (int i = 0; i < rows; ++i)
    for (int e = 0; e < width; ++e)
      put(row + i, e, held[i * kWidth + e] * scale);
}

/// Fills in what gradients know of a query: the logarithm of its sum of
/// weights, and the sum of its result times the gradient.
template <typename Order, typename DOut, typename Out, typename LogSum>
inline auto knownOf(int outWidth, DOut dOut, Out out, LogSum logSum) {
  return [=](int i, float &log, float &dot) {
    log = logSum(i);
    dot = Order::dot(
        outWidth, [&](int e) { return dOut(i, e); },
        [&](int e) { return out(i, e); });
  };
}

template <typename Order, int kWidth, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename Out, typename LogSum,
          typename DQ>
inline void queryGradient(int queries, int keys, int width, int outWidth,
                          float scale, Q q, K k, V v, Bias bias, DOut dOut,
                          Out out, LogSum logSum, DQ dQ) {
  using Block = AttentionBlock<kWidth>;
  gradientsOfHead<Order, true, kWidth>(
      queries, keys, width, outWidth, scale, q, dOut, k, v, bias,
      knownOf<Order>(outWidth, dOut, out, logSum),
      [&](Block &block, int, int, int panel, int, int others) {
        block.addOthers(0, 1, 0, panel, width, 0, others);
      },
      [&](Block &block, int row, int rows) {
        putRows<kWidth>(block.held[0], row, rows, width, scale, dQ);
      });
}

template <typename Order, int kWidth, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename Out, typename LogSum,
          typename DK, typename DV>
inline void keyGradient(int keys, int queries, int width, int outWidth,
                        float scale, Q q, K k, V v, Bias bias, DOut dOut,
                        Out out, LogSum logSum, DK dK, DV dV) {
  using Block = AttentionBlock<kWidth>;
  gradientsOfHead<Order, false, kWidth>(
      keys, queries, width, outWidth, scale, k, v, q, dOut, ByKey<Bias>{bias},
      knownOf<Order>(outWidth, dOut, out, logSum),
      [&](Block &block, int, int, int panel, int, int others) {
        block.addOthers(0, 1, 0, panel, width, 0, others);
        block.addOthers(1, 0, 1, panel, outWidth, 0, others);
      },
      [&](Block &block, int row, int rows) {
        putRows<kWidth>(block.held[0], row, rows, width, scale, dK);
        putRows<kWidth>(block.held[1], row, rows, outWidth, 1.0f, dV);
      });
}

/// Elements of a head in whole panels.
constexpr int wholePanels(int width) {
  return (width + kOthers - 1) / kOthers * kOthers;
}
/// Of an operand of tiles (cutback_tile.cuh) what a reader gives.
template <typename Operand> inline auto readerOf(const Operand &operand) {
  return [=](int i, int e) { return toFloat(operand.get(i, e)); };
}

} // namespace cutback_host

//===--- What kernels call
//--------------------------------------------------===//

/// The head that runs, with all of its rows.
struct AttentionRow {
  int head, row;
  bool isFirst;
};
inline AttentionRow attentionRow(int) { return {int(blockIdx.z), 0, true}; }
inline AttentionRow attentionTile(int) { return attentionRow(0); }

template <int kHeld, typename... Operands>
inline void attend(int, Operands... operands) {
  using namespace cutback_host;
  attendHead<WarpOrder, 32 * kHeld>(operands...);
}
template <int kHeld, typename... Operands>
inline void attendQueryGradient(int, Operands... operands) {
  using namespace cutback_host;
  queryGradient<WarpOrder, 32 * kHeld>(operands...);
}
template <int kHeld, typename... Operands>
inline void attendKeyGradient(int, Operands... operands) {
  using namespace cutback_host;
  keyGradient<WarpOrder, 32 * kHeld>(operands...);
}
template <int kHeld, typename Q, typename K, typename V, typename Bias,
          typename DOut, typename Out, typename LogSum, typename DBias>
inline void attendBiasGradient(int, int queries, int keys, int width,
                               int outWidth, float scale, Q q, K k, V v,
                               Bias bias, DOut dOut, Out out, LogSum logSum,
                               DBias dBias) {
  using namespace cutback_host;
  using Block = AttentionBlock<32 * kHeld>;
  for (int i = 0; i < queries; ++i) // of keys that are passed over, too
    for (int j = 0; j < keys; ++j)
      dBias(i, j, 0.0f);
  gradientsOfHead<WarpOrder, true, 32 * kHeld>(
      queries, keys, width, outWidth, scale, q, dOut, k, v, bias,
      knownOf<WarpOrder>(outWidth, dOut, out, logSum),
      [&](Block &block, int row, int rows, int panel, int key, int others) {
        for (int i = 0; i < kRows && i < rows - panel; ++i)
          for (int j = 0; j < others; ++j)
            dBias(row + panel + i, key + j, block.scores[1][i * kOthers + j]);
      },
      [](Block &, int, int) {});
}

template <int kTileWidth, int kGroup, typename Q, typename K, typename V,
          typename... More>
inline void tileAttend(int, int queries, int keys, int, int width, int outWidth,
                       float scale, const Q &q, const K &k, const V &v,
                       More... more) {
  using namespace cutback_host;
  attendHead<TileOrder<typename Q::Element, kGroup>, wholePanels(kTileWidth)>(
      queries, keys, width, outWidth, scale, readerOf(q), readerOf(k),
      readerOf(v), more...);
}
template <int kTileWidth, int kGroup, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename... More>
inline void tileQueryGradient(int, int queries, int keys, int, int width,
                              int outWidth, float scale, const Q &q, const K &k,
                              const V &v, Bias bias, const DOut &dOut,
                              More... more) {
  using namespace cutback_host;
  queryGradient<TileOrder<typename Q::Element, kGroup>,
                wholePanels(kTileWidth)>(queries, keys, width, outWidth, scale,
                                         readerOf(q), readerOf(k), readerOf(v),
                                         bias, readerOf(dOut), more...);
}
template <int kTileWidth, int kGroup, typename Q, typename K, typename V,
          typename Bias, typename DOut, typename... More>
inline void tileKeyGradient(int, int keys, int queries, int, int width,
                            int outWidth, float scale, const Q &q, const K &k,
                            const V &v, Bias bias, const DOut &dOut,
                            More... more) {
  using namespace cutback_host;
  keyGradient<TileOrder<typename Q::Element, kGroup>, wholePanels(kTileWidth)>(
      keys, queries, width, outWidth, scale, readerOf(q), readerOf(k),
      readerOf(v), bias, readerOf(dOut), more...);
}

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H
