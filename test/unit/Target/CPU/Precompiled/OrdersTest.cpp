// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random scans and orders, beside a walk along each row, and a sort of it by
// what the order says of two elements: the same bits, of NaN and zeros too.

#include "StridedTest.h"

#include "cutback_rows.cuh"

using namespace cutback;
using precompiled::Order;
using precompiled::Scan;

extern "C" {
void cutback_scan(void **, int64_t *, const precompiled::StridedCall *);
void cutback_order(void **, int64_t *, const precompiled::StridedCall *);
}

namespace {

class OrdersTest : public test::StridedTest {
protected:
  using Random = test::Random;

  template <typename H>
  void scanRows(const Scan &told, std::vector<Random> &tensors);
  template <typename H>
  void orderRows(const Order &told, std::vector<Random> &tensors);
  std::vector<Random> anyTensors(int64_t type, const Sizes &sizes,
                                 const Sizes &results);
  void expectSame(const std::vector<Random> &actual,
                  const std::vector<Random> &expected, int number);
};

/// Self, values and places, of which one of the last two may miss.
std::vector<test::Random>
OrdersTest::anyTensors(int64_t type, const Sizes &sizes, const Sizes &results) {
  std::vector<Random> tensors = {
      tensor(type, sizes, true), tensor(type, results, false),
      tensor(oneIn(2) ? precompiled::I32 : precompiled::I64, results, false)};
  fill(tensors[0]);
  number(tensors);
  if (oneIn(3))
    tensors[1 + below(2)].layout.operand = -1;
  return tensors;
}

void OrdersTest::expectSame(const std::vector<Random> &actual,
                            const std::vector<Random> &expected, int number) {
  for (int k = 1; k < 3; ++k)
    ASSERT_TRUE(actual[k].memory == expected[k].memory)
        << number << ", tensor " << k << " of type " << actual[0].layout.type;
}

template <typename H>
void OrdersTest::scanRows(const Scan &told, std::vector<Random> &tensors) {
  std::vector<void *> operands = operandsOf(tensors);
  const Strided self(tensors[0].layout, operands.data()),
      values(tensors[1].layout, operands.data()),
      places(tensors[2].layout, operands.data());
  const int axis = int(told.axis);
  for (int64_t begin = 0; begin < self.count(); ++begin) {
    Walk at(self.sizes(), self.rank(), begin);
    if (at.index[axis] != 0)
      continue; // not where a row begins
    H x = told.kind == Scan::Product ? H(1) : H(0);
    int64_t place = 0;
    for (int64_t i = 0; i < self.size(axis); ++i) {
      at.index[axis] = i;
      const H next = self.get<H>(self.place(at.index, self.rank()));
      const bool isAfter = told.kind == Scan::Min ? next <= x : next >= x;
      if (told.kind == Scan::Sum)
        x += next;
      else if (told.kind == Scan::Product)
        x *= next;
      else if (i == 0 || next != next || (x == x && isAfter))
        x = next, place = i;
      if (values)
        values.set(values.place(at.index, self.rank()), x);
      if (places)
        places.set(places.place(at.index, self.rank()), (long long)place);
    }
  }
}

TEST_F(OrdersTest, ScansEachRowInItsOrder) {
  int made = 0;
  for (int i = 0; i < 1200; ++i) {
    const Sizes sizes = anySizes(1 + below(4));
    if (countOf(sizes) > 20000)
      continue;
    Scan told;
    const Scan::Kind kinds[] = {Scan::Sum, Scan::Product, Scan::Max, Scan::Min};
    told.kind = kinds[below(4)];
    told.axis = below(int(sizes.size()));
    std::vector<Random> tensors = anyTensors(anyType(), sizes, sizes);
    if (told.kind < Scan::Max) // these have no places
      tensors[1].layout.operand = 1, tensors[2].layout.operand = -1;
    std::vector<Random> expected = tensors;
    withHeld(tensors[0].layout.type,
             [&](auto zero) { scanRows<decltype(zero)>(told, expected); });
    ASSERT_EQ(run(cutback_scan, tensors, told), 0);
    expectSame(tensors, expected, i);
    if (HasFailure())
      return;
    ++made;
  }
  EXPECT_GT(made, 500);
}

/// How often each is there is counted.
template <typename H> int modeAt(const std::vector<H> &row) {
  int best = 0;
  int64_t most = 0;
  for (int i = 0; i < int(row.size()); ++i) {
    const int64_t uses = std::count(row.begin(), row.end(), row[i]);
    if (uses > most || (uses && uses == most && row[i] <= row[best]))
      best = i, most = uses;
  }
  return best;
}

/// NaN is behind all others.
template <typename H>
int64_t wantedOf(const Order &told, const std::vector<H> &row) {
  const auto all = int64_t(row.size());
  const int64_t nans =
      std::count_if(row.begin(), row.end(), [](H x) { return x != x; });
  switch (told.kind) {
  case Order::Nth:
    return told.nth;
  case Order::NanMedian:
    return std::max<int64_t>(all - nans - 1, 0) / 2;
  default:
    return nans ? all - nans : (all - 1) / 2;
  }
}

template <typename H>
void OrdersTest::orderRows(const Order &told, std::vector<Random> &tensors) {
  std::vector<void *> operands = operandsOf(tensors);
  const Strided self(tensors[0].layout, operands.data()),
      values(tensors[1].layout, operands.data()),
      places(tensors[2].layout, operands.data());
  const int axis = int(told.axis), dims = self.rank();
  for (int64_t begin = 0; begin < self.count(); ++begin) {
    Walk at(self.sizes(), dims, begin);
    if (at.index[axis] != 0)
      continue;
    std::vector<H> row;
    std::vector<int> order;
    for (; at.index[axis] < self.size(axis); ++at.index[axis]) {
      row.push_back(self.get<H>(self.place(at.index, dims)));
      order.push_back(int(at.index[axis]));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return told.isFalling ? isBefore<true>(row[a], a, row[b], b)
                            : isBefore<false>(row[a], a, row[b], b);
    });
    if (told.kind == Order::Mode)
      order = {modeAt(row)};
    else if (told.kind != Order::Sort)
      order = {order[wantedOf(told, row)]};
    const int64_t kept = told.kind == Order::Sort ? told.kept : 1;
    for (int64_t i = 0; i < kept; ++i) {
      at.index[axis] = i;
      const int64_t value = values.place(at.index, dims);
      if (places)
        places.set(places.place(at.index, dims), (long long)order[i]);
      at.index[axis] = order[i];
      if (values)
        values.copy(value, self, self.place(at.index, dims));
    }
  }
}

TEST_F(OrdersTest, OrdersEachRow) {
  int made = 0;
  for (int i = 0; i < 1200; ++i) {
    const Sizes sizes = anySizes(1 + below(3));
    if (countOf(sizes) == 0 || countOf(sizes) > 5000)
      continue;
    Order told;
    told.kind = oneIn(2) ? Order::Sort : below(5);
    told.axis = below(int(sizes.size()));
    const auto length = int(sizes[told.axis]);
    told.isFalling = told.kind == Order::Sort ? below(2) : 0;
    told.kept = oneIn(2) ? length : below(length + 1);
    told.nth = below(length);
    Sizes results = sizes;
    results[told.axis] = told.kind == Order::Sort ? told.kept : 1;
    std::vector<Random> tensors = anyTensors(anyType(), sizes, results);
    std::vector<Random> expected = tensors;
    withHeld(tensors[0].layout.type,
             [&](auto zero) { orderRows<decltype(zero)>(told, expected); });
    ASSERT_EQ(run(cutback_order, tensors, told), 0);
    expectSame(tensors, expected, i);
    if (HasFailure())
      return;
    ++made;
  }
  EXPECT_GT(made, 500);
}

} // namespace
