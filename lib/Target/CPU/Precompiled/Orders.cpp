// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans, orders and what is picked from them, along a dimension of any size.
//
// A scan goes over neighboring rows at a time, over each in its order. Where
// the text for a device counts for each element those in front of it, a row is
// sorted here: the order is total (the first of equals comes first, NaN is the
// greatest), so that both have the same one. An element is ordered as a natural
// number that stands beside its number in the row; those that are not wanted
// are not sorted. A value that is looked for halves a row. Parts of a call have
// neighboring rows.

#include "Axes.h"

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

//===--- Scans ------------------------------------------------------------===//

/// Calls `run` with what `next`, of a row's step, becomes: what is combined up
/// to it.
template <typename H, typename Run> void withScan(Scan::Kind kind, Run run) {
  switch (kind) {
  case Scan::Sum:
    return run([](H &x, int &, H &next, int) { next = x += next; });
  case Scan::Product:
    return run([](H &x, int &, H &next, int) { next = x *= next; });
  case Scan::LogSum:
    if constexpr (std::is_floating_point_v<H>)
      run([](H &x, int &, H &next, int) { next = x = addPowers(x, next); });
    return;
  default:
    const bool isLeast = kind == Scan::Min;
    return run([=](H &x, int &place, H &next, int step) {
      if (step == 0 || next != next ||
          (x == x && (isLeast ? next <= x : next >= x)))
        x = next, place = step;
      next = x;
    });
  }
}

enum InScan { OfSelf, OfValues, OfPlaces };

struct Scanned {
  const Scan &told;
  Strided tensors[3]; ///< self, values, places
  Axes rows{3};       ///< numbers of rows
  int length;
  int64_t apart[3] = {}; ///< of a row's elements
  bool isAcross;         ///< rows are nearer to each other than their elements

  explicit Scanned(const Call &call)
      : told(call.numbers<Scan>()),
        tensors{call.tensor(0), call.tensor(1), call.tensor(2)} {
    const Strided &self = tensors[OfSelf];
    const int axis = int(told.axis);
    length = int(self.size(axis));
    for (int dim = 0; dim < self.rank(); ++dim) {
      int64_t strides[3] = {};
      for (int i = 0; i < 3; ++i)
        strides[i] = tensors[i] ? tensors[i].stride(dim) : 0;
      if (dim == axis)
        std::copy_n(strides, 3, apart);
      else
        rows.add(self.size(dim), strides);
    }
    rows.finish();
    isAcross = std::abs(rows.apart()[OfSelf]) < std::abs(apart[OfSelf]);
  }
  int64_t begin(InScan tensor, const Cursor &at, int64_t step) const {
    return tensors[tensor].begin() + at.at[tensor] + step * apart[tensor];
  }
};

/// `count` neighboring rows, a line across all of them at a time.
template <typename H>
void scanAcross(const Scanned &s, const Cursor &at, int count, H *x) {
  const int64_t *apart = s.rows.apart();
  H next[kMostInLine];
  int places[kMostInLine] = {};
  for (int step = 0; step < s.length; ++step) {
    readLine(s.tensors[OfSelf], s.begin(OfSelf, at, step), apart[OfSelf], count,
             next);
    withScan<H>(Scan::Kind(s.told.kind), [&](auto combine) {
      for (int i = 0; i < count; ++i)
        combine(x[i], places[i], next[i], step);
    });
    if (s.tensors[OfValues])
      writeLine(s.tensors[OfValues], s.begin(OfValues, at, step),
                apart[OfValues], count, next);
    if (s.tensors[OfPlaces])
      writeLine(s.tensors[OfPlaces], s.begin(OfPlaces, at, step),
                apart[OfPlaces], count, places);
  }
}

/// Rows that are scanned together where each is read for itself: one addition
/// need not wait for that in front of it.
constexpr int kRowsTogether = 4;

/// `count` neighboring rows, some elements of each at a time.
template <typename H>
void scanAlong(const Scanned &s, const Cursor &at, int count, H *x) {
  constexpr int most = 128;
  const int64_t *apart = s.rows.apart();
  H lines[kRowsTogether][most];
  int place[kRowsTogether] = {}, places[kRowsTogether][most];
  for (int first = 0; first < s.length; first += most) {
    const int steps = std::min(most, s.length - first);
    for (int row = 0; row < count; ++row)
      readLine(s.tensors[OfSelf],
               s.begin(OfSelf, at, first) + row * apart[OfSelf],
               s.apart[OfSelf], steps, lines[row]);
    withScan<H>(Scan::Kind(s.told.kind), [&](auto combine) {
      const auto scanTo = [&](int rows) {
        H own[kRowsTogether]; // nothing else points to them
        std::copy_n(x, kRowsTogether, own);
        for (int i = 0; i < steps; ++i)
          for (int row = 0; row < rows; ++row) {
            combine(own[row], place[row], lines[row][i], first + i);
            if (s.tensors[OfPlaces])
              places[row][i] = place[row];
          }
        std::copy_n(own, kRowsTogether, x);
      };
      if (count == kRowsTogether)
        scanTo(kRowsTogether); // a loop that is unrolled
      else
        scanTo(count);
    });
    for (int row = 0; row < count; ++row) {
      if (s.tensors[OfValues])
        writeLine(s.tensors[OfValues],
                  s.begin(OfValues, at, first) + row * apart[OfValues],
                  s.apart[OfValues], steps, lines[row]);
      if (s.tensors[OfPlaces])
        writeLine(s.tensors[OfPlaces],
                  s.begin(OfPlaces, at, first) + row * apart[OfPlaces],
                  s.apart[OfPlaces], steps, places[row]);
    }
  }
}

