// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and convolutions of any sizes, compiled with Cutback and not
// with a model. The loops are those of the text that a C++ compiler gets
// (cutback_cpu.h): the same blocks, the same order of sums. In place of
// functions that give an element they have strides, or offsets that are
// computed once a block: a line's and a step's add up to an element's number.
//
// What lies side by side is copied so; a right factor whose steps lie side by
// side is transposed by squares.

#include "cutback_cpu.h"
#include "cutback_cuda.cuh"

#include "cutback/Target/CPU/PrecompiledCalls.h"

namespace precompiled = cutback::precompiled;
using namespace cutback_host;

namespace {

/// What `index` has of an element's number, for numbers from `first` on;
/// behind `count` of them that of the last one.
void findOffsets(const precompiled::Index &index, int first, int count, int all,
                 int64_t *offsets) {
  const precompiled::Digit *digits = index.digits;
  for (int i = 0; i < count; ++i) {
    int64_t at = index.at;
    for (int64_t d = 0; d < index.numDigits; ++d) {
      int digit = first + i;
      if (digits[d].divisor > 1)
        digit /= int(digits[d].divisor);
      if (digits[d].extent)
        digit %= int(digits[d].extent);
      at += digit * digits[d].stride;
    }
    offsets[i] = at;
  }
  for (int i = count; i < all; ++i)
    offsets[i] = offsets[count - 1];
}

/// Its places too.
template <int axes>
void findPlaces(const precompiled::Index &index, int first, int count, int all,
                Place<axes> *places) {
  for (int i = 0; i < all; ++i) {
    int64_t at = index.at, along[axes];
    for (int axis = 0; axis < axes; ++axis)
      along[axis] = index.along[axis];
    for (int64_t d = 0; d < index.numDigits; ++d) {
      const precompiled::Digit &of = index.digits[d];
      int digit = first + (i < count ? i : count - 1);
      if (of.divisor > 1)
        digit /= int(of.divisor);
      if (of.extent)
        digit %= int(of.extent);
      at += digit * of.stride;
      for (int axis = 0; axis < axes; ++axis)
        along[axis] += digit * of.along[axis];
    }
    places[i].at = int(at);
    for (int axis = 0; axis < axes; ++axis)
      places[i].along[axis] = int(along[axis]);
  }
}

/// Whether each lies behind the one before it.
bool areNeighbors(const int64_t *offsets, int count) {
  bool are = true;
  for (int i = 1; i < count; ++i)
    are &= offsets[i] == offsets[0] + i;
  return are;
}

template <typename T, typename E>
void packLines(const precompiled::Factor &factor, const E *from, T *to, int row,
               int rows, int step, int steps) {
  using Block = ProductBlock<T>;
  int64_t lines[Block::rows], along[Block::steps];
  findOffsets(factor.line, row, rows, upTo(rows, kRows), lines);
  findOffsets(factor.step, step, steps, steps, along);
  const bool isAlongK = areNeighbors(along, steps);
  for (int i = 0; i < rows; i += kRows, to += kRows * Block::steps) {
    const E *line[kRows];
    for (int e = 0; e < kRows; ++e)
      line[e] = from + lines[i + e];
    if (isAlongK)
      for (int k = 0; k < steps; ++k)
#pragma GCC unroll 6
        for (int e = 0; e < kRows; ++e)
          to[k * kRows + e] = T(toFloat(line[e][along[0] + k]));
    else
      for (int k = 0; k < steps; ++k)
#pragma GCC unroll 6
        for (int e = 0; e < kRows; ++e)
          to[k * kRows + e] = T(toFloat(line[e][along[k]]));
  }
}

/// A panel of columns whose steps lie side by side.
template <typename T, typename E>
void transposePanel(const E *const *columns, T *to, int steps) {
  constexpr int width = ProductBlock<T>::width, square = 8;
  static_assert(width == 2 || width % square == 0, "whole squares");
  int k = 0;
  for (; width % square == 0 && k + square <= steps; k += square)
    for (int first = 0; first < width; first += square) {
      T held[square][square];
      for (int e = 0; e < square; ++e)
        for (int j = 0; j < square; ++j)
          held[e][j] = T(toFloat(columns[first + e][k + j]));
      for (int j = 0; j < square; ++j)
        for (int e = 0; e < square; ++e)
          to[(k + j) * width + first + e] = held[e][j];
    }
  for (; k < steps; ++k)
    for (int e = 0; e < width; ++e)
      to[k * width + e] = T(toFloat(columns[e][k]));
}

template <typename T, typename E>
void packColumns(const precompiled::Factor &factor, const E *from, T *to,
                 int column, int columns, int step, int steps) {
  using Block = ProductBlock<T>;
  constexpr int width = Block::width;
  int64_t lines[Block::columns], along[Block::steps];
  findOffsets(factor.line, column, columns, upTo(columns, width), lines);
  findOffsets(factor.step, step, steps, steps, along);
  const bool isAlongK = areNeighbors(along, steps);
  for (int j = 0; j < columns; j += width, to += width * steps) {
    const E *line[width];
    for (int e = 0; e < width; ++e)
      line[e] = from + lines[j + e];
    if (areNeighbors(lines + j, width)) {
      for (int k = 0; k < steps; ++k)
        for (int e = 0; e < width; ++e)
          to[k * width + e] = T(toFloat(line[0][along[k] + e]));
    } else if (isAlongK) {
      for (int e = 0; e < width; ++e)
        line[e] += along[0];
      transposePanel<T>(line, to, steps);
    } else {
      for (int k = 0; k < steps; ++k)
        for (int e = 0; e < width; ++e)
          to[k * width + e] = T(toFloat(line[e][along[k]]));
    }
  }
}

template <typename T, typename E, int axes>
void packWindows(const precompiled::Factor &factor, const E *from, T *to,
                 int column, int columns, int step, int steps) {
  using Block = ProductBlock<T>;
  constexpr int width = Block::width;
  int sizes[axes];
  for (int axis = 0; axis < axes; ++axis)
    sizes[axis] = int(factor.sizes[axis]);
  Place<axes> lines[Block::columns], along[Block::steps];
  findPlaces<axes>(factor.line, column, columns, upTo(columns, width), lines);
  findPlaces<axes>(factor.step, step, steps, steps, along);
  for (int j = 0; j < columns; j += width, to += width * steps) {
    if constexpr (std::is_same_v<T, E>) {
      copyWindows<T, axes>(to, from, lines + j, along, steps, sizes);
    } else {
      for (int k = 0; k < steps; ++k)
        for (int e = 0; e < width; ++e) {
          const Place<axes> &line = lines[j + e];
          bool isIn = true;
          for (int axis = 0; axis < axes; ++axis)
            isIn &= unsigned(line.along[axis] + along[k].along[axis]) <
                    unsigned(sizes[axis]);
          to[k * width + e] =
              isIn ? T(toFloat(from[line.at + along[k].at])) : T(0);
        }
    }
  }
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
    return packColumns<T, E>(factor, from, to, column, columns, step, steps);
  }
}

