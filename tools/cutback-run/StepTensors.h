// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of a step by name: from files to arguments, from the arena to a file.
#ifndef CUTBACK_TOOLS_CUTBACKRUN_STEPTENSORS_H
#define CUTBACK_TOOLS_CUTBACKRUN_STEPTENSORS_H

#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/TensorFiles.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

class StepTensors {
public:
  /// Maps a safetensors file. A name of an earlier file stays that file's.
  /// Returns an empty string, or "PATH: ...".
  std::string addFile(const std::string &path);
  /// The same of the weights in the folder of `artifact`, which must be those
  /// that its manifest names; nothing if there are none.
  std::string addOwnWeights(const std::string &folder,
                            const Artifact &artifact);

  /// The first input or tangent of the files that no argument is called; empty
  /// if there is none.
  std::string findUnknownInput(const Artifact &artifact) const;

  /// Of the tensor of that name; nothing if there is none.
  std::optional<std::vector<int64_t>> sizesOf(const std::string &name) const;

  /// Finds memory for the next argument of the step; none if it is not taken.
  /// False, with `error` set, if nothing of its name, type and sizes is there.
  bool bind(const ArtifactArgument &argument, int64_t seed, bool isTaken,
            StepError &error);

  /// By argument.
  const std::vector<char *> &arguments() const { return bound; }

  /// After a run: the bytes of a safetensors file with all named results and
  /// with the arguments that were written. An empty string, or what went wrong.
  std::string writeResults(const Artifact &artifact, Executor &executor,
                           std::string &file) const;

private:
  struct Free {
    void operator()(char *bytes) const;
  };

  TensorFiles files;
  std::vector<std::unique_ptr<char, Free>> owned;
  std::vector<char *> bound;
};

/// "loss 1.25, " of a step whose loss is a number; else empty.
std::string describeLoss(const Artifact &artifact, Executor &executor,
                         const std::vector<char *> &arguments);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACKRUN_STEPTENSORS_H
