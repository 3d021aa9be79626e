// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the CUDA driver interface that a step needs, found at run time:
// nothing of CUDA is needed to build or to link.
#ifndef CUTBACK_RUNTIME_CUDA_DRIVER_H
#define CUTBACK_RUNTIME_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cutback::cuda {

/// Handles are opaque; an address of the device is a number.
using Address = uint64_t;
using Handle = struct Opaque *;

/// CUresult; 0 is success.
using Status = int;

/// CUdevice_attribute, as far as it is asked for.
enum Attribute : int {
  kComputeMajor = 75,
  kComputeMinor = 76,
};

/// Calls by the names that the library exports; where a call has versions, the
/// one that headers have taken since CUDA 12.
struct DriverCalls {
  Status (*cuInit)(unsigned flags);
  Status (*cuDriverGetVersion)(int *version);
  Status (*cuGetErrorName)(Status status, const char **name);
  Status (*cuGetErrorString)(Status status, const char **text);
  Status (*cuDeviceGetCount)(int *count);
  Status (*cuDeviceGet)(int *device, int ordinal);
  Status (*cuDeviceGetName)(char *name, int length, int device);
  Status (*cuDeviceGetAttribute)(int *value, int attribute, int device);
  Status (*cuDevicePrimaryCtxRetain)(Handle *context, int device);
  Status (*cuDevicePrimaryCtxRelease_v2)(int device);
  Status (*cuCtxSetCurrent)(Handle context);
  Status (*cuMemGetInfo_v2)(size_t *free, size_t *total);
  Status (*cuMemAlloc_v2)(Address *address, size_t bytes);
  Status (*cuMemFree_v2)(Address address);
  Status (*cuMemAllocHost_v2)(void **memory, size_t bytes);
  Status (*cuMemFreeHost)(void *memory);
  Status (*cuMemcpyHtoDAsync_v2)(Address to, const void *from, size_t bytes,
                                 Handle stream);
  Status (*cuMemcpyDtoHAsync_v2)(void *to, Address from, size_t bytes,
                                 Handle stream);
  Status (*cuMemcpyDtoDAsync_v2)(Address to, Address from, size_t bytes,
                                 Handle stream);
  Status (*cuMemsetD8Async)(Address to, unsigned char value, size_t bytes,
                            Handle stream);
  Status (*cuModuleLoadData)(Handle *module, const void *image);
  Status (*cuModuleUnload)(Handle module);
  Status (*cuModuleGetFunction)(Handle *function, Handle module,
                                const char *name);
  Status (*cuStreamCreate)(Handle *stream, unsigned flags);
  Status (*cuStreamDestroy_v2)(Handle stream);
  Status (*cuStreamSynchronize)(Handle stream);
  Status (*cuStreamWaitEvent)(Handle stream, Handle event, unsigned flags);
  Status (*cuEventCreate)(Handle *event, unsigned flags);
  Status (*cuEventRecord)(Handle event, Handle stream);
  Status (*cuEventRecordWithFlags)(Handle event, Handle stream, unsigned flags);
  Status (*cuEventElapsedTime)(float *milliseconds, Handle begin, Handle end);
  Status (*cuEventDestroy_v2)(Handle event);
  Status (*cuStreamBeginCapture_v2)(Handle stream, int mode);
  Status (*cuStreamEndCapture)(Handle stream, Handle *graph);
  Status (*cuGraphInstantiateWithFlags)(Handle *executable, Handle graph,
                                        unsigned long long flags);
  Status (*cuGraphLaunch)(Handle executable, Handle stream);
  Status (*cuGraphExecDestroy)(Handle executable);
  Status (*cuGraphDestroy)(Handle graph);
  Status (*cuLaunchKernel)(Handle function, unsigned gridX, unsigned gridY,
                           unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned sharedBytes, Handle stream,
                           void **parameters, void **extra);
};

/// The driver of this machine, once it is known to work.
class Driver : public DriverCalls {
public:
  /// Oldest version that has all calls: 12.0, as the driver numbers it.
  static constexpr int kOldest = 12000;

  /// Loads `libcuda.so.1` and initializes it. Null, with `error` and `next`
  /// (what to do) set, where there is none, none that is new enough, or no
  /// device.
  static std::unique_ptr<Driver> open(std::string &error, std::string &next);

  /// Why `call` failed: "cuMemAlloc_v2: out of memory
  /// (CUDA_ERROR_OUT_OF_MEMORY)"; empty for success.
  std::string explain(Status status, const char *call) const;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_DRIVER_H
