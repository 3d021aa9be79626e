// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For questions whose negative answer is no error of the user.
#ifndef CUTBACK_SUPPORT_MLIR_SILENCE_H
#define CUTBACK_SUPPORT_MLIR_SILENCE_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace cutback {

/// Holds back the diagnostics of a context and remembers the first error.
class Silence {
public:
  explicit Silence(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (firstError.empty() &&
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            firstError = diagnostic.str();
        }) {}
  std::string firstError;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_SILENCE_H
