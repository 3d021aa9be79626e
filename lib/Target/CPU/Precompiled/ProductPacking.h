// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors of products, and windows of convolutions, as panels of a block: so
// many lines of a step after the other (ProductBlocks.h).
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTPACKING_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTPACKING_H

#include "ProductBlocks.h"

namespace cutback_host {

/// How many steps from each on lie side by side, up to eight. isNext(k): step k
/// lies behind the one before it.
template <typename IsNext>
inline void countRuns(int count, unsigned char *runs, IsNext isNext) {
  for (int first = 0, last; first < count; first = last) {
    last = first + 1;
    while (last < count && isNext(last))
      ++last;
    for (int k = first; k < last; ++k)
      runs[k] = static_cast<unsigned char>(std::min(last - k, 8));
  }
}
inline void countNeighbors(const int *steps, int count, unsigned char *runs) {
  countRuns(count, runs, [&](int k) { return steps[k] == steps[k - 1] + 1; });
}

#if defined(__AVX2__) && defined(__FMA__)
/// Eight by eight numbers, with columns as rows.
inline void transpose(__m256 (&x)[8]) {
  __m256 a[8], b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      b[i + 2 * j] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0x44);
      b[i + 2 * j + 1] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0xEE);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
}
/// The first `count` of eight lanes.
inline __m256i lanesBelow(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// Stores `lines` (six or eight) lines of up to eight steps, as steps.
template <int lines>
inline void storeSteps(float *to, int stride, __m256 (&x)[8], int count) {
  transpose(x);
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k, to += stride) {
    if (k == count)
      return;
    if (lines == 8) {
      _mm256_storeu_ps(to, x[k]);
    } else {
      _mm_storeu_ps(to, _mm256_castps256_ps128(x[k]));
      _mm_storel_pi(reinterpret_cast<__m64 *>(to + 4),
                    _mm256_extractf128_ps(x[k], 1));
    }
  }
}

/// Packs up to eight neighboring steps of `lines` lines; line i begins at
/// from[i] + at.
template <int lines>
inline void packNeighbors(float *to, int stride, const float *const *from,
                          int at, int count) {
  __m256 x[8];
  const __m256i mask = lanesBelow(count);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    x[i] = i >= lines   ? _mm256_setzero_ps()
           : count == 8 ? _mm256_loadu_ps(from[i] + at)
                        : _mm256_maskload_ps(from[i] + at, mask);
  storeSteps<lines>(to, stride, x, count);
}
#endif

/// Packs lines that lie side by side as `panels` panels of `height` at once: of
/// a few steps, so that what is read is a few pages and what is written some
/// lines of a cache.
template <int height, typename T>
__attribute__((noinline)) void packSide(T *to, const T *from, const int *steps,
                                        int count, int panels, int panel) {
  constexpr int few = 8;
  for (int first = 0; first < count; first += few, to += few * height) {
    const int last = std::min(first + few, count);
    for (int i = 0; i < panels; ++i) {
      const T *lines = from + i * height;
      T *packed = to + i * panel;
      for (int k = first; k < last; ++k, packed += height) {
        prefetch(lines, steps[std::min(k + few, count - 1)]);
        std::memcpy(packed, lines + steps[k], sizeof(T) * height);
      }
    }
  }
}

/// One panel of `height` lines, of which each has what lies at its place plus a
/// step's: lines that lie side by side, or steps that do, are copied by
/// vectors. Lines are far apart: what is packed soon is fetched meanwhile.
/// Compiled once for all products.
template <int height, typename T, typename E>
__attribute__((noinline)) void
packFactor(T *to, const E *elements, const int *lines, const int *steps,
           const unsigned char *runs, int count) {
  [[maybe_unused]] bool areNeighbors = true;
  const E *from[height];
  for (int i = 0; i < height; ++i) {
    areNeighbors &= lines[i] == lines[0] + i;
    from[i] = elements + lines[i];
  }
  // The next panel, as a rule.
  [[maybe_unused]] const int next = height * (lines[1] - lines[0]);
  if constexpr (std::is_same_v<T, E>)
    if (areNeighbors)
      return packSide<height>(to, from[0], steps, count, /*panels=*/1,
                              /*panel=*/0);
  for (int k = 0; k < count;) {
#if defined(__AVX2__) && defined(__FMA__)
    if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>)
      if (const int some = runs[k]; some > 1) {
        constexpr int part = height == kRows ? kRows : 8;
        static_assert(height % part == 0);
        for (int i = 0; i < height; ++i)
          prefetch(from[i], steps[k] + next);
        for (int first = 0; first < height; first += part)
          packNeighbors<part>(to + first, height, from + first, steps[k], some);
        k += some, to += some * height;
        continue;
      }
#endif
    for (int i = 0; i < height; ++i)
      if constexpr (std::is_arithmetic_v<E>)
        to[i] = T(from[i][steps[k]]);
      else
        to[i] = T(toFloat(from[i][steps[k]]));
    ++k, to += height;
  }
}

