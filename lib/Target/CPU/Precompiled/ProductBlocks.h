// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products as loops over packed blocks, with the rounding of
// cutback_product.cuh: each sum in the order of k, one fused step after the
// other, whatever the blocks and the machine's vectors are. How factors are
// packed: ProductPacking.h.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTBLOCKS_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTBLOCKS_H

#include "Share.h"
#include "cutback_product.cuh"

#include <type_traits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace cutback_host {

/// As many elements as one instruction takes.
template <typename T> struct Lanes {
  static constexpr int count = 1;
  using Vector = T;
  static T load(const T *from) { return *from; }
  static void store(T *to, T x) { *to = x; }
  static void write(T *to, T x) { *to = x; } ///< anywhere
  static T all(T x) { return x; }
  static T fused(T a, T b, T c) { return std::fma(a, b, c); }
};
#if defined(__AVX512F__)
template <> struct Lanes<float> {
  static constexpr int count = 16;
  using Vector = __m512;
  static Vector load(const float *from) { return _mm512_load_ps(from); }
  static void store(float *to, Vector x) { _mm512_store_ps(to, x); }
  static void write(float *to, Vector x) { _mm512_storeu_ps(to, x); }
  static Vector all(float x) { return _mm512_set1_ps(x); }
  static Vector fused(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
};
template <> struct Lanes<double> {
  static constexpr int count = 8;
  using Vector = __m512d;
  static Vector load(const double *from) { return _mm512_load_pd(from); }
  static void store(double *to, Vector x) { _mm512_store_pd(to, x); }
  static void write(double *to, Vector x) { _mm512_storeu_pd(to, x); }
  static Vector all(double x) { return _mm512_set1_pd(x); }
  static Vector fused(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_pd(a, b, c);
  }
};
#elif defined(__AVX2__) && defined(__FMA__)
template <> struct Lanes<float> {
  static constexpr int count = 8;
  using Vector = __m256;
  static Vector load(const float *from) { return _mm256_load_ps(from); }
  static void store(float *to, Vector x) { _mm256_store_ps(to, x); }
  static void write(float *to, Vector x) { _mm256_storeu_ps(to, x); }
  static Vector all(float x) { return _mm256_set1_ps(x); }
  static Vector fused(Vector a, Vector b, Vector c) {
    return _mm256_fmadd_ps(a, b, c);
  }
};
template <> struct Lanes<double> {
  static constexpr int count = 4;
  using Vector = __m256d;
  static Vector load(const double *from) { return _mm256_load_pd(from); }
  static void store(double *to, Vector x) { _mm256_store_pd(to, x); }
  static void write(double *to, Vector x) { _mm256_storeu_pd(to, x); }
  static Vector all(double x) { return _mm256_set1_pd(x); }
  static Vector fused(Vector a, Vector b, Vector c) {
    return _mm256_fmadd_pd(a, b, c);
  }
};
#endif

#if defined(__AVX512BF16__)
/// Two steps at once, of factors of bf16 (PairPacking.h). The instruction adds
/// the product of the upper halves first, and rounds after each: bits are those
/// of two fused steps, but for numbers below 2^-126, which are zeros to it.
struct PairLanes : Lanes<float> {
  static Vector fused(Vector a, Vector b, Vector c) {
    return _mm512_dpbf16_ps(c, __m512bh(a), __m512bh(b));
  }
};
#endif

/// Results that registers hold at once: so many rows by two vectors. Of
/// products, as many as there are registers for.
#if defined(__AVX512F__)
constexpr int kRows = 8;
#else
constexpr int kRows = 6;
#endif

/// Asks for what lies `at` elements behind `from`, maybe outside of all memory.
template <typename E> inline void prefetch(const E *from, int64_t at) {
  const auto address = reinterpret_cast<uintptr_t>(from);
  __builtin_prefetch(
      reinterpret_cast<const void *>(address + uintptr_t(at) * sizeof(E)));
}

/// Adds `count` steps to kHeight rows of sums: a(i, step) lies at
/// a[i * kRow + step * kStep], b(step, column) at b[step * kLine + column], row
/// i of the sums at sums[i * kSums]. With `results` these are the last steps,
/// and row i goes to results + lines[i]. Compiled once for all products.
template <typename T, int kHeight, int kRow, int kStep, int kLine, int kSums,
          typename L = Lanes<T>>
__attribute__((noinline)) void
addPanel(const T *a, const T *b, T *sums, int count, bool isFirst,
         T *results = nullptr, const int *lines = nullptr) {
  typename L::Vector low[kHeight], high[kHeight];
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
    low[i] = isFirst ? L::all(0) : L::load(sums + i * kSums);
    high[i] = isFirst ? L::all(0) : L::load(sums + i * kSums + L::count);
    // Of the next rows, as a rule.
    prefetch(sums, (i + kHeight) * kSums);
  }
  for (int along = 0; along < count; ++along) {
    const typename L::Vector x = L::load(b), y = L::load(b + L::count);
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
      const typename L::Vector factor = L::all(a[i * kRow]);
      low[i] = L::fused(factor, x, low[i]);
      high[i] = L::fused(factor, y, high[i]);
    }
    a += kStep;
    b += kLine;
  }
  if (results) {
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
      L::write(results + lines[i], low[i]);
      L::write(results + lines[i] + L::count, high[i]);
    }
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
    L::store(sums + i * kSums, low[i]);
    L::store(sums + i * kSums + L::count, high[i]);
  }
}

