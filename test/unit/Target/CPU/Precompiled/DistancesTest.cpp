// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random distances of points and their gradients, beside loops over the
// coordinates of each pair: the same bits. More points than a block has, more
// coordinates, none of them, and points that are the same or not finite. The
// powers are those that have a way of their own, and others.
//
// Half of the calls have coordinates of few values: then a distance is that of
// a coordinate, for which the gradient of the greatest one asks.

#include "StridedTest.h"

using namespace cutback;
using precompiled::Distances;

extern "C" void cutback_distances(void **, int64_t *,
                                  const precompiled::StridedCall *);

namespace {

/// Each result for itself.
template <typename T> struct PairByPair {
  double p;
  Strided a, b, gradient, distances, out;

  PairByPair(double p, const std::vector<Strided> &all)
      : p(p), a(all[0]), b(all[1] ? all[1] : all[0]), gradient(all[2]),
        distances(all[3]), out(all[4]) {}

  static T raised(T base, double exponent) {
    return T(std::pow(double(base), exponent));
  }
  T added(T sum, T apart) const {
    if (p == 0)
      return sum + (apart != 0 ? T(1) : T(0));
    if (std::isinf(p))
      return Max()(sum, apart);
    if (p == 1)
      return sum + apart;
    return sum + (p == 2 ? apart * apart : raised(apart, p));
  }
  /// Of points that begin there.
  T distance(int64_t atA, int64_t atB) const {
    const int last = a.rank() - 1;
    T sum = 0;
    for (int64_t e = 0; e < a.size(last); ++e)
      sum = added(sum, std::abs(a.get<T>(atA + e * a.stride(last)) -
                                b.get<T>(atB + e * b.stride(last))));
    if (p == 0 || p == 1 || std::isinf(p))
      return sum;
    return p == 2 ? std::sqrt(sum) : raised(sum, 1 / p);
  }
  /// In the type that distances are stored in.
  T rounded(T x) const {
    char bytes[8];
    precompiled::StridedTensor alone;
    alone.operand = 0;
    alone.type = distances.type();
    void *memory = bytes;
    const Strided one(alone, &memory);
    one.set(0, x);
    return one.get<T>(0);
  }
  T slope(T d, T whole) const {
    const T sign = d > 0 ? T(1) : d < 0 ? T(-1) : T(0);
    if (p == 0)
      return 0;
    if (std::isinf(p))
      return rounded(std::abs(d)) == whole ? sign : T(0);
    if (d == 0 || whole == 0)
      return 0;
    if (p == 1)
      return sign;
    return p == 2 ? d / whole : sign * raised(std::abs(d) / whole, p - 1);
  }
  /// What a pair gives to an element of its first point.
  T change(int64_t atA, int64_t atB, int64_t atGradient,
           int64_t atWhole) const {
    return gradient.get<T>(atGradient) *
           slope(a.get<T>(atA) - b.get<T>(atB), distances.get<T>(atWhole));
  }

  void forward() const {
    const int row = out.rank() - 2;
    for (int64_t i = 0; i < out.count(); ++i) {
      const Walk at(out.sizes(), out.rank(), i);
      out.set(out.offsetOf(i), distance(a.begin() + a.offset(at.index, row + 1),
                                        b.begin() + b.offset(at.index, row) +
                                            at.index[row + 1] * b.stride(row)));
    }
  }
  void ofFirst() const {
    const int row = out.rank() - 2;
    for (int64_t i = 0; i < out.count(); ++i) {
      const Walk at(out.sizes(), out.rank(), i);
      const int64_t e = at.index[row + 1];
      T sum = 0;
      for (int64_t other = 0; other < b.size(row); ++other) {
        auto pair = [&](const Strided &of) {
          return of.begin() + of.offset(at.index, row + 1) +
                 other * of.stride(row + 1);
        };
        sum += change(a.offsetOf(i),
                      b.begin() + b.offset(at.index, row) +
                          other * b.stride(row) + e * b.stride(row + 1),
                      pair(gradient), pair(distances));
      }
      out.set(out.offsetOf(i), sum);
    }
  }
  /// Calls `use(number, i, j)` for all pairs i < j, in their order.
  template <typename Use> void forPairs(Use use) const {
    int64_t number = 0;
    for (int64_t i = 0; i < a.size(0); ++i)
      for (int64_t j = i + 1; j < a.size(0); ++j)
        use(number++, i, j);
  }
  void within() const {
    forPairs([&](int64_t number, int64_t i, int64_t j) {
      out.set(out.offsetOf(number), distance(a.begin() + i * a.stride(0),
                                             a.begin() + j * a.stride(0)));
    });
  }
  void ofWithin() const {
    const int64_t points = a.size(0), width = a.size(1);
    std::vector<int64_t> numbers(points * points);
    forPairs([&](int64_t number, int64_t i, int64_t j) {
      numbers[i * points + j] = numbers[j * points + i] = number;
    });
    for (int64_t i = 0; i < points; ++i)
      for (int64_t e = 0; e < width; ++e) {
        T sum = 0;
        for (int64_t j = 0; j < points; ++j)
          if (const int64_t number = numbers[i * points + j]; i != j)
            sum +=
                change(a.offsetOf(i * width + e), a.offsetOf(j * width + e),
                       gradient.offsetOf(number), distances.offsetOf(number));
        out.set(out.offsetOf(i * width + e), sum);
      }
  }
};

class DistancesTest : public test::StridedTest {
protected:
  using Random = test::Random;

