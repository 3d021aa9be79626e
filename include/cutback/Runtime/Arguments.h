// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of arguments by name, and what they hold if nobody gives them.
#ifndef CUTBACK_RUNTIME_ARGUMENTS_H
#define CUTBACK_RUNTIME_ARGUMENTS_H

#include "cutback/Runtime/Artifact.h"

namespace cutback {

/// "input.0", "tangent.0": what files of --inputs have.
bool isInputName(std::string_view name);

/// Whether an argument of `artifact` is called `name`.
bool takesArgument(const Artifact &artifact, std::string_view name);

/// Zeros, ones, or the seed, in every element; `bytes` holds bytesOf() of it.
void fillArgument(const ArtifactArgument &argument, int64_t seed, char *bytes);

} // namespace cutback

#endif // CUTBACK_RUNTIME_ARGUMENTS_H
