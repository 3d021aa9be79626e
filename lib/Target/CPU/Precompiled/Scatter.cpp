// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is put, added or combined where indices say, of any sizes, and elements
// that indices choose. Rows are elements along the dimensions that are indexed,
// columns along all others: one number after the other comes to the row that
// its indices name. A row gets what is for it in the order of the numbers, as
// in the text for a device, where each element looks for that.
//
// Work is done a line at a time, so that the types of elements and indices are
// told apart once for many of them. A line lies along neighboring columns, or
// along the numbers where their indices are nearer to each other.
//
// Sums are held where they are stored, or, where a type is rounded or counts
// are kept, in memory of their own. Parts of a call have neighboring columns,
// or, where these are few, neighboring rows: each part then reads all indices.

#include "Axes.h"

using precompiled::Combine;
using precompiled::Scatter;

namespace {

/// Columns that are too few to be shared.
constexpr int64_t kFewColumns = 8;

/// One function for all callers: a loop for each type is long.
template <typename H>
[[gnu::noinline]] void read(const Strided &from, int64_t at, int64_t apart,
                            int count, H *to) {
  readLine(from, from.begin() + at, apart, count, to);
}

[[gnu::noinline]] inline long long chosen(long long at, long long below,
                                          int64_t size, int *problem) {
  return below ? wrapped(at, size, problem) : checked(at, size, problem);
}

/// Makes numbers of `size` elements of indices; a mark where one is none.
inline void choose(Scatter::Bounds bounds, int64_t size, int count,
                   long long *at, int *problem) {
  if (bounds == Scatter::Clamped) {
    for (int i = 0; i < count; ++i)
      at[i] = clamped(at[i], size);
    return;
  }
  const long long below = bounds == Scatter::Wrapped ? size : 0;
  bool areThere = true;
  for (int i = 0; i < count; ++i) {
    const long long number = at[i] + (at[i] < 0 ? below : 0);
    areThere &= number >= 0 && number < size;
  }
  if (areThere && below == 0)
    return;
  for (int i = 0; i < count; ++i)
    at[i] = areThere ? at[i] + (at[i] < 0 ? below : 0)
                     : chosen(at[i], below, size, problem);
}

//===--- What is combined -------------------------------------------------===//

struct Scattered {
  enum Together { Out, Self, Source, Mask, Index };

  const Scatter &told;
  Strided self, out, source, mask;
  Strided indices[precompiled::kMostDims];
  int rows; ///< dimensions, one for each of the indices
  Axes columns, numbers;
  bool haveOneIndex = true; ///< all columns of a line
  bool isAlongNumbers;      ///< a line
  /// Rows of the first dimension that this part has, and whether others have
  /// other rows.
  int64_t firstRow, lastRow;
  bool sharesRows;