  int64_t anyLength() {
    return oneIn(16) ? 0 : oneIn(5) ? 1 + below(150) : 1 + below(9);
  }
  std::vector<Random> anyTensors(int64_t kind);
  void compareAll(Distances::Kind kind);
};

/// None if there are too many pairs.
std::vector<test::Random> DistancesTest::anyTensors(int64_t kind) {
  const bool isGradient =
      kind == Distances::Gradient || kind == Distances::WithinGradient;
  const int64_t points = anyLength(), others = anyLength(), width = anyLength(),
                type = anyFloat();
  Sizes lead;
  while (kind <= Distances::Gradient && oneIn(3))
    lead.push_back(1 + below(3));
  if (countOf(lead) * points * others * width > 100000 ||
      points * points * width > 100000)
    return {};
  Sizes ofA = joined(lead, {points, width}),
        ofB = joined(lead, {others, width}),
        ofPairs = joined(lead, {points, others});
  if (kind > Distances::Gradient)
    ofPairs = {points * (points - 1) / 2};
  std::vector<Random> tensors = {
      tensor(type, ofA, true),
      kind <= Distances::Gradient ? tensor(floatBeside(type), ofB, true)
                                  : none(),
      isGradient ? tensor(floatBeside(type), ofPairs, true) : none(),
      isGradient ? tensor(floatBeside(type), ofPairs, true) : none(),
      tensor(floatBeside(type), isGradient ? ofA : ofPairs, false)};
  const bool areFew = oneIn(2);
  for (Random &one : tensors) {
    void *memory = one.memory.data();
    const Strided all(one.layout, &memory);
    fillFloats(one);
    for (int64_t i = 0; areFew && i < int64_t(one.memory.size()) / all.bytes();
         ++i)
      if (const auto x = all.get<double>(i); x * 0 == 0)
        all.set(i, std::abs(std::round(x)));
  }
  return tensors;
}

void DistancesTest::compareAll(Distances::Kind kind) {
  const double infinity = std::numeric_limits<double>::infinity();
  int made = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<Random> tensors = anyTensors(kind);
    if (tensors.empty())
      continue;
    const double all[] = {0, 0.5, 1, 2, 3, infinity};
    const Distances told = {kind, all[below(6)]};
    SCOPED_TRACE(std::to_string(i) + ", p = " + std::to_string(told.p));
    compare(cutback_distances, tensors, told, [&](const auto &tensors) {
      withSum(tensors[0].type(), [&](auto zero) {
        const PairByPair<decltype(zero)> naive(told.p, tensors);
        if (kind == Distances::Forward)
          naive.forward();
        else if (kind == Distances::Gradient)
          naive.ofFirst();
        else if (kind == Distances::Within)
          naive.within();
        else
          naive.ofWithin();
      });
    });
    if (HasFailure())
      return;
    ++made;
  }
  EXPECT_GT(made, 250);
}

TEST_F(DistancesTest, AreThoseOfEachToEach) { compareAll(Distances::Forward); }
TEST_F(DistancesTest, HaveTheGradientOfTheFirst) {
  compareAll(Distances::Gradient);
}
TEST_F(DistancesTest, AreThoseOfEachToThoseBehind) {
  compareAll(Distances::Within);
}
TEST_F(DistancesTest, HaveTheGradientOfAllWithin) {
  compareAll(Distances::WithinGradient);
}

} // namespace
