// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans, orders and what is picked from them, along a dimension of any size.
//
// A scan goes over a row in its order. Where the text for a device counts for
// each element those in front of it, a row is sorted here: the order is total
// (the first of equals comes first, NaN is the greatest), so that both have the
// same one. A value that is looked for halves a row. Parts of a call have
// neighboring rows.

#include "Strided.h"

#include "cutback_rows.cuh"

using precompiled::Order;
using precompiled::Scan;

namespace {

/// The rows of a tensor along a dimension, or all of it as one row.
struct RowsOf {
  int64_t sizes[precompiled::kMostDims];
  int dims, axis;
  bool isAll;
  int64_t length;

  RowsOf(const Strided &self, int64_t axis, bool isAll)
      : dims(self.rank()), axis(int(axis)), isAll(isAll),
        length(isAll ? self.count() : self.size(int(axis))) {
    for (int dim = 0; dim < dims; ++dim)
      sizes[dim] = isAll || dim == axis ? 1 : self.size(dim);
  }
  int64_t begin(const Strided &tensor, const int64_t *at) const {
    return tensor.begin() + tensor.offset(at, dims);
  }
  template <typename H>
  void read(const Strided &self, const int64_t *at, H *row) const {
    if (!isAll)
      return readLine(self, begin(self, at), self.stride(axis), int(length),
                      row);
    Walk walk(self.sizes(), dims, 0);
    for (int64_t i = 0; i < length; ++i, walk.next())
      row[i] = self.get<H>(begin(self, walk.index));
  }
};

template <typename H>
void scanRow(const Scan &told, const Strided &self, const Strided &values,
             const Strided &places, const int64_t (&at)[3], int length) {
  const int axis = int(told.axis);
  const int64_t apart = self.stride(axis);
  H x = told.kind == Scan::Product  ? H(1)
        : told.kind == Scan::LogSum ? H(lowest())
                                    : H(0);
  int place = -1;
  for (int i = 0; i < length; ++i) {
    const H next = self.get<H>(at[0] + i * apart);
    switch (told.kind) {
    case Scan::Sum:
      x += next;
      break;
    case Scan::Product:
      x *= next;
      break;
    case Scan::LogSum:
      if constexpr (std::is_floating_point_v<H>)
        x = addPowers(x, next);
      break;
    default:
      if (place < 0 || next != next ||
          (x == x && (told.kind == Scan::Min ? next <= x : next >= x)))
        x = next, place = i;
    }
    if (values)
      values.set(at[1] + i * values.stride(axis), x);
    if (places)
      places.set(at[2] + i * places.stride(axis), place);
  }
}

/// What is combined of a row of elements that are rounded once, when stored.
template <typename H> void scan(const Call &call) {
  const auto &told = call.numbers<Scan>();
  const Strided self = call.tensor(0), values = call.tensor(1),
                places = call.tensor(2);
  const RowsOf rows(self, told.axis, false);
  call.forEach(rows.sizes, rows.dims, [&](int64_t, const int64_t *at) {
    const int64_t begins[3] = {rows.begin(self, at),
                               values ? rows.begin(values, at) : 0,
                               places ? rows.begin(places, at) : 0};
    scanRow<H>(told, self, values, places, begins, int(rows.length));
  });
}

/// The numbers of a row's elements as they are ordered.
template <typename H>
void sortRow(const H *row, int length, bool isFalling, int *order) {
  for (int i = 0; i < length; ++i)
    order[i] = i;
  if (isFalling)
    std::sort(order, order + length, [=](int a, int b) {
      return isBefore<true>(row[a], a, row[b], b);
    });
  else
    std::sort(order, order + length, [=](int a, int b) {
      return isBefore<false>(row[a], a, row[b], b);
    });
}

/// The least of those that are there most often, the last of these.
template <typename H> int modeOf(const H *row, int length) {
  int best = 0, most = 0;
  H value = row[0];
  for (int mine = 0; mine < length; ++mine) {
    const H x = row[mine];
    int uses = 0;
    for (int i = 0; i < length; ++i)
      uses += row[i] == x;
    if (uses < most || uses == 0 || (uses == most && x > value))
      continue;
    best = mine, most = uses, value = x;
  }
  return best;
}

/// Which of a sorted row it is. Where there are some, the first NaN, or the
/// middle of the others.
template <typename H>
int64_t wantedOf(const Order &told, const H *row, int64_t length) {
  if (told.kind == Order::Nth)
    return told.nth;
  int64_t nans = 0;
  for (int64_t i = 0; i < length; ++i)
    nans += row[i] != row[i];
  if (told.kind == Order::NanMedian)
    return nans < length ? (length - nans - 1) / 2 : 0;
  return nans ? length - nans : (length - 1) / 2;
}

template <typename H> void order(Call &call) {
  const auto &told = call.numbers<Order>();
  const Strided self = call.tensor(0), values = call.tensor(1),
                places = call.tensor(2);
  const RowsOf rows(self, told.axis, told.isAll);
  const Numbers<H> row(rows.length, call.problem);
  const Numbers<int> sorted(rows.length, call.problem);
  if (!row || !sorted || rows.length == 0)
    return;
  const int length = int(rows.length);
  const int *numbers = sorted.data();
  auto store = [&](const int64_t *at, int number) {
    if (values)
      values.set(rows.begin(values, at), row.data()[number]);
    if (places)
      places.set(rows.begin(places, at), number);
  };
  call.forEach(rows.sizes, rows.dims, [&](int64_t, const int64_t *at) {
    rows.read(self, at, row.data());
    if (told.kind == Order::Mode)
      return store(at, modeOf(row.data(), length));
    sortRow(row.data(), length, told.isFalling != 0, sorted.data());
    if (told.kind != Order::Sort)
      return store(at, numbers[wantedOf(told, row.data(), rows.length)]);
    const int axis = rows.axis;
    for (int64_t i = 0; i < told.kept; ++i) {
      if (places)
        places.set(rows.begin(places, at) + i * places.stride(axis),
                   numbers[i]);
      if (values) // the bits of a NaN too
        values.copy(rows.begin(values, at) + i * values.stride(axis), self,
                    rows.begin(self, at) + numbers[i] * self.stride(axis));
    }
  });
}

/// Where values would stand in rows that rise.
template <typename T> void search(Call &call) {
  const auto &told = call.numbers<precompiled::Search>();
  const Strided sorted = call.tensor(0), self = call.tensor(1),
                sorter = call.tensor(2), out = call.tensor(3);
  const int rank = sorted.rank(), outer = std::max(rank - 1, 0);
  const int length = rank ? int(sorted.size(rank - 1)) : 1;
  auto along = [&](const Strided &row) {
    return rank ? row.stride(rank - 1) : 0;
  };
  call.forEach(out.sizes(), out.rank(), [&](int64_t, const int64_t *at) {
    auto read = [&](int number) {
      int64_t chosen = number;
      if (sorter)
        chosen = checked(sorter.get<long long>(sorter.begin() +
                                               sorter.offset(at, outer) +
                                               number * along(sorter)),
                         length, &call.problem);
      return sorted.get<T>(sorted.begin() + sorted.offset(at, outer) +
                           chosen * along(sorted));
    };
    const T value = self.get<T>(self.begin() + self.offset(at, self.rank()));
    const int place = told.isRight ? placeIn<true, T>(length, value, read)
                                   : placeIn<false, T>(length, value, read);
    out.set(out.begin() + out.offset(at, out.rank()), place);
  });
}

} // namespace

CUTBACK_STRIDED_CALL(scan) {
  withHeld(call.tensor(1) ? call.tensor(1).type() : call.tensor(0).type(),
           [&](auto zero) { scan<decltype(zero)>(call); });
}
CUTBACK_STRIDED_CALL(order) {
  withHeld(call.tensor(0).type(),
           [&](auto zero) { order<decltype(zero)>(call); });
}
CUTBACK_STRIDED_CALL(search) {
  withHeld(call.numbers<precompiled::Search>().compared,
           [&](auto zero) { search<decltype(zero)>(call); });
}
