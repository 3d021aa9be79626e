// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the driver's library, which belongs to the machine and not to the
// artifact. A call that it lacks is named, and so is a version that is too old:
// of a driver from before 12.0 the first missing call would say nothing. The
// library stays loaded: a driver does not unload cleanly.

#include "cutback/Runtime/Cuda/Driver.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"

#include <dlfcn.h>

using namespace cutback::cuda;

static constexpr const char *kLibrary = "libcuda.so.1";
static constexpr const char *kNeedsDriver =
    "a step for a GPU needs NVIDIA's driver; --target=cuda-host makes one for "
    "this machine without a GPU";

namespace {

/// Finds calls, and the name of the first that is missing.
class Loader {
public:
  explicit Loader(void *library) : library(library) {}

  template <typename Signature> void find(DriverCall<Signature> &call) {
    call.setAddress(::dlsym(library, call.name));
    if (!call.function && missing.empty())
      missing = call.name;
  }

  std::string missing;

private:
  void *library;
};

} // namespace

static void findCalls(Loader &loader, DriverCalls &calls) {
  loader.find(calls.cuInit);
  loader.find(calls.cuDriverGetVersion);
  loader.find(calls.cuGetErrorName);
  loader.find(calls.cuGetErrorString);
  loader.find(calls.cuDeviceGetCount);
  loader.find(calls.cuDeviceGet);
  loader.find(calls.cuDeviceGetName);
  loader.find(calls.cuDeviceGetPCIBusId);
  loader.find(calls.cuDeviceGetAttribute);
  loader.find(calls.cuDevicePrimaryCtxRetain);
  loader.find(calls.cuDevicePrimaryCtxRelease_v2);
  loader.find(calls.cuCtxSetCurrent);
  loader.find(calls.cuMemGetInfo_v2);
  loader.find(calls.cuMemAlloc_v2);
  loader.find(calls.cuMemAllocManaged);
  loader.find(calls.cuMemFree_v2);
  loader.find(calls.cuMemcpyAsync);
  loader.find(calls.cuMemAllocHost_v2);
  loader.find(calls.cuMemFreeHost);
  loader.find(calls.cuMemcpyHtoDAsync_v2);
  loader.find(calls.cuMemcpyDtoHAsync_v2);
  loader.find(calls.cuMemcpyDtoDAsync_v2);
  loader.find(calls.cuMemsetD8Async);
  loader.find(calls.cuModuleLoadData);
  loader.find(calls.cuModuleUnload);
  loader.find(calls.cuModuleGetFunction);
  loader.find(calls.cuStreamCreate);
  loader.find(calls.cuStreamDestroy_v2);
  loader.find(calls.cuStreamSynchronize);
  loader.find(calls.cuStreamWaitEvent);
  loader.find(calls.cuEventCreate);
  loader.find(calls.cuEventQuery);
  loader.find(calls.cuEventRecord);
  loader.find(calls.cuEventRecordWithFlags);
  loader.find(calls.cuEventElapsedTime);
  loader.find(calls.cuEventDestroy_v2);
  loader.find(calls.cuStreamBeginCapture_v2);
  loader.find(calls.cuStreamEndCapture);
  loader.find(calls.cuGraphInstantiateWithFlags);
  loader.find(calls.cuGraphLaunch);
  loader.find(calls.cuGraphExecDestroy);
  loader.find(calls.cuGraphDestroy);
  loader.find(calls.cuLaunchKernel);
}

/// 0, with `error` set, for none; nothing is asked where it is set already.
static int countDevices(const Driver &driver, std::string &error) {
  int count = 0;
  if (CheckedCalls(driver, error).run(driver.cuDeviceGetCount, &count) &&
      count <= 0)
    error = "the CUDA driver knows no device";
  return error.empty() ? count : 0;
}

std::unique_ptr<Driver> Driver::open(std::string &error, std::string &next) {
  next = kNeedsDriver;
  void *library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error = std::string("there is no CUDA driver: ") + ::dlerror();
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  Loader loader(library);
  findCalls(loader, *driver);
  int version = 0;
  if (driver->cuDriverGetVersion.function)
    (void)driver->cuDriverGetVersion(&version);
  if (version < kOldest || !loader.missing.empty()) {
    error = "the CUDA driver is too old: it is for CUDA " +
            std::to_string(version / 1000) + "." +
            std::to_string(version % 1000 / 10) +
            (loader.missing.empty() ? "" : ", and lacks " + loader.missing);
    next = "install a driver for CUDA 12 or newer";
    return nullptr;
  }
  error.clear();
  CheckedCalls(*driver, error).run(driver->cuInit, 0);
  countDevices(*driver, error);
  return error.empty() ? std::move(driver) : nullptr;
}

int Driver::deviceOf(int number, std::string &error) const {
  int device = -1, count = countDevices(*this, error);
  if (count == 0)
    return -1;
  CheckedCalls calls(*this, error);
  return calls.run(cuDeviceGet, &device, number % count) ? device : -1;
}

std::string Driver::explain(Status status, const char *call) const {
  if (status == 0)
    return "";
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(status, &name) != 0 || !name)
    name = "an error without a name";
  if (cuGetErrorString(status, &text) != 0 || !text)
    text = "failed";
  return std::string(call) + ": " + text + " (" + name + ", " +
         std::to_string(status) + ")";
}
