// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completes the errors of rules.
//
// A rule says what is wrong, in the words of its formula; which op of the model
// that is, and what to do about it, is the same for all rules and is added
// here. The errors are caught while the rule runs and emitted again behind it,
// as a handler must not emit. Who catches them (a decomposition that may fail)
// sees the completed ones.

#include "cutback/Dialect/Aten/RuleErrors.h"

#include "cutback/Dialect/Aten/Schema.h"

#include "mlir/IR/Diagnostics.h"

#include <vector>

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

/// A rule that needs a size is the usual cause where one is not known.
static bool hasUnknownSizes(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

static void complete(CallOp op, Diagnostic &error, StringRef next) {
  std::string text = error.str();
  StringRef packet = op.getSchema().packet;
  InFlightDiagnostic diagnostic = mlir::emitError(error.getLocation());
  if (!StringRef(text).contains(packet))
    diagnostic << "'" << packet << "': ";
  diagnostic << text;
  bool hasNotes = false;
  for (Diagnostic &note : error.getNotes()) {
    diagnostic.attachNote(note.getLocation()) << note.str();
    hasNotes = true;
  }
  if (hasNotes)
    return;
  if (hasUnknownSizes(op))
    diagnostic.attachNote()
        << "export the model with fixed sizes where this op reads them (no Dim "
           "in dynamic_shapes), or "
        << next;
  else
    diagnostic.attachNote() << next;
}

LogicalResult aten::runRule(CallOp op, StringRef next,
                            function_ref<LogicalResult()> rule) {
  std::vector<Diagnostic> errors;
  LogicalResult result = failure();
  {
    ScopedDiagnosticHandler handler(
        op->getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          errors.push_back(std::move(diagnostic));
          return success();
        });
    result = rule();
  }
  for (Diagnostic &error : errors)
    complete(op, error, next);
  return success(succeeded(result) && errors.empty());
}
