// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that were compiled with Cutback.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace cutback::cpu {

/// Object files of the functions that calls name, for this processor.
std::vector<llvm::StringRef> precompiledObjects();

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H
