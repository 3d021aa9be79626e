// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code for the device that is there, from the folder of a step.
#ifndef CUTBACK_RUNTIME_CUDA_DEVICEIMAGES_H
#define CUTBACK_RUNTIME_CUDA_DEVICEIMAGES_H

#include "cutback/Runtime/Executor.h"

namespace cutback::cuda {

/// Machine code of each segment, as the driver takes it.
using DeviceImages = std::vector<std::string>;

/// The device: "sm_90", and its name.
struct DeviceArchitecture {
  int major = 0, minor = 0;
  std::string name;

  std::string text() const {
    return "sm_" + std::to_string(major) + std::to_string(minor);
  }
};

/// Reads `forward.fatbin`, `backward.fatbin` and those of other segments if the
/// folder has them and they hold code for the device; else compiles the text
/// for it. False, with `error` set, if neither can be.
bool loadImages(const std::string &folder, const Artifact &artifact,
                const DeviceArchitecture &device, DeviceImages &images,
                StepError &error);

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_DEVICEIMAGES_H
