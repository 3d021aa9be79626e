// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run as a trace: what ran, when, and for how long.
#ifndef CUTBACK_REPORT_STEPTRACE_H
#define CUTBACK_REPORT_STEPTRACE_H

#include "cutback/Interpreter/Observer.h"

#include <memory>
#include <string>

namespace cutback {

class StepTraceWriter;

/// Measures each op of a run, or each launch, for a viewer of the Trace Event
/// Format: a track for each half, recomputed ops marked, with each op its key
/// (number and region), which ties it to its op of the other half.
class StepTrace : public interpreter::OpObserver {
public:
  /// `title` names the process.
  explicit StepTrace(llvm::StringRef title);
  ~StepTrace() override;

  llvm::LogicalResult
  starts(mlir::Operation *function,
         llvm::ArrayRef<interpreter::RuntimeValue> arguments) override;
  void begins(mlir::Operation *op) override;
  llvm::LogicalResult
  ran(mlir::Operation *op,
      llvm::MutableArrayRef<interpreter::RuntimeValue> results) override;

  /// The document, of what has run so far; once.
  std::string json();

private:
  std::unique_ptr<StepTraceWriter> writer;
};

} // namespace cutback

#endif // CUTBACK_REPORT_STEPTRACE_H
