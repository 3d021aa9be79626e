// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and convolutions of any sizes, compiled with Cutback and not
// with a model: loops over packed blocks (ProductBlocks.h). In place of the
// functions of a text for a device, which know sizes, they have digits of an
// index, from which offsets are computed once for many elements.

#include "Elements.h"
#include "ProductPacking.h"

using namespace cutback_host;

namespace {

template <int axes>
Place<axes> placeOf(const precompiled::Index &index, int number) {
  int64_t at = index.at, along[axes];
  for (int axis = 0; axis < axes; ++axis)
    along[axis] = index.along[axis];
  for (int64_t d = 0; d < index.numDigits; ++d) {
    const int digit = digitOf(index.digits[d], number);
    at += digit * index.digits[d].stride;
    for (int axis = 0; axis < axes; ++axis)
      along[axis] += digit * index.digits[d].along[axis];
  }
  Place<axes> place;
  place.at = int(at);
  for (int axis = 0; axis < axes; ++axis)
    place.along[axis] = int(along[axis]);
  return place;
}

template <typename T, typename E, int axes>
void packWindows(const precompiled::Factor &factor, const E *from, T *to,
                 int column, int columns, int step, int steps) {
  constexpr int width = ProductBlock<T>::width;
  int sizes[axes];
  for (int axis = 0; axis < axes; ++axis)
    sizes[axis] = int(factor.sizes[axis]);
  Place<axes> lines[width], along[ProductBlock<T>::steps];
  unsigned char runs[ProductBlock<T>::steps];
  for (int k = 0; k < steps; ++k)
    along[k] = placeOf<axes>(factor.step, step + k);
  countNeighbors<axes>(along, steps, runs);
  for (int j = 0; j < columns; j += width, to += width * steps) {
    for (int e = 0; e < width; ++e)
      lines[e] =
          placeOf<axes>(factor.line, column + std::min(j + e, columns - 1));
    if constexpr (std::is_same_v<T, E>)
      copyWindows<T, axes>(to, from, lines, along, runs, steps, sizes);
    else
      for (int k = 0; k < steps; ++k)
        for (int e = 0; e < width; ++e) {
          bool isIn = true;
          for (int axis = 0; axis < axes; ++axis)
            isIn &= unsigned(lines[e].along[axis] + along[k].along[axis]) <
                    unsigned(sizes[axis]);
          to[k * width + e] =
              isIn ? T(toFloat(from[lines[e].at + along[k].at])) : T(0);
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
void storeResults(const precompiled::Product &product, void **operands,
                  T *block, int row, int rows, int column, int columns) {
  const Addition<T> addition(product, operands, row, rows, column, columns);
  withElements<T>(product.out, operands, [&](auto *out) {
    using Out = std::remove_reference_t<decltype(*out)>;
    const auto value = [](int, int, T sum) { return to<Out>(sum); };
    const Results<Out, Offset, Offset, decltype(value)> results = {
        out, {product.outRow}, {product.outColumn}, value};
    storeBlock(results, block, row, rows, column, columns, addition);
  });
}

template <typename T>
void multiplyOne(const precompiled::Product &product, void **operands) {
  multiply<T>(
      int(product.rows), int(product.columns), int(product.steps),
      [&](T *to, int row, int rows, int step, int steps) {
        withElements<T>(product.a.tensor, operands, [&](const auto *from) {
          packLeft<T>(product.a, from, to, row, rows, step, steps);
        });
      },
      [&](T *to, int column, int columns, int step, int steps) {
        withElements<T>(product.b.tensor, operands, [&](const auto *from) {
          packRight<T>(product.b, from, to, column, columns, step, steps);
        });
      },
      [&](T *block, int row, int rows, int column, int columns) {
        storeResults<T>(product, operands, block, row, rows, column, columns);
      });
}

struct Given {
  void **operands;
  const precompiled::Products *products;
};

template <typename T> void multiplyAll(void *given) {
  const Given &all = *static_cast<Given *>(given);
  auto *product =
      reinterpret_cast<const precompiled::Product *>(all.products + 1);
  for (int64_t i = 0; i < all.products->count; ++i)
    multiplyOne<T>(product[i], all.operands);
}

} // namespace

extern "C" void cutback_products(void **operands, int64_t *cells,
                                 const precompiled::Products *products) {
  Given given = {operands, products};
  runProducts(unsigned(products->outer),
              products->sum == precompiled::F64 ? multiplyAll<double>
                                                : multiplyAll<float>,
              &given, cells);
  cells[0] = 0;
}