/// A block of an m x n product: what is looked up once for many results. On the
/// stack, 1 MiB.
template <typename T> struct ProductBlock {
  static constexpr int rows = 144, columns = 2048 / sizeof(T), steps = 256;
  static constexpr int width = 2 * Lanes<T>::count; ///< of a panel of b
  alignas(64) T a[rows * steps];    ///< kRows of a column after the other
  alignas(64) T b[columns * steps]; ///< `width` of a row after the other
  alignas(64) T sums[rows * columns];
};

/// A block's panel of `height` rows.
template <typename T, typename L> struct BlockPanel {
  int height;
  void (*add)(const T *a, const T *b, T *sums, int count, bool isFirst,
              T *results, const int *lines);

  template <int kHeight> static BlockPanel of() {
    using Block = ProductBlock<T>;
    return {kHeight,
            addPanel<T, kHeight, 1, kRows, Block::width, Block::columns, L>};
  }
  /// Of few rows, which a group of channels may have, not more than needed.
  static BlockPanel ofRows(int rows) {
    return rows > 4    ? of<kRows>()
           : rows > 2  ? of<4>()
           : rows == 2 ? of<2>()
                       : of<1>();
  }
};

/// The first multiple of `step` that is not below `count`.
inline int upTo(int count, int step) {
  return (count + step - 1) / step * step;
}

/// The largest part of `count` where the fewest are cut, each of `most` at
/// most, all but the last of as many whole steps.
inline int evenly(int count, int most, int step) {
  const int parts = std::max(1, (count + most - 1) / most);
  return upTo((count + parts - 1) / parts, step);
}

/// Results of a product that one thread computes.
struct Region {
  int row, rows, column, columns;
};

/// Of units of `step`, those from `first` to `last` as a beginning and a count.
inline std::pair<int, int> unitsOf(int64_t first, int64_t last, int step,
                                   int count) {
  const int from = int(std::min<int64_t>(first * step, count));
  return {from, int(std::min<int64_t>(last * step, count)) - from};
}

/// The part of `share` in an m x n product: rows and columns by whole panels.
/// Of several products, neighboring lines of all; of one, parts of a grid that
/// leaves the least to the slowest thread, in steps of a vector: each of its
/// rows and columns is packed once, a sixteenth of what a panel multiplies.
inline Region regionOf(int m, int n, int width, const Share &share) {
  const int64_t lines = upTo(m, kRows) / kRows, panels = upTo(n, width) / width;
  int64_t down = share.parts, best = INT64_MAX;
  if (share.runs > 1) {
    const bool byLines = lines >= panels;
    const int64_t units = byLines ? lines : panels, all = units * share.runs;
    auto at = [&](int64_t part) {
      return std::clamp<int64_t>(all * part / share.parts - share.run * units,
                                 0, units);
    };
    const auto [first, count] =
        unitsOf(at(share.part), at(share.part + 1), byLines ? kRows : width,
                byLines ? m : n);
    return byLines ? Region{first, count, 0, n} : Region{0, m, first, count};
  }
  for (int64_t rows = 1; rows <= share.parts; ++rows) {
    if (share.parts % rows)
      continue;
    const int64_t across = share.parts / rows,
                  high = (lines + rows - 1) / rows * kRows,
                  wide = (panels + across - 1) / across * width,
                  cost = high * wide + 16 * (high + wide);
    if (cost < best)
      best = cost, down = rows;
  }
  const int64_t across = share.parts / down, i = share.part % down,
                j = share.part / down;
  const auto [row, rows] =
      unitsOf(lines * i / down, lines * (i + 1) / down, kRows, m);
  const auto [column, columns] =
      unitsOf(panels * j / across, panels * (j + 1) / across, width, n);
  return {row, rows, column, columns};
}

