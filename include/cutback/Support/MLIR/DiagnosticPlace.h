// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a diagnostic points to.
#ifndef CUTBACK_SUPPORT_MLIR_DIAGNOSTICPLACE_H
#define CUTBACK_SUPPORT_MLIR_DIAGNOSTICPLACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace cutback {

/// A place in a file; `line` and `column` count from 1, 0 is not known.
struct DiagnosticPlace {
  llvm::StringRef file; ///< empty where nothing is known
  unsigned line = 0, column = 0;
};

inline DiagnosticPlace diagnosticPlace(mlir::Location location) {
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!place)
    return {};
  return {place.getFilename().getValue(), place.getLine(),
          place.getLine() != 0 ? place.getColumn() : 0};
}

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_DIAGNOSTICPLACE_H
