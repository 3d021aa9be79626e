// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a step whose kernels are a library of this machine ("cpu", "cuda-host").
#ifndef CUTBACK_RUNTIME_HOSTSTEP_H
#define CUTBACK_RUNTIME_HOSTSTEP_H

#include "cutback/Runtime/CallRunner.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/KernelCode.h"
#include "cutback/Runtime/ThreadPool.h"

#include <array>
#include <memory>

namespace cutback {

class HostStep : public Executor {
public:
  /// Loads the library whose bytes are `library`. Null, with `error` set, if
  /// that fails. The artifact must outlive the step.
  static std::unique_ptr<HostStep> open(const ArtifactFile &library,
                                        const Artifact &artifact,
                                        const StepOptions &options,
                                        std::string &error);

  std::string run(const std::vector<size_t> &segments,
                  const std::vector<char *> &arguments) override;
  std::string read(int64_t at, int64_t bytes, char *to) override;
  char *beginLaunches(std::string &error) override;
  std::string runLaunch(size_t segment, size_t launch,
                        const std::vector<char *> &arguments) override;
  void setThreads(unsigned count) override;
  void setArena(char *bytes) override { arena = bytes; }
  bool measure(std::vector<double> *seconds, Measured what) override {
    measured = what == Measured::Launches ? seconds : nullptr;
    return what == Measured::Launches;
  }

private:
  /// A kernel of "cuda-host", by its number.
  using Launch = void (*)(int, const unsigned *, const unsigned *, unsigned,
                          void **);
  using Cells = std::array<int64_t, kKernelCells>;
  struct Free {
    void operator()(char *bytes) const;
  };
  using Bytes = std::unique_ptr<char, Free>;

  HostStep(const Artifact &artifact, const StepOptions &options)
      : artifact(artifact), options(options) {}

  std::string findKernels(void *library);
  static Bytes allocate(int64_t bytes);
  bool prepareArena(bool isBegin);
  std::string noArena() const;
  char *at(const ArtifactMemory &memory,
           const std::vector<char *> &arguments) const {
    return memory.kind == ArtifactMemory::Arena ? arena + memory.at
                                                : arguments[memory.at];
  }
  std::string runSegment(const ArtifactSegment &segment,
                         const std::vector<char *> &arguments);
  std::string runHook(const ArtifactHook &hook,
                      const std::vector<char *> &arguments);
  std::string runLaunch(const ArtifactLaunch &launch,
                        const std::vector<char *> &arguments);
  std::string measureLaunch(const ArtifactLaunch &launch,
                            const std::vector<char *> &arguments);
  std::string call(const ArtifactLaunch &launch, std::vector<void *> &pointers);
  std::string callGroup(const ArtifactLaunch &launch,
                        const std::vector<void *> &pointers);
  std::string callCode(const ArtifactLaunch &launch,
                       std::vector<void *> &pointers);
  std::string callApart(const ArtifactLaunch &launch);
  unsigned partsOf(const ArtifactLaunch &launch);

  Launch entry = nullptr;
  std::vector<KernelCode> codes; ///< by kernel, of "cpu"; null: of `calls`
  std::unique_ptr<CallRunner> calls;
  const Artifact &artifact;
  StepOptions options;
  Bytes ownArena;
  char *arena = nullptr;
  std::vector<void *> pointers; ///< of the launch that runs
  std::vector<Cells> cells;     ///< of it, by part
  std::vector<double> *measured = nullptr;
  unsigned threads = usableProcessors();
  std::unique_ptr<ThreadPool> pool; ///< from the first launch on that needs it
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_HOSTSTEP_H
