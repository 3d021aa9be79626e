// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A joint graph and two halves of it, read from files and proved.
#ifndef CUTBACK_REPORT_STOREDHALVES_H
#define CUTBACK_REPORT_STOREDHALVES_H

#include "cutback/Import/Import.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Support/CommandLine.h"
#include "cutback/Support/ExitCode.h"

#include <memory>

namespace cutback {

/// Who asks for stored halves: reads files in its own way, and hears what is
/// wrong with them. What MLIR finds goes to the handler of the context.
class StoredHalvesClient {
public:
  virtual ~StoredHalvesClient() = default;
  virtual mlir::FailureOr<ImportedModule> read(const std::string &path,
                                               const ImportOptions &options);
  /// The same of a file that has to have a joint graph, in words of its own.
  virtual mlir::FailureOr<ImportedModule>
  readJoint(const std::string &path, const ImportOptions &options) = 0;
  virtual void error(const std::string &message) = 0;
  virtual void note(const std::string &message) = 0;
  /// Forms the update that `options` ask for, behind a plan, into
  /// `plan.update`; returns an exit code. A client that forms none leaves it
  /// empty: then nothing that is stored of it is read.
  virtual int planUpdate(PartitionResult &plan, joint::GraphOp graph,
                         const std::vector<std::string> &options) {
    (void)plan, (void)graph, (void)options;
    return Done;
  }
  /// What is done next, where the client shows progress.
  virtual void step(const char *) {}

protected:
  explicit StoredHalvesClient(mlir::MLIRContext &context) : context(context) {}

  mlir::MLIRContext &context;
};

struct StoredHalves {
  ImportedModule joint, first, second; ///< keep what the others point to
  joint::GraphOp graph;
  mlir::func::FuncOp forward, backward;
  HalvesSignature signature; ///< set by `verify`
  CertificateStats stats;
  bool ofLog = false; ///< all three graphs are of one trace log
  /// The plan of a folder, made again and found to be what is stored; set by
  /// `verify`. Null for halves that came without a plan.
  std::unique_ptr<PartitionResult> plan;

  /// Reads a folder that `compile` wrote, three files (JOINT FORWARD BACKWARD),
  /// or a trace log that holds all three graphs. `options` are those of the
  /// joint graph. Returns an exit code, as all of these do.
  int load(StoredHalvesClient &client, std::vector<std::string> paths,
           ImportOptions options);
  /// Asks the certificate; of a folder, also whether every part belongs to the
  /// others.
  int verify(StoredHalvesClient &client);

private:
  int loadFolder(StoredHalvesClient &client, const ImportOptions &options);
  int verifyPlan(StoredHalvesClient &client);

  std::string folder; ///< empty if there is none
};

/// True if `path` is a folder: a stored plan.
bool isStoredPlan(const std::string &path);

/// A folder holds one plan: options that would decide another are an error.
/// Those in `allowed` have a meaning of their own there.
int refusePlanOptions(StoredHalvesClient &client, const CommandLine &line,
                      llvm::ArrayRef<std::string_view> allowed = {});

} // namespace cutback

#endif // CUTBACK_REPORT_STOREDHALVES_H
