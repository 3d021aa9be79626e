// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as functions of this machine: a head at a time, a panel of kQueries
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
// Gradients of queries, keys and values are of one walk, which computes scores
// once: by blocks of keys, with the sums of all queries in a scratch.
//
// A block of rows, and what is held of it, lies on the stack: 600 KiB at most.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H

#include "ProductPacking.h"
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
  /// The sum over a row's elements, of which `of` adds number e.
  template <typename Of> static float sumOf(int width, Of of) {
    float sum = 0;
    for (int e = 0; e < width; ++e)
      sum = of(e, sum);
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
  template <typename Of> static float sumOf(int width, Of of) {
    float threads[4] = {};
    for (int e = 0; e < width; ++e)
      threads[e % 4] = of(e, threads[e % 4]);
    return ofFour(threads);
  }
  static float asFactor(float x) { return toFloat(to<T>(x)); }
};

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

/// Rows of a panel, on all machines: what a mask hides from all of them does
/// not reach them.
constexpr int kQueries = 6;

/// A block of rows of a head, of up to kWidth elements, and 32 others.
template <int kWidth> struct AttentionBlock {
  static constexpr int lines = kWidth <= 128 ? 192 : 96;
  static constexpr int step = 2 * Lanes<float>::count; ///< columns of a panel
  static_assert(kWidth % kOthers == 0 && kOthers % step == 0, "whole panels");
  static_assert(lines % kQueries == 0, "whole panels");
  /// Both operands that are looked up by row, and both sums.
  alignas(64) float rows[2][lines * kWidth];
  alignas(64) float held[2][lines * kWidth];
  /// Both of the others: one behind the other, and by elements.
  alignas(64) float others[2][kOthers * kWidth];
  alignas(64) float across[2][kOthers * kWidth];
  /// Of a panel and the others.
  alignas(64) float bias[kQueries * kOthers];
  alignas(64) float weights[kQueries * kOthers];
  /// Of rows and others, the gradients of scores. Panels of others end behind
  /// the last row, too.
  alignas(64) float slopes[(lines + 1) * kOthers];

  AttentionBlock() {
    for (int e = 0; e < kWidth; ++e)
      elements[e] = e;
    for (int j = 0; j < kOthers; ++j)
      places[j] = j * kWidth;
    countNeighbors(elements, kWidth, runs);
    // What is made of these is not read.
    std::fill(slopes + lines * kOthers, slopes + (lines + 1) * kOthers, 0.0f);
  }

  /// Rows [first, first + count), zeros behind them and their elements.
  template <typename Reader>
  static void fill(float *to, int all, int first, int count, int width,
                   const Reader &reader) {
    for (int line = 0; line < all; ++line, to += kWidth) {
      const int inside = line < count ? width : 0;
      if (inside)
        reader.readRow(to, first + line, width);
      std::fill(to + inside, to + kWidth, 0.0f);
    }
  }
  template <typename Reader>
  void fillRows(int which, int first, int count, int width,
                const Reader &reader) {
    fill(rows[which], upTo(count, kQueries), first, count, width, reader);
  }
  template <typename Reader>
  void fillOthers(int which, int first, int count, int width,
                  const Reader &reader) {
    fill(others[which], kOthers, first, count, width, reader);
  }
  void fillAcross(int which, int width) {
    packFactor<kOthers>(across[which], others[which], places, elements, runs,
                        width);
  }

  /// Whether a row of the panel looks at one of the others.
  template <typename Bias>
  bool fillBias(int firstRow, int countRows, int first, int count, Bias at) {
    const int rows = std::min(countRows, kQueries);
    const Sight sight = at.sight(firstRow, rows, first, count);
    if (sight == Sight::None)
      return false;
    if (rows < kQueries || count < kOthers)
      std::fill(bias, bias + kQueries * kOthers, lowest());
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

  float *slopesOf(int panel) { return slopes + panel * kOthers; }
  /// Sums over `width` elements of a panel and the others.
  void multiply(float *sums, int which, int panel, int width) {
    for (int j = 0; j < kOthers; j += step)
      addPanel<float, kQueries, kWidth, 1, kOthers, kOthers>(
          rows[which] + panel * kWidth, across[which] + j, sums + j, width,
          true);
  }
  /// held[sums] += `factors` of a panel by others[which], of which there are
  /// `count` from `first` on.
  void addOthers(int sums, const float *factors, int which, int panel,
                 int width, int first, int count) {
    for (int e = 0; e < width; e += step)
      addPanel<float, kQueries, kOthers, 1, kWidth, kWidth>(
          factors + first, others[which] + first * kWidth + e,
          held[sums] + panel * kWidth + e, count, false);
  }
  /// sums += the slopes of rows [first, last), turned, by rows[which]: a row of
  /// `sums` for each of the others, and those that fill its last panel.
  void addRows(float *sums, int which, int width, int first, int last) {
    for (int e = 0; e < width; e += step)
      for (int other = 0; other < kOthers; other += kQueries)
        addPanel<float, kQueries, 1, kOthers, kWidth, kWidth>(
            slopesOf(first) + other, rows[which] + first * kWidth + e,
            sums + other * kWidth + e, last - first, false);
  }

private:
  int elements[kWidth], places[kOthers];
  unsigned char runs[kWidth];
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
      const float weight = expOf(x[j] - next);
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

/// Rows of sums, of which `row` has the first; `of(i, sum)` is stored of row i.
template <int kWidth, typename Writer, typename Of>
inline void putRows(const float *held, int row, int rows, int width,
                    const Writer &writer, const Of &of) {
  if (!writer)
    return;
  for (int i = 0; i < rows; ++i) {
    float stored[kWidth];
    for (int e = 0; e < kWidth; ++e)
      stored[e] = of(i, held[i * kWidth + e]);
    writer.writeRow(row + i, stored, width);
  }
}

/// The numbers of a head of attention.
struct HeadSizes {
  int queries, keys, width, outWidth;
  float scale;
};

/// `of`: what a head reads and writes, as HeadOperands.
template <typename Order, int kWidth, typename Operands>
inline void attendHead(const HeadSizes &sizes, const Operands &of) {
  using Block = AttentionBlock<kWidth>;
  Block block;
  RunningSum sums[Block::lines];
  const int outWidth = sizes.outWidth;
  for (int query = 0; query < sizes.queries; query += Block::lines) {
    const int rows = std::min(sizes.queries - query, Block::lines);
    block.fillRows(0, query, rows, sizes.width, of.query);
    std::fill(sums, sums + Block::lines, RunningSum{lowest(), 0.0f});
    std::fill(block.held[0], block.held[0] + upTo(rows, kQueries) * kWidth,
              0.0f);
    for (int key = 0; key < sizes.keys; key += kOthers) {
      const int others = std::min(sizes.keys - key, kOthers);
      bool isThere = false;
      for (int panel = 0; panel < rows; panel += kQueries) {
        if (!block.fillBias(query + panel, rows - panel, key, others, of.bias))
          continue;
        if (!isThere) {
          block.fillOthers(0, key, others, sizes.width, of.key);
          block.fillAcross(0, sizes.width);
          block.fillOthers(1, key, others, outWidth, of.value);
        }
        isThere = true;
        block.multiply(block.weights, 0, panel, sizes.width);
        for (int group = 0; group < others; group += Order::group) {
          for (int i = 0; i < kQueries; ++i) {
            const int at = i * kOthers + group;
            const float shrink = sums[panel + i].template add<Order>(
                block.weights + at, block.bias + at, sizes.scale);
            float *held = block.held[0] + (panel + i) * kWidth;
            for (int e = 0; shrink != 1.0f && e < kWidth; ++e)
              held[e] *= shrink;
          }
          block.addOthers(0, block.weights, 1, panel, outWidth, group,
                          std::min(others - group, Order::group));
        }
      }
    }
    putRows<kWidth>(block.held[0], query, rows, outWidth, of.result,
                    [&](int i, float x) {
                      const float sum = sums[i].sum;
                      return sum == 0.0f ? 0.0f : x / sum;
                    });
    for (int i = 0; i < rows; ++i) {
      const float sum = sums[i].sum;
      of.logSums(query + i,
                 sum == 0.0f ? lowest() : sums[i].largest + logOf(sum));
    }
  }
}

/// What gradients know of queries, and sum up for them: rows of kWidth for each
/// 32 of them, and what fills panels behind these.
template <int kWidth> class QuerySums {
public:
  explicit QuerySums(int queries)
      : count(upTo(queries, kOthers)),
        scratch(takeScratch(size_t(count / kOthers) * stride * sizeof(float))) {
  }

  explicit operator bool() const { return bool(scratch); }
  /// Of 32 queries from `first` on: sums, logarithms of the sums of weights,
  /// and the sums of results times their gradients.
  float *sums(int first) const {
    return numbersOf<float>(scratch) + first / kOthers * stride;
  }
  float *logs(int first) const { return sums(first) + held; }
  float *dots(int first) const { return logs(first) + kOthers; }

  template <typename Order, typename Operands>
  void fill(const HeadSizes &sizes, const Operands &of,
            AttentionBlock<kWidth> &block) {
    const int width = sizes.outWidth;
    for (int query = 0; query < sizes.queries; query += kOthers) {
      const int some = std::min(sizes.queries - query, kOthers);
      block.fillOthers(0, query, some, width, of.gradient);
      block.fillOthers(1, query, some, width, of.out);
      std::fill(sums(query), sums(query) + held, 0.0f);
      std::fill(logs(query), logs(query) + kOthers, lowest());
      for (int j = 0; j < some; ++j) {
        const float *a = block.others[0] + j * kWidth,
                    *b = block.others[1] + j * kWidth;
        logs(query)[j] = of.logSums(query + j);
        dots(query)[j] = Order::sumOf(
            width, [&](int e, float sum) { return std::fma(a[e], b[e], sum); });
      }
      std::fill(dots(query) + some, dots(query) + kOthers, 0.0f);
    }
  }

private:
  static constexpr int held = (kOthers + kQueries - 1) / kQueries * kQueries *
                              kWidth,
                       stride = held + 2 * kOthers;
  int count;
  OwnScratch scratch;
};

/// From sums over elements: weights, and the gradients of scores. Keys are the
/// panel's rows, queries the others.
template <typename Order, int kWidth>
inline void weighGradients(AttentionBlock<kWidth> &block, int panel,
                           float scale, const float *logs, const float *dots) {
  for (int i = 0; i < kQueries; ++i) {
    float *weights = block.weights + i * kOthers;
    float *slopes = block.slopesOf(panel) + i * kOthers;
    for (int j = 0; j < kOthers; ++j) {
      const float log = logs[j];
      const float score = weights[j] * scale + block.bias[i * kOthers + j];
      const float weight = expOf(score - log);
      const float gradient = weight * (slopes[j] - dots[j]);
      const bool isSeen = (log != lowest()) & (score != lowest());
      weights[j] = isSeen ? weight : 0.0f;
      slopes[j] = isSeen ? gradient : 0.0f;
    }
    for (int j = 0; j < kOthers; ++j) {
      weights[j] = Order::asFactor(weights[j]);
      slopes[j] = Order::asFactor(slopes[j]);
    }
  }
}

/// Calls `add(block, key, panel, query, queries)` for each panel of keys that
/// 32 queries look at, behind weighGradients(), and `end(block, query, first,
/// last)` for those of the block from `first` to `last` that do so without a
/// gap; `store(block, key, keys)` behind each block of keys.
template <typename Order, int kWidth, typename Operands, typename Add,
          typename End, typename Store>
inline void walkGradients(const HeadSizes &sizes, const Operands &of,
                          const QuerySums<kWidth> &known,
                          AttentionBlock<kWidth> &block, Add add, End end,
                          Store store) {
  using Block = AttentionBlock<kWidth>;
  const ByKey<decltype(of.bias)> bias{of.bias};
  for (int key = 0; key < sizes.keys; key += Block::lines) {
    const int keys = std::min(sizes.keys - key, Block::lines);
    block.fillRows(0, key, keys, sizes.width, of.key);
    block.fillRows(1, key, keys, sizes.outWidth, of.value);
    for (float *held : {block.held[0], block.held[1]})
      std::fill(held, held + upTo(keys, kQueries) * kWidth, 0.0f);
    for (int query = 0; query < sizes.queries; query += kOthers) {
      const int queries = std::min(sizes.queries - query, kOthers);
      bool isThere = false;
      int first = 0;
      for (int panel = 0; panel < keys; panel += kQueries) {
        if (!block.fillBias(key + panel, keys - panel, query, queries, bias)) {
          end(block, query, first, panel);
          first = panel + kQueries;
          continue;
        }
        if (!isThere) {
          block.fillOthers(0, query, queries, sizes.width, of.query);
          block.fillAcross(0, sizes.width);
          block.fillOthers(1, query, queries, sizes.outWidth, of.gradient);
          block.fillAcross(1, sizes.outWidth);
        }
        isThere = true;
        block.multiply(block.weights, 0, panel, sizes.width);
        block.multiply(block.slopesOf(panel), 1, panel, sizes.outWidth);
        weighGradients<Order>(block, panel, sizes.scale, known.logs(query),
                              known.dots(query));
        add(block, key, panel, query, queries);
      }
      end(block, query, first, keys);
    }
    store(block, key, keys);
  }
}

/// Those gradients of query, key and value that somebody reads. False: there is
/// no memory for them.
template <typename Order, int kWidth, typename Operands>
inline bool gradientsOfHead(const HeadSizes &sizes, const Operands &of) {
  using Block = AttentionBlock<kWidth>;
  Block block;
  QuerySums<kWidth> known(sizes.queries);
  if (!known)
    return false;
  known.template fill<Order>(sizes, of, block);
  const auto scaled = [&](int, float x) { return x * sizes.scale; };
  walkGradients<Order>(
      sizes, of, known, block,
      [&](Block &block, int, int panel, int, int queries) {
        if (of.keyGradient)
          block.addOthers(0, block.slopesOf(panel), 0, panel, sizes.width, 0,
                          queries);
        if (of.valueGradient)
          block.addOthers(1, block.weights, 1, panel, sizes.outWidth, 0,
                          queries);
      },
      [&](Block &block, int query, int first, int last) {
        if (of.result && first < last)
          block.addRows(known.sums(query), 0, sizes.width, first, last);
      },
      [&](Block &block, int key, int keys) {
        putRows<kWidth>(block.held[0], key, keys, sizes.width, of.keyGradient,
                        scaled);
        putRows<kWidth>(block.held[1], key, keys, sizes.outWidth,
                        of.valueGradient, [](int, float x) { return x; });
      });
  for (int query = 0; query < sizes.queries; query += kOthers)
    putRows<kWidth>(known.sums(query), query,
                    std::min(sizes.queries - query, kOthers), sizes.width,
                    of.result, scaled);
  return true;
}

/// The gradient of what is added to scores.
template <typename Order, int kWidth, typename Operands>
inline bool biasGradientOfHead(const HeadSizes &sizes, const Operands &of) {
  using Block = AttentionBlock<kWidth>;
  Block block;
  QuerySums<kWidth> known(sizes.queries);
  if (!known)
    return false;
  known.template fill<Order>(sizes, of, block);
  for (int i = 0; i < sizes.queries; ++i) // of keys that are passed over, too
    for (int j = 0; j < sizes.keys; ++j)
      of.result(i, j, 0.0f);
  walkGradients<Order>(
      sizes, of, known, block,
      [&](Block &block, int key, int panel, int query, int queries) {
        for (int i = 0; i < kQueries && i < sizes.keys - key - panel; ++i)
          for (int j = 0; j < queries; ++j)
            of.result(query + j, key + panel + i,
                      block.slopesOf(panel)[i * kOthers + j]);
      },
      [](Block &, int, int, int) {}, [](Block &, int, int) {});
  return true;
}

} // namespace cutback_host

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_ATTENTIONBLOCKS_H
