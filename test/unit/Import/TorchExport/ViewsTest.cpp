// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strides that can express new sizes, compared with a naive search: a view
// exists if the element that new indices name lies at a place that is linear
// in those indices.

#include "../../../../lib/Import/TorchExport/Views.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback::pt2;

namespace {

using Dims = std::vector<int64_t>;

/// Places of all elements of a tensor, in row-major order of its indices.
Dims placesOf(const Dims &sizes, const Dims &strides) {
  Dims places = {0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    Dims next;
    for (int64_t place : places)
      for (int64_t k = 0; k < sizes[i]; ++k)
        next.push_back(place + k * strides[i]);
    places = next;
  }
  return places;
}

/// Strides are forced by the neighbours of the first element.
bool canViewNaively(const Dims &sizes, const Dims &strides, const Dims &to) {
  Dims places = placesOf(sizes, strides);
  Dims found;
  int64_t step = static_cast<int64_t>(places.size());
  for (int64_t size : to) {
    step /= size;
    found.push_back(size == 1 ? 0 : places[static_cast<size_t>(step)]);
  }
  return placesOf(to, found) == places;
}

} // namespace

TEST(Views, KnownCases) {
  EXPECT_TRUE(canView({2, 3, 4}, {12, 4, 1}, {6, 4}));
  EXPECT_TRUE(canView({2, 3, 4}, {12, 4, 1}, {24}));
  EXPECT_FALSE(canView({2, 4, 3}, {12, 1, 4}, {24}));
  EXPECT_FALSE(canView({2, 4, 3}, {12, 1, 4}, {2, 12}));
  EXPECT_TRUE(canView({2, 4, 3}, {12, 1, 4}, {2, 2, 2, 3}));
  EXPECT_TRUE(canView({}, {}, {1, 1}));
  EXPECT_TRUE(canView({1}, {7}, {}));
  EXPECT_TRUE(canView({0, 3}, {3, 1}, {3, 0}));
  EXPECT_TRUE(canView({3, 4}, {0, 0}, {12}));
  EXPECT_FALSE(canView({3, 4}, {0, 1}, {12}));
  EXPECT_FALSE(canView({2, 3}, {3}, {6}));
}

TEST(Views, RandomCasesAgreeWithTheNaiveSearch) {
  std::mt19937 random(7);
  const Dims factors = {1, 2, 3, 2, 1};
  for (int i = 0; i < 4000; ++i) {
    Dims sizes, to;
    int64_t total = 1;
    for (unsigned d = 0; d < 1 + random() % 4; ++d) {
      sizes.push_back(factors[random() % factors.size()]);
      total *= sizes.back();
    }
    Dims order(sizes.size()), strides(sizes.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = static_cast<int64_t>(d);
    if (random() % 2)
      std::shuffle(order.begin(), order.end(), random);
    int64_t stride = 1;
    for (size_t d = order.size(); d-- > 0;) {
      strides[static_cast<size_t>(order[d])] = stride;
      stride *= sizes[static_cast<size_t>(order[d])] + (random() % 8 == 0);
    }
    for (int64_t rest = total; rest > 1 || random() % 3 == 0;) {
      int64_t size = rest % 2 == 0 && random() % 2   ? 2
                     : rest % 3 == 0 && random() % 2 ? 3
                     : random() % 4 == 0             ? 1
                                                     : rest;
      to.push_back(size);
      rest /= size;
    }
    EXPECT_EQ(canView(sizes, strides, to), canViewNaively(sizes, strides, to))
        << i;
  }
}
