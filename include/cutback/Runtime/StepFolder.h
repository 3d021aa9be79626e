// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled step in a folder, opened for running: what `cutback run`,
// `cutback-run` and the C interface share.
#ifndef CUTBACK_RUNTIME_STEPFOLDER_H
#define CUTBACK_RUNTIME_STEPFOLDER_H

#include "cutback/Runtime/Executor.h"

#include <memory>
#include <string>

namespace cutback {

/// Reads the manifest of `folder` into `artifact`, and refuses files that are
/// not those that it names; but for weights, see checkWeights(). Their bytes
/// are in `artifact` then, and are what openStep() loads. False, with `error`
/// set, if that fails.
bool readStepFolder(const std::string &folder, Artifact &artifact,
                    StepError &error);

/// What is wrong with `bytes` as the weights that `compile --weights` put into
/// the folder of `artifact`, or empty. Linear, several GB/s.
std::string checkWeights(const Artifact &artifact, std::string_view bytes);

/// Opens what runs `artifact`, read from `folder`: this machine for
/// "cuda-host", a GPU for "cuda". `artifact` must outlive the executor. Null,
/// with `error` set, if that fails.
std::unique_ptr<Executor> openStep(const std::string &folder,
                                   const StepOptions &options,
                                   const Artifact &artifact, StepError &error);

/// After a run: a result as it lies (its strides) from its first element on, to
/// memory of the kind that `arguments` are; `to` holds spanOf() of it less what
/// is in front of that. An empty string, or what went wrong.
std::string readLying(const ArtifactResult &result, Executor &executor,
                      const std::vector<char *> &arguments, char *to);
/// Bytes that readLying() writes.
int64_t lyingBytes(const ArtifactResult &result);
/// Whether it lies in row-major order, without gaps.
bool isDense(const ArtifactResult &result);

/// The elements of a result in row-major order, from what readLying() has
/// written.
void putInOrder(const ArtifactResult &result, const char *lying, char *to);

/// After a run, of arguments on this machine: the elements of a result in
/// row-major order, to `to`, which
/// holds bytesOf() of it. An empty string, or what went wrong.
std::string readResult(const ArtifactResult &result, Executor &executor,
                       const std::vector<char *> &arguments, char *to);

} // namespace cutback

#endif // CUTBACK_RUNTIME_STEPFOLDER_H
