// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models by kind of op. All are fallback models in MLIR's sense: they know no
// concrete op and can be attached to any.
#ifndef CUTBACK_LIB_DIALECT_UPSTREAM_MODELS_H
#define CUTBACK_LIB_DIALECT_UPSTREAM_MODELS_H

#include "Formulas.h"

#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Literal.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cutback::upstream {

using Shapes = llvm::ArrayRef<llvm::ArrayRef<int64_t>>;

/// The registered ops of a dialect. MLIR's getRegisteredOperationsByDialect
/// (22.1) searches with an order that is none and misses most dialects.
inline llvm::SmallVector<mlir::RegisteredOperationName>
opsOf(mlir::MLIRContext &context, llvm::StringRef dialect) {
  llvm::SmallVector<mlir::RegisteredOperationName> names;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect)
      names.push_back(name);
  return names;
}

/// Elements of a shape; a dimension that is not known counts one, as in the
/// FLOPs of dialect `aten`.
inline double countElements(llvm::ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t dim : shape)
    count *= mlir::ShapedType::isDynamic(dim) ? 1.0 : static_cast<double>(dim);
  return count;
}

/// Shape of operand `i`, of result `i`: behind the operands there may be values
/// that a region reads, so results are found from the end.
inline llvm::ArrayRef<int64_t> operandShape(Shapes shapes, unsigned i) {
  return i < shapes.size() ? shapes[i] : llvm::ArrayRef<int64_t>();
}
inline llvm::ArrayRef<int64_t> resultShape(mlir::Operation *op, Shapes shapes,
                                           unsigned i) {
  size_t at = shapes.size() - op->getNumResults() + i;
  return op->getNumResults() <= shapes.size() && at < shapes.size()
             ? shapes[at]
             : llvm::ArrayRef<int64_t>();
}

/// An op without effects runs as often as one likes.
template <int64_t aliasedOperand = -1, bool computeIntensive = false>
struct Rematerializable
    : joint::RematerializableOpInterface::FallbackModel<
          Rematerializable<aliasedOperand, computeIntensive>> {
  bool isRecomputable(mlir::Operation *op) const {
    return mlir::isMemoryEffectFree(op);
  }
  int64_t getAliasedOperand(mlir::Operation *, unsigned) const {
    return aliasedOperand;
  }
  bool isRandom(mlir::Operation *) const { return false; }
  bool isComputeIntensive(mlir::Operation *) const { return computeIntensive; }
  bool hasOrderedEffects(mlir::Operation *op) const {
    return !mlir::isMemoryEffectFree(op);
  }
};

template <joint::FusionKind kind>
struct Fusible : joint::FusibleOpInterface::FallbackModel<Fusible<kind>> {
  joint::FusionKind getFusionKind(mlir::Operation *) const { return kind; }
  bool getIterationSpace(mlir::Operation *op, Shapes shapes,
                         joint::IterationSpace &space) const {
    unsigned operands = op->getNumOperands();
    if constexpr (kind == joint::FusionKind::Pointwise)
      return joint::pointwiseSpace(shapes, operands, space);
    if constexpr (kind == joint::FusionKind::Gather ||
                  kind == joint::FusionKind::Create)
      return joint::gatherSpace(shapes, operands, space);
    return false;
  }
};

template <bool undefined>
struct Literal : joint::LiteralOpInterface::FallbackModel<Literal<undefined>> {
  bool isLiteral(mlir::Operation *) const { return true; }
  bool isUndefined(mlir::Operation *) const { return undefined; }
};

/// `weight` FLOPs an element of the first result.
template <unsigned weight>
struct PerResult
    : joint::CostModelOpInterface::FallbackModel<PerResult<weight>> {
  double getFlops(mlir::Operation *op, Shapes shapes) const {
    return weight ? weight * countElements(resultShape(op, shapes, 0)) : 0.0;
  }
  bool usesMatrixUnits(mlir::Operation *) const { return false; }
};

/// `weight` FLOPs an element of the first operand.
template <unsigned weight>
struct PerOperand
    : joint::CostModelOpInterface::FallbackModel<PerOperand<weight>> {
  double getFlops(mlir::Operation *, Shapes shapes) const {
    return weight * countElements(operandShape(shapes, 0));
  }
  bool usesMatrixUnits(mlir::Operation *) const { return false; }
};

/// A kind of op: models that are attached together.
template <typename... Models> struct Kind {
  static void attach(mlir::RegisteredOperationName name) {
    name.attachInterface<Models...>();
  }
  template <typename... Ops> static void attachTo(mlir::MLIRContext &context) {
    (Ops::template attachInterface<Models...>(context), ...);
  }
};

template <unsigned weight>
using Pointwise =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Pointwise>,
         PerResult<weight>>;
/// Shares the storage of operand 0.
using View =
    Kind<Rematerializable<0>, Fusible<joint::FusionKind::View>, PerResult<0>>;
using Gather =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Gather>, PerResult<0>>;
using Concat =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Concat>, PerResult<0>>;
/// Made from nothing, but worth keeping: each element is another.
using Create =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Create>, PerResult<1>>;
using LiteralKind = Kind<Rematerializable<>, Fusible<joint::FusionKind::Create>,
                         PerResult<0>, Literal<false>>;
using UndefinedKind =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Create>, PerResult<0>,
         Literal<true>>;
template <unsigned weight>
using Reduction =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Reduction>,
         PerOperand<weight>>;
/// A kernel of its own that moves data.
using Move =
    Kind<Rematerializable<>, Fusible<joint::FusionKind::Never>, PerResult<0>>;

} // namespace cutback::upstream

#endif // CUTBACK_LIB_DIALECT_UPSTREAM_MODELS_H
