// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is put, added or combined where indices say, of any sizes. Rows are
// elements along the dimensions that are indexed, columns along all others: one
// number after the other comes to the row that its indices name, in some
// columns at a time. A row gets what is for it in the order of the numbers, as
// in the text for a device, where each element looks for that.
//
// Sums are held where they are stored, or, where a type is rounded or counts
// are kept, in memory of their own. Parts of a call have neighboring columns.

#include "Strided.h"

using precompiled::Combine;
using precompiled::Scatter;

namespace {

constexpr int kMostLanes = 256;

struct Scattered {
  const Scatter &told;
  Strided self, out, source, mask;
  Strided indices[precompiled::kMostDims];
  int rows; ///< dimensions, one for each of the indices

  explicit Scattered(const Call &call)
      : told(call.numbers<Scatter>()), self(call.tensor(0)),
        out(call.tensor(1)), source(call.tensor(2)),
        rows(int(out.rank() - told.columns)) {
    for (int i = 0; i < rows; ++i)
      indices[i] = call.tensor(3 + i);
    if (told.isMasked)
      mask = call.tensor(3 + rows);
  }
  bool counts() const {
    return told.how == Combine::Mean || !told.includesSelf;
  }
  /// Whether each stored element holds what was combined exactly.
  bool isInPlace() const {
    return !told.isApart && !counts() && out.type() != precompiled::BF16 &&
           out.type() != precompiled::F16;
  }
  int64_t numberCount() const { return indices[0].count(int(told.numbers)); }
};

/// Some neighboring columns: where each tensor has them.
struct Lanes {
  int count;
  int64_t own[kMostLanes], ofSelf[kMostLanes], ofSource[kMostLanes];
  int64_t ofIndex[kMostLanes], ofMask[kMostLanes];
  bool isThere[kMostLanes]; ///< indices have the column
  bool haveOneMask = true, haveOneIndex = true, areSide = true, areAll = true;

