// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every command needs: a context, diagnostics, progress, output.
#ifndef CUTBACK_TOOLS_CUTBACK_SESSION_H
#define CUTBACK_TOOLS_CUTBACK_SESSION_H

#include "Commands.h"

#include "cutback/Import/Import.h"
#include "cutback/Planner/PlanOptions.h"
#include "cutback/Report/StoredHalves.h"
#include "cutback/Support/Progress.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>

namespace cutback {

/// One run of a command. Diagnostics of the context go to standard error as
/// `FILE:LINE:COL: error: …`.
class Session : public StoredHalvesClient {
public:
  Session(std::string_view command, const CommandLine &line);
  ~Session() override;

  /// Lives until the process ends, which is faster than taking it apart.
  using StoredHalvesClient::context;
  Progress progress;
  const CommandLine &line;

  /// Reads the graph of `path` (a folder stands for its joint.mlir or
  /// joint.mlirbc) and adds the time to `seconds`. Prints why if it cannot.
  mlir::FailureOr<ImportedModule> load(const std::string &path,
                                       ImportOptions options, double &seconds);
  /// The same, for commands that need a joint graph.
  mlir::FailureOr<ImportedModule>
  loadJoint(const std::string &path, ImportOptions options, double &seconds);

  /// Prints `cutback COMMAND: error: MESSAGE`, and what to do next.
  void error(const std::string &message) override;
  void warning(const std::string &message);
  void note(const std::string &message) override;
  mlir::FailureOr<ImportedModule> read(const std::string &path,
                                       const ImportOptions &options) override;
  mlir::FailureOr<ImportedModule>
  readJoint(const std::string &path, const ImportOptions &options) override;
  void step(const char *what) override { progress.step(what); }
  int planUpdate(PartitionResult &plan, joint::GraphOp graph,
                 const std::vector<std::string> &options) override;
  /// Puts the functions of --hook at the points of `table`. Exit code.
  int addHooks(HookTable &table);
  /// Writes a result to `path`, or to standard output for none and "-".
  int write(std::optional<std::string_view> path, const std::string &text);
  /// Says that a write failed, and what to do; the exit code.
  int failedWrite(const std::string &failure);

private:
  void printDiagnostic(mlir::Diagnostic &diagnostic);

  std::string command, input;
  std::optional<mlir::DiagnosticEngine::HandlerID> handler;
};

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_SESSION_H
