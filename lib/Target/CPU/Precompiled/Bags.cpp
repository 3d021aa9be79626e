// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bags of rows of a table of any sizes: sums, means or greatest elements, what
// is known of bags, and the gradients of the table and of the rows' weights.
//
// An element of the table gets what is for it in the order of the indices, as
// in the text for a device. Sums are held where they are stored, or for types
// that are rounded in memory of their own, some columns at a time. Parts of a
// call have neighboring bags, columns or indices.

#include "Strided.h"

#include "cutback_rows.cuh"

using precompiled::Bags;

namespace {

constexpr int kBlock = 256;

struct BagCall {
  const Bags &told;
  Strided table, indices, offsets, weights, bagOfIndex, sizes, out, rows,
      gradient;
  int *problem;

  explicit BagCall(Call &call)
      : told(call.numbers<Bags>()), table(call.tensor(0)),
        indices(call.tensor(1)), offsets(call.tensor(2)),
        weights(call.tensor(3)), bagOfIndex(call.tensor(4)),
        sizes(call.tensor(5)), out(call.tensor(6)), rows(call.tensor(7)),
        gradient(call.tensor(8)), problem(&call.problem) {}

  static long long number(const Strided &list, int64_t i) {
    return list.get<long long>(list.begin() + i * list.stride(0));
  }
  int64_t rowOf(int64_t i) const {
    return checked(number(indices, i), told.tableRows, problem);
  }
  int64_t offset(int64_t bag) const { return number(offsets, bag); }
  std::pair<int64_t, int64_t> range(int64_t bag) const {
    const int64_t count = told.count;
    const int64_t begin = checked(offset(bag), count + 1, problem);
    const int64_t end = told.includesLast || bag + 1 < offsets.size(0)
                            ? checked(offset(bag + 1), count + 1, problem)
                            : count;
    checked(end - begin, count + 1, problem);
    return {begin, end};
  }
  int64_t bagOf(int64_t i) const {
    if (bagOfIndex)
      return checked(number(bagOfIndex, i), told.bags, problem);
    return ::bagOf(int(told.bags), int(i),
                   [&](int bag) { return offset(bag); });
  }
  bool isPadding(int64_t row) const {
    return told.padding >= 0 && row == told.padding;
  }
};

/// Some columns of a bag.
template <typename T>
void rowsOfBag(const BagCall &b, int64_t bag, int64_t column, int some) {
  const auto [begin, end] = b.range(bag);
  T x[kBlock] = {}, line[kBlock];
  int64_t from[kBlock];
  std::fill(from, from + some, -1);
  int count = 0;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = b.rowOf(i);
    if (b.isPadding(row))
      continue;
    readLine(b.table,
             b.table.begin() + row * b.table.stride(0) +
                 column * b.table.stride(1),
             b.table.stride(1), some, line);
    ++count;
    if (b.told.mode == Bags::Max) {
      for (int e = 0; e < some; ++e)
        if (from[e] < 0 || line[e] > x[e])
          x[e] = line[e], from[e] = row;
      continue;
    }
    if (b.weights) {
      const T weight =
          b.weights.get<T>(b.weights.begin() + i * b.weights.stride(0));
      for (int e = 0; e < some; ++e)
        line[e] = weight * line[e];
    }
    for (int e = 0; e < some; ++e)
      x[e] += line[e];
  }
  if (b.told.mode == Bags::Mean)
    for (int e = 0; e < some; ++e)
      x[e] = count ? x[e] / T(count) : T(0);
  auto store = [&](const Strided &to, const auto *values) {
    if (to)
      writeLine(to, to.begin() + bag * to.stride(0) + column * to.stride(1),
                to.stride(1), some, values);
  };
  store(b.out, x);
  for (int e = 0; e < some; ++e)
    from[e] = std::max<int64_t>(from[e], 0);
  store(b.rows, from);
}

template <typename T> void rowsOfBags(const Call &call, const BagCall &b) {
  const auto [first, last] = call.share(b.told.bags);
  const int64_t width = b.table.size(1);
  for (int64_t bag = first; bag < last; ++bag)
    for (int64_t column = 0; column < width; column += kBlock)
      rowsOfBag<T>(b, bag, column,
                   int(std::min<int64_t>(kBlock, width - column)));
}

/// Calls `add(sums, apart, column, some)` for blocks of the part's columns of
/// the table, whose rows are zeros then, and stores sums behind it.
template <typename T, typename Add, typename Finish>
void sumRowsOfTable(Call &call, const BagCall &b, Add add, Finish finish) {
  const bool isInPlace =
      b.out.type() != precompiled::BF16 && b.out.type() != precompiled::F16;
  const int64_t rows = b.out.size(0), width = b.out.size(1);
  const auto [first, last] = call.share(width);
  const int64_t most = isInPlace ? kBlock : 16;
  const Numbers<T> own(isInPlace ? 0 : rows * most, call.problem);
  if (!own)
    return;
  for (int64_t column = first; column < last; column += most) {
    const int some = int(std::min(most, last - column));
    T *sums =
        isInPlace ? b.out.elements<T>() + b.out.begin() + column : own.data();
    const int64_t apart = isInPlace ? width : most;
    for (int64_t row = 0; row < rows; ++row)
      std::fill(sums + row * apart, sums + row * apart + some, T(0));
    add(sums, apart, column, some);
    for (int64_t row = 0; row < rows; ++row) {
      finish(row, sums + row * apart, some);
      if (!isInPlace)
        writeLine(b.out,
                  b.out.begin() + row * b.out.stride(0) +
                      column * b.out.stride(1),
                  1, some, sums + row * apart);
    }
  }
}

