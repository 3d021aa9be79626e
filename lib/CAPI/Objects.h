// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the handles of the C interface point to.
#ifndef CUTBACK_LIB_CAPI_OBJECTS_H
#define CUTBACK_LIB_CAPI_OBJECTS_H

#include "cutback-c/Cutback.h"

#include "cutback/Import/Import.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Report/Report.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <optional>
#include <string>

struct CutbackContext {
  CutbackContext(CutbackDiagnosticFn onDiagnostic, void *userData);

  /// Calls the diagnostic function without a place.
  void report(CutbackSeverity severity, const char *message) noexcept;
  /// Calls it with the place of a diagnostic of MLIR, then with its notes.
  void report(mlir::Diagnostic &diagnostic) noexcept;

  mlir::MLIRContext mlir;
  CutbackDiagnosticFn onDiagnostic;
  void *userData;
  bool broken = false; ///< by a defect: nothing of `mlir` can be trusted
};

struct CutbackGraph {
  CutbackContext &context;
  cutback::ImportedModule imported;
  double importSeconds = 0;
  bool isStored = false; ///< of a folder, with its plan, which was proved
  /// What eager PyTorch keeps of a forward program at the sizes of its hints,
  /// and the program as it was read, with the options of its gradients, if it
  /// has sizes that a plan may be given others for.
  std::optional<cutback::AutogradSaves> eager = std::nullopt;
  mlir::OwningOpRef<mlir::ModuleOp> program = nullptr;
  cutback::TrainingGraphOptions gradients = {};
};

struct CutbackPlan {
  /// With a copy of the graph alone.
  explicit CutbackPlan(CutbackGraph &graph);

  CutbackContext &context;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< a copy of the graph's
  cutback::joint::GraphOp graph;            ///< in `module`, prepared
  /// A copy of `graph` as it was, to compare with; none if that is too large.
  mlir::OwningOpRef<cutback::joint::GraphOp> asRead;
  std::optional<cutback::OtherPartition> other;
  std::unique_ptr<cutback::PartitionResult> result;
  cutback::ReportExtras extras;
  bool compared = false; ///< `extras` has the other strategies
  bool isStored = false; ///< planned by us already: no graph of PyTorch's
  std::string json, comparedJson, text;
};

#endif // CUTBACK_LIB_CAPI_OBJECTS_H