/// Calls `run` with the elements of `tensor` in matrix or group blockIdx.z:
/// doubles where sums are.
template <typename T, typename Run>
void withElements(const precompiled::Tensor &tensor, void **operands, Run run) {
  const int64_t at = tensor.at + int64_t(blockIdx.z) * tensor.outer;
  void *operand = operands[tensor.operand];
  if constexpr (std::is_same_v<T, double>)
    run(static_cast<double *>(operand) + at);
  else if (tensor.type == precompiled::BF16)
    run(static_cast<bf16 *>(operand) + at);
  else if (tensor.type == precompiled::F16)
    run(static_cast<f16 *>(operand) + at);
  else
    run(static_cast<float *>(operand) + at);
}

/// Scales sums of a block and adds what is added to them.
template <typename T>
void addSelf(const precompiled::Product &product, void **operands,
             ProductBlock<T> &block, int row, int rows, int column,
             int columns) {
  using Block = ProductBlock<T>;
  const T alpha = T(product.alpha), beta = T(product.beta);
  if (product.alpha != 1)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        block.sums[i * Block::columns + j] =
            alpha * block.sums[i * Block::columns + j];
  if (product.self.operand < 0)
    return;
  int64_t lines[Block::rows], along[Block::columns];
  findOffsets(product.selfRow, row, rows, rows, lines);
  findOffsets(product.selfColumn, column, columns, columns, along);
  const bool isSide = areNeighbors(along, columns);
  withElements<T>(product.self, operands, [&](const auto *self) {
    for (int i = 0; i < rows; ++i) {
      T *sums = block.sums + i * Block::columns;
      const auto *line = self + lines[i];
      T added[Block::columns];
      if (isSide)
        for (int j = 0; j < columns; ++j)
          added[j] = T(toFloat(line[along[0] + j]));
      else
        for (int j = 0; j < columns; ++j)
          added[j] = T(toFloat(line[along[j]]));
      if (product.beta != 1)
        for (int j = 0; j < columns; ++j)
          added[j] = beta * added[j];
      for (int j = 0; j < columns; ++j)
        sums[j] = added[j] + sums[j];
    }
  });
}

template <typename T>
void storeBlock(const precompiled::Product &product, void **operands,
                ProductBlock<T> &block, int row, int rows, int column,
                int columns) {
  using Block = ProductBlock<T>;
  addSelf(product, operands, block, row, rows, column, columns);
  int64_t lines[Block::rows], along[Block::columns];
  findOffsets(product.outRow, row, rows, rows, lines);
  findOffsets(product.outColumn, column, columns, columns, along);
  const bool isSide = areNeighbors(along, columns);
  withElements<T>(product.out, operands, [&](auto *out) {
    using Out = std::remove_reference_t<decltype(*out)>;
    for (int i = 0; i < rows; ++i) {
      const T *sums = block.sums + i * Block::columns;
      Out *line = out + lines[i];
      if (isSide)
        for (int j = 0; j < columns; ++j)
          line[along[0] + j] = to<Out>(sums[j]);
      else
        for (int j = 0; j < columns; ++j)
          line[along[j]] = to<Out>(sums[j]);
    }
  });
}

template <typename T>
void multiplyOne(const precompiled::Product &product, void **operands) {
  multiply<T>(
      int(product.rows), int(product.columns), int(product.steps),
      [&](T *to, int row, int rows, int step, int steps) {
        withElements<T>(product.a.tensor, operands, [&](const auto *from) {
          packLines<T>(product.a, from, to, row, rows, step, steps);
        });
      },
      [&](T *to, int column, int columns, int step, int steps) {
        withElements<T>(product.b.tensor, operands, [&](const auto *from) {
          packRight<T>(product.b, from, to, column, columns, step, steps);
        });
      },
      [&](ProductBlock<T> &block, int row, int rows, int column, int columns) {
        storeBlock<T>(product, operands, block, row, rows, column, columns);
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