  explicit Scattered(const Call &call);
  bool counts() const {
    return told.how == Combine::Mean || !told.includesSelf;
  }
  /// Whether each stored element holds what was combined exactly.
  bool isInPlace() const {
    return !told.isApart && !counts() && out.type() != precompiled::BF16 &&
           out.type() != precompiled::F16;
  }
  int64_t rowCount() const {
    int64_t all = lastRow - firstRow;
    for (int dim = 1; dim < rows; ++dim)
      all *= out.size(dim);
    return all;
  }

private:
  void addAxes();
};

Scattered::Scattered(const Call &call)
    : told(call.numbers<Scatter>()), self(call.tensor(0)), out(call.tensor(1)),
      source(call.tensor(2)), rows(int(out.rank() - told.columns)),
      columns(Index + rows), numbers(Index + rows) {
  for (int i = 0; i < rows; ++i)
    indices[i] = call.tensor(3 + i);
  if (told.isMasked)
    mask = call.tensor(3 + rows);
  addAxes();
  for (int i = Mask; i < Index + rows; ++i)
    haveOneIndex &= columns.apart()[i] == 0;
  const int64_t ofNumbers = std::abs(numbers.apart()[Index]);
  const int64_t ofColumns = std::abs(columns.apart()[Index]);
  isAlongNumbers = columns.length() == 1 ||
                   (!haveOneIndex && numbers.length() >= 8 &&
                    (columns.length() < 8 || ofNumbers < ofColumns));
  sharesRows = columns.count() < kFewColumns;
  std::tie(firstRow, lastRow) =
      sharesRows ? call.share(out.size(0)) : std::pair(int64_t(0), out.size(0));
}

void Scattered::addAxes() {
  int64_t apart[kMostTogether] = {};
  for (int dim = 0; dim < int(told.columns); ++dim) {
    const int behind = int(told.numbers) + dim;
    apart[Out] = out.stride(rows + dim);
    apart[Self] = self.stride(rows + dim);
    apart[Source] = source ? source.stride(behind) : 0;
    apart[Mask] = mask ? mask.stride(behind) : 0;
    for (int i = 0; i < rows; ++i)
      apart[Index + i] = indices[i].stride(behind);
    columns.add(out.size(rows + dim), told.limits[dim], apart);
  }
  columns.finish();
  apart[Out] = apart[Self] = 0;
  for (int dim = 0; dim < int(told.numbers); ++dim) {
    apart[Source] = source ? source.stride(dim) : 0;
    apart[Mask] = mask ? mask.stride(dim) : 0;
    for (int i = 0; i < rows; ++i)
      apart[Index + i] = indices[i].stride(dim);
    numbers.add(indices[0].size(dim), apart);
  }
  numbers.finish();
}

/// Some neighboring columns of a line.
struct Lanes {
  int count, there; ///< all, and those that indices have
  const int64_t *at, *apart;
};

/// Sums of some columns, held as E, each as far behind where its row begins as
/// its lane says.
template <typename E> struct Held {
  E *data;
  int *counts;  ///< for each of data; none where nothing is counted
  int64_t lane; ///< how far lanes are apart
  int64_t apart[precompiled::kMostDims]; ///< of the rows' dimensions
};

/// Calls `run` with what makes one number of two.
template <typename H, typename Run> void withCombined(Combine how, Run run) {
  switch (how) {
  case Combine::Put:
    return run([](H, H value) { return value; });
  case Combine::Product:
    return run([](H x, H value) { return H(x * value); });
  case Combine::Max:
    return run([](H x, H value) { return Max()(x, value); });
  case Combine::Min:
    return run([](H x, H value) { return Min()(x, value); });
  default:
    return run([](H x, H value) { return H(x + value); });
  }
}

/// Number i of `values` comes to element `place(i)`; one after the other.
template <typename H, typename E, typename Place>
inline void combineInto(Combine how, E *data, int *counts, const H *values,
                        int count, Place place) {
  withCombined<H>(how, [&](auto combined) {
    if (!counts) {
      for (int i = 0; i < count; ++i) {
        E &x = data[place(i)];
        x = E(combined(H(x), values[i]));
      }
      return;
    }
    for (int i = 0; i < count; ++i) {
      E &x = data[place(i)];
      x = E(counts[place(i)]++ == 0 ? values[i] : combined(H(x), values[i]));
    }
  });
}
/// To neighbors.
template <typename H, typename E>
[[gnu::noinline]] void combineLine(Combine how, E *data, int *counts,
                                   const H *values, int count) {
  combineInto(how, data, counts, values, count, [](int i) { return i; });
}
/// To elements so far behind `data`.
template <typename H, typename E>
[[gnu::noinline]] void combineAt(Combine how, E *data, int *counts,
                                 const H *values, int count,
                                 const int64_t *places) {
  combineInto(how, data, counts, values, count,
              [=](int i) { return places[i]; });
}

/// What brings numbers to some columns.
template <typename H, typename E> class Adding {
public:
  Adding(Call &call, const Scattered &s, const Lanes &lanes,
         const Held<E> &held)
      : call(call), s(s), lanes(lanes), held(held) {
    std::fill_n(values, kMostInLine, alphaOf(H(s.told.value)));
    std::iota(which, which + kMostInLine, 0);
  }

  void add() {
    if (lanes.there == 0)
      return;
    forLines(s.numbers, 0, s.numbers.count(),
             [&](const Cursor &number, int count) {
               const int64_t *apart = s.numbers.apart();
               if (s.haveOneIndex && !s.isAlongNumbers)
                 return addRows(number.at, count);
               const int times = s.isAlongNumbers ? lanes.there : count;
               for (int i = 0; i < times; ++i)
                 if (s.isAlongNumbers)
                   addLine(number.at, lanes.apart, i, apart, i * held.lane, 0,
                           count);
                 else
                   addLine(number.at, apart, i, lanes.apart, 0, held.lane,
                           lanes.there);
             });
  }

private:
  H alphaOf(H value) const {
    return s.told.alpha == 1 ? value : H(s.told.alpha) * value;
  }
  int readRows(const int64_t *at, const int64_t *apart, int count);
  int readMask(int64_t at, int64_t apart, int count);
  int keepOwn(long long *chosen, int count);
  const H *readValues(int64_t at, int64_t apart, int count);
  void addRows(const int64_t *at, int count);
  void addLine(const int64_t *at, const int64_t *across, int number,
               const int64_t *apart, int64_t own, int64_t ownApart, int count);

  Call &call;
  const Scattered &s;
  const Lanes &lanes;
  const Held<E> &held;
  H values[kMostInLine];
  /// Of what is kept of a line: its row, and its number in the line.
  int64_t rows[kMostInLine];
  int which[kMostInLine];
};

/// Those of a line that a mask does not hide. How many it are.
template <typename H, typename E>
int Adding<H, E>::readMask(int64_t at, int64_t apart, int count) {
  if (!s.mask && !s.sharesRows)
    return count;
  if (!s.mask) {
    std::iota(which, which + count, 0);
    return count;
  }
  long long isSeen[kMostInLine];
  read(s.mask, at, apart, count, isSeen);
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    which[kept] = i;
    kept += isSeen[i] != 0;
  }
  return kept;
}

