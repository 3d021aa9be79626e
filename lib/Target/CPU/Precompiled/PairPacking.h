// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors of products of bf16, and windows of convolutions of it, as panels for
// an instruction that takes two steps at once (PairLanes): a word of 32 bits
// has the even step in its upper half, behind an odd number of steps a zero.
// There are half as many words as steps, of half the size.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PAIRPACKING_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PAIRPACKING_H

#include "ProductPacking.h"

#if defined(__AVX512BF16__)

namespace cutback_host {

/// bf16, of which nothing is computed here.
using Half = unsigned short;

/// Where a pair's steps lie one after the other as a word that begins with the
/// first.
inline __m256i firstAbove(__m256i words) {
  return _mm256_or_si256(_mm256_slli_epi32(words, 16),
                         _mm256_srli_epi32(words, 16));
}

/// Sixteen lanes, of which those below `count` are read.
inline __m256i halvesBelow(const Half *from, int count) {
  return _mm256_maskz_loadu_epi16(__mmask16((1u << count) - 1), from);
}

/// Packs up to sixteen neighboring steps of `lines` lines as pairs; load(i) has
/// those of a line, and zeros behind them.
template <int lines, typename Load>
inline void packPairs(float *to, int stride, int steps, Load load) {
  for (int first = 0; first < lines; first += 8) {
    __m256 x[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      x[i] = _mm256_castsi256_ps(firstAbove(load(first + i)));
    storeSteps<8>(to + first, stride, x, (steps + 1) / 2);
  }
}

/// One pair of 32 lines.
inline void packPair(float *to, __m512i even, __m512i odd) {
  alignas(64) static constexpr short places[2][32] = {
      {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
       8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47},
      {16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
       24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63}};
  for (int part = 0; part < 2; ++part)
    _mm512_storeu_si512(
        to + part * 16,
        _mm512_permutex2var_epi16(odd, _mm512_load_si512(places[part]), even));
}

/// How many steps from `first` on make whole pairs of neighbors, or reach the
/// end: up to sixteen, 0 where not even two do. isNext(k): step k lies behind
/// the one before it.
template <typename IsNext>
inline int pairsFrom(int first, int count, IsNext isNext) {
  int run = 1;
  while (run < 16 && first + run < count && isNext(first + run))
    ++run;
  return first + run == count ? run : run & ~1;
}

/// One panel of `height` lines: lines that lie side by side, or steps that do,
/// by vectors.
template <int height>
__attribute__((noinline)) void packFactorPairs(float *to, const Half *elements,
                                               const int *lines,
                                               const int *steps, int count) {
  bool areNeighbors = true;
  for (int i = 1; i < height; ++i)
    areNeighbors &= lines[i] == lines[0] + i;
  auto *words = reinterpret_cast<unsigned *>(to);
  for (int k = 0; k < count;) {
    const bool isLast = k + 1 == count;
    const Half *even = elements + steps[k],
               *odd = elements + steps[isLast ? k : k + 1];
    const int run = areNeighbors ? 0 : pairsFrom(k, count, [&](int next) {
      return steps[next] == steps[next - 1] + 1;
    });
    if (run > 0) {
      packPairs<height>(to, height, run, [&](int i) {
        return halvesBelow(even + lines[i], run);
      });
    } else if (areNeighbors) {
      const unsigned isThere = isLast ? 0 : ~0u;
      for (int i = 0; i < height; ++i)
        words[i] =
            unsigned(even[lines[0] + i]) << 16 | (odd[lines[0] + i] & isThere);
    } else {
      for (int i = 0; i < height; ++i)
        words[i] =
            unsigned(even[lines[i]]) << 16 | (isLast ? 0 : odd[lines[i]]);
    }
    const int pairs = run > 0 ? (run + 1) / 2 : 1;
    to += pairs * height, words += pairs * height;
    k += 2 * pairs;
  }
}

/// Packs lines `first` to `last` in panels of `height`, `panel` words from one
/// to the next; behind `last` it stands again.
template <int height, typename Line, typename Step>
inline void packLinePairs(float *to, const Half *elements, const Line &line,
                          const Step &along, int first, int last, int step,
                          int count, int panel) {
  int steps[2 * ProductBlock<float>::steps], lines[height];
  findOffsets(along, step, count, steps);
  for (; first <= last; first += height, to += panel) {
    const int some = std::min(height, last - first + 1);
    findOffsets(line, first, some, lines);
    std::fill(lines + some, lines + height, lines[some - 1]);
    packFactorPairs<height>(to, elements, lines, steps, count);
  }
}

/// Pairs of steps of columns that lie side by side; see copySideways.
template <int axes, int width>
inline void
packSidewaysPairs(float *to, const Half *from, const Half *other, int split,
                  int count, const Place<axes> *along, int period, int steps,
                  const PanelColumns<axes, width> &columns, const int *sizes) {
  static_assert(width == 32);
  struct Inside {
    __mmask32 here, other;
  } inside[kTaps];
  auto read = [&](const Inside &is, int at) {
    if (is.here == ~__mmask32(0))
      return _mm512_loadu_si512(from + at);
    return _mm512_mask_loadu_epi16(_mm512_maskz_loadu_epi16(is.here, from + at),
                                   is.other, other + at);
  };
  __m512i even = _mm512_setzero_si512();
  for (int k = 0, tap = 0; k < steps; ++k) {
    if (k < period || !period) {
      InsideColumns<axes, width, float> found;
      found.find(columns, along[k].along, sizes, split, count);
      auto both = [](const __mmask16(&parts)[2]) {
        return __mmask32(parts[0]) | __mmask32(parts[1]) << 16;
      };
      inside[tap] = {both(found.isIn), both(found.isInOther)};
    }
    const __m512i step = read(inside[tap], along[k].at);
    if (k % 2 == 0)
      even = step;
    if (k % 2 || k + 1 == steps) {
      packPair(to, even, k % 2 ? step : _mm512_setzero_si512());
      to += width;
    }
    tap = tap + 1 < period ? tap + 1 : 0;
  }
}

/// Of `count` steps that lie side by side, the first at `place`, those that are
/// inside in column `e`.
template <int axes, int width>
inline __mmask16 lanesInside(const PanelColumns<axes, width> &columns, int e,
                             const int *place, const int *sizes, int count) {
  bool isIn = true;
  for (int axis = 0; axis + 1 < axes; ++axis)
    isIn &=
        unsigned(columns.along[axis][e] + place[axis]) < unsigned(sizes[axis]);
  const int first = columns.along[axes - 1][e] + place[axes - 1];
  const int low = std::clamp(-first, 0, 16),
            high = isIn ? std::clamp(sizes[axes - 1] - first, 0, count) : 0;
  return __mmask16((1u << high) - 1) & ~__mmask16((1u << low) - 1);
}

/// One panel of windows as pairs; see copyWindows.
template <int axes>
__attribute__((noinline)) void
packWindowPairs(float *to, const Half *elements,
                const PanelColumns<axes, ProductBlock<float>::width> &columns,
                int count, const Place<axes> *along, int period, int steps,
                const int *sizes) {
  constexpr int width = ProductBlock<float>::width;
  const int *at = columns.at, split = columns.findSplit(count);
  if (split > 0)
    return packSidewaysPairs<axes, width>(
        to, elements + at[0], elements + at[split % width] - split % width,
        split, count, along, period, steps, columns, sizes);
  const PanelBounds<axes> bounds(columns);
  auto isNext = [&](int k) { return isBehind<axes>(along[k - 1], along[k]); };
  for (int k = 0; k < steps;) {
    const int *place = along[k].along, run = pairsFrom(k, steps, isNext);
    const Half *from = elements + along[k].at;
    if (run > 0) {
      if (bounds.areInside(place, sizes, run - 1))
        packPairs<width>(to, width, run,
                         [&](int e) { return halvesBelow(from + at[e], run); });
      else
        packPairs<width>(to, width, run, [&](int e) {
          return _mm256_maskz_loadu_epi16(
              lanesInside(columns, e, place, sizes, run), from + at[e]);
        });
      to += (run + 1) / 2 * width, k += run + run % 2;
      continue;
    }
    auto *words = reinterpret_cast<unsigned *>(to);
    const bool isLast = k + 1 == steps;
    const Place<axes> &second = along[isLast ? k : k + 1];
    const Half *odd = elements + second.at;
    const unsigned isThere = isLast ? 0 : 0xFFFF;
    if (bounds.areInside(place, sizes) &&
        bounds.areInside(second.along, sizes)) {
      for (int e = 0; e < width; ++e)
        words[e] = unsigned(from[at[e]]) << 16 | (odd[at[e]] & isThere);
    } else {
      for (int e = 0; e < width; ++e) {
        const unsigned upper =
            columns.isInside(e, place, sizes) ? from[at[e]] : 0;
        const unsigned lower =
            columns.isInside(e, second.along, sizes) ? odd[at[e]] : 0;
        words[e] = upper << 16 | (lower & isThere);
      }
    }
    to += width, k += 2;
  }
}

} // namespace cutback_host

#endif // __AVX512BF16__

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_PAIRPACKING_H
