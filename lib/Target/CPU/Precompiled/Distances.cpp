// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances of points of any number and width, and their gradients, as the text
// for a device has them: what is added into an element is in its order. With d
// the difference and D the distance the gradient is g * sign(d) *
// (|d| / D)^(p - 1): 0 for p = 0 and where d or D is 0; for p = infinity
// g * sign(d) where |d| is D.
//
// Vectors hold several results side by side: distances of one point to
// neighboring others, and gradients of neighboring points in one of their
// coordinates. What these read is transposed block by block.

#include "Strided.h"

using precompiled::Distances;

namespace {

enum class Power { Count, One, Two, Most, Any };

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
template <typename T> struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};

/// Of a vector of numbers, of which `some` count where each costs.
template <typename T, Power power> struct Measure {
  using V = typename VectorOf<T>::Type;
  using Bits = decltype(V() < V());
  static constexpr int kCount = kVectorBytes / int(sizeof(T));
  double p;
  int64_t stored; ///< the type of distances

  static V load(const T *from) {
    V x;
    memcpy(&x, from, sizeof(V));
    return x;
  }
  static void store(T *to, V x) { memcpy(to, &x, sizeof(V)); }
  static V apart(V x) { return V(Bits(x) & ~Bits(-V{})); }
  static T raised(T base, double exponent) {
    return T(pow(double(base), exponent));
  }
  V add(V sum, V apart, int some) const {
    const V zero = {};
    switch (power) {
    case Power::Count:
      return sum + (apart != zero ? zero + T(1) : zero);
    case Power::Most:
      return ((sum != sum) | (sum > apart)) ? sum : apart;
    case Power::One:
      return sum + apart;
    case Power::Two:
      return sum + apart * apart;
    case Power::Any:
      for (int i = 0; i < std::min(some, kCount); ++i)
        sum[i] = sum[i] + raised(apart[i], p);
    }
    return sum;
  }
  V distance(V sum, int some) const {
    if constexpr (power == Power::Two) {
#if __has_builtin(__builtin_elementwise_sqrt)
      return __builtin_elementwise_sqrt(sum);
#else
      for (int i = 0; i < kCount; ++i)
        sum[i] = rootOf(sum[i]);
#endif
    } else if constexpr (power == Power::Any) {
      for (int i = 0; i < std::min(some, kCount); ++i)
        sum[i] = raised(sum[i], 1 / p);
    }
    return sum;
  }
  /// As distances are rounded.
  V rounded(V x) const {
    if (stored == precompiled::BF16 || stored == precompiled::F16)
      for (int i = 0; i < kCount; ++i)
        x[i] = stored == precompiled::BF16 ? heldAs<T>(storedAs<bf16>(T(x[i])))
                                           : heldAs<T>(storedAs<f16>(T(x[i])));
    return x;
  }
  /// The derivatives of distances `whole` in `d`.
  V slope(V d, V whole, int some) const {
    const V zero = {}, one = zero + T(1);
    const V sign = d > zero ? one : (d < zero ? -one : zero);
    if constexpr (power == Power::Count)
      return zero;
    if constexpr (power == Power::Most)
      return rounded(apart(d)) == whole ? sign : zero;
    V slope = power == Power::Two ? d / whole : sign;
    if constexpr (power == Power::Any)
      for (int i = 0; i < std::min(some, kCount); ++i)
        if (d[i] != 0 && whole[i] != 0)
          slope[i] = sign[i] * raised(absolute(T(d[i])) / whole[i], p - 1);
    return ((d == zero) | (whole == zero)) ? zero : slope;
  }
};

