// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A joint graph and two halves of it, read from files.
#ifndef CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H
#define CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H

#include "Session.h"

#include "cutback/Partition/Certificate.h"

namespace cutback {

struct StoredHalves {
  ImportedModule joint, first, second; ///< keep what the others point to
  joint::GraphOp graph;
  mlir::func::FuncOp forward, backward;
  HalvesSignature signature; ///< set by `verify`
  CertificateStats stats;
  bool ofLog = false; ///< all three graphs are of one trace log

  /// Reads a folder that `compile` wrote, three files (JOINT FORWARD BACKWARD),
  /// or a trace log that holds all three graphs. Returns an exit code.
  int load(Session &session, std::vector<std::string> paths);
  /// Asks the certificate. Returns an exit code.
  int verify(Session &session);
};

/// True if `path` is a folder with both halves in it.
bool isStoredPair(const std::string &path);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_STOREDHALVES_H
