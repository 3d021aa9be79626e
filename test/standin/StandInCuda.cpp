// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver without a GPU. Memory of the device is memory of this machine;
// a launch is recorded, compared with the manifest, and runs the same kernel as
// `compile --target=cuda-host` made it.
//
//   1. A launch must be the next one of the manifest, forward first: kernel,
//      grid, block, shared bytes.
//   2. Each pointer must lie in memory that was allocated, with room for the
//      operand's bytes behind it, at the offset from the arena that the
//      manifest has; a mark with room for an int.
//   3. When the context is released everything else must have been.
// What does not hold ends the process with a message and exit code 86.
//
// Environment: CUTBACK_STAND_IN is a folder of --target=cuda-host;
// CUTBACK_STAND_IN_FAIL=CALL=STATUS lets one call fail; _ARCH ("90"), _FREE
// (bytes), _VERSION and _DEVICES are what the driver says of itself.

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Cuda/Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

using namespace cutback;
using namespace cutback::cuda;

namespace {

[[noreturn]] void refuse(const std::string &what) {
  std::fprintf(stderr, "stand-in: %s\n", what.c_str());
  std::_Exit(86);
}

std::string setting(const char *name, const char *otherwise) {
  const char *value =
      std::getenv((std::string("CUTBACK_STAND_IN") + name).c_str());
  return value ? value : otherwise;
}

/// 0, or the status with which `call` was asked to fail.
Status statusOf(const char *call) {
  std::string fail = setting("_FAIL", "");
  std::string name = std::string(call) + "=";
  return fail.compare(0, name.size(), name) == 0
             ? std::atoi(fail.c_str() + name.size())
             : 0;
}

using Run = void (*)(int, const unsigned *, const unsigned *, unsigned,
                     void **);

struct Node {
  const ArtifactLaunch *launch;
  std::vector<void *> pointers;
};

struct Device {
  Artifact artifact;
  Run run = nullptr;
  std::map<Address, size_t> allocated; ///< bytes by address
  std::vector<Node> *recorded = nullptr;
  size_t numLaunched = 0;   ///< of the manifest's launches
  std::set<void *> handles; ///< that must be given back

  void open() {
    std::string folder = setting("", "");
    std::ifstream file(folder + "/" + kManifestFile);
    std::stringstream text;
    text << file.rdbuf();
    std::string error = readManifest(text.str(), artifact);
    if (!error.empty())
      refuse("the manifest in CUTBACK_STAND_IN " + error);
    void *library = ::dlopen((folder + "/libstep.so").c_str(), RTLD_NOW);
    if (!library)
      refuse(::dlerror());
    run = reinterpret_cast<Run>(::dlsym(library, "cutback_launch"));
  }

  const ArtifactLaunch *expected() const {
    size_t behind = numLaunched;
    for (const ArtifactSegment &segment : artifact.segments) {
      if (behind < segment.launches.size())
        return &segment.launches[behind];
      behind -= segment.launches.size();
    }
    return nullptr;
  }

  void checkRoom(Address address, size_t bytes, const std::string &whose) {
    auto found = allocated.upper_bound(address);
    if (found != allocated.begin() &&
        (--found, address + bytes <= found->first + found->second))
      return;
    refuse(whose + " has an operand outside of what was allocated");
  }
};

Device &device() {
  static Device one;
  return one;
}

template <typename T> Handle make(T *object) {
  device().handles.insert(object);
  return reinterpret_cast<Handle>(object);
}
template <typename T> void release(Handle handle) {
  if (!device().handles.erase(handle))
    refuse("something is released that is not there");
  delete reinterpret_cast<T *>(handle);
}

} // namespace

#define FAIL_IF_ASKED                                                          \
  if (Status status = statusOf(__func__))                                      \
  return status

