// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that go over elements of strided tensors, as the functions that were
// compiled with Cutback are told them: a header, the tensors, and numbers of
// one of the structures below.
#ifndef CUTBACK_TARGET_CPU_STRIDEDCALLS_H
#define CUTBACK_TARGET_CPU_STRIDEDCALLS_H

#include "cutback/Target/CPU/PrecompiledCalls.h"

namespace cutback::precompiled {

/// Dimensions that a tensor has at most.
constexpr int kMostDims = 16;

/// A dimension of one element has stride 0.
struct StridedTensor {
  int64_t operand = -1; ///< its number; below 0: there is none
  int64_t type = F32;
  int64_t at = 0; ///< the first element
  int64_t rank = 0;
  int64_t sizes[kMostDims] = {}, strides[kMostDims] = {};
};
/// In front of so many tensors, behind which the structure lies.
struct StridedCall {
  int64_t numTensors = 0;
};

/// Greatest elements with their places in a plane, or with their numbers in a
/// window; and what makes these of those. Tensors: from, to, indices.
struct Pool {
  enum Kind : int64_t {
    Average,
    AverageGradient,
    Greatest,
    GreatestInWindow,
    GreatestGradient,
    PlacesOfWindows
  };
  struct Axis {
    int64_t taps = 1, stride = 1, padding = 0, dilation = 1;
    int64_t size = 1, count = 1; ///< elements, windows
  };
  int64_t kind = Average, rank = 0, isAdaptive = 0;
  int64_t isPadded = 0; ///< padding counts
  int64_t isDivisorGiven = 0, divisor = 0;
  Axis axes[kMostAxes]; ///< the last `rank` of them
};

/// Tensors: from, to.
struct Resample {
  enum Kind : int64_t { Nearest, Linear, Cubic };
  struct Axis {
    int64_t in = 1; ///< elements that are read
    double ratio = 1, offset = 0;
  };
  int64_t kind = Nearest, rank = 0, isGradient = 0;
  Axis axes[kMostAxes]; ///< the last `rank` of them
};

enum class Combine : int64_t { Put, Sum, Product, Mean, Max, Min };
/// What comes to rows of a tensor, one number after the other. Tensors: self,
/// out, of dimensions [rows..., columns...]; source, indices, of dimensions
/// [numbers..., columns...]; a row has one dimension for each of the indices.
/// `isMasked`: the last of them is a mask, of which numbers count.
struct Scatter {
  /// What an index beside the rows is: an error; the same, but below 0 it
  /// counts from the end; the nearest row.
  enum Bounds : int64_t { Checked, Wrapped, Clamped };
  Combine how = Combine::Put;
  int64_t includesSelf = 1;
  int64_t isApart = 0; ///< self is added to what was summed
  int64_t bounds = Checked;
  int64_t isMasked = 0;
  int64_t numbers = 0;            ///< dimensions of them
  int64_t columns = 0;            ///< dimensions of them
  int64_t limits[kMostDims] = {}; ///< columns that indices have, by dimension
  double alpha = 1, value = 0;    ///< without a source
};

/// out[at] = table[at, `axis` by index[at]]. Tensors: table, indices, out; the
/// table has stride 0 along the axis.
struct Take {
  int64_t size = 0, stride = 0; ///< of the axis
  int64_t isModulo = 0;         ///< an index is the remainder of the size
  int64_t isFlat = 0;           ///< the table's element of that number
};

/// Tensors: self, values, places. Rows lie along `axis`.
struct Scan {
  enum Kind : int64_t { Sum, Product, LogSum, Max, Min };
  int64_t kind = Sum, axis = 0;
};
/// Tensors: self, values, places. A row lies along `axis`, or is all.
struct Order {
  enum Kind : int64_t { Sort, Nth, Median, NanMedian, Mode };
  int64_t kind = Sort, axis = 0, isAll = 0;
  int64_t isFalling = 0, kept = 0; ///< Sort
  int64_t nth = 0;                 ///< Nth
};
/// Tensors: sorted, self, sorter, out.
struct Search {
  int64_t isRight = 0;
  int64_t compared = F32; ///< F32, F64, I64 or U64
};

/// Windows as columns, that back, the gradient of windows along one dimension,
/// and gradients of padding. Tensors: from, to.
struct ColumnWindows {
  enum Kind : int64_t { Columns, Planes, Unfolded, Reflected, Border };
  int64_t kind = Columns;
  int64_t axis = 0;           ///< Unfolded
  int64_t rank = 0;           ///< Reflected, Border: padded axes, the last ones
  Pool::Axis axes[kMostAxes]; ///< Unfolded: one; padding: in front alone
};

/// Tensors: self, mask, source, out; of the gradient: none, mask, gradient,
/// out.
struct MaskedScatter {
  int64_t isGradient = 0;
};

/// Tensors: input, grid, gradient, out.
struct GridSample {
  enum Kind : int64_t { Forward, InputGradient, GridGradient };
  int64_t kind = Forward, rank = 0;
  int64_t mode = 0, padding = 0, isAligned = 0; ///< as PyTorch numbers them
};

/// Tensors: a, b, gradient, distances, out. Within: of each to those behind.
struct Distances {
  enum Kind : int64_t { Forward, Gradient, Within, WithinGradient };
  int64_t kind = Forward;
  double p = 2;
};

/// Tensors: input (or chances, rates, weights: the first parameter of each
/// element), the second parameter (or noise), seed, out, mask (or slopes, or
/// the round of a loop).
struct Draw {
  enum Kind : int64_t {
    Dropout,
    Slopes,
    Bernoulli,
    Uniform,
    Normal,
    LogNormal,
    Exponential,
    Cauchy,
    Geometric,
    Integer,
    Poisson,
    Binomial,
    Gamma,
    Places,
    Order
  };
  int64_t kind = Dropout, stream = 0;
  double first = 0, second = 0; ///< of all elements
  double steps = 0;             ///< Uniform: so many numbers, if not 0
  int64_t isWide = 0;           ///< Uniform, Normal: of 53 bits
  int64_t low = 0, range = 1;   ///< Integer
  int64_t replaces = 0;         ///< Places
  int64_t inner = 1;            ///< Dropout: elements that go together
  int64_t isTraining = 1;       ///< Slopes
};

/// Tensors: the number of each element, a second one (GammaSlope; none of
/// others), out.
struct Special {
  enum Kind : int64_t {
    GammaSlope,
    LogGamma,
    Polygamma,
    InverseErf,
    ScaledErfc,
    LogNormal,
    NormalQuantile
  };
  int64_t kind = GammaSlope;
  int64_t degree = 0; ///< Polygamma
};

/// Tensors: table (or gradient, of rows of bags), indices, offsets, weights,
/// bagOfIndex, sizes, out, rows.
struct Bags {
  enum Kind : int64_t {
    Rows,
    BagOfIndex,
    Sizes,
    TableGradient,
    GreatestGradient,
    WeightGradient
  };
  enum Mode : int64_t { Sum, Mean, Max };
  int64_t kind = Rows, mode = Sum, padding = -1;
  int64_t count = 0, bags = 0, tableRows = 0;
  int64_t includesLast = 0; ///< the last offset is where the last bag ends
  int64_t isScaled = 0;     ///< by how often a row is used
};

/// Tensors: from, to. Check: each element of `from` must be true.
struct Elements {
  enum Kind : int64_t { Copy, Zero, Check };
  int64_t kind = Copy;
};

} // namespace cutback::precompiled

#endif // CUTBACK_TARGET_CPU_STRIDEDCALLS_H