/// What `index` has of `count` numbers from `first` on.
template <typename Index>
inline void findOffsets(const Index &index, int first, int count,
                        int *offsets) {
  for (int i = 0; i < count; ++i)
    offsets[i] = index(first + i);
}

/// Packs lines `first` to `last` in panels of `height`, `panel` elements from
/// one to the next; behind `last` it stands again.
template <int height, typename T, bool isLeft, typename E, typename Line,
          typename Step>
inline void packLines(T *to, const Factor<isLeft, E, Line, Step> &factor,
                      int first, int last, int step, int count, int panel) {
  int steps[ProductBlock<T>::steps], lines[height];
  unsigned char runs[ProductBlock<T>::steps];
  findOffsets(factor.step, step, count, steps);
  if constexpr (std::is_same_v<T, E>) {
    int side = 0; // lines from the first on that lie side by side
    const int from = factor.line(first);
    while (first + side <= last && factor.line(first + side) == from + side)
      ++side;
    if (const int panels = side / height) {
      packSide<height>(to, factor.elements + from, steps, count, panels, panel);
      first += panels * height, to += panels * panel;
    }
  }
  if (first > last)
    return;
  countNeighbors(steps, count, runs);
  for (; first <= last; first += height, to += panel) {
    for (int i = 0; i < height; ++i)
      lines[i] = factor.line(std::min(first + i, last));
    packFactor<height>(to, factor.elements, lines, steps, runs, count);
  }
}
template <typename T, typename E, typename Line, typename Step>
inline void packPanels(T *to, const Factor<false, E, Line, Step> &b, int first,
                       int last, int step, int steps) {
  constexpr int width = ProductBlock<T>::width;
  packLines<width>(to, b, first, last, step, steps, width * steps);
}

/// Of the columns of a panel, the element and along each axis the place, both
/// without a step's part.
template <int axes, int width> struct PanelColumns {
  int at[width], along[axes][width];

  bool isInside(int e, const int *place, const int *sizes) const {
    bool isIn = true;
    for (int axis = 0; axis < axes; ++axis)
      isIn &= unsigned(along[axis][e] + place[axis]) < unsigned(sizes[axis]);
    return isIn;
  }
  /// Where the second of two rows begins, of the first `count` columns that lie
  /// side by side within each; `width` of one row, 0 of more than two.
  int findSplit(int count) const {
    int numSplits = 0, split = 0;
    for (int e = 1; e < width; ++e) {
      const int isSplit = int(e < count) & int(at[e] != at[e - 1] + 1);
      numSplits += isSplit;
      split += isSplit * e;
    }
    return numSplits == 0 ? width : numSplits == 1 ? split : 0;
  }
};

/// The least and the greatest place of a panel's columns along each axis.
template <int axes> struct PanelBounds {
  int low[axes], high[axes];

  template <int width>
  explicit PanelBounds(const PanelColumns<axes, width> &columns) {
    for (int axis = 0; axis < axes; ++axis) {
      low[axis] = high[axis] = columns.along[axis][0];
      for (int place : columns.along[axis]) {
        low[axis] = std::min(low[axis], place);
        high[axis] = std::max(high[axis], place);
      }
    }
  }
  /// Whether all columns have a step's place inside, and the `behind` places
  /// behind that along the last axis.
  bool areInside(const int *place, const int *sizes, int behind = 0) const {
    bool are = true;
    for (int axis = 0; axis < axes; ++axis)
      are &= low[axis] + place[axis] >= 0 &&
             high[axis] + place[axis] + (axis + 1 == axes ? behind : 0) <
                 sizes[axis];
    return are;
  }
};

