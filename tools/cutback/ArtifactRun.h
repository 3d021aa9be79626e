// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that was compiled for a target, from its folder.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H

#include "Session.h"

#include "cutback/Planner/ReferenceStep.h"
#include "cutback/Planner/StepFiles.h"
#include "cutback/Runtime/Executor.h"

namespace cutback {

/// Whether `path` is a folder with a compiled step.
bool isArtifact(const std::string &path);

/// The type that a manifest calls `name`, which was verified.
interpreter::DType dtypeNamed(llvm::StringRef name);

/// Whether a step was compiled with an optimizer, and whether its backward is
/// where parameters are updated.
bool hasUpdate(const Artifact &artifact);
bool updatesInBackward(const Artifact &artifact);

/// A compiled step with its arguments. Not to be moved: the executor refers to
/// it.
struct BoundArtifact {
  Artifact artifact;
  std::vector<interpreter::Tensor> tensors; ///< by argument
  std::vector<char *> arguments; ///< of each; null where it takes no part
  HookTable hooks;               ///< with the functions of --hook
  std::unique_ptr<Executor> executor;
};

class RunChecks;

/// What becomes of an argument that nobody gives.
enum class MissingArguments {
  AreErrors,
  AreMadeUp ///< small numbers, of integers zeros
};

/// Reads the step in `folder`, and binds its arguments to tensors of `sources`.
/// With `findInput`, which gives inputs, those of the update too, all to memory
/// of their own. Exit code.
int openArtifact(Session &session, std::string folder, StepFiles &sources,
                 interpreter::FindTensor findInput, BoundArtifact &bound,
                 MissingArguments missing = MissingArguments::AreErrors);

/// After a run: the elements of a result in their order. An empty string, or
/// what is wrong.
std::string readTensor(const ArtifactResult &result, Executor &executor,
                       const std::vector<char *> &arguments,
                       interpreter::Tensor &own);

/// Runs the step in `folder` on tensors of `sources`, with the checks that were
/// asked for. Exit code; results and their rounding go into `result`.
int runArtifact(Session &session, const std::string &folder, StepFiles &sources,
                const RunChecks &checks, ReferenceResult &result);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTRUN_H