/// Sums of a block's columns and of many rows, between one part of the steps
/// and the next: columns are packed once for all of them.
template <typename T> class ProductSums {
  using Block = ProductBlock<T>;
  OwnScratch scratch;
  T *first;
  bool areHeld;

public:
  /// For so many rows all threads together have 1.75 MiB.
  ProductSums(Block &block, int allRows, int steps)
      : first(block.sums), areHeld(steps > Block::steps), rows(allRows) {
    if (!areHeld || allRows <= Block::rows)
      return;
    constexpr size_t line = Block::columns * sizeof(T);
    const int most = int((7 << 18) / shareNow.parts / line);
    if (most > Block::rows) {
      rows = evenly(allRows, most, kRows);
      scratch.reset(takeScratch(rows * line));
    }
    if (scratch)
      first = numbersOf<T>(scratch);
    else
      rows = evenly(allRows, Block::rows, kRows);
  }

  int rows; ///< that are gone through for each part of the steps
  /// Those of rows from `row` of them on, Block::columns from one to the next.
  T *of(int row) { return areHeld ? first + row * Block::columns : first; }
};

/// Where results begin, and the bytes of one.
struct ResultPlaces {
  void *first;
  int bytes;
  bool areSums; ///< of their type, with nothing added

  /// Asks for `rows` lines of `count` neighbors, to write to them.
  void fetch(const int *lines, int rows, int place, int count) const {
    for (int i = 0; i < rows; ++i)
      for (int at = 0; at < count * bytes; at += 64)
        __builtin_prefetch(static_cast<const char *>(first) +
                               int64_t(lines[i] + place) * bytes + at,
                           /*isWritten=*/1);
  }
};

/// Whether each place is the one behind the former.
inline bool areNeighbors(const int *places, int count) {
  for (int i = 1; i < count; ++i)
    if (places[i] != places[i - 1] + 1)
      return false;
  return true;
}

/// What is multiplied, by pointers: the loops over blocks are compiled once.
template <typename T> struct ProductParts {
  void *self;
  /// Fill the beginning of what they get, with anything behind the last row and
  /// column of a panel.
  void (*packA)(void *self, T *to, int row, int rows, int step, int steps);
  void (*packB)(void *self, T *to, int column, int columns, int step,
                int steps);
  /// Finds where the results of a block's rows and columns have a place: at the
  /// sum of both offsets behind the first element.
  ResultPlaces (*place)(void *self, int *lines, int *columnPlaces, int row,
                        int rows, int column, int columns);
  /// Takes sums, ProductBlock::columns from one row to the next, and what
  /// place() found.
  void (*store)(void *self, T *sums, const int *lines, const int *columnPlaces,
                int row, int rows, int column, int columns);
};

