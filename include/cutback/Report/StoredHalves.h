// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A joint graph and two halves of it, read from files.
#ifndef CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H
#define CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H

#include "Session.h"

#include "cutback/Partition/Certificate.h"
#include "cutback/Pipelines/PartitionPipeline.h"

#include <memory>

namespace cutback {

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
  /// or a trace log that holds all three graphs. Returns an exit code.
  int load(Session &session, std::vector<std::string> paths);
  /// Asks the certificate; of a folder, also whether every part belongs to the
  /// others. Returns an exit code.
  int verify(Session &session);

private:
  int loadFolder(Session &session);
  int verifyPlan(Session &session);

  std::string folder; ///< empty if there is none
};

/// True if `path` is a folder: a stored plan.
bool isStoredPlan(const std::string &path);

/// A folder holds one plan: options that would decide another are an error.
/// Those in `allowed` have a meaning of their own there. Returns an exit code.
int refusePlanOptions(Session &session,
                      llvm::ArrayRef<std::string_view> allowed = {});

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H
