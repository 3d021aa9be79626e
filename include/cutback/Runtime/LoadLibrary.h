// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library from bytes in memory.
#ifndef CUTBACK_RUNTIME_LOADLIBRARY_H
#define CUTBACK_RUNTIME_LOADLIBRARY_H

#include "cutback/Runtime/Artifact.h"

namespace cutback {

/// Loads the library whose bytes are in `file`; one that this process has
/// already is not loaded again. It stays loaded. Null, with `error` set, if
/// that fails. Any number of threads may call it.
void *loadLibrary(const ArtifactFile &file, std::string &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_LOADLIBRARY_H