/// What is combined of a row of elements that are rounded once, when stored.
template <typename H> void scan(const Call &call) {
  const Scanned s(call);
  const H start = s.told.kind == Scan::Product  ? H(1)
                  : s.told.kind == Scan::LogSum ? H(lowest())
                                                : H(0);
  const auto [first, last] = call.share(s.rows.count());
  forLines(s.rows, first, last, [&](Cursor cursor, int count) {
    const int most = s.isAcross ? kMostInLine : kRowsTogether;
    for (int row = 0; row < count; row += most) {
      const int together = std::min(most, count - row);
      H x[kMostInLine];
      std::fill_n(x, kMostInLine, start);
      if (s.isAcross)
        scanAcross(s, cursor, together, x);
      else
        scanAlong(s, cursor, together, x);
      cursor.skip(together);
    }
  });
}

//===--- Orders -----------------------------------------------------------===//

/// An element of a row: a key that is less the earlier the element comes, equal
/// for equals, and its number.
template <typename K> struct Ranked {
  unsigned number;
  K key;

  bool operator<(const Ranked &other) const {
    if constexpr (sizeof(K) == 4) {
      const auto all = [](const Ranked &one) {
        return (unsigned long long)(one.key) << 32 | one.number;
      };
      return all(*this) < all(other);
    }
    return key < other.key || (key == other.key && number < other.number);
  }
};

/// NaN is the greatest, and zeros are equal.
template <typename K, typename H> inline K keyOf(H x, K bias) {
  if constexpr (std::is_floating_point_v<H>) {
    constexpr K sign = K(1) << (8 * sizeof(K) - 1);
    const H positive = x == 0 ? H(0) : x;
    K bits = 0;
    __builtin_memcpy(&bits, &positive, sizeof(bits));
    bits ^= bits & sign ? ~K(0) : sign;
    return x != x ? ~K(0) : bits;
  }
  return K(x) + bias;
}

template <typename K> class Ranks {
public:
  Ranks(int64_t length, int &problem)
      : length(int(length)), memory(2 * length, problem) {}
  explicit operator bool() const { return bool(memory); }
  const Ranked<K> &operator[](int64_t i) const { return memory.data()[i]; }

  template <typename H> void read(const H *row, K bias, bool isFalling) {
    const K turned = isFalling ? ~K(0) : K(0);
    for (int i = 0; i < length; ++i)
      memory.data()[i] = {unsigned(i), keyOf(row[i], bias) ^ turned};
  }
  /// The first `kept` in their order.
  void sort(int kept);
  /// The one that is number `nth` of all.
  int find(int64_t nth) {
    std::nth_element(begin(), begin() + nth, begin() + length);
    return int(memory.data()[nth].number);
  }

private:
  Ranked<K> *begin() const { return memory.data(); }
  void sortAll();
  void keepFirst(int kept);

  int length;
  Numbers<Ranked<K>> memory; ///< twice as many as there are
};