/// Those whose row this part has.
template <typename H, typename E>
int Adding<H, E>::keepOwn(long long *chosen, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const long long row = chosen[i];
    which[kept] = which[i];
    chosen[kept] = row - s.firstRow;
    kept += row >= s.firstRow && row < s.lastRow;
  }
  return kept;
}

/// The rows that a line of indices names. How many are kept.
template <typename H, typename E>
int Adding<H, E>::readRows(const int64_t *at, const int64_t *apart, int count) {
  int kept = readMask(at[Scattered::Mask], apart[Scattered::Mask], count);
  for (int dim = 0; dim < s.rows; ++dim) {
    const Strided &index = s.indices[dim];
    const int number = Scattered::Index + dim;
    long long chosen[kMostInLine];
    read(index, at[number], apart[number], count, chosen);
    if (kept < count)
      for (int i = 0; i < kept; ++i)
        chosen[i] = chosen[which[i]];
    // What is hidden may have any index.
    choose(Scatter::Bounds(s.told.bounds), s.out.size(dim), kept, chosen,
           &call.problem);
    if (dim == 0 && s.sharesRows)
      kept = keepOwn(chosen, kept);
    for (int i = 0; i < kept; ++i)
      rows[i] = (dim ? rows[i] : 0) + held.apart[dim] * chosen[i];
  }
  return kept;
}

template <typename H, typename E>
const H *Adding<H, E>::readValues(int64_t at, int64_t apart, int count) {
  if (!s.source)
    return values;
  read(s.source, at, apart, count, values);
  if (s.told.alpha != 1)
    for (int i = 0; i < count; ++i)
      values[i] = alphaOf(values[i]);
  return values;
}

/// Numbers that have one index for all lanes.
template <typename H, typename E>
void Adding<H, E>::addRows(const int64_t *at, int count) {
  constexpr int ahead = 8;
  int64_t begin[kMostTogether];
  for (int i = 0; i < s.numbers.tensors; ++i)
    begin[i] = at[i] + lanes.at[i];
  int64_t places[kMostInLine];
  for (int lane = 0; held.lane != 1 && lane < lanes.there; ++lane)
    places[lane] = lane * held.lane;
  const int64_t *apart = s.numbers.apart();
  const int kept = readRows(begin, apart, count);
  for (int i = 0; i < kept; ++i) {
    if (i + ahead < kept)
      __builtin_prefetch(held.data + rows[i + ahead], 1);
    const H *line = readValues(begin[Scattered::Source] +
                                   which[i] * apart[Scattered::Source],
                               lanes.apart[Scattered::Source], lanes.there);
    E *to = held.data + rows[i];
    int *counts = held.counts ? held.counts + rows[i] : nullptr;
    if (held.lane == 1)
      combineLine(s.told.how, to, counts, line, lanes.there);
    else
      combineAt(s.told.how, to, counts, line, lanes.there, places);
  }
}

/// A line of numbers, or of lanes, each with an index of its own: number
/// `number` of those that are `across` apart.
template <typename H, typename E>
void Adding<H, E>::addLine(const int64_t *at, const int64_t *across, int number,
                           const int64_t *apart, int64_t own, int64_t ownApart,
                           int count) {
  int64_t begin[kMostTogether];
  for (int i = 0; i < s.numbers.tensors; ++i)
    begin[i] = at[i] + lanes.at[i] + number * across[i];
  const int kept = readRows(begin, apart, count);
  const H *line =
      readValues(begin[Scattered::Source], apart[Scattered::Source], count);
  H keptValues[kMostInLine];
  if (kept < count) {
    for (int i = 0; i < kept; ++i)
      keptValues[i] = line[which[i]];
    line = keptValues;
  }
  if (ownApart)
    for (int i = 0; i < kept; ++i)
      rows[i] += which[i] * ownApart;
  combineAt(s.told.how, held.data + own,
            held.counts ? held.counts + own : nullptr, line, kept, rows);
}

