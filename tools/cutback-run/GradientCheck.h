// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the gradients of a step are finite.
#ifndef CUTBACK_TOOLS_CUTBACKRUN_GRADIENTCHECK_H
#define CUTBACK_TOOLS_CUTBACKRUN_GRADIENTCHECK_H

#include "cutback/Runtime/Executor.h"

namespace cutback {

/// After a run: the first gradient of the step that has a NaN or an infinity,
/// with its place, or what went wrong; empty if all are finite.
std::string findWrongGradient(const Artifact &artifact, Executor &executor,
                              const std::vector<char *> &arguments);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACKRUN_GRADIENTCHECK_H