/// Where many are sorted, byte by byte from the last one: what a byte does not
/// tell apart stays as it is, and bytes that are the same everywhere are left
/// out.
template <typename K> void Ranks<K>::sortAll() {
  constexpr int bytes = sizeof(K), fewest = 128;
  if (length < fewest)
    return std::sort(begin(), begin() + length);
  unsigned counts[bytes][256] = {};
  Ranked<K> *from = begin(), *to = from + length;
  for (int i = 0; i < length; ++i)
    for (int byte = 0; byte < bytes; ++byte)
      ++counts[byte][from[i].key >> (8 * byte) & 255];
  for (int byte = 0; byte < bytes; ++byte) {
    unsigned *places = counts[byte];
    if (places[from->key >> (8 * byte) & 255] == unsigned(length))
      continue;
    std::exclusive_scan(places, places + 256, places, 0u);
    for (int i = 0; i < length; ++i)
      to[places[from[i].key >> (8 * byte) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != begin())
    std::copy_n(from, length, begin());
}

/// Few of many: those seen that come first, and some that came since and are
/// in front of the last of these.
template <typename K> void Ranks<K>::keepFirst(int kept) {
  Ranked<K> *own = begin();
  int count = 2 * kept;
  std::nth_element(own, own + kept - 1, own + count);
  Ranked<K> last = own[kept - 1];
  count = kept;
  for (int i = 2 * kept; i < length; ++i) {
    if (!(own[i] < last))
      continue;
    own[count++] = own[i];
    if (count < 2 * kept)
      continue;
    std::nth_element(own, own + kept - 1, own + count);
    last = own[kept - 1];
    count = kept;
  }
  std::nth_element(own, own + kept - 1, own + count);
}

template <typename K> void Ranks<K>::sort(int kept) {
  if (kept == 0)
    return;
  if (kept > length / 2)
    return sortAll();
  if (kept > length / 8)
    std::nth_element(begin(), begin() + kept - 1, begin() + length);
  else
    keepFirst(kept);
  std::sort(begin(), begin() + kept);
}

/// The least of those that are there most often, the last of these: of a sorted
/// row. NaN is not equal to itself.
template <typename K, typename H>
int modeOf(const Ranks<K> &ranks, const H *row, int length) {
  int best = 0, most = 0;
  for (int first = 0, end; first < length; first = end) {
    const auto same = [&](int i) { return ranks[i].key == ranks[first].key; };
    for (end = first + 1; end < length && same(end);)
      ++end;
    const int last = int(ranks[end - 1].number);
    if (end - first > most && row[last] == row[last])
      most = end - first, best = last;
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

/// A sorted row's values, with the bits of a NaN too, and places.
template <typename K>
void storeSorted(const Ranks<K> &ranks, int kept, const Strided &self,
                 int64_t from, const Strided &values, int64_t value,
                 const Strided &places, int64_t place, int axis) {
  int numbers[kMostInLine];
  for (int first = 0; first < kept; first += kMostInLine) {
    const int count = std::min(kMostInLine, kept - first);
    for (int i = 0; i < count; ++i)
      numbers[i] = int(ranks[first + i].number);
    if (places)
      writeLine(places, place + first * places.stride(axis),
                places.stride(axis), count, numbers);
    if (!values)
      continue;
    const int64_t apart = self.stride(axis), own = values.stride(axis);
    withSize(values.bytes(), [&](auto zero) {
      using E = decltype(zero);
      E *to = values.elements<E>() + value + first * own;
      const E *all = self.elements<E>() + from;
      for (int i = 0; i < count; ++i)
        to[i * own] = all[numbers[i] * apart];
    });
  }
}

template <typename K, typename H> void order(Call &call, K bias) {
  const auto &told = call.numbers<Order>();
  const Strided self = call.tensor(0), values = call.tensor(1),
                places = call.tensor(2);
  const RowsOf rows(self, told.axis, told.isAll);
  const Numbers<H> row(rows.length, call.problem);
  Ranks<K> ranks(rows.length, call.problem);
  if (!row || !ranks || rows.length == 0)
    return;
  const int length = int(rows.length);
  call.forEach(rows.sizes, rows.dims, [&](int64_t, const int64_t *at) {
    rows.read(self, at, row.data());
    ranks.read(row.data(), bias, told.isFalling && told.kind != Order::Mode);
    const int64_t value = values ? rows.begin(values, at) : 0;
    const int64_t place = places ? rows.begin(places, at) : 0;
    if (told.kind == Order::Sort) {
      ranks.sort(int(told.kept));
      return storeSorted(ranks, int(told.kept), self, rows.begin(self, at),
                         values, value, places, place, rows.axis);
    }
    int number = 0;
    if (told.kind == Order::Mode) {
      ranks.sort(length);
      number = modeOf(ranks, row.data(), length);
    } else {
      number = ranks.find(wantedOf(told, row.data(), length));
    }
    if (values)
      values.set(value, row.data()[number]);
    if (places)
      places.set(place, number);
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
  const int64_t type = call.tensor(0).type();
  withHeld(type, [&](auto zero) {
    using H = decltype(zero);
    using Wide = unsigned long long;
    if constexpr (std::is_same_v<H, float>)
      order<unsigned, H>(call, 0);
    else if constexpr (!std::is_same_v<H, long long>)
      order<Wide, H>(call, 0);
    else if (type == precompiled::I64)
      order<Wide, H>(call, Wide(1) << 63);
    else
      order<unsigned, H>(call, type == precompiled::U32 ? 0 : 1u << 31);
  });
}
CUTBACK_STRIDED_CALL(search) {
  withHeld(call.numbers<precompiled::Search>().compared,
           [&](auto zero) { search<decltype(zero)>(call); });
}