extern "C" {

Status cuInit(unsigned) {
  FAIL_IF_ASKED;
  device().open();
  return 0;
}
Status cuDriverGetVersion(int *version) {
  *version = std::atoi(setting("_VERSION", "13000").c_str());
  return 0;
}
Status cuGetErrorName(Status, const char **name) {
  *name = "CUDA_ERROR_OF_STAND_IN";
  return 0;
}
Status cuGetErrorString(Status, const char **text) {
  *text = "asked to fail";
  return 0;
}
Status cuDeviceGetCount(int *count) {
  FAIL_IF_ASKED;
  *count = std::atoi(setting("_DEVICES", "1").c_str());
  return 0;
}
Status cuDeviceGet(int *number, int ordinal) {
  FAIL_IF_ASKED;
  *number = ordinal;
  return 0;
}
Status cuDeviceGetName(char *name, int length, int) {
  FAIL_IF_ASKED;
  std::snprintf(name, length, "a stand-in");
  return 0;
}
Status cuDeviceGetAttribute(int *value, int attribute, int) {
  FAIL_IF_ASKED;
  int arch = std::atoi(setting("_ARCH", "90").c_str());
  *value = attribute == kComputeMajor ? arch / 10 : arch % 10;
  return 0;
}
Status cuDevicePrimaryCtxRetain(Handle *context, int) {
  FAIL_IF_ASKED;
  *context = make(new int);
  return 0;
}
Status cuDevicePrimaryCtxRelease_v2(int) {
  // The context itself is what is left.
  if (device().handles.size() > 1 || !device().allocated.empty())
    refuse("something of the device is not given back");
  return 0;
}
Status cuCtxSetCurrent(Handle) {
  FAIL_IF_ASKED;
  return 0;
}
Status cuMemGetInfo_v2(size_t *free, size_t *total) {
  FAIL_IF_ASKED;
  *total = size_t(1) << 30;
  *free = std::strtoull(setting("_FREE", "1073741824").c_str(), nullptr, 10);
  return 0;
}
Status cuMemAlloc_v2(Address *address, size_t bytes) {
  FAIL_IF_ASKED;
  void *memory = nullptr;
  if (::posix_memalign(&memory, 256, bytes) != 0)
    return 2;
  std::memset(memory, 0xFF, bytes);
  *address = reinterpret_cast<Address>(memory);
  device().allocated[*address] = bytes;
  return 0;
}
Status cuMemFree_v2(Address address) {
  if (!device().allocated.erase(address))
    refuse("memory is freed that was not allocated");
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
Status cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                            Handle) {
  FAIL_IF_ASKED;
  device().checkRoom(to, bytes, "a copy");
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
Status cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Handle) {
  FAIL_IF_ASKED;
  device().checkRoom(from, bytes, "a copy");
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
Status cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Handle) {
  FAIL_IF_ASKED;
  device().checkRoom(to, bytes, "a fill");
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return 0;
}
Status cuModuleLoadData(Handle *module, const void *) {
  FAIL_IF_ASKED;
  *module = make(new int);
  return 0;
}
Status cuModuleUnload(Handle module) {
  release<int>(module);
  return 0;
}
Status cuModuleGetFunction(Handle *function, Handle, const char *name) {
  FAIL_IF_ASKED;
  // Functions go with their module.
  for (const ArtifactKernel &kernel : device().artifact.kernels)
    if (kernel.name == name) {
      *function =
          reinterpret_cast<Handle>(const_cast<ArtifactKernel *>(&kernel));
      return 0;
    }
  refuse(std::string("there is no kernel '") + name + "'");
}
Status cuStreamCreate(Handle *stream, unsigned) {
  FAIL_IF_ASKED;
  *stream = make(new int);
  return 0;
}
Status cuStreamDestroy_v2(Handle stream) {
  release<int>(stream);
  return 0;
}
Status cuStreamSynchronize(Handle) {
  FAIL_IF_ASKED;
  return 0;
}
Status cuStreamBeginCapture_v2(Handle, int) {
  FAIL_IF_ASKED;
  device().recorded = new std::vector<Node>;
  return 0;
}
Status cuStreamEndCapture(Handle, Handle *graph) {
  *graph = make(device().recorded);
  device().recorded = nullptr;
  return statusOf(__func__);
}
Status cuGraphInstantiateWithFlags(Handle *executable, Handle graph,
                                   unsigned long long) {
  FAIL_IF_ASKED;
  *executable = make(
      new std::vector<Node>(*reinterpret_cast<std::vector<Node> *>(graph)));
  return 0;
}
Status cuGraphLaunch(Handle executable, Handle) {
  FAIL_IF_ASKED;
  for (Node &node : *reinterpret_cast<std::vector<Node> *>(executable)) {
    const ArtifactLaunch &launch = *node.launch;
    unsigned grid[3], block[3];
    for (int axis = 0; axis < 3; ++axis) {
      grid[axis] = static_cast<unsigned>(launch.grid[axis]);
      block[axis] = static_cast<unsigned>(launch.block[axis]);
    }
    device().run(static_cast<int>(launch.kernel), grid, block,
                 static_cast<unsigned>(launch.sharedBytes),
                 node.pointers.data());
  }
  return 0;
}
Status cuGraphExecDestroy(Handle executable) {
  release<std::vector<Node>>(executable);
  return 0;
}
Status cuGraphDestroy(Handle graph) {
  release<std::vector<Node>>(graph);
  return 0;
}
Status cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, Handle,
                      void **parameters, void **) {
  FAIL_IF_ASKED;
  Device &here = device();
  const auto &kernel = *reinterpret_cast<ArtifactKernel *>(function);
  const ArtifactLaunch *launch = here.expected();
  std::array<int64_t, 3> grid = {gridX, gridY, gridZ};
  std::array<int64_t, 3> block = {blockX, blockY, blockZ};
  if (!launch || &here.artifact.kernels[launch->kernel] != &kernel)
    refuse("'" + kernel.name + "' is not the next launch of the manifest");
  if (grid != launch->grid || block != launch->block ||
      sharedBytes != launch->sharedBytes)
    refuse("'" + kernel.name + "' has another grid or block");
  if (!here.recorded)
    refuse("'" + kernel.name + "' is launched outside of a graph");
  Node node{launch, {}};
  Address arena = here.allocated.begin()->first;
  for (size_t i = 0; i < launch->operands.size() + kernel.checks; ++i) {
    Address address = *static_cast<Address *>(parameters[i]);
    bool isMark = i == launch->operands.size();
    here.checkRoom(address, isMark ? sizeof(int) : launch->operands[i].bytes,
                   "'" + kernel.name + "'");
    if (!isMark && launch->operands[i].memory.kind == ArtifactMemory::Arena &&
        address != arena + launch->operands[i].memory.at)
      refuse("'" + kernel.name + "' has an operand at another offset");
    node.pointers.push_back(reinterpret_cast<void *>(address));
  }
  here.recorded->push_back(std::move(node));
  ++here.numLaunched;
  return 0;
}

} // extern "C"
