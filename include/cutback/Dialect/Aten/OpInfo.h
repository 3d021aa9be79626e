// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ODS files say about one op of dialect `aten`, as constant data.
//
// All ops of the dialect share one storage (CallProperties) and one
// implementation of every interface; an op class adds its row of data only.
#ifndef CUTBACK_DIALECT_ATEN_OPINFO_H
#define CUTBACK_DIALECT_ATEN_OPINFO_H

#include "cutback/Dialect/Aten/Schema.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace cutback::aten {

/// FLOPs of one execution of a call. `shapes` as in CostModelOpInterface;
/// `weight` is the op's constant from the ODS file.
using FlopsFn = double (*)(mlir::Operation *op,
                           llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                           unsigned weight);

/// Properties of an op, as bits.
enum OpFlags : uint32_t {
  /// Draws from the generator's state: a second run gives other values.
  kRandom = 1u << 0,
  /// As kRandom where the arguments ask for dropout: a probability other than
  /// the number 0, and `train` or `training` not false.
  kRandomWithDropout = 1u << 6,
  /// Matrix product, convolution, attention.
  kComputeIntensive = 1u << 1,
  /// Its FLOPs run on matrix units.
  kMatrixUnits = 1u << 2,
  /// Communicates or checks: runs exactly once, in its order.
  kOrdered = 1u << 3,
  /// Its schema says "alias", but strides decide (reshape, contiguous, to).
  kMayAlias = 1u << 4,
  /// Gives its first operand back where the result has the same static type.
  kIdentityIfSameType = 1u << 7,
  /// Derivative zero or none everywhere (comparisons, detach, new values).
  kNotDifferentiable = 1u << 5,
};

/// The loops of a call: see FusibleOpInterface::getIterationSpace.
using LoopsFn = bool (*)(mlir::Operation *op,
                         llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                         joint::IterationSpace &space);

/// The formula of one element: see LowerableOpInterface::buildElement.
using ElementFn = llvm::LogicalResult (*)(
    mlir::Operation *op, joint::ElementBuilder &elements,
    llvm::SmallVectorImpl<mlir::Value> &results);

struct OpInfo {
  const char *torchName; ///< "aten.mul.Tensor", "aten.mm.default"
  const char *schema;    ///< "(Tensor self, Tensor other) -> Tensor"
  InferFn infer;
  LoopsFn loops;
  ElementFn element;
  FlopsFn flops;
  unsigned flopsWeight;
  joint::FusionKind fusion;
  uint32_t flags;
  /// Parameters (bit i: parameter i) that never have a gradient although they
  /// are floating-point tensors: running statistics, class weights.
  uint32_t noGradient;
  /// "6: i64[]": results that other releases give (AtenBase.td), or empty.
  const char *otherReleases;

  bool has(OpFlags flag) const { return flags & flag; }
};

/// The data of the op called `name`; null if it is none of dialect `aten`.
const OpInfo *getOpInfo(mlir::OperationName name);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_OPINFO_H
