// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random calls of scatter and take, beside a look at each index for each
// element of the result: the same bits, and the same word about wrong indices.

#include "StridedTest.h"

using namespace cutback;
using precompiled::Combine;
using precompiled::Scatter;

extern "C" {
void cutback_scatter(void **, int64_t *, const precompiled::StridedCall *);
void cutback_take(void **, int64_t *, const precompiled::StridedCall *);
}

namespace {

class ScatterTest : public test::StridedTest {
protected:
  using Random = test::Random;

  Scatter anyScatter();
  int64_t expectScatter(const Scatter &told, std::vector<Random> &tensors);
  std::vector<Random> anyTensors(Scatter &told, int rows);
  int64_t expectTake(const precompiled::Take &told,
                     std::vector<Random> &tensors);
};

Scatter ScatterTest::anyScatter() {
  Scatter told;
  told.how = Combine(below(6));
  told.includesSelf = oneIn(4) ? 0 : 1;
  told.isApart = oneIn(8) ? 1 : 0;
  told.bounds = below(3);
  told.isMasked = oneIn(4) ? 1 : 0;
  told.numbers = 1 + below(2);
  told.columns = below(4);
  told.alpha = told.how == Combine::Sum && oneIn(3) ? 2 : 1;
  told.value = below(3);
  return told;
}

/// The index that `at` names, or -1 and a mark.
int64_t settled(int64_t at, int64_t size, int64_t bounds, int64_t &problem) {
  if (bounds == Scatter::Clamped)
    return std::clamp<int64_t>(at, 0, size - 1);
  if (bounds == Scatter::Wrapped && at < 0)
    at += size;
  if (at >= 0 && at < size)
    return at;
  problem = kWrongIndex;
  return 0;
}

/// Each column for itself: all numbers, in their order.
template <typename H> struct Column {
  const Scatter &told;
  const std::vector<Strided> &tensors;
  const int64_t *at; ///< indices of the column
  std::vector<H> sums{};
  std::vector<int> counts{};
  int64_t problem = 0;

  const Strided &out() const { return tensors[1]; }
  int rows() const { return int(out().rank() - told.columns); }
  bool isThere() const {
    for (int dim = 0; dim < told.columns; ++dim)
      if (at[dim] >= told.limits[dim])
        return false;
    return true;
  }
  /// Where element `number` of the other dimensions, `dims`, is.
  int64_t place(const Strided &tensor, int64_t number, int dims) const {
    return tensor.begin() + tensor.offsetOf(number, 0, dims) +
           tensor.offset(at, int(told.columns), dims);
  }
  int64_t rowOf(int64_t number) {
    int64_t row = 0;
    for (int dim = 0; dim < rows(); ++dim) {
      const Strided &index = tensors[3 + dim];
      const int64_t named =
          index.get<long long>(place(index, number, int(told.numbers)));
      row = row * out().size(dim) +
            settled(named, out().size(dim), told.bounds, problem);
    }
    return row;
  }
  H combined(H x, H value) const {
    switch (told.how) {
    case Combine::Put:
      return value;
    case Combine::Product:
      return x * value;
    case Combine::Max:
      return Max()(x, value);
    case Combine::Min:
      return Min()(x, value);
    default:
      return x + value;
    }
  }
  void add(int64_t number) {
    const Strided &source = tensors[2], &mask = tensors.back();
    const int dims = int(told.numbers);
    if (told.isMasked && !mask.get<long long>(place(mask, number, dims)))
      return;
    const int64_t row = rowOf(number);
    const H given =
        source ? source.get<H>(place(source, number, dims)) : H(told.value);
    const H value = H(told.alpha) * given;
    const bool isFirst = counts[row]++ == 0;
    H &x = sums[row];
    if (isFirst && (told.how == Combine::Mean || !told.includesSelf))
      x = value;
    else
      x = combined(x, value);
  }
  void store(int64_t row) const {
    const int64_t at = place(out(), row, rows());
    const H own = tensors[0].get<H>(place(tensors[0], row, rows()));
    out().set(at, told.isApart ? own + sums[row] : sums[row]);
    if (told.isApart || told.how != Combine::Mean || counts[row] <= 1)
      return;
    if constexpr (std::is_floating_point_v<H>)
      out().set(at, sums[row] / H(counts[row]));
    else
      out().set(at, floorDivide(out().template get<H>(at), H(counts[row])));
  }
  void run() {
    const int64_t count = out().count(rows());
    counts.assign(count, int(told.includesSelf));
    for (int64_t row = 0; row < count; ++row)
      sums.push_back(told.isApart
                         ? H(0)
                         : tensors[0].get<H>(place(tensors[0], row, rows())));
    const int64_t numbers = tensors[3].count(int(told.numbers));
    for (int64_t number = 0; isThere() && number < numbers; ++number)
      add(number);
    for (int64_t row = 0; row < count; ++row)
      store(row);
  }
};

int64_t ScatterTest::expectScatter(const Scatter &told,
                                   std::vector<Random> &tensors) {
  std::vector<void *> operands = operandsOf(tensors);
  std::vector<Strided> all;
  for (Random &tensor : tensors)
    all.emplace_back(tensor.layout, operands.data());
  const int64_t *sizes = all[1].sizes() + all[1].rank() - told.columns;
  const int64_t columns = countOf(Sizes(sizes, sizes + told.columns));
  int64_t problem = 0;
  for (int64_t column = 0; column < columns; ++column) {
    const Walk walk(sizes, int(told.columns), column);
    withHeld(all[1].type(), [&](auto zero) {
      Column<decltype(zero)> one{told, all, walk.index};
      one.run();
      problem = std::max(problem, one.problem);
    });
  }
  return problem;
}

/// A call of `rows` dimensions that are indexed; none if it is too large.
std::vector<test::Random> ScatterTest::anyTensors(Scatter &told, int rows) {
  Sizes ofRows = anySizes(rows), ofNumbers = anySizes(int(told.numbers)),
        ofColumns = anySizes(int(told.columns));
  for (int64_t &size : ofRows)
    size = std::max<int64_t>(size, 1);
  if (countOf(ofColumns) * (countOf(ofRows) + countOf(ofNumbers)) > 20000)
    return {};
  const bool isLimited = oneIn(4);
  for (int dim = 0; dim < told.columns; ++dim)
    told.limits[dim] =
        isLimited ? below(int(ofColumns[dim]) + 1) : ofColumns[dim];
  const int64_t type = anyType();
  const Sizes whole = joined(ofRows, ofColumns),
              given = joined(ofNumbers, ofColumns);
  std::vector<Random> tensors = {tensor(type, whole, true),
                                 tensor(type, whole, false),
                                 tensor(type, given, true)};
  for (int dim = 0; dim < rows; ++dim) {
    tensors.push_back(
        tensor(oneIn(2) ? precompiled::I32 : precompiled::I64, given, true));
    fillIndices(tensors.back(), ofRows[dim], told.bounds == Scatter::Wrapped,
                oneIn(4));
  }
  if (told.isMasked)
    tensors.push_back(tensor(precompiled::Bool, given, true));
  for (size_t i : {size_t(0), size_t(2), tensors.size() - 1})
    if (i < 3 || told.isMasked)
      fill(tensors[i]);
  number(tensors);
  if (oneIn(5))
    tensors[2].layout.operand = -1;
  return tensors;
}

TEST_F(ScatterTest, CombinesWhatEachIndexNames) {
  int made = 0;
  for (int i = 0; i < 1200; ++i) {
    Scatter told = anyScatter();
    std::vector<Random> tensors = anyTensors(told, oneIn(4) ? 2 : 1);
    if (tensors.empty())
      continue;
    std::vector<Random> expected = tensors;
    const int64_t problem = expectScatter(told, expected);
    ASSERT_EQ(run(cutback_scatter, tensors, told), problem) << i;
    ASSERT_TRUE(tensors[1].memory == expected[1].memory)
        << i << " of type " << tensors[1].layout.type << " by "
        << int64_t(told.how);
    ++made;
  }
  EXPECT_GT(made, 500);
}

int64_t ScatterTest::expectTake(const precompiled::Take &told,
                                std::vector<Random> &tensors) {
  std::vector<void *> operands = operandsOf(tensors);
  const Strided table(tensors[0].layout, operands.data()),
      indices(tensors[1].layout, operands.data()),
      out(tensors[2].layout, operands.data());
  int64_t problem = 0;
  for (int64_t i = 0; i < out.count(); ++i) {
    const auto named = indices.get<long long>(indices.offsetOf(i));
    const int64_t chosen =
        told.isModulo ? ((named % told.size) + told.size) % told.size
                      : settled(named, told.size, Scatter::Checked, problem);
    out.copy(out.offsetOf(i), table,
             told.isFlat ? table.offsetOf(chosen)
                         : table.offsetOf(i) + chosen * told.stride);
  }
  return problem;
}

TEST_F(ScatterTest, TakesWhatEachIndexNames) {
  int made = 0;
  for (int i = 0; i < 1200; ++i) {
    precompiled::Take told;
    told.isModulo = below(2);
    told.isFlat = oneIn(4) ? 1 : 0;
    const Sizes sizes = anySizes(1 + below(4));
    if (countOf(sizes) > 20000)
      continue;
    Sizes ofTable = told.isFlat ? Sizes{3, 5, 2} : sizes;
    const int axis = below(int(sizes.size()));
    if (!told.isFlat)
      ofTable[axis] = 1 + below(40);
    told.size = told.isFlat ? 30 : ofTable[axis];
    const int64_t type = anyType();
    std::vector<Random> tensors = {
        tensor(type, ofTable, true),
        tensor(oneIn(2) ? precompiled::I32 : precompiled::I64, sizes, true),
        tensor(type, sizes, false)};
    fill(tensors[0]);
    fillIndices(tensors[1], told.size, told.isModulo != 0, oneIn(4));
    if (!told.isFlat) {
      precompiled::StridedTensor &table = tensors[0].layout;
      told.stride = table.strides[axis];
      table.strides[axis] = 0;
      table.sizes[axis] = sizes[axis];
    }
    number(tensors);
    std::vector<Random> expected = tensors;
    const int64_t problem = expectTake(told, expected);
    ASSERT_EQ(run(cutback_take, tensors, told), problem) << i;
    ASSERT_TRUE(tensors[2].memory == expected[2].memory)
        << i << " of type " << type;
    ++made;
  }
  EXPECT_GT(made, 500);
}

} // namespace
