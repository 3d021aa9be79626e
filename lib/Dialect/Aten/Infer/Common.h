// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the inference functions share: sizes that may be unknown, broadcasting,
// dimension lists, and the one way to add a result.
#ifndef CUTBACK_LIB_DIALECT_ATEN_INFER_COMMON_H
#define CUTBACK_LIB_DIALECT_ATEN_INFER_COMMON_H

#include "cutback/Dialect/Aten/InferComposite.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

#include <limits>

namespace cutback::aten::infer {

using Dims = llvm::SmallVector<int64_t, 6>;

/// Stands for a size that does not fit 64 bits; no result may have it.
inline constexpr int64_t kTooLarge = std::numeric_limits<int64_t>::max();

//===-- Sizes: kUnknown in, kUnknown out; kTooLarge on overflow -----------===//
int64_t addSizes(int64_t a, int64_t b);
int64_t mulSizes(int64_t a, int64_t b);
/// Rounds towards minus infinity; kUnknown for a divisor that is not positive.
int64_t floorDivSize(int64_t a, int64_t b);
int64_t ceilDivSize(int64_t a, int64_t b);
/// Product; 0 if any size is 0, even where others are unknown.
int64_t countElements(llvm::ArrayRef<int64_t> dims);
/// The sizes can be the same.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == kUnknown || b == kUnknown || a == b;
}
/// The better known one of two sizes that are the same.
inline int64_t mergeSizes(int64_t a, int64_t b) {
  return a == kUnknown ? b : a;
}

//===-- Element types -----------------------------------------------------===//
bool isComplex(mlir::Type type);
bool isFloatOrComplex(mlir::Type type);
/// i1, i8 .. i64, ui8: bool counts.
bool isIntegral(mlir::Type type);
bool isBool(mlir::Type type);
mlir::Type boolType(const InferCall &call);
mlir::Type intType(const InferCall &call);   ///< i64
mlir::Type floatType(const InferCall &call); ///< f32, torch's default dtype
/// complex<T> becomes T.
mlir::Type realType(mlir::Type type);
/// T becomes complex<T>; bf16 becomes complex<f32>.
mlir::Type complexType(mlir::Type type);
/// Ints and bools become the default dtype.
mlir::Type toFloating(const InferCall &call, mlir::Type type);
/// The type in which half-precision statistics are kept: f32 for f16 and bf16.
mlir::Type statisticsType(mlir::Type type);

//===-- Results -----------------------------------------------------------===//
/// Adds a tensor. Fails where a size is negative, the sizes or the number of
/// elements do not fit 64 bits, or no tensor can have the element type.
mlir::LogicalResult push(const InferCall &call, Results &results,
                         llvm::ArrayRef<int64_t> dims, mlir::Type element);
inline mlir::LogicalResult push(const InferCall &call, Results &results,
                                const TensorShape &shape) {
  return push(call, results, shape.dims, shape.element);
}
/// Adds an undefined result.
void pushNone(const InferCall &call, Results &results);
/// Adds shape i where bit i of `output_mask` is set, else an undefined result.
/// Shapes that are not there (no weight) are undefined too.
mlir::LogicalResult
pushMasked(const InferCall &call, Results &results,
           llvm::ArrayRef<std::optional<TensorShape>> shapes);

//===-- Arguments ---------------------------------------------------------===//
/// "self", else "input", else the first tensor parameter.
ParamRef selfParam(const InferCall &call);
mlir::LogicalResult getSelf(const InferCall &call, TensorShape &self);
/// As getSelf; fails where it has not `rank` dimensions.
mlir::LogicalResult getOfRank(const InferCall &call, ParamRef param,
                              int64_t rank, TensorShape &result);
/// Two factors as inference sees them.
struct Factors {
  TensorShape a, b;
};
/// A factor: its parameter, its rank, and the dimension that must be as large
/// as that of the other one.
struct FactorRef {
  ParamRef param;
  int64_t rank, along;
};
/// Fails, with a message about sizes `what`, where the two do not fit.
mlir::LogicalResult getFactors(const InferCall &call, llvm::StringRef what,
                               FactorRef a, FactorRef b, Factors &factors);
/// `dtype` where given, else `otherwise`.
mlir::LogicalResult getDtype(const InferCall &call, mlir::Type otherwise,
                             mlir::Type &result);
/// The dimensions named by `param`, as bits. None is all; the empty list is
/// all with `emptyIsAll`. Fails where one is out of range or given twice.
mlir::LogicalResult getDims(const InferCall &call, ParamRef param, int64_t rank,
                            llvm::SmallBitVector &result,
                            bool emptyIsAll = true);
/// A list of exactly `count` ints; one value stands for all. An empty list
/// gives `otherwise` where it is not empty.
mlir::LogicalResult getInts(const InferCall &call, ParamRef param,
                            unsigned count, llvm::ArrayRef<int64_t> otherwise,
                            Dims &result);
/// A list of sizes, none of them negative.
mlir::LogicalResult getSizes(const InferCall &call, ParamRef param,
                             Dims &result);

//===-- Shapes ------------------------------------------------------------===//
/// Broadcasts `b` into `a`: 1 and ? give ?, n > 1 and ? give n.
mlir::LogicalResult broadcastInto(const InferCall &call, Dims &a,
                                  llvm::ArrayRef<int64_t> b);
/// Without the dimensions in `reduced`, or with size 1 in their place.
Dims reduceShape(llvm::ArrayRef<int64_t> dims,
                 const llvm::SmallBitVector &reduced, bool keepDim);
/// Sizes `a` and `b`, called `what`, must be able to be the same.
mlir::LogicalResult checkSame(const InferCall &call, llvm::StringRef what,
                              int64_t a, int64_t b);

} // namespace cutback::aten::infer

#endif // CUTBACK_LIB_DIALECT_ATEN_INFER_COMMON_H
