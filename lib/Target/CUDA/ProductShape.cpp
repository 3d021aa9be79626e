// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile a product of f32 or f64 has. Each result is a sum in the order of
// k, so nothing divides k: what a device has to do at once are the results. The
// more a thread has, the fewer reads of shared memory an operation takes; the
// fewer a block has, the more multiprocessors have one. Few results of a long k
// take four cycles a step at best, one addition behind the other.
//
// A shape has two figures, measured on an H200: how long a block that is alone
// on a multiprocessor takes for a step of k, and how long a multiprocessor
// takes for it where it has many. The launch takes the longer of the two, the
// second as often as the fullest multiprocessor has a block.

#include "ProductShape.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace cutback::cuda;

/// Multiprocessors of a device.
static constexpr int64_t kMultiprocessors = 132;
std::string ProductShape::text() const {
  std::string list;
  for (int64_t number :
       {rows, columns, rowsEach, columnsEach, steps, threads, ahead})
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  return "ProductShape<" + list + ">";
}

int64_t ProductShape::sharedBytes(int64_t elementBytes) const {
  bool isByLine = rowsEach * columnsEach <= 4;
  auto slice = [&](int64_t lines) {
    return isByLine ? lines * (steps + 4) : steps * (lines + 4);
  };
  // Two slices, and where the steps of four are: 4 bytes, of windows 16.
  return 2 * (slice(rows) + slice(columns)) * elementBytes +
         4 * steps * (4 + 16);
}

const ProductShape &cutback::cuda::chooseProductShape(int64_t m, int64_t n,
                                                      int64_t batch,
                                                      int64_t elementBytes) {
  const ProductShape *best = nullptr;
  double least = 0;
  for (const ProductShape &shape : kProductShapes) {
    if (shape.sharedBytes(elementBytes) > kMostSharedBytes)
      continue;
    int64_t blocks = shape.tiles(m, n) * batch;
    int64_t most = (blocks + kMultiprocessors - 1) / kMultiprocessors;
    double cycles = std::max(shape.alone, double(most) * shape.together);
    if (!best || cycles < least)
      best = &shape, least = cycles;
  }
  return *best;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static int64_t innermostStride(const FactorLayout &layout) {
  for (const FactorLayout::Axis &axis : reverse(layout.steps))
    if (axis.size > 1)
      return axis.stride;
  return 0;
}

bool FactorLayout::isAlongK() const {
  return lines == 1 || lineStride != 1 || innermostStride(*this) == 1;
}

int64_t FactorLayout::wide() const {
  constexpr int64_t kWide = 4;
  auto isWhole = [](int64_t number) { return number % kWide == 0; };
  if (!isWhole(offset) || !llvm::all_of(added, isWhole))
    return 1;
  if (!isAlongK())
    return isWhole(lines) && llvm::all_of(steps,
                                          [&](Axis axis) {
                                            return axis.size == 1 ||
                                                   isWhole(axis.stride);
                                          })
               ? kWide
               : 1;
  // Steps that lie one behind the other, and all others far enough.
  int64_t run = 1;
  for (const Axis &axis : reverse(steps))
    if (axis.size > 1 && axis.stride == run)
      run *= axis.size;
    else if (axis.size > 1 && !isWhole(axis.stride))
      return 1;
  return isWhole(run) && (lines == 1 || isWhole(lineStride)) ? kWide : 1;
}

std::optional<int64_t> FactorLayout::stepStride() const {
  int64_t stride = innermostStride(*this), next = stride;
  for (const Axis &axis : reverse(steps)) {
    if (axis.size > 1 && axis.stride != next)
      return std::nullopt;
    if (axis.size > 1)
      next *= axis.size;
  }
  return stride;
}

std::string FactorLayout::accessText() const {
  return std::string(isAlongK() ? "true, " : "false, ") +
         std::to_string(wide()) + ">";
}

std::string FactorLayout::matrixText(const std::string &type,
                                     const std::string &begin) const {
  return "MatrixFactor<" + type + ", " + accessText() + "(" + begin +
         (offset ? " + " + std::to_string(offset) : "") + ", " +
         std::to_string(lineStride) + ", " +
         std::to_string(stepStride().value_or(0)) + ")";
}
