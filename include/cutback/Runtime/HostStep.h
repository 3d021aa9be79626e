// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a step whose kernels are a library of this machine ("cuda-host").
#ifndef CUTBACK_RUNTIME_HOSTSTEP_H
#define CUTBACK_RUNTIME_HOSTSTEP_H

#include "cutback/Runtime/Executor.h"

#include <memory>

namespace cutback {

class HostStep : public Executor {
public:
  /// Loads the library at `path`, an absolute path. Null, with `error` set, if
  /// that fails. The artifact must outlive the step.
  static std::unique_ptr<HostStep> open(const std::string &path,
                                        const Artifact &artifact,
                                        const StepOptions &options,
                                        std::string &error);

  std::string run(const std::vector<size_t> &segments,
                  const std::vector<char *> &arguments) override;
  std::string read(int64_t at, int64_t bytes, char *to) override;

private:
  using Launch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                          void **);
  struct Free {
    void operator()(char *bytes) const;
  };
  using Bytes = std::unique_ptr<char, Free>;

  HostStep(Launch entry, const Artifact &artifact, const StepOptions &options)
      : entry(entry), artifact(artifact), options(options) {}

  static Bytes allocate(int64_t bytes);
  char *at(const ArtifactMemory &memory,
           const std::vector<char *> &arguments) const {
    return memory.kind == ArtifactMemory::Arena ? arena.get() + memory.at
                                                : arguments[memory.at];
  }
  std::string runLaunch(const ArtifactLaunch &launch,
                        const std::vector<char *> &arguments);
  std::string callApart(const ArtifactLaunch &launch,
                        std::vector<void *> pointers, const unsigned *grid,
                        const unsigned *block);

  Launch entry;
  const Artifact &artifact;
  StepOptions options;
  Bytes arena;
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_HOSTSTEP_H
