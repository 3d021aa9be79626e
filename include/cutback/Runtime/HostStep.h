// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a step whose kernels are a library of this machine ("cuda-host").
#ifndef CUTBACK_RUNTIME_HOSTSTEP_H
#define CUTBACK_RUNTIME_HOSTSTEP_H

#include "cutback/Runtime/Artifact.h"

#include <memory>

namespace cutback {

class HostStep {
public:
  /// Loads the library at `path`, an absolute path. Returns an empty string, or
  /// what is wrong.
  static std::string open(const std::string &path, HostStep &step);

  struct Options {
    /// Give each operand of a launch a heap block of its own, so that a
    /// sanitizer sees its ends, and check that kernels change only what they
    /// write.
    bool checkMemory = false;
  };

  /// Runs forward and backward. `arguments`: one an argument, with its elements
  /// in their order; written ones change. Returns an empty string, or what went
  /// wrong and where.
  std::string run(const Artifact &artifact,
                  const std::vector<char *> &arguments, const Options &options);

  /// After a run: the bytes of a place.
  const char *at(const ArtifactMemory &memory,
                 const std::vector<char *> &arguments) const {
    return memory.kind == ArtifactMemory::Arena ? arena.get() + memory.at
                                                : arguments[memory.at];
  }

private:
  using Launch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                          void **);
  struct Free {
    void operator()(char *bytes) const;
  };
  using Bytes = std::unique_ptr<char, Free>;
  static Bytes allocate(int64_t bytes);

  std::string runLaunch(const Artifact &artifact, const ArtifactLaunch &launch,
                        const std::vector<char *> &arguments,
                        const Options &options);
  std::string callApart(const ArtifactLaunch &launch,
                        std::vector<void *> pointers, const unsigned *grid,
                        const unsigned *block);

  Launch entry = nullptr;
  Bytes arena;
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_HOSTSTEP_H
