// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances of points of any number and width, and their gradients, as the text
// for a device has them: what is added into an element is in its order. With d
// the difference and D the distance the gradient is g * sign(d) *
// (|d| / D)^(p - 1): 0 for p = 0 and where d or D is 0; for p = infinity
// g * sign(d) where |d| is D.

#include "Strided.h"

using precompiled::Distances;

namespace {

template <typename T> struct Measure {
  double p;

  static T power(T base, double exponent) {
    return T(pow(double(base), exponent));
  }
  T add(T sum, T apart) const {
    if (p == 0)
      return sum + T(apart != 0 ? 1 : 0);
    if (std::isinf(p))
      return Max()(sum, apart);
    if (p == 1)
      return sum + apart;
    return sum + (p == 2 ? apart * apart : power(apart, p));
  }
  T distance(T sum) const {
    if (p == 0 || p == 1 || std::isinf(p))
      return sum;
    return p == 2 ? rootOf(sum) : power(sum, 1 / p);
  }
  /// The derivative of distance `whole`, an element of `of`, in `d`.
  T slope(const Strided &of, T d, T whole) const {
    const T sign = T(d > 0 ? 1 : d < 0 ? -1 : 0);
    if (p == 0)
      return 0;
    if (std::isinf(p)) {
      T stored = 0; // as distances are rounded
      withType(of.type(), nullptr, [&](auto *elements) {
        stored =
            heldAs<T>(storedAs<std::remove_reference_t<decltype(*elements)>>(
                absolute(d)));
      });
      return stored == whole ? sign : T(0);
    }
    if (d == 0 || whole == 0)
      return 0;
    if (p == 2)
      return d / whole;
    return p == 1 ? sign : sign * power(absolute(d) / whole, p - 1);
  }
};

template <typename T> struct Points {
  const Distances &told;
  Strided a, b, gradient, distances, out;
  Measure<T> measure;

  explicit Points(const Call &call)
      : told(call.numbers<Distances>()), a(call.tensor(0)), b(call.tensor(1)),
        gradient(call.tensor(2)), distances(call.tensor(3)),
        out(call.tensor(4)), measure{told.p} {}

  T distance(int64_t ofA, int64_t ofB, int64_t apartA, int64_t apartB,
             int64_t width) const {
    T sum = 0;
    for (int64_t e = 0; e < width; ++e)
      sum = measure.add(sum, absolute(a.get<T>(ofA + e * apartA) -
                                      b.get<T>(ofB + e * apartB)));
    return measure.distance(sum);
  }

  /// Of each to each, by batches.
  void forward(const Call &call) const {
    const int rank = out.rank();
    call.forEach(out.sizes(), rank, [&](int64_t, const int64_t *at) {
      const int64_t ofA = a.begin() + a.offset(at, rank - 1),
                    ofB = b.begin() + b.offset(at, rank - 2) +
                          at[rank - 1] * b.stride(rank - 2);
      out.set(out.begin() + out.offset(at, rank),
              distance(ofA, ofB, a.stride(rank - 1), b.stride(rank - 1),
                       a.size(rank - 1)));
    });
  }
  void ofFirst(const Call &call) const {
    const int rank = out.rank();
    call.forEach(out.sizes(), rank, [&](int64_t, const int64_t *at) {
      const T own = a.get<T>(a.begin() + a.offset(at, rank));
      const int64_t others = b.begin() + b.offset(at, rank - 2) +
                             at[rank - 1] * b.stride(rank - 1),
                    pairs = gradient.begin() + gradient.offset(at, rank - 1),
                    wholes = distances.begin() + distances.offset(at, rank - 1);
      T sum = 0;
      for (int64_t other = 0; other < b.size(rank - 2); ++other) {
        const T d = own - b.get<T>(others + other * b.stride(rank - 2));
        const T whole =
            distances.get<T>(wholes + other * distances.stride(rank - 1));
        sum += gradient.get<T>(pairs + other * gradient.stride(rank - 1)) *
               measure.slope(distances, d, whole);
      }
      out.set(out.begin() + out.offset(at, rank), sum);
    });
  }

  /// The number of pair (i, j), i < j.
  int64_t pairOf(int64_t i, int64_t j) const {
    return i * (2 * a.size(0) - 1 - i) / 2 + j - i - 1;
  }
  void within(const Call &call) const {
    const int64_t sizes[2] = {a.size(0), a.size(0)};
    call.forEach(sizes, 2, [&](int64_t, const int64_t *at) {
      if (at[0] >= at[1])
        return;
      out.set(out.begin() + pairOf(at[0], at[1]) * out.stride(0),
              distance(a.begin() + at[0] * a.stride(0),
                       a.begin() + at[1] * a.stride(0), a.stride(1),
                       a.stride(1), a.size(1)));
    });
  }
  void ofWithin(const Call &call) const {
    call.forEach(a.sizes(), 2, [&](int64_t, const int64_t *at) {
      const int64_t column = a.begin() + at[1] * a.stride(1);
      const T own = a.get<T>(column + at[0] * a.stride(0));
      T sum = 0;
      for (int64_t other = 0; other < a.size(0); ++other) {
        if (other == at[0])
          continue;
        const int64_t pair =
            pairOf(std::min(at[0], other), std::max(at[0], other));
        const T d = own - a.get<T>(column + other * a.stride(0));
        const T whole =
            distances.get<T>(distances.begin() + pair * distances.stride(0));
        sum += gradient.get<T>(gradient.begin() + pair * gradient.stride(0)) *
               measure.slope(distances, d, whole);
      }
      out.set(out.begin() + out.offset(at, 2), sum);
    });
  }

  void run(const Call &call) {
    switch (told.kind) {
    case Distances::Forward:
      return forward(call);
    case Distances::Gradient:
      return ofFirst(call);
    case Distances::Within:
      b = a;
      return within(call);
    default:
      return ofWithin(call);
    }
  }
};

} // namespace

CUTBACK_STRIDED_CALL(distances) {
  withSum(call.tensor(0).type(),
          [&](auto zero) { Points<decltype(zero)>(call).run(call); });
}