template <typename T> void tableGradient(Call &call, const BagCall &b) {
  const bool isScaled = b.told.isScaled != 0;
  const Numbers<int> uses(isScaled ? b.out.size(0) : 0, call.problem);
  if (!uses)
    return;
  auto forIndices = [&](auto use) {
    for (int64_t i = 0; i < b.told.count; ++i)
      if (const int64_t row = b.rowOf(i); !b.isPadding(row))
        use(i, row);
  };
  if (isScaled) {
    std::fill(uses.data(), uses.data() + b.out.size(0), 0);
    forIndices([&](int64_t, int64_t row) { ++uses.data()[row]; });
  }
  sumRowsOfTable<T>(
      call, b,
      [&](T *sums, int64_t apart, int64_t column, int some) {
        forIndices([&](int64_t i, int64_t row) {
          const int64_t bag = b.bagOf(i);
          T line[kBlock];
          readLine(b.gradient,
                   b.gradient.begin() + bag * b.gradient.stride(0) +
                       column * b.gradient.stride(1),
                   b.gradient.stride(1), some, line);
          if (b.weights) {
            const T weight =
                b.weights.get<T>(b.weights.begin() + i * b.weights.stride(0));
            for (int e = 0; e < some; ++e)
              line[e] *= weight;
          }
          if (b.told.mode == Bags::Mean) {
            const T size = T(BagCall::number(b.sizes, bag));
            for (int e = 0; e < some; ++e)
              line[e] /= size;
          }
          for (int e = 0; e < some; ++e)
            sums[row * apart + e] += line[e];
        });
      },
      [&](int64_t row, T *sums, int some) {
        if (isScaled)
          for (int e = 0; e < some; ++e)
            sums[e] = uses.data()[row] ? sums[e] / T(uses.data()[row]) : T(0);
      });
}

template <typename T> void greatestGradient(Call &call, const BagCall &b) {
  sumRowsOfTable<T>(
      call, b,
      [&](T *sums, int64_t apart, int64_t column, int some) {
        for (int64_t bag = 0; bag < b.gradient.size(0); ++bag)
          for (int e = 0; e < some; ++e) {
            auto at = [&](const Strided &of) {
              return of.begin() + bag * of.stride(0) +
                     (column + e) * of.stride(1);
            };
            const int64_t row = checked(b.rows.get<long long>(at(b.rows)),
                                        b.out.size(0), b.problem);
            if (BagCall::number(b.sizes, bag) > 0)
              sums[row * apart + e] += b.gradient.get<T>(at(b.gradient));
          }
      },
      [](int64_t, T *, int) {});
}

template <typename T> void weightGradient(const Call &call, const BagCall &b) {
  const auto [first, last] = call.share(b.told.count);
  for (int64_t i = first; i < last; ++i) {
    const int64_t bag = b.bagOf(i), row = b.rowOf(i);
    T sum = 0;
    for (int64_t e = 0; e < b.table.size(1) && !b.isPadding(row); ++e)
      sum += b.gradient.get<T>(b.gradient.begin() + bag * b.gradient.stride(0) +
                               e * b.gradient.stride(1)) *
             b.table.get<T>(b.table.begin() + row * b.table.stride(0) +
                            e * b.table.stride(1));
    b.out.set(b.out.begin() + i * b.out.stride(0), sum);
  }
}

/// What the forward says of bags: numbers of a list.
void describeBags(const Call &call, const BagCall &b) {
  const auto [first, last] = call.share(b.out.count());
  for (int64_t i = first; i < last; ++i) {
    long long x = 0;
    if (b.told.kind == Bags::BagOfIndex) {
      x = b.bagOf(i);
    } else {
      const auto [begin, end] = b.range(i < b.told.bags ? i : 0);
      for (int64_t number = begin; number < end; ++number)
        x += !b.isPadding(BagCall::number(b.indices, number));
      x = i < b.told.bags ? x : 0;
    }
    b.out.set(b.out.begin() + i * b.out.stride(0), x);
  }
}

} // namespace

CUTBACK_STRIDED_CALL(bags) {
  const BagCall bags(call);
  if (bags.told.kind == Bags::BagOfIndex || bags.told.kind == Bags::Sizes)
    return describeBags(call, bags);
  const Strided &some = bags.gradient ? bags.gradient : bags.table;
  withSum(some.type(), [&](auto zero) {
    using T = decltype(zero);
    switch (bags.told.kind) {
    case Bags::Rows:
      return rowsOfBags<T>(call, bags);
    case Bags::TableGradient:
      return tableGradient<T>(call, bags);
    case Bags::GreatestGradient:
      return greatestGradient<T>(call, bags);
    default:
      return weightGradient<T>(call, bags);
    }
  });
}
