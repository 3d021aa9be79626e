// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a step on a GPU, by the driver alone.
#ifndef CUTBACK_RUNTIME_CUDA_CUDASTEP_H
#define CUTBACK_RUNTIME_CUDA_CUDASTEP_H

#include "cutback/Runtime/Cuda/CallerStream.h"
#include "cutback/Runtime/Cuda/CheckedCalls.h"
#include "cutback/Runtime/Cuda/DeviceArguments.h"
#include "cutback/Runtime/Cuda/DeviceImages.h"
#include "cutback/Runtime/Cuda/Driver.h"
#include "cutback/Runtime/Cuda/ProductLibrary.h"
#include "cutback/Runtime/Cuda/Stopwatch.h"
#include "cutback/Runtime/Cuda/Transfers.h"
#include "cutback/Runtime/Executor.h"

#include <vector>

namespace cutback::cuda {

/// One allocation holds the arena, unless the caller gives it, arguments and
/// the marks of launches that check something; each segment is a CUDA graph,
/// recorded once and launched in every run of it, unless launches are single.
/// Where arguments are on the device, it has those of the last addresses that
/// runs were given. Products of a library are in it, where the artifact asks
/// for them. What it holds of the device is given back with it.
class CudaStep : public Executor {
public:
  /// Takes the device of `options` (the driver heeds CUDA_VISIBLE_DEVICES) and
  /// machine code from `folder` (loadImages). Null, with `error` set, if there
  /// is none for the device, too little memory (needed and free are said before
  /// anything runs), or a call fails. The artifact must outlive the step.
  static std::unique_ptr<CudaStep> open(const Artifact &artifact,
                                        const std::string &folder,
                                        const StepOptions &options,
                                        StepError &error);
  ~CudaStep() override;

  std::string run(const std::vector<size_t> &segments,
                  const std::vector<char *> &given) override;
  std::string read(int64_t at, int64_t bytes, char *to) override;
  std::string keep(size_t argument, const char *from) override;
  std::string readArgument(size_t argument, int64_t from, int64_t bytes,
                           const char *given, char *to) override;
  std::string setStream(void *given) override;
  void setArena(char *bytes) override {
    if (options.givesArena)
      base = reinterpret_cast<Address>(bytes);
  }
  bool measure(std::vector<double> *seconds, Measured what) override {
    measured = seconds;
    measuredWhat = what;
    return true;
  }
  double measureCopies(std::string &error) override;
  std::string deviceName() const override { return name; }
  std::vector<std::string> notes() const override {
    return products ? products->notes() : std::vector<std::string>();
  }

private:
  CudaStep(const Artifact &artifact, const StepOptions &options)
      : artifact(artifact), options(options) {}

  bool start(const std::string &folder, StepError &error);
  bool describeDevice(DeviceArchitecture &found, StepError &error);
  bool allocate(StepError &error);
  bool load(const DeviceImages &images, StepError &error);
  bool openProducts(const std::string &folder, const std::string &device,
                    StepError &error);
  bool openStreams(StepError &error);
  /// A segment as a graph of the driver.
  struct Recording {
    Handle graph = nullptr, executable = nullptr;
    std::vector<Address> used; ///< of the caller
  };

  /// Of a segment: an event behind each launch, in a graph of its own where
  /// launches are recorded, and events around all of them.
  struct Timing {
    explicit Timing(const Driver &driver) : launches(driver), whole(driver) {}
    Recording recording;
    Stopwatch launches, whole;
  };

  void release(Recording &recording);
  std::string readTiming(const Timing &timing);
  std::string record(size_t segment, Recording &recording, Stopwatch *watch);
  std::string launchAll(size_t segment, Stopwatch *watch);
  std::string runHooks(size_t segment, size_t before);
  bool isHooked(size_t segment) const;
  std::string launchOne(const ArtifactLaunch &launch, Address mark);
  std::string launchKernel(const ArtifactLaunch &launch,
                           std::vector<Address> &values);
  size_t marksBefore(size_t segment) const;
  std::string prepare(const std::vector<size_t> &segments);
  std::string execute(const std::vector<size_t> &segments);
  bool enter(std::string &error);
  std::string launchSegment(size_t segment);
  std::string launchRecorded(size_t segment, Recording &recording,
                             Stopwatch *watch);
  std::string launchMeasured(size_t segment);
  bool isSingle(size_t segment) const {
    return options.singleLaunches || isHooked(segment);
  }
  std::string finish(std::string error);
  std::string findMark();

  CheckedCalls calls(std::string &error) const { return {*driver, error}; }
  Address addressOf(const ArtifactMemory &memory) const {
    return memory.kind == ArtifactMemory::Arena ? base + memory.at
                                                : (*arguments)[memory.at];
  }

  const Artifact &artifact;
  StepOptions options;
  std::unique_ptr<Driver> driver;
  int device = -1;
  Handle context = nullptr;
  bool hasContext = false;
  std::unique_ptr<ProductLibrary> products; ///< null where all are ours
  std::unique_ptr<Transfers> transfers;
  Handle stream = nullptr;          ///< of launches
  Address allocation = 0, base = 0; ///< of the step; of the arena
  std::unique_ptr<DeviceArguments> arguments;
  std::unique_ptr<CallerStream> caller; ///< if arguments are on the device
  Address marks = 0; ///< a KernelMark for each launch that checks
  size_t numMarks = 0;
  std::vector<Handle> modules;       ///< by segment
  std::vector<Handle> functions;     ///< by kernel
  std::vector<Recording> recordings; ///< by segment
  std::string name;                  ///< of the device

  /// Null, or where seconds go.
  std::vector<double> *measured = nullptr;
  Measured measuredWhat = Measured::Launches;
  std::vector<std::unique_ptr<Timing>> timings; ///< once they are asked for
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_CUDASTEP_H