template <typename T, Power power> struct Points {
  using Own = Measure<T, power>;
  using V = typename Own::V;
  static constexpr int kCount = Own::kCount;
  /// Points whose distances from one are computed together, and that a block of
  /// gradients reads together; coordinates of such a block.
  static constexpr int kSide = 64, kOthers = 128, kWidth = 64;

  Strided a, b, gradient, distances, out;
  Own measure;

  explicit Points(const Call &call)
      : a(call.tensor(0)), b(call.tensor(1)), gradient(call.tensor(2)),
        distances(call.tensor(3)), out(call.tensor(4)),
        measure{call.numbers<Distances>().p,
                distances ? distances.type() : precompiled::F32} {}

  /// Of the point `own` to kVectors vectors of the points staged at `others`.
  template <int kVectors>
  void measureTo(const T *own, const T *others, int64_t width, int some,
                 T *to) const {
    V sums[kVectors] = {};
    for (int64_t e = 0; e < width; ++e)
      for (int v = 0; v < kVectors; ++v)
        sums[v] = measure.add(
            sums[v],
            Own::apart(own[e] - Own::load(others + e * kSide + v * kCount)),
            some - v * kCount);
    for (int v = 0; v < kVectors; ++v)
      Own::store(to + v * kCount, measure.distance(sums[v], some - v * kCount));
  }

  /// Of one point to the others of a block, which are columns.
  struct Block {
    Numbers<T> others, own;
    const Points &points;
    int64_t width;
    int some = 0;

    Block(const Points &points, int64_t width, int &problem)
        : others(width * kSide, problem), own(width, problem), points(points),
          width(width) {}
    explicit operator bool() const { return others && own; }
    void stage(const Strided &from, int64_t at, int64_t apart,
               int64_t apartInPoint, int count) {
      some = count;
      for (int64_t e = 0; e < width; ++e) {
        T *line = others.data() + e * kSide;
        readLine(from, at + e * apartInPoint, apart, some, line);
        std::fill(line + some, line + kSide, T(0));
      }
    }
    void measure(const Strided &from, int64_t at, int64_t apartInPoint,
                 T *to) const {
      readLine(from, at, apartInPoint, int(width), own.data());
      for (int done = 0; done < some;) {
        const T *staged = others.data() + done;
        if (some - done > kCount) {
          points.measureTo<4>(own.data(), staged, width, some - done,
                              to + done);
          done += 4 * kCount;
        } else {
          points.measureTo<1>(own.data(), staged, width, some - done,
                              to + done);
          done += kCount;
        }
      }
    }
  };

  /// Of each to each, by batches. Parts have neighboring rows of a block.
  void forward(Call &call) const {
    const int rank = out.rank(), row = rank - 2, column = rank - 1;
    Block block(*this, a.size(column), call.problem);
    int64_t sizes[precompiled::kMostDims];
    std::copy(out.sizes(), out.sizes() + row, sizes);
    sizes[row] = (out.size(column) + kSide - 1) / kSide;
    sizes[column] = out.size(row);
    int64_t staged = -1;
    if (!block)
      return;
    call.forEach(sizes, rank, [&](int64_t number, const int64_t *at) {
      const int64_t first = at[row] * kSide;
      if (number / sizes[column] != staged) {
        staged = number / sizes[column];
        block.stage(b, b.begin() + b.offset(at, row) + first * b.stride(row),
                    b.stride(row), b.stride(column),
                    int(std::min<int64_t>(kSide, out.size(column) - first)));
      }
      T line[kSide];
      block.measure(a,
                    a.begin() + a.offset(at, row) + at[column] * a.stride(row),
                    a.stride(column), line);
      writeLine(out,
                out.begin() + out.offset(at, row) +
                    at[column] * out.stride(row) + first * out.stride(column),
                out.stride(column), block.some, line);
    });
  }

  /// The number of pair (i, j), i < j.
  int64_t pairOf(int64_t i, int64_t j) const {
    return i * (2 * a.size(0) - 1 - i) / 2 + j - i - 1;
  }
  /// A block of points has distances to all in front of its last one.
  void within(Call &call) const {
    const int64_t points = a.size(0);
    Block block(*this, a.size(1), call.problem);
    if (!block)
      return;
    int64_t all = 0;
    for (int64_t column = 0; column < points; column += kSide)
      all += std::min(column + kSide, points);
    const auto [first, last] = call.share(all);
    int64_t number = 0;
    for (int64_t column = 0; column < points; column += kSide) {
      const int64_t rows = std::min(column + kSide, points),
                    begin = std::clamp<int64_t>(first - number, 0, rows),
                    end = std::clamp<int64_t>(last - number, 0, rows);
      number += rows;
      if (begin < end)
        block.stage(a, a.begin() + column * a.stride(0), a.stride(0),
                    a.stride(1), int(rows - column));
      for (int64_t row = begin; row < std::min(end, rows - 1); ++row) {
        T line[kSide];
        block.measure(a, a.begin() + row * a.stride(0), a.stride(1), line);
        const int64_t from = std::max(column, row + 1);
        writeLine(out, out.begin() + pairOf(row, from) * out.stride(0),
                  out.stride(0), int(rows - from), line + (from - column));
      }
    }
  }

  /// Gradients of neighboring points, by coordinates; what they are made of.
  struct alignas(64) Gradients {
    T own[kWidth][kCount], sums[kWidth][kCount];
    T others[kOthers][kWidth];
    T gradients[kOthers][kCount], wholes[kOthers][kCount];
    int points, width;
  };

  /// Adds what `count` others give, to coordinates from `e` on.
  template <int kCoordinates>
  void addOthers(Gradients &block, const T *others, int64_t apart, int e,
                 int count) const {
    V own[kCoordinates], sums[kCoordinates];
    for (int i = 0; i < kCoordinates; ++i) {
      own[i] = Own::load(block.own[e + i]);
      sums[i] = Own::load(block.sums[e + i]);
    }
    for (int other = 0; other < count; ++other) {
      const V gradient = Own::load(block.gradients[other]),
              whole = Own::load(block.wholes[other]);
      for (int i = 0; i < kCoordinates; ++i)
        sums[i] +=
            gradient * measure.slope(own[i] - others[other * apart + e + i],
                                     whole, block.points);
    }
    for (int i = 0; i < kCoordinates; ++i)
      Own::store(block.sums[e + i], sums[i]);
  }

  /// Gradients of points at[row] * kCount on, in coordinates at[column] *
  /// kWidth on. `read(point, other, count, gradients, wholes)` reads those of a
  /// point and of others, kCount apart.
  template <typename Read>
  void writeGradients(const int64_t *at, int64_t points, Read read) const {
    const int rank = out.rank(), row = rank - 2, column = rank - 1;
    const int64_t point = at[row] * kCount, e = at[column] * kWidth;
    Gradients block = {};
    block.points = int(std::min<int64_t>(kCount, out.size(row) - point));
    block.width = int(std::min<int64_t>(kWidth, out.size(column) - e));
    auto place = [&](const Strided &of) {
      return of.begin() + of.offset(at, row) + point * of.stride(row) +
             e * of.stride(column);
    };
    for (int i = 0; i < block.width; ++i)
      readLine(a, place(a) + i * a.stride(column), a.stride(row), block.points,
               block.own[i]);
    const int64_t others = b.begin() + b.offset(at, row) + e * b.stride(column);
    const bool isRead = // where they are
        b.type() == (sizeof(T) == 4 ? precompiled::F32 : precompiled::F64) &&
        b.stride(column) == 1;
    for (int64_t other = 0; other < points; other += kOthers) {
      const int count = int(std::min<int64_t>(kOthers, points - other));
      const T *staged = &block.others[0][0];
      int64_t apart = kWidth;
      if (isRead) {
        apart = b.stride(row);
        staged = b.elements<T>() + others + other * apart;
      } else {
        for (int i = 0; i < count; ++i)
          readLine(b, others + (other + i) * b.stride(row), b.stride(column),
                   block.width, block.others[i]);
      }
      for (int i = 0; i < block.points; ++i)
        read(point + i, other, count, &block.gradients[0][i],
             &block.wholes[0][i]);
      int done = 0;
      for (; done + 4 <= block.width; done += 4)
        addOthers<4>(block, staged, apart, done, count);
      for (; done < block.width; ++done)
        addOthers<1>(block, staged, apart, done, count);
    }
    for (int i = 0; i < block.width; ++i)
      writeLine(out, place(out) + i * out.stride(column), out.stride(row),
                block.points, block.sums[i]);
  }
  /// How many such blocks there are, and batches.
  void gradientSizes(int64_t *sizes) const {
    const int row = out.rank() - 2;
    std::copy(out.sizes(), out.sizes() + row, sizes);
    sizes[row] = (out.size(row) + kCount - 1) / kCount;
    sizes[row + 1] = (out.size(row + 1) + kWidth - 1) / kWidth;
  }

  void ofFirst(const Call &call) const {
    int64_t sizes[precompiled::kMostDims];
    gradientSizes(sizes);
    const int rank = out.rank(), row = rank - 2, column = rank - 1;
    call.forEach(sizes, rank, [&](int64_t, const int64_t *at) {
      auto read = [&](const Strided &from, int64_t point, int64_t other,
                      int count, T *to) {
        T line[kOthers];
        readLine(from,
                 from.begin() + from.offset(at, row) +
                     point * from.stride(row) + other * from.stride(column),
                 from.stride(column), count, line);
        for (int i = 0; i < count; ++i)
          to[i * kCount] = line[i];
      };
      writeGradients(at, b.size(row),
                     [&](int64_t point, int64_t other, int count, T *gradients,
                         T *wholes) {
                       read(gradient, point, other, count, gradients);
                       read(distances, point, other, count, wholes);
                     });
    });
  }

  /// Of pairs of `point` and others; a point itself adds 0 * 0.
  void readPairs(const Strided &from, int64_t point, int64_t other, int count,
                 T *to) const {
    withFloats<T>(from, [&](const auto *elements) {
      const int64_t apart = from.stride(0), points = a.size(0);
      elements += from.begin();
      const int64_t last = other + count;
      int64_t pair = pairOf(other, point);
      for (; other < std::min(point, last); ++other, to += kCount) {
        *to = heldAs<T>(elements[pair * apart]);
        pair += points - other - 2;
      }
      if (other == point && other < last) {
        *to = 0;
        ++other, to += kCount;
      }
      pair = pairOf(point, other);
      for (; other < last; ++other, to += kCount)
        *to = heldAs<T>(elements[pair++ * apart]);
    });
  }
  void ofWithin(const Call &call) const {
    int64_t sizes[precompiled::kMostDims];
    gradientSizes(sizes);
    call.forEach(sizes, 2, [&](int64_t, const int64_t *at) {
      writeGradients(at, a.size(0),
                     [&](int64_t point, int64_t other, int count, T *gradients,
                         T *wholes) {
                       readPairs(gradient, point, other, count, gradients);
                       readPairs(distances, point, other, count, wholes);
                     });
    });
  }

  void run(Call &call) {
    switch (call.numbers<Distances>().kind) {
    case Distances::Forward:
      return forward(call);
    case Distances::Gradient:
      return ofFirst(call);
    case Distances::Within:
      return within(call);
    default:
      b = a;
      return ofWithin(call);
    }
  }
};

} // namespace

CUTBACK_STRIDED_CALL(distances) {
  withSum(call.tensor(0).type(), [&](auto zero) {
    using T = decltype(zero);
    const double p = call.numbers<Distances>().p;
    if (p == 0)
      return Points<T, Power::Count>(call).run(call);
    if (p == 1)
      return Points<T, Power::One>(call).run(call);
    if (p == 2)
      return Points<T, Power::Two>(call).run(call);
    if (std::isinf(p))
      return Points<T, Power::Most>(call).run(call);
    return Points<T, Power::Any>(call).run(call);
  });
}
