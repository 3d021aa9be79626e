// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and convolutions of any sizes, compiled with Cutback and not
// with a model: loops over packed blocks (ProductBlocks.h). In place of the
// functions of a text for a device, which know sizes, they have digits of an
// index, from which offsets are computed once for many elements.

#include "Elements.h"
#include "GroupProducts.h"
#include "PairPacking.h"

#include <numeric>

using namespace cutback_host;

namespace {

template <typename T, typename E, int axes>
void packWindows(const precompiled::Factor &factor, const E *from, T *to,
                 int column, int columns, int step, int steps) {
  constexpr int width = ProductBlock<T>::width;
  int sizes[axes];
  for (int axis = 0; axis < axes; ++axis)
    sizes[axis] = int(factor.sizes[axis]);
  PanelColumns<axes, width> lines;
  PlaceWalk<axes> walk(factor.line, column);
  Place<axes> along[ProductBlock<T>::steps];
  unsigned char runs[ProductBlock<T>::steps];
  findPlaces(factor.step, step, steps, along);
  countNeighbors<axes>(along, steps, runs);
  const int period = periodOf<axes>(along, steps);
  for (int j = 0; j < columns; j += width, to += width * steps) {
    const int some = std::min(width, columns - j);
    takeColumns(walk, some, lines);
    if constexpr (std::is_same_v<T, E>)
      copyWindows<T, axes>(to, from, lines, some, along, runs, period, steps,
                           sizes);
    else
      for (int k = 0; k < steps; ++k)
        for (int e = 0; e < width; ++e) {
          const bool isIn = lines.isInside(e, along[k].along, sizes);
          to[k * width + e] =
              isIn ? T(toFloat(from[lines.at[e] + along[k].at])) : T(0);
        }
  }
}

template <typename T, typename E>
void packLeft(const precompiled::Factor &factor, const E *from, T *to, int row,
              int rows, int step, int steps) {
  const Factor<true, E, Offset, Offset> lines = {
      from, {factor.line}, {factor.step}};
  packLines<kRows>(to, lines, row, row + rows - 1, step, steps,
                   kRows * ProductBlock<T>::steps);
}

template <typename T, typename E>
void packRight(const precompiled::Factor &factor, const E *from, T *to,
               int column, int columns, int step, int steps) {
  switch (factor.numAxes) {
  case 1:
    return packWindows<T, E, 1>(factor, from, to, column, columns, step, steps);
  case 2:
    return packWindows<T, E, 2>(factor, from, to, column, columns, step, steps);
  case 3:
    return packWindows<T, E, 3>(factor, from, to, column, columns, step, steps);
  default:
    const Factor<false, E, Offset, Offset> lines = {
        from, {factor.line}, {factor.step}};
    packPanels(to, lines, column, column + columns - 1, step, steps);
  }
}

/// What becomes of a line of sums before it is stored: it is scaled, and what
/// is added to it scaled too. Factors of one leave all bits as they are.
template <typename T> class Addition {
  using Block = ProductBlock<T>;
  const precompiled::Product &product;
  void **operands;
  const T alpha, beta;
  const int columns;
  int lines[Block::rows], along[Block::columns];
  bool isSide = false;

public:
  Addition(const precompiled::Product &product, void **operands, int row,
           int rows, int column, int columns)
      : product(product), operands(operands), alpha(T(product.alpha)),
        beta(T(product.beta)), columns(columns) {
    if (product.self.operand < 0)
      return;
    findOffsets(product.selfRow, row, rows, lines);
    isSide = findOffsets(product.selfColumn, column, columns, along);
  }
  void operator()(int i, T *sums) const {
    if (product.self.operand >= 0)
      withElements<T>(product.self, operands,
                      [&](const auto *self) { add(self + lines[i], sums); });
    else if (const T scale = alpha; scale != 1)
      for (int j = 0, count = columns; j < count; ++j)
        sums[j] *= scale;
  }

private:
  template <typename E> void add(const E *self, T *sums) const {
    // In registers, or no vectors are made of the loops.
    const T scale = alpha, selfScale = beta;
    const int count = columns;
    if (isSide) {
      self += along[0];
#pragma GCC ivdep
      for (int j = 0; j < count; ++j)
        sums[j] = selfScale * T(toFloat(self[j])) + scale * sums[j];
      return;
    }
    for (int j = 0; j < count; ++j)
      sums[j] = selfScale * T(toFloat(self[along[j]])) + scale * sums[j];
  }
};

template <typename T>
ResultPlaces placeResults(const precompiled::Product &product, void **operands,
                          int *lines, int *places, int row, int rows,
                          int column, int columns) {
  findOffsets(product.outRow, row, rows, lines);
  findOffsets(product.outColumn, column, columns, places);
  ResultPlaces results;
  withElements<T>(product.out, operands, [&](auto *out) {
    results = {out, int(sizeof *out),
               std::is_same_v<decltype(out), T *> && product.self.operand < 0 &&
                   T(product.alpha) == 1};
  });
  return results;
}

/// A product by lanes L of what packs its factors.
template <typename T, typename L, typename PackA, typename PackB>
void multiplySteps(const precompiled::Product &product, void **operands,
                   int steps, PackA packA, PackB packB) {
  multiply<T, L>(
      int(product.rows), int(product.columns), steps, packA, packB,
      [&](int *lines, int *places, int row, int rows, int column, int columns) {
        return placeResults<T>(product, operands, lines, places, row, rows,
                               column, columns);
      },
      [&](T *sums, const int *lines, const int *places, int row, int rows,
          int column, int columns) {
        const Addition<T> addition(product, operands, row, rows, column,
                                   columns);
        withElements<T>(product.out, operands, [&](auto *out) {
          storeBlock(out, lines, places, sums, rows, columns, addition);
        });
      });
}

#if defined(__AVX512BF16__)
template <int axes>
void packWindowsOfPairs(const precompiled::Factor &factor, const Half *from,
                        float *to, int column, int columns, int step,
                        int steps) {
  constexpr int width = ProductBlock<float>::width;
  int sizes[axes];
  for (int axis = 0; axis < axes; ++axis)
    sizes[axis] = int(factor.sizes[axis]);
  PanelColumns<axes, width> lines;
  PlaceWalk<axes> walk(factor.line, column);
  Place<axes> along[2 * ProductBlock<float>::steps];
  findPlaces(factor.step, step, steps, along);
  const int period = periodOf<axes>(along, steps);
  for (int j = 0; j < columns; j += width, to += width * ((steps + 1) / 2)) {
    const int some = std::min(width, columns - j);
    takeColumns(walk, some, lines);
    packWindowPairs<axes>(to, from, lines, some, along, period, steps, sizes);
  }
}

void packRightPairs(const precompiled::Factor &factor, const Half *from,
                    float *to, int column, int columns, int step, int steps) {
  switch (factor.numAxes) {
  case 1:
    return packWindowsOfPairs<1>(factor, from, to, column, columns, step,
                                 steps);
  case 2:
    return packWindowsOfPairs<2>(factor, from, to, column, columns, step,
                                 steps);
  case 3:
    return packWindowsOfPairs<3>(factor, from, to, column, columns, step,
                                 steps);
  default:
    constexpr int width = ProductBlock<float>::width;
    packLinePairs<width>(to, from, Offset{factor.line}, Offset{factor.step},
                         column, column + columns - 1, step, steps,
                         width * ((steps + 1) / 2));
  }
}

/// Of bf16, two steps at once.
void multiplyPairs(const precompiled::Product &product, void **operands) {
  const int all = int(product.steps);
  auto elements = [&](const precompiled::Tensor &tensor) {
    const Half *from = nullptr;
    withElements<float>(tensor, operands, [&](const auto *first) {
      from = reinterpret_cast<const Half *>(first);
    });
    return from;
  };
  multiplySteps<float, PairLanes>(
      product, operands, (all + 1) / 2,
      [&](float *to, int row, int rows, int pair, int pairs) {
        packLinePairs<kRows>(to, elements(product.a.tensor),
                             Offset{product.a.line}, Offset{product.a.step},
                             row, row + rows - 1, 2 * pair,
                             std::min(2 * pairs, all - 2 * pair),
                             kRows * ProductBlock<float>::steps);
      },
      [&](float *to, int column, int columns, int pair, int pairs) {
        packRightPairs(product.b, elements(product.b.tensor), to, column,
                       columns, 2 * pair, std::min(2 * pairs, all - 2 * pair));
      });
}
#endif

template <typename T>
void multiplyOne(const precompiled::Product &product, void **operands) {
#if defined(__AVX512BF16__)
  if (std::is_same_v<T, float> && product.a.tensor.type == precompiled::BF16 &&
      product.b.tensor.type == precompiled::BF16)
    return multiplyPairs(product, operands);
#endif
  multiplySteps<T, Lanes<T>>(
      product, operands, int(product.steps),
      [&](T *to, int row, int rows, int step, int steps) {
        withElements<T>(product.a.tensor, operands, [&](const auto *from) {
          packLeft<T>(product.a, from, to, row, rows, step, steps);
        });
      },
      [&](T *to, int column, int columns, int step, int steps) {
        withElements<T>(product.b.tensor, operands, [&](const auto *from) {
          packRight<T>(product.b, from, to, column, columns, step, steps);
        });
      });
}

/// Groups of one or two rows each, as many side by side as a vector has.
template <typename T, int axes> class GroupLoops {
  using Block = GroupBlock<T, axes>;
  static constexpr int lanes = Block::lanes;
  const precompiled::Product &product;
  void **operands;
  int sizes[axes], group, count; ///< of groups side by side
  int foundColumn = -1, foundStep = -1;
  Block block;

  /// Calls `use` with the elements of each of the groups in an operand, the
  /// last one's again behind it.
  template <typename Use>
  void withLines(const precompiled::Tensor &tensor, int64_t at, Use use) const {
    cutback_host::blockNow = {0, 0, unsigned(group)};
    withElements<T>(tensor, operands, [&](auto *elements) {
      decltype(elements) lines[lanes];
      for (int lane = 0; lane < lanes; ++lane)
        lines[lane] = elements + at + std::min(lane, count - 1) * tensor.outer;
      use(lines);
    });
  }
  /// Elements from one that may be read to the next, by the digits that move.
  static int unitOf(const precompiled::Product &product) {
    int64_t unit = 0;
    auto add = [&](const precompiled::Index &index, int64_t numbers) {
      for (int64_t d = 0; d < index.numDigits; ++d)
        if (index.digits[d].divisor < numbers)
          unit = std::gcd(unit, index.digits[d].stride);
    };
    add(product.b.line, product.columns);
    add(product.b.step, product.steps);
    return int(std::max<int64_t>(unit, 1));
  }
  /// Whether the groups' elements lie side by side.
  bool areSide(const precompiled::Tensor &tensor) const {
    return tensor.outer == 1 && count == lanes;
  }
  void takeFactors(int row, int step) {
    int line[1], offsets[Block::steps];
    findOffsets(product.a.line, row, 1, line);
    const bool areNeighbors =
        findOffsets(product.a.step, step, block.numSteps, offsets);
    if (areNeighbors)
      line[0] += offsets[0];
    withLines(product.a.tensor, line[0], [&](auto *of) {
      if (areNeighbors)
        transposeLanes<lanes>(block.factors, lanes, of, block.numSteps);
      else
        takeLanes<lanes>(block.factors, of, areSide(product.a.tensor),
                         block.numSteps, [&](int k) { return offsets[k]; });
    });
  }
  void takeWindows() {
    withLines(product.b.tensor, block.first, [&](auto *of) {
      if (block.unit == 1)
        transposeLanes<lanes>(block.windows, lanes, of, block.count);
      else
        takeLanes<lanes>(block.windows, of, areSide(product.b.tensor),
                         block.count, [&](int e) { return e * block.unit; });
    });
  }
  void store(int row, int column) {
    int line[1], places[Block::columns];
    const int columns = block.numColumns;
    findOffsets(product.outRow, row, 1, line);
    const bool areNeighbors =
        findOffsets(product.outColumn, column, columns, places);
    if (areSide(product.out) && product.self.operand < 0 &&
        T(product.alpha) == 1)
      return storeSums(line[0], places);
    block.turnSums();
    const Addition<T> addition(product, operands, row, 1, column, columns);
    for (int lane = 0; lane < count; ++lane) {
      cutback_host::blockNow = {0, 0, unsigned(group + lane)};
      T *sums = block.turned + lane * Block::columns;
      addition(0, sums);
      withElements<T>(product.out, operands, [&](auto *out) {
        using E = std::remove_reference_t<decltype(*out)>;
        out += line[0] + (areNeighbors ? places[0] : 0);
        for (int j = 0; j < columns; ++j)
          out[areNeighbors ? j : places[j]] = to<E>(sums[j]);
      });
    }
  }
  /// Of groups that lie side by side, as they are.
  void storeSums(int line, const int *places) const {
    cutback_host::blockNow = {0, 0, unsigned(group)};
    withElements<T>(product.out, operands, [&](auto *out) {
      using E = std::remove_reference_t<decltype(*out)>;
      for (int j = 0; j < block.numColumns; ++j)
        for (int lane = 0; lane < lanes; ++lane)
          out[line + places[j] + lane] = to<E>(block.sums[j * lanes + lane]);
    });
  }
  /// Those of the block that begins here, if it has others.
  void findElements(int column, int step) {
    if (column == foundColumn && step == foundStep)
      return;
    foundColumn = column, foundStep = step;
    block.numSteps = std::min(int(product.steps) - step, Block::steps);
    findPlaces(product.b.step, step, block.numSteps, block.step);
    block.keepSteps();
    block.findElements(sizes);
  }
  /// The columns that block.column has, of one row.
  void addRow(int row, int column) {
    const int all = int(product.steps);
    std::fill(block.sums, block.sums + block.numColumns * lanes, T(0));
    for (int step = 0; step < all; step += block.numSteps) {
      findElements(column, step);
      takeWindows();
      takeFactors(row, step);
      block.add();
    }
    store(row, column);
  }

public:
  GroupLoops(const precompiled::Product &product, void **operands)
      : product(product), operands(operands) {
    for (int axis = 0; axis < axes; ++axis)
      sizes[axis] = int(product.b.sizes[axis]);
    block.unit = unitOf(product);
    std::fill(block.windows + Block::outside * lanes,
              block.windows + (Block::outside + 1) * lanes, T(0));
  }
  void run(int first, int last) {
    const int all = int(product.columns);
    for (int column = 0; column < all; column += block.numColumns) {
      block.numColumns = std::min(all - column, Block::columns);
      PlaceWalk<axes> walk(product.b.line, column);
      takeColumns(walk, block.numColumns, block.column);
      block.keepColumns();
      for (group = first; group < last; group += lanes) {
        count = std::min(lanes, last - group);
        for (int row = 0; row < int(product.rows); ++row)
          addRow(row, column);
      }
    }
  }
};

/// Whether registers are better used by groups than by rows and columns.
template <typename T>
bool isByGroups(const precompiled::Product &product, int64_t groups,
                int64_t parts) {
  return Lanes<T>::count > 1 && product.rows <= 2 && product.b.numAxes > 0 &&
         groups * 2 >= parts * Lanes<T>::count;
}

template <typename T>
void multiplyGroups(const precompiled::Product &product, void **operands,
                    int first, int last) {
  switch (product.b.numAxes) {
  case 1:
    return GroupLoops<T, 1>(product, operands).run(first, last);
  case 2:
    return GroupLoops<T, 2>(product, operands).run(first, last);
  default:
    return GroupLoops<T, 3>(product, operands).run(first, last);
  }
}

struct Given {
  void **operands;
  const precompiled::Product *product;
};

template <typename T> void multiplyGiven(void *given) {
  const Given &all = *static_cast<Given *>(given);
  multiplyOne<T>(*all.product, all.operands);
}

template <typename T>
void multiplyAll(void **operands, int64_t *cells,
                 const precompiled::Products &products) {
  auto *product = reinterpret_cast<const precompiled::Product *>(&products + 1);
  const int64_t part = cells[2], parts = cells[3], groups = products.outer;
  for (int64_t i = 0; i < products.count; ++i) {
    if (isByGroups<T>(product[i], groups, parts)) {
      multiplyGroups<T>(product[i], operands, int(groups * part / parts),
                        int(groups * (part + 1) / parts));
      continue;
    }
    Given given = {operands, product + i};
    runProducts(unsigned(groups), multiplyGiven<T>, &given, cells);
  }
}

//===--- Products of groups -----------------------------------------------===//

using precompiled::GroupedProducts;

/// Of `told` the extent that groups divide.
int64_t &extentOf(GroupedProducts::Along along, precompiled::Product &product) {
  return along == GroupedProducts::Rows      ? product.rows
         : along == GroupedProducts::Columns ? product.columns
                                             : product.steps;
}

template <typename T>
void storeZeros(const precompiled::Product &product, void **operands) {
  const Offset row{product.outRow}, column{product.outColumn};
  withElements<T>(product.out, operands, [&](auto *out) {
    using E = std::remove_reference_t<decltype(*out)>;
    for (int i = 0; i < int(product.rows); ++i)
      for (int j = 0; j < int(product.columns); ++j)
        out[row(i) + column(j)] = to<E>(T(0));
  });
}

template <typename T>
void multiplyGroupsOf(void **operands, int64_t *cells,
                      const GroupedProducts &told) {
  const auto &whole =
      *reinterpret_cast<const precompiled::Product *>(&told + 1);
  const auto along = GroupedProducts::Along(told.along);
  precompiled::Product all = whole;
  const int64_t length = extentOf(along, all);
  const void *offsets = operands[told.offsets.operand];
  Mark mark;
  int64_t start = 0;
  auto run = [&](int64_t group, int64_t end) {
    precompiled::Product product = whole;
    extentOf(along, product) = end - start;
    product.a.tensor.at += group * told.groupA + start * told.unitA;
    product.b.tensor.at += group * told.groupB + start * told.unitB;
    product.out.at += group * told.groupOut + start * told.unitOut;
    Given given = {operands, &product};
    cutback_host::blockNow = {0, 0, 0};
    if (product.rows == 0 || product.columns == 0)
      return;
    if (product.steps != 0 && group < told.groups)
      runProducts(1, multiplyGiven<T>, &given, cells);
    else if (cells[2] == 0)
      storeZeros<T>(product, operands);
  };
  for (int64_t group = 0; group < told.groups; ++group) {
    const int64_t at = told.offsets.at + group * told.offsetStride;
    const int64_t end = checked(told.offsets.type == precompiled::I32
                                    ? static_cast<const int *>(offsets)[at]
                                    : static_cast<const int64_t *>(offsets)[at],
                                length + 1, mark.words);
    run(group, std::max(start, end));
    start = std::max(start, end);
  }
  if (along != GroupedProducts::Steps)
    run(told.groups, length);
  mark.tell(cells);
}

} // namespace

extern "C" void cutback_grouped_products(void **operands, int64_t *cells,
                                         const GroupedProducts *told) {
  cells[0] = 0;
  if (told->sum == precompiled::F64)
    multiplyGroupsOf<double>(operands, cells, *told);
  else
    multiplyGroupsOf<float>(operands, cells, *told);
}

extern "C" void cutback_products(void **operands, int64_t *cells,
                                 const precompiled::Products *products) {
  if (products->sum == precompiled::F64)
    multiplyAll<double>(operands, cells, *products);
  else
    multiplyAll<float>(operands, cells, *products);
  cells[0] = 0;
}