/// Which of the first `count` columns of a panel have a place inside with a
/// step: of those in front of `split`, and of the others.
template <int axes, int width, typename T> struct InsideColumns {
  bool isIn[width];
  int split;

  void find(const PanelColumns<axes, width> &columns, const int *place,
            const int *sizes, int front, int count) {
    split = front;
    for (int e = 0; e < width; ++e)
      isIn[e] = e < count && columns.isInside(e, place, sizes);
  }
  /// Elements `from`, `from` + 1, … of those, and behind `split` of `other`;
  /// zeros elsewhere.
  void copy(const T *from, const T *other, T *to) const {
    for (int e = 0; e < width; ++e)
      to[e] = !isIn[e] ? T(0) : e < split ? from[e] : other[e];
  }
};
#if defined(__AVX512F__)
template <int axes, int width> struct InsideColumns<axes, width, float> {
  __mmask16 isIn[width / 16], isInOther[width / 16];

  void find(const PanelColumns<axes, width> &columns, const int *place,
            const int *sizes, int split, int count) {
    auto below = [](int lanes) {
      return __mmask16((1u << std::clamp(lanes, 0, 16)) - 1);
    };
    for (int e = 0; e < width; e += 16) {
      __mmask16 all = below(count - e);
      for (int axis = 0; axis < axes; ++axis)
        all = _mm512_mask_cmplt_epu32_mask(
            all,
            _mm512_add_epi32(_mm512_loadu_si512(columns.along[axis] + e),
                             _mm512_set1_epi32(place[axis])),
            _mm512_set1_epi32(sizes[axis]));
      isIn[e / 16] = __mmask16(all & below(split - e));
      isInOther[e / 16] = __mmask16(all & ~below(split - e));
    }
  }
  void copy(const float *from, const float *other, float *to) const {
    for (int e = 0; e < width; e += 16)
      _mm512_storeu_ps(
          to + e,
          _mm512_mask_loadu_ps(_mm512_maskz_loadu_ps(isIn[e / 16], from + e),
                               isInOther[e / 16], other + e));
  }
};
#elif defined(__AVX2__) && defined(__FMA__)
template <int axes, int width> struct InsideColumns<axes, width, float> {
  __m256i isIn[width / 8], isInOther[width / 8];

  void find(const PanelColumns<axes, width> &columns, const int *place,
            const int *sizes, int split, int count) {
    for (int e = 0; e < width; e += 8) {
      __m256i all = lanesBelow(count - e);
      for (int axis = 0; axis < axes; ++axis) {
        const __m256i at = _mm256_add_epi32(
            _mm256_loadu_si256(
                reinterpret_cast<const __m256i *>(columns.along[axis] + e)),
            _mm256_set1_epi32(place[axis]));
        const __m256i isBelow =
            _mm256_cmpgt_epi32(_mm256_set1_epi32(sizes[axis]), at);
        all = _mm256_and_si256(
            all, _mm256_andnot_si256(_mm256_srai_epi32(at, 31), isBelow));
      }
      const __m256i front = lanesBelow(split - e);
      isIn[e / 8] = _mm256_and_si256(all, front);
      isInOther[e / 8] = _mm256_andnot_si256(front, all);
    }
  }
  void copy(const float *from, const float *other, float *to) const {
    for (int e = 0; e < width; e += 8)
      _mm256_storeu_ps(
          to + e,
          _mm256_or_ps(_mm256_maskload_ps(from + e, isIn[e / 8]),
                       _mm256_maskload_ps(other + e, isInOther[e / 8])));
  }
};
#endif

#if defined(__AVX2__) && defined(__FMA__)
/// Copies `count` steps that lie side by side, the first at `from` and `place`,
/// of the first `numColumns` columns, which do not. Zeros where a place is not
/// inside; maybe all are.
template <int axes, int width>
inline void copySteps(const PanelColumns<axes, width> &columns,
                      const int *place, const int *sizes, const float *from,
                      int numColumns, int count, bool areInside, float *to) {
  const int *at = columns.at;
  const __m256i isStep = lanesBelow(count);
  for (int first = 0; first < numColumns; first += 8) {
    __m256 x[8];
    if (areInside) {
      for (int i = 0; i < 8; ++i)
        x[i] = count == 8 ? _mm256_loadu_ps(from + at[first + i])
                          : _mm256_maskload_ps(from + at[first + i], isStep);
      storeSteps<8>(to + first, width, x, count);
      continue;
    }
    for (int i = 0; i < 8; ++i) {
      const int e = first + i,
                last = columns.along[axes - 1][e] + place[axes - 1];
      bool isIn = true;
      for (int axis = 0; axis + 1 < axes; ++axis)
        isIn &= unsigned(columns.along[axis][e] + place[axis]) <
                unsigned(sizes[axis]);
      const __m256i isBelow = lanesBelow(isIn ? sizes[axes - 1] - last : 0),
                    isBefore = lanesBelow(-last);
      x[i] = _mm256_maskload_ps(
          from + at[e],
          _mm256_and_si256(isStep, _mm256_andnot_si256(isBefore, isBelow)));
    }
    storeSteps<8>(to + first, width, x, count);
  }
}
#endif