//===--- Before and after -------------------------------------------------===//

enum InRows { OfOut, OfSelf, OfHeld };

/// All elements of some columns. Lines lie along the columns, if they are many.
template <typename E>
Axes rowsOf(const Scattered &s, const Lanes &lanes, const Held<E> &held) {
  Axes axes(3);
  const bool areFew = lanes.count < 8;
  const int64_t across[] = {lanes.apart[Scattered::Out],
                            lanes.apart[Scattered::Self], held.lane};
  if (areFew)
    axes.add(lanes.count, across);
  for (int dim = 0; dim < s.rows; ++dim) {
    const int64_t apart[] = {s.out.stride(dim), s.self.stride(dim),
                             held.apart[dim]};
    axes.add(dim ? s.out.size(dim) : s.lastRow - s.firstRow, apart);
  }
  if (!areFew)
    axes.add(lanes.count, across);
  axes.finish();
  return axes;
}

/// What is stored of what was combined.
template <typename H> H finished(const Scattered &s, H x, int count) {
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

/// How far the first rows of a part are behind a tensor's first element.
inline int64_t beginOf(const Scattered &s, const Strided &tensor, int64_t at) {
  return at + s.firstRow * tensor.stride(0);
}

template <typename H, typename E>
void scatterInPlace(Call &call, const Scattered &s, const Lanes &lanes) {
  const int64_t out = beginOf(s, s.out, lanes.at[Scattered::Out]);
  const int64_t self = beginOf(s, s.self, lanes.at[Scattered::Self]);
  Held<E> held = {s.out.elements<E>() + s.out.begin() + out,
                  nullptr,
                  lanes.apart[Scattered::Out],
                  {}};
  for (int dim = 0; dim < s.rows; ++dim)
    held.apart[dim] = s.out.stride(dim);
  const Axes axes = rowsOf(s, lanes, held);
  const int64_t *apart = axes.apart();
  forLines(axes, 0, axes.count(), [&](const Cursor &cursor, int count) {
    H line[kMostInLine];
    read(s.self, self + cursor.at[OfSelf], apart[OfSelf], count, line);
    E *to = held.data + cursor.at[OfOut];
    for (int i = 0; i < count; ++i)
      to[i * apart[OfOut]] = E(line[i]);
  });
  Adding<H, E>(call, s, lanes, held).add();
}

template <typename H>
void scatterApart(Call &call, const Scattered &s, const Lanes &lanes, H *data,
                  int *counts) {
  const int64_t out = beginOf(s, s.out, lanes.at[Scattered::Out]);
  const int64_t self = beginOf(s, s.self, lanes.at[Scattered::Self]);
  Held<H> held = {data, s.counts() ? counts : nullptr, 1, {}};
  int64_t all = lanes.count;
  for (int dim = s.rows; dim-- > 0; all *= s.out.size(dim))
    held.apart[dim] = all;
  const Axes axes = rowsOf(s, lanes, held);
  const int64_t *apart = axes.apart();
  const auto readSelf = [&](const Cursor &cursor, int count, H *line) {
    read(s.self, self + cursor.at[OfSelf], apart[OfSelf], count, line);
  };
  forLines(axes, 0, axes.count(), [&](const Cursor &cursor, int count) {
    H line[kMostInLine] = {};
    if (!s.told.isApart)
      readSelf(cursor, count, line);
    for (int i = 0; i < count; ++i)
      data[cursor.at[OfHeld] + i * apart[OfHeld]] = line[i];
  });
  if (held.counts)
    std::fill_n(counts, axes.count(), int(s.told.includesSelf));
  Adding<H, H>(call, s, lanes, held).add();
  forLines(axes, 0, axes.count(), [&](const Cursor &cursor, int count) {
    H line[kMostInLine];
    if (s.told.isApart)
      readSelf(cursor, count, line);
    for (int i = 0; i < count; ++i) {
      const int64_t at = cursor.at[OfHeld] + i * apart[OfHeld];
      line[i] = s.told.isApart
                    ? line[i] + data[at]
                    : finished(s, data[at], held.counts ? counts[at] : 0);
    }
    writeLine(s.out, s.out.begin() + out + cursor.at[OfOut], apart[OfOut],
              count, line);
  });
}

template <typename H> void scatter(Call &call, const Scattered &s) {
  const int64_t rows = s.rowCount(), all = s.columns.count();
  const auto [first, last] =
      s.sharesRows ? std::pair(int64_t(0), all) : call.share(all);
  if (first == last || rows == 0)
    return;
  // Many columns are read at once, as far as what rows hold stays near.
  const int64_t fewest = s.isInPlace() && s.haveOneIndex ? kMostInLine : 64;
  const int64_t most =
      s.isAlongNumbers
          ? 1
          : std::clamp<int64_t>((1 << 16) / rows, fewest, kMostInLine);
  const int64_t room = s.isInPlace() ? 0 : rows * std::min(most, last - first);
  const Numbers<H> data(room, call.problem);
  const Numbers<int> counts(s.counts() ? room : 0, call.problem);
  if (!data || !counts)
    return;
  Cursor cursor(s.columns, first);
  for (int64_t column = first; column < last;) {
    const auto count = int(std::min({most, last - column, cursor.left()}));
    const Lanes lanes = {count, cursor.there(count), cursor.at,
                         s.columns.apart()};
    if (!s.isInPlace())
      scatterApart(call, s, lanes, data.data(), counts.data());
    else
      withType(s.out.type(), nullptr, [&](auto *elements) {
        using E = std::remove_reference_t<decltype(*elements)>;
        if constexpr (std::is_arithmetic_v<E> && std::is_same_v<HeldOf<E>, H>)
          scatterInPlace<H, E>(call, s, lanes);
      });
    cursor.skip(count);
    column += count;
  }
}

} // namespace

