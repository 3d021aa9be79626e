// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is combined of tensors without elements: a number, whatever they would
// hold. A kernel has no loop of no iterations, so sums, products of matrices
// and gradients of tables are tensors of that number here. An op whose results
// have no element either needs nothing, and stays (CallText.cpp).

#include "CoreRules.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// Nothing for an op that PyTorch refuses, or that combines nothing.
static std::optional<double> combinedOfNone(StringRef packet) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return llvm::StringSwitch<std::optional<double>>(packet)
      .Cases({"aten.sum", "aten.nansum", "aten.count_nonzero", "aten.any",
              "aten.linalg_vector_norm", "aten.norm", "aten.mm", "aten.bmm",
              "aten.dot", "aten.mv", "aten.embedding_dense_backward"},
             0.0)
      .Cases({"aten.prod", "aten.all"}, 1.0)
      .Cases({"aten.mean", "aten.nanmean", "aten.var", "aten.std"}, nan)
      .Case("aten.logsumexp", -std::numeric_limits<double>::infinity())
      .Default(std::nullopt);
}

static Value filled(Rewrite &c) {
  return c.b.call(
      "aten.full.default",
      {c.b.sizes(c.result()).getList().vec(), *combinedOfNone(c.packet())},
      {{"dtype", elementOf(c.result())}});
}

static bool hasElements(Value tensor, bool ifUnknown) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape())
    return type && ifUnknown;
  return type.getNumElements() != 0;
}

DecomposeFn decompose::findEmptyRule(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  if (!call || op->getNumResults() != 1 ||
      !hasElements(op->getResult(0), /*ifUnknown=*/false) ||
      !combinedOfNone(call.getSchema().packet))
    return nullptr;
  bool hasTensor = false;
  for (Value operand : op->getOperands()) {
    hasTensor |= isa<RankedTensorType>(operand.getType());
    if (hasElements(operand, /*ifUnknown=*/true))
      return nullptr;
  }
  return hasTensor ? DecomposeFn(one<filled>) : nullptr;
}