/// Whether `next` lies behind `place` along the last axis.
template <int axes>
inline bool isBehind(const Place<axes> &place, const Place<axes> &next) {
  bool is = next.at == place.at + 1;
  for (int axis = 0; axis < axes; ++axis)
    is &= next.along[axis] == place.along[axis] + (axis + 1 == axes);
  return is;
}

/// How many steps from each on lie side by side along the last axis, up to
/// eight.
template <int axes>
inline void countNeighbors(const Place<axes> *along, int count,
                           unsigned char *runs) {
  countRuns(count, runs,
            [&](int k) { return isBehind<axes>(along[k - 1], along[k]); });
}

/// After how many steps their places come again, those of a window in the next
/// channel: up to kTaps, else 0.
constexpr int kTaps = 64;
template <int axes> inline int periodOf(const Place<axes> *along, int count) {
  auto isAgain = [&](int period) {
    for (int k = period; k < count; ++k)
      for (int axis = 0; axis < axes; ++axis)
        if (along[k].along[axis] != along[k - period].along[axis])
          return false;
    return true;
  };
  for (int period = 1; period <= kTaps; ++period)
    if (isAgain(period))
      return period;
  return 0;
}

/// Copies a panel of `count` columns that lie side by side, all or those in
/// front of `split` and the others, which are counted from `other` on. Which of
/// them are inside is found once for a tap of the window.
template <typename T, int axes, int width>
inline void copySideways(T *to, const T *from, const T *other, int split,
                         int count, const Place<axes> *along, int period,
                         int steps, const PanelColumns<axes, width> &columns,
                         const PanelBounds<axes> &bounds, const int *sizes) {
  InsideColumns<axes, width, T> inside[kTaps];
  bool areInside[kTaps];
  for (int k = 0, tap = 0; k < steps; ++k, to += width) {
    const int *place = along[k].along;
    if (k < period || !period) {
      areInside[tap] =
          split == width && count == width && bounds.areInside(place, sizes);
      if (!areInside[tap])
        inside[tap].find(columns, place, sizes, split, count);
    }
    if (areInside[tap])
      std::memcpy(to, from + along[k].at, sizeof(T) * width);
    else
      inside[tap].copy(from + along[k].at, other + along[k].at, to);
    tap = tap + 1 < period ? tap + 1 : 0;
  }
}

/// One panel of windows, compiled once for all convolutions of as many axes.
/// Most columns, or steps, lie side by side, and are copied as they lie. Behind
/// `count` columns the last one stands again, or anything.
template <typename T, int axes>
__attribute__((noinline)) void
copyWindows(T *to, const T *elements,
            const PanelColumns<axes, ProductBlock<T>::width> &columns,
            int count, const Place<axes> *along, const unsigned char *runs,
            int period, int steps, const int *sizes) {
  constexpr int width = ProductBlock<T>::width;
  const int *at = columns.at;
  const PanelBounds<axes> bounds(columns);
  if (const int split = columns.findSplit(count))
    return copySideways<T, axes, width>(
        to, elements + at[0], elements + at[split % width] - split % width,
        split, count, along, period, steps, columns, bounds, sizes);
  for (int k = 0; k < steps; ++k, to += width) {
    const int *place = along[k].along;
    const T *from = elements + along[k].at;
#if defined(__AVX2__) && defined(__FMA__)
    if constexpr (std::is_same_v<T, float>)
      if (runs[k] > 1) {
        const int some = runs[k];
        copySteps<axes, width>(columns, place, sizes, from, count, some,
                               bounds.areInside(place, sizes, some - 1), to);
        to += (some - 1) * width;
        k += some - 1;
        continue;
      }
#endif
    if (bounds.areInside(place, sizes)) {
      for (int e = 0; e < width; ++e)
        to[e] = from[at[e]];
      continue;
    }
    for (int e = 0; e < width; ++e)
      to[e] = columns.isInside(e, place, sizes) ? from[at[e]] : T(0);
  }
}

} // namespace cutback_host

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PRODUCTPACKING_H