  Lanes(const Scattered &s, int64_t first, int count) : count(count) {
    const int numbers = int(s.told.numbers), columns = int(s.told.columns);
    Walk walk(s.out.sizes() + s.rows, columns, first);
    for (int lane = 0; lane < count; ++lane, walk.next()) {
      own[lane] = s.out.offset(walk.index, columns, s.rows);
      ofSelf[lane] = s.self.offset(walk.index, columns, s.rows);
      ofSource[lane] =
          s.source ? s.source.offset(walk.index, columns, numbers) : 0;
      ofIndex[lane] = s.indices[0].offset(walk.index, columns, numbers);
      ofMask[lane] = s.mask ? s.mask.offset(walk.index, columns, numbers) : 0;
      isThere[lane] = true;
      for (int dim = 0; dim < columns; ++dim)
        isThere[lane] &= walk.index[dim] < s.told.limits[dim];
      haveOneMask &= ofMask[lane] == ofMask[0];
      haveOneIndex &= ofIndex[lane] == ofIndex[0];
      areSide &= ofSource[lane] == ofSource[0] + lane;
      areAll &= isThere[lane];
    }
  }
};

template <typename H> H combined(Combine how, H x, H value) {
  switch (how) {
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

/// Sums of some columns, held as E: of a lane behind where its row begins.
template <typename E> struct Held {
  E *data;
  int *counts = nullptr;
  int64_t apart[precompiled::kMostDims]; ///< of the rows' dimensions
  const int64_t *lanes;
};

template <typename H, typename E>
inline void combineInto(const Scattered &s, const Held<E> &held, int64_t row,
                        int lane, H value) {
  E &x = held.data[row + held.lanes[lane]];
  if (held.counts && held.counts[row + lane]++ == 0)
    x = E(value);
  else
    x = E(combined<H>(s.told.how, H(x), value));
}

/// The row that number `at` of index tensors names, in a lane.
template <typename E>
inline int64_t rowOf(const Scattered &s, const Held<E> &held,
                     const int64_t *number, int64_t lane, int &problem) {
  int64_t row = 0;
  for (int i = 0; i < s.rows; ++i) {
    const Strided &index = s.indices[i];
    const auto at = index.get<long long>(
        index.begin() + index.offset(number, int(s.told.numbers)) + lane);
    const int64_t size = s.out.size(i);
    row += held.apart[i] *
           (s.told.bounds == Scatter::Wrapped   ? wrapped(at, size, &problem)
            : s.told.bounds == Scatter::Clamped ? clamped(at, size)
                                                : checked(at, size, &problem));
  }
  return row;
}

/// All numbers, one after the other.
template <typename H, typename E>
void addNumbers(Call &call, const Scattered &s, const Lanes &lanes,
                const Held<E> &held) {
  const int numbers = int(s.told.numbers);
  const H alpha = H(s.told.alpha);
  H values[kMostLanes];
  std::fill(values, values + lanes.count, H(s.told.value));
  Walk walk(s.indices[0].sizes(), numbers, 0);
  const int64_t count = s.numberCount();
  for (int64_t number = 0; number < count; ++number, walk.next()) {
    const auto counts = [&](int lane) {
      return !s.mask ||
             s.mask.get<long long>(s.mask.begin() +
                                   s.mask.offset(walk.index, numbers) +
                                   lanes.ofMask[lane]) != 0;
    };
    if (lanes.haveOneMask && !counts(0))
      continue;
    if (s.source) {
      const int64_t at =
          s.source.begin() + s.source.offset(walk.index, numbers);
      if (lanes.areSide)
        readLine(s.source, at + lanes.ofSource[0], 1, lanes.count, values);
      else
        for (int lane = 0; lane < lanes.count; ++lane)
          values[lane] = s.source.get<H>(at + lanes.ofSource[lane]);
    }
    if (s.told.alpha != 1)
      for (int lane = 0; lane < lanes.count; ++lane)
        values[lane] = alpha * values[lane];
    if (lanes.haveOneMask && lanes.haveOneIndex && lanes.areAll) {
      const int64_t row =
          rowOf(s, held, walk.index, lanes.ofIndex[0], call.problem);
      if (s.told.how == Combine::Sum && !held.counts) {
        E *to = held.data + row;
        for (int lane = 0; lane < lanes.count; ++lane)
          to[held.lanes[lane]] = E(H(to[held.lanes[lane]]) + values[lane]);
      } else {
        for (int lane = 0; lane < lanes.count; ++lane)
          combineInto(s, held, row, lane, values[lane]);
      }
      continue;
    }
    for (int lane = 0; lane < lanes.count; ++lane)
      if (lanes.isThere[lane] && (lanes.haveOneMask || counts(lane)))
        combineInto(
            s, held,
            rowOf(s, held, walk.index, lanes.ofIndex[lane], call.problem), lane,
            values[lane]);
  }
}

/// What is stored of what was combined.
template <typename H>
H finished(const Scattered &s, H x, int count, int64_t selfAt) {
  if (s.told.isApart)
    return s.self.get<H>(selfAt) + x;
  if (s.told.how != Combine::Mean || count <= 1)
    return x;
  if constexpr (std::is_floating_point_v<H>) {
    return x / H(count);
  } else {
    H kept = 0; // as it would be stored
    withType(s.out.type(), nullptr, [&](auto *elements) {
      kept =
          heldAs<H>(storedAs<std::remove_reference_t<decltype(*elements)>>(x));
    });
    return floorDivide<H>(kept, H(count));
  }
}

/// Calls `use(row, self, out)` for all rows: number, and where they begin.
template <typename Use> void forRows(const Scattered &s, Use use) {
  const int64_t count = s.out.count(s.rows);
  Walk walk(s.out.sizes(), s.rows, 0);
  for (int64_t row = 0; row < count; ++row, walk.next())
    use(row, s.self.begin() + s.self.offset(walk.index, s.rows),
        s.out.begin() + s.out.offset(walk.index, s.rows));
}

template <typename H, typename E>
void scatterInPlace(Call &call, const Scattered &s, const Lanes &lanes) {
  Held<E> held;
  held.data = s.out.elements<E>() + s.out.begin();
  for (int dim = 0; dim < s.rows; ++dim)
    held.apart[dim] = s.out.stride(dim);
  held.lanes = lanes.own;
  forRows(s, [&](int64_t, int64_t self, int64_t out) {
    for (int lane = 0; lane < lanes.count; ++lane)
      s.out.set<H>(out + lanes.own[lane],
                   s.self.get<H>(self + lanes.ofSelf[lane]));
  });
  addNumbers<H>(call, s, lanes, held);
}

template <typename H>
void scatterApart(Call &call, const Scattered &s, const Lanes &lanes, H *data,
                  int *counts) {
  int64_t numbered[kMostLanes];
  for (int lane = 0; lane < lanes.count; ++lane)
    numbered[lane] = lane;
  Held<H> held = {data, s.counts() ? counts : nullptr, {}, numbered};
  int64_t apart = lanes.count;
  for (int dim = s.rows; dim-- > 0; apart *= s.out.size(dim))
    held.apart[dim] = apart;
  forRows(s, [&](int64_t row, int64_t self, int64_t) {
    for (int lane = 0; lane < lanes.count; ++lane) {
      const int64_t at = row * lanes.count + lane;
      data[at] =
          s.told.isApart ? H(0) : s.self.get<H>(self + lanes.ofSelf[lane]);
      if (held.counts)
        counts[at] = int(s.told.includesSelf);
    }
  });
  addNumbers<H>(call, s, lanes, held);
  forRows(s, [&](int64_t row, int64_t self, int64_t out) {
    for (int lane = 0; lane < lanes.count; ++lane) {
      const int64_t at = row * lanes.count + lane;
      s.out.set(out + lanes.own[lane],
                finished(s, data[at], held.counts ? counts[at] : 0,
                         self + lanes.ofSelf[lane]));
    }
  });
}

template <typename H> void scatter(Call &call, const Scattered &s) {
  const int64_t rows = s.out.count(s.rows);
  const auto [first, last] =
      call.share(s.out.count() / std::max<int64_t>(rows, 1));
  const int64_t most = std::clamp<int64_t>(
      (1 << 16) / std::max<int64_t>(rows, 1), 16, kMostLanes);
  const int64_t room = s.isInPlace() ? 0 : rows * std::min(most, last - first);
  const Numbers<H> data(room, call.problem);
  const Numbers<int> counts(s.counts() ? room : 0, call.problem);
  if (!data || !counts)
    return;
  for (int64_t column = first; column < last; column += most) {
    const Lanes lanes(s, column, int(std::min(most, last - column)));
    if (!s.isInPlace()) {
      scatterApart(call, s, lanes, data.data(), counts.data());
      continue;
    }
    withType(s.out.type(), nullptr, [&](auto *elements) {
      using E = std::remove_reference_t<decltype(*elements)>;
      if constexpr (std::is_arithmetic_v<E> && std::is_same_v<HeldOf<E>, H>)
        scatterInPlace<H, E>(call, s, lanes);
    });
  }
}

} // namespace

CUTBACK_STRIDED_CALL(scatter) {
  const Scattered scattered(call);
  withHeld(scattered.out.type(),
           [&](auto zero) { scatter<decltype(zero)>(call, scattered); });
}

//===--- Elements that indices choose ------------------------------------===//

CUTBACK_STRIDED_CALL(take) {
  const auto &told = call.numbers<precompiled::Take>();
  const Strided table = call.tensor(0), indices = call.tensor(1),
                out = call.tensor(2);
  const int rank = out.rank();
  call.forEach(out.sizes(), rank, [&](int64_t, const int64_t *at) {
    const auto index =
        indices.get<long long>(indices.begin() + indices.offset(at, rank));
    const int64_t chosen = told.isWrapped
                               ? wrapped(index, told.size, &call.problem)
                               : checked(index, told.size, &call.problem);
    const int64_t from = told.isFlat ? table.offsetOf(chosen)
                                     : table.begin() + table.offset(at, rank) +
                                           chosen * told.stride;
    out.copy(out.begin() + out.offset(at, rank), table, from);
  });
}
