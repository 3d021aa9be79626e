// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of single types and ops once the symbols of a graph have values.
#ifndef CUTBACK_ANALYSIS_SIZEEVALUATION_H
#define CUTBACK_ANALYSIS_SIZEEVALUATION_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringMap.h"

namespace cutback {

/// Evaluates under the hints in the graph's `symbols`, over which `overrides`
/// stands. Without a graph only overrides are known. Keeps references.
class SizeEvaluation {
public:
  SizeEvaluation(joint::GraphOp graph,
                 const llvm::StringMap<int64_t> &overrides)
      : graph(graph), overrides(overrides) {}

  /// Fails with an error at the graph if an override names a symbol that it
  /// does not have.
  mlir::LogicalResult checkOverrides() const;

  /// Value of a size expression (a string attribute), kDynamic where it is not
  /// known or negative.
  int64_t evaluate(mlir::Attribute text) const;

  /// `type` with the dimensions that `dims` (`joint.dims`) gives.
  mlir::Type withDims(mlir::Type type, mlir::ArrayAttr dims) const;

  /// True if all results of `op` are tensors of declared sizes: it need not be
  /// evaluated.
  static bool isDeclared(mlir::Operation *op);

  /// Results of `op` for operands of the given types and integer values.
  /// `types` and `ints` hold what is known so far, one entry a result, and
  /// get what is known better.
  void evaluateOp(mlir::Operation *op, llvm::ArrayRef<mlir::Type> operandTypes,
                  llvm::ArrayRef<int64_t> operandInts,
                  llvm::MutableArrayRef<mlir::Type> types,
                  llvm::MutableArrayRef<int64_t> ints);

private:
  std::optional<int64_t> symbolValue(std::string_view name) const;

  joint::GraphOp graph;
  const llvm::StringMap<int64_t> &overrides;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<int64_t> resultInts;
};

} // namespace cutback

#endif // CUTBACK_ANALYSIS_SIZEEVALUATION_H
