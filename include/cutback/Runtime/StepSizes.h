// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose inputs decide sizes: which of its machine codes is for them.
#ifndef CUTBACK_RUNTIME_STEPSIZES_H
#define CUTBACK_RUNTIME_STEPSIZES_H

#include "cutback/Runtime/Executor.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

/// The sizes of the tensor that is given for an argument, by its name; nothing
/// if none is given.
using FindSizes =
    std::function<std::optional<std::vector<int64_t>>(const std::string &)>;

/// The value of each symbol of `artifact` for the tensors that `sizesOf` gives;
/// that of the artifact for a symbol which no tensor tells. False, and why, for
/// tensors that disagree and values out of their range.
bool bindSizes(const Artifact &artifact, const FindSizes &sizesOf,
               std::vector<int64_t> &values, StepError &error);

/// Whether values are in the ranges of the symbols; else `error` says which is
/// not.
bool checkSizes(const Artifact &artifact, const std::vector<int64_t> &values,
                StepError &error);

/// "s0=8,s1=3": a folder in `sizes` of that of the step, and what messages say.
std::string sizesText(const Artifact &artifact,
                      const std::vector<int64_t> &values);

/// Where machine code for other sizes than those of the manifest in `folder`
/// is, or would be.
std::string sizedFolder(const std::string &folder, const Artifact &artifact,
                        const std::vector<int64_t> &values);

/// Finds the machine code of the step in `folder`, its manifest `artifact`, for
/// these values, and makes both those of its folder. False where there is none,
/// where that is damaged, and where it is of a step that was in `folder`
/// before: `error` says what to do without a compiler.
bool findSized(std::string &folder, Artifact &artifact,
               const std::vector<int64_t> &values, StepError &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_STEPSIZES_H