CUTBACK_STRIDED_CALL(scatter) {
  const Scattered scattered(call);
  withHeld(scattered.out.type(),
           [&](auto zero) { scatter<decltype(zero)>(call, scattered); });
}

//===--- Elements that indices choose -------------------------------------===//

namespace {

struct Taken {
  enum Together { Out, Table, Index };

  const precompiled::Take &told;
  Strided table, indices, out;
  Axes axes{3};

  explicit Taken(const Call &call)
      : told(call.numbers<precompiled::Take>()), table(call.tensor(0)),
        indices(call.tensor(1)), out(call.tensor(2)) {
    for (int dim = 0; dim < out.rank(); ++dim) {
      const int64_t apart[] = {out.stride(dim),
                               told.isFlat ? 0 : table.stride(dim),
                               indices.stride(dim)};
      axes.add(out.size(dim), apart);
    }
    axes.finish();
  }
  /// Where elements of the table are that some indices choose.
  void places(int64_t at, int64_t apart, int count, long long *places,
              int *problem) const {
    read(indices, at, apart, count, places);
    if (told.isModulo)
      for (int i = 0; i < count; ++i)
        places[i] = floorRemainder<long long>(places[i], told.size);
    choose(Scatter::Checked, told.size, count, places, problem);
    for (int i = 0; i < count; ++i)
      places[i] =
          told.isFlat ? table.offsetOf(places[i]) : places[i] * told.stride;
  }
};

template <typename E> void take(Call &call, const Taken &t) {
  const auto [first, last] = call.share(t.axes.count());
  const int64_t *apart = t.axes.apart();
  const int64_t across = apart[Taken::Table];
  forLines(t.axes, first, last, [&](const Cursor &cursor, int count) {
    const bool haveOne = apart[Taken::Index] == 0;
    long long places[kMostInLine];
    t.places(cursor.at[Taken::Index], apart[Taken::Index], haveOne ? 1 : count,
             places, &call.problem);
    E *to = t.out.elements<E>() + t.out.begin() + cursor.at[Taken::Out];
    const int64_t own = apart[Taken::Out];
    const E *from = t.table.elements<E>() + cursor.at[Taken::Table] +
                    (t.told.isFlat ? 0 : t.table.begin());
    if (haveOne && own == 1 && across == 1)
      std::copy_n(from + places[0], count, to);
    else if (haveOne)
      for (int i = 0; i < count; ++i)
        to[i * own] = from[places[0] + i * across];
    else
      for (int i = 0; i < count; ++i)
        to[i * own] = from[places[i] + i * across];
  });
}

} // namespace

CUTBACK_STRIDED_CALL(take) {
  const Taken taken(call);
  withSize(taken.out.bytes(),
           [&](auto zero) { take<decltype(zero)>(call, taken); });
}