/// The loops of Goto and van de Geijn, "Anatomy of High-Performance Matrix
/// Multiplication" (2008): a panel of b is in the first cache while all of a
/// block's rows pass, a block of a in the second while all columns do.
template <typename T, typename L>
__attribute__((noinline)) void multiplyBlocks(int m, int n, int k,
                                              const ProductParts<T> &parts) {
  using Block = ProductBlock<T>;
  Block block;
  const Region mine = regionOf(m, n, Block::width, shareNow);
  ProductSums<T> sums(block, mine.rows, k);
  const int wide = evenly(mine.columns, Block::columns, Block::width),
            high = evenly(sums.rows, Block::rows, kRows),
            deep = evenly(k, Block::steps, 8);
  int lines[Block::rows], places[Block::columns]; // of results
  // Adds steps to the sums of columns from `left` and rows from `top` on.
  auto add = [&](int left, int top, int step, int steps) {
    const int columns = std::min(mine.columns - left, wide),
              bottom = std::min(mine.rows, top + sums.rows);
    parts.packB(parts.self, block.b, mine.column + left, columns, step, steps);
    for (int row = top; row < bottom; row += high) {
      const int rows = std::min(bottom - row, high);
      T *held = sums.of(row - top);
      parts.packA(parts.self, block.a, mine.row + row, rows, step, steps);
      const bool isLast = step + steps == k;
      ResultPlaces results = {};
      if (isLast)
        results = parts.place(parts.self, lines, places, mine.row + row, rows,
                              mine.column + left, columns);
      for (int j = 0; j < columns; j += Block::width) {
        const int across = std::min(Block::width, columns - j);
        const bool areSide = results.areSums && across == Block::width &&
                             areNeighbors(places + j, across);
        for (int i = 0; i < rows; i += kRows) {
          const int down = std::min(kRows, rows - i);
          T *panel = held + i * Block::columns + j;
          if (isLast) // soon
            results.fetch(lines + i, down, places[j], across);
          const auto shape = BlockPanel<T, L>::ofRows(down);
          const bool areWritten = areSide && down == shape.height;
          shape.add(block.a + i * Block::steps, block.b + j * steps, panel,
                    steps, step == 0,
                    areWritten ? static_cast<T *>(results.first) + places[j]
                               : nullptr,
                    lines + i);
          if (results.areSums && !areWritten)
            parts.store(parts.self, panel, lines + i, places + j,
                        mine.row + row + i, down, mine.column + left + j,
                        across);
        }
      }
      if (isLast && !results.areSums)
        parts.store(parts.self, held, lines, places, mine.row + row, rows,
                    mine.column + left, columns);
    }
  };
  for (int left = 0; left < mine.columns; left += wide)
    for (int top = 0; top < mine.rows; top += sums.rows) {
      int step = 0;
      do { // once without steps too: sums of nothing
        const int steps = std::min(k - step, deep);
        add(left, top, step, steps);
        step += steps;
      } while (step < k);
    }
}

/// The same of what can be called, by the lanes L, which say what a step is.
template <typename T, typename L = Lanes<T>, typename PackA, typename PackB,
          typename Place, typename Store>
inline void multiply(int m, int n, int k, PackA packA, PackB packB, Place place,
                     Store store) {
  struct Parts {
    PackA packA;
    PackB packB;
    Place place;
    Store store;
  } parts = {packA, packB, place, store};
  multiplyBlocks<T, L>(
      m, n, k,
      {&parts,
       [](void *self, T *to, int row, int rows, int step, int steps) {
         static_cast<Parts *>(self)->packA(to, row, rows, step, steps);
       },
       [](void *self, T *to, int column, int columns, int step, int steps) {
         static_cast<Parts *>(self)->packB(to, column, columns, step, steps);
       },
       [](void *self, int *lines, int *places, int row, int rows, int column,
          int columns) {
         return static_cast<Parts *>(self)->place(lines, places, row, rows,
                                                  column, columns);
       },
       [](void *self, T *sums, const int *lines, const int *places, int row,
          int rows, int column, int columns) {
         static_cast<Parts *>(self)->store(sums, lines, places, row, rows,
                                           column, columns);
       }});
}

/// Stores a block's sums, each line after it is finished: at the offset of its
/// line and of its column.
template <typename T, typename E, typename Finish>
inline void storeBlock(E *results, const int *lines, const int *places,
                       T *block, int rows, int columns, const Finish &finish) {
  using Block = ProductBlock<T>;
  int ends[Block::columns]; // of neighbors
  bool areApart = true;
  for (int j = columns; j-- > 0;) {
    const bool isNext = j + 1 < columns && places[j + 1] == places[j] + 1;
    ends[j] = isNext ? ends[j + 1] : j + 1;
    areApart &= !isNext;
  }
  for (int i = 0; i < rows; ++i) {
    T *sums = block + i * Block::columns;
    finish(i, sums);
    if (areApart) {
      E *out = results + lines[i];
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j)
        out[places[j]] = to<E>(sums[j]);
      continue;
    }
    for (int j = 0; j < columns;) {
      E *out = results + lines[i] + places[j];
      const int first = j, count = ends[j] - j;
#pragma GCC ivdep
      for (int e = 0; e < count; ++e)
        out[e] = to<E>(sums[first + e]);
      j += count;
    }
  }
}

} // namespace cutback_host

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTBLOCKS_H
