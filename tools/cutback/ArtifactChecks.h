// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled step that runs launch by launch, for those who look on.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H

#include "ArtifactRun.h"
#include "RunChecks.h"

namespace cutback {

/// A step that runs as it is compiled, and tells the observers of checks of
/// each launch, with what kernels.mlir says of it.
class WatchedStep {
public:
  WatchedStep();
  ~WatchedStep();
  /// Of `bound`, which was opened from `folder` and outlives this, as `checks`
  /// do. Exit code.
  int open(Session &session, const std::string &folder, BoundArtifact &bound,
           const RunChecks &checks);
  /// Runs segments, by their names, on what the arguments hold now. False, with
  /// an error emitted, if a launch fails or a check stops the run.
  bool run(llvm::ArrayRef<llvm::StringRef> segments);

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTCHECKS_H
