// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the rules of other libraries are kept: in the registration of each op,
// so that asking for a rule is one load.
//
// A rule is a function pointer in the model of its op; a second one for the
// same op replaces the first.

#include "cutback/Dialect/Aten/Rules.h"

#include "SchemaDetail.h"
#include "cutback/Dialect/Aten/RuleErrors.h"
#include "cutback/Dialect/Joint/Forgets.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

/// The registration of the op that PyTorch calls `torchName`, or null.
static CallModel *lookup(AtenDialect &dialect, StringRef torchName) {
  const Schema *schema = dialect.getSchemas().lookup(torchName);
  return schema ? CallModel::get(schema->op) : nullptr;
}

void aten::addVjpRules(AtenDialect &dialect, ArrayRef<VjpRule> rules) {
  for (const VjpRule &rule : rules)
    if (CallModel *model = lookup(dialect, rule.torchName))
      model->vjp = rule.build;
}

void aten::addDecomposeRules(AtenDialect &dialect,
                             ArrayRef<DecomposeRule> rules) {
  for (const DecomposeRule &rule : rules)
    if (CallModel *model = lookup(dialect, rule.torchName))
      model->decompose = rule.build;
}

VjpFn aten::getVjpRule(OperationName op) {
  CallModel *model = CallModel::get(op);
  return model ? model->vjp : nullptr;
}

DecomposeFn aten::getDecomposeRule(OperationName op) {
  CallModel *model = CallModel::get(op);
  return model ? model->decompose : nullptr;
}

LogicalResult CallOp::buildVjp(joint::VjpContext &vjp) {
  Operation *op = getOperation();
  if (op->hasAttr(joint::kForgets)) {
    vjp.setZero(0);
    return success();
  }
  return runRule(
      *this,
      "detach its inputs if no gradient shall flow through it, or write the op "
      "in terms of others",
      [&]() -> LogicalResult {
        if (VjpFn build = getVjpRule(op->getName()))
          return build(*this, vjp);
        return emitError("no rule for the gradient of '")
               << getInfo().torchName << "'";
      });
}
