// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the compiled files of a folder are what its plan gives.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTPROOF_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTPROOF_H

#include "Session.h"

namespace cutback {

/// Compares kernels.mlir, the manifest and all that it names, of `folder` and
/// of its folders for other sizes, with what comes of the plan of `stored`,
/// which has been verified. In `what`, which files were found right; empty if
/// there are none. Returns an exit code.
int proveArtifact(Session &session, const std::string &folder,
                  StoredHalves &stored, std::string &what);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTPROOF_H
