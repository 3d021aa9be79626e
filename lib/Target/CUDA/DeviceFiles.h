// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers that kernels include, as they stand in Device/.
#ifndef CUTBACK_LIB_TARGET_CUDA_DEVICEFILES_H
#define CUTBACK_LIB_TARGET_CUDA_DEVICEFILES_H

#include "llvm/ADT/ArrayRef.h"

namespace cutback::cuda {

struct DeviceFile {
  const char *name, *text;
};
/// Those of every step.
llvm::ArrayRef<DeviceFile> deviceFiles();
/// The emulation of a device.
const DeviceFile &hostFile();

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_DEVICEFILES_H
