// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that were compiled with Cutback.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H

#include <string>
#include <vector>

namespace cutback::cpu {

/// Adds the object files of the functions that calls name, for this processor.
void addPrecompiledObjects(std::vector<std::string> &objects);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_H
