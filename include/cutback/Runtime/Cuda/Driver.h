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
inline constexpr Status kNotReady = 600; ///< of cuEventQuery

/// CUdevice_attribute, as far as it is asked for.
enum Attribute : int {
  kComputeMajor = 75,
  kComputeMinor = 76,
  kConcurrentManagedAccess = 89,
};

inline constexpr unsigned kNonBlocking = 1;   ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned kWithoutTiming = 2; ///< CU_EVENT_DISABLE_TIMING

/// What parts of one allocation begin at multiples of, as allocations do.
inline constexpr int64_t kAlignment = 256;
inline constexpr int64_t roundUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// What to do where a device is there and does not take us.
inline constexpr const char *kMayBeInUse =
    "is another program using the GPU? nvidia-smi shows it";

/// A call, and the name by which the library exports it.
template <typename Signature> struct DriverCall;
template <typename... Parameters> struct DriverCall<Status(Parameters...)> {
  const char *name;
  Status (*function)(Parameters...) = nullptr;

  Status operator()(Parameters... given) const { return function(given...); }
  /// `address` is what the library has under the name; null for nothing.
  void setAddress(void *address) {
    function = reinterpret_cast<Status (*)(Parameters...)>(address);
  }
};

/// Calls by the names that the library exports; where a call has versions, the
/// one that headers have taken since CUDA 12.
struct DriverCalls {
  DriverCall<Status(unsigned flags)> cuInit{"cuInit"};
  DriverCall<Status(int *version)> cuDriverGetVersion{"cuDriverGetVersion"};
  DriverCall<Status(Status status, const char **name)> cuGetErrorName{
      "cuGetErrorName"};
  DriverCall<Status(Status status, const char **text)> cuGetErrorString{
      "cuGetErrorString"};
  DriverCall<Status(int *count)> cuDeviceGetCount{"cuDeviceGetCount"};
  DriverCall<Status(int *device, int ordinal)> cuDeviceGet{"cuDeviceGet"};
  DriverCall<Status(char *name, int length, int device)> cuDeviceGetName{
      "cuDeviceGetName"};
  DriverCall<Status(char *name, int length, int device)> cuDeviceGetPCIBusId{
      "cuDeviceGetPCIBusId"};
  DriverCall<Status(int *value, int attribute, int device)>
      cuDeviceGetAttribute{"cuDeviceGetAttribute"};
  DriverCall<Status(Handle *context, int device)> cuDevicePrimaryCtxRetain{
      "cuDevicePrimaryCtxRetain"};
  DriverCall<Status(int device)> cuDevicePrimaryCtxRelease_v2{
      "cuDevicePrimaryCtxRelease_v2"};
  DriverCall<Status(Handle context)> cuCtxSetCurrent{"cuCtxSetCurrent"};
  DriverCall<Status(size_t *free, size_t *total)> cuMemGetInfo_v2{
      "cuMemGetInfo_v2"};
  DriverCall<Status(Address *address, size_t bytes)> cuMemAlloc_v2{
      "cuMemAlloc_v2"};
  DriverCall<Status(Address *address, size_t bytes, unsigned flags)>
      cuMemAllocManaged{"cuMemAllocManaged"};
  DriverCall<Status(Address address)> cuMemFree_v2{"cuMemFree_v2"};
  DriverCall<Status(void **memory, size_t bytes)> cuMemAllocHost_v2{
      "cuMemAllocHost_v2"};
  DriverCall<Status(void *memory)> cuMemFreeHost{"cuMemFreeHost"};
  /// From and to either side, as the addresses are.
  DriverCall<Status(Address to, Address from, size_t bytes, Handle stream)>
      cuMemcpyAsync{"cuMemcpyAsync"};
  DriverCall<Status(Address to, const void *from, size_t bytes, Handle stream)>
      cuMemcpyHtoDAsync_v2{"cuMemcpyHtoDAsync_v2"};
  DriverCall<Status(void *to, Address from, size_t bytes, Handle stream)>
      cuMemcpyDtoHAsync_v2{"cuMemcpyDtoHAsync_v2"};
  DriverCall<Status(Address to, Address from, size_t bytes, Handle stream)>
      cuMemcpyDtoDAsync_v2{"cuMemcpyDtoDAsync_v2"};
  DriverCall<Status(Address to, unsigned char value, size_t bytes,
                    Handle stream)>
      cuMemsetD8Async{"cuMemsetD8Async"};
  DriverCall<Status(Handle *module, const void *image)> cuModuleLoadData{
      "cuModuleLoadData"};
  DriverCall<Status(Handle module)> cuModuleUnload{"cuModuleUnload"};
  DriverCall<Status(Handle *function, Handle module, const char *name)>
      cuModuleGetFunction{"cuModuleGetFunction"};
  DriverCall<Status(Handle *stream, unsigned flags)> cuStreamCreate{
      "cuStreamCreate"};
  DriverCall<Status(Handle stream)> cuStreamDestroy_v2{"cuStreamDestroy_v2"};
  DriverCall<Status(Handle stream)> cuStreamSynchronize{"cuStreamSynchronize"};
  DriverCall<Status(Handle stream, Handle event, unsigned flags)>
      cuStreamWaitEvent{"cuStreamWaitEvent"};
  DriverCall<Status(Handle *event, unsigned flags)> cuEventCreate{
      "cuEventCreate"};
  DriverCall<Status(Handle event)> cuEventQuery{"cuEventQuery"};
  DriverCall<Status(Handle event, Handle stream)> cuEventRecord{
      "cuEventRecord"};
  DriverCall<Status(Handle event, Handle stream, unsigned flags)>
      cuEventRecordWithFlags{"cuEventRecordWithFlags"};
  DriverCall<Status(float *milliseconds, Handle begin, Handle end)>
      cuEventElapsedTime{"cuEventElapsedTime"};
  DriverCall<Status(Handle event)> cuEventDestroy_v2{"cuEventDestroy_v2"};
  DriverCall<Status(Handle stream, int mode)> cuStreamBeginCapture_v2{
      "cuStreamBeginCapture_v2"};
  DriverCall<Status(Handle stream, Handle *graph)> cuStreamEndCapture{
      "cuStreamEndCapture"};
  DriverCall<Status(Handle *executable, Handle graph, unsigned long long flags)>
      cuGraphInstantiateWithFlags{"cuGraphInstantiateWithFlags"};
  DriverCall<Status(Handle executable, Handle stream)> cuGraphLaunch{
      "cuGraphLaunch"};
  DriverCall<Status(Handle executable)> cuGraphExecDestroy{
      "cuGraphExecDestroy"};
  DriverCall<Status(Handle graph)> cuGraphDestroy{"cuGraphDestroy"};
  DriverCall<Status(Handle function, unsigned gridX, unsigned gridY,
                    unsigned gridZ, unsigned blockX, unsigned blockY,
                    unsigned blockZ, unsigned sharedBytes, Handle stream,
                    void **parameters, void **extra)>
      cuLaunchKernel{"cuLaunchKernel"};
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

  /// The device with this number, counted from the first one again where there
  /// are fewer. -1, with `error` set, if that fails or there is none.
  int deviceOf(int number, std::string &error) const;

  /// Why `call` failed: "cuMemAlloc_v2: out of memory
  /// (CUDA_ERROR_OUT_OF_MEMORY)"; empty for success.
  std::string explain(Status status, const char *call) const;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_DRIVER_H
