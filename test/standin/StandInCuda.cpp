// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver without a GPU. Memory of the device is memory of this machine;
// a launch is recorded, compared with the manifest, and runs the same kernel as
// `compile --target=cuda-host` made it.
//
//   1. A launch must be the next one of its segment in the manifest: kernel,
//      grid, block, shared bytes.
//   2. Each pointer must lie in memory that is allocated when the launch is
//      issued and when it runs, by the step or by its caller, with room for the
//      operand's bytes behind it, at the offset from the arena that the
//      manifest has; a mark with room for a KernelMark. The arena is what is
//      allocated first after somebody asked how much memory is free.
//   3. When nobody has the context any more everything else must have been
//      given back.
// What does not hold ends the process with a message and exit code 86.
//
// Work on a stream waits until somebody waits for a stream. Then all streams
// go on as far as events let them, the first one that was made before others,
// or the last one (CUTBACK_STAND_IN_ORDER=copies): what an event should order
// and does not has other results.
//
// Environment: CUTBACK_STAND_IN is a folder of --target=cuda-host;
// CUTBACK_STAND_IN_FAIL=CALL=STATUS[@N] lets one call fail; _ARCH ("90"), _FREE
// (bytes), _VERSION and _DEVICES are what the driver says of itself; with
// _DEAF events hold up nobody; _TRACE prints calls of streams, and the memory
// of steps.

#include "StandIn.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Cuda/Driver.h"
#include "cutback/Runtime/Executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

using namespace cutback;
using namespace cutback::cuda;

namespace {

using Run = void (*)(int, const unsigned *, const unsigned *, unsigned,
                     void **);

using Node = std::function<void()>;

struct Event {
  size_t recorded = 0, done = 0;
  std::chrono::steady_clock::time_point at; ///< of the last time it was done
};
struct Work {
  Node run;
  Event *records = nullptr, *awaits = nullptr;
  size_t count = 0; ///< of records, that it waits for
};
struct Stream {
  std::deque<Work> work;
};

struct Device {
  Artifact artifact;
  Run run = nullptr;
  std::map<Address, size_t> allocated; ///< bytes by address
  std::set<Address> arenas;            ///< of steps, of these
  bool isArenaNext = false;
  std::vector<Stream *> streams; ///< in the order in which they were made
  std::vector<Node> *recorded = nullptr;
  bool hasGraphs = false;
  size_t segment = 0, numLaunched = 0; ///< of its launches
  std::set<void *> handles;            ///< that must be given back
  size_t numOwners = 0;                ///< of the context

  void open() {
    if (run)
      return;
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

  /// The next launch of the segment at work; at its begin that of the next
  /// segment whose first launch fits.
  template <typename Fits> const ArtifactLaunch *expected(Fits fits) {
    const std::vector<ArtifactSegment> &all = artifact.segments;
    if (numLaunched > 0)
      return &all[segment].launches[numLaunched];
    for (size_t i = 0; i < all.size(); ++i) {
      const auto &launches = all[(segment + i) % all.size()].launches;
      if (launches.empty() || !fits(launches.front()))
        continue;
      segment = (segment + i) % all.size();
      return &launches.front();
    }
    return nullptr;
  }

  /// A launch, to a graph or to a stream.
  void add(Handle stream, const std::string &name, Node node) {
    if (!recorded && hasGraphs && !artifact.hasHooks())
      refuse("'" + name + "' is launched outside of a graph");
    if (recorded)
      recorded->push_back(std::move(node));
    else
      put(stream, {std::move(node)});
    if (++numLaunched < artifact.segments[segment].launches.size())
      return;
    numLaunched = 0;
    segment = (segment + 1) % artifact.segments.size();
  }

  /// The legacy default stream is there without being made.
  Stream *streamOf(Handle handle) {
    static Stream legacy;
    if (handle)
      return reinterpret_cast<Stream *>(handle);
    if (std::find(streams.begin(), streams.end(), &legacy) == streams.end())
      streams.push_back(&legacy);
    return &legacy;
  }

  void put(Handle stream, Work work) {
    streamOf(stream)->work.push_back(std::move(work));
  }

  bool isInStep(Address address) const {
    return std::any_of(arenas.begin(), arenas.end(), [&](Address arena) {
      return arena <= address && address < arena + allocated.at(arena);
    });
  }

  bool isInArena(Address address, int64_t at) const {
    return arenas.count(address - at) != 0;
  }

  /// The first piece of work of `stream`, if nothing holds it up.
  bool step(Stream *stream) {
    if (stream->work.empty())
      return false;
    Work &first = stream->work.front();
    if (first.awaits && first.awaits->done < first.count)
      return false;
    if (first.run)
      first.run();
    if (first.records) {
      ++first.records->done;
      first.records->at = std::chrono::steady_clock::now();
    }
    stream->work.pop_front();
    return true;
  }

  /// All streams go on until `last` has nothing to do.
  void wait(Stream *last) {
    std::vector<Stream *> order = streams;
    if (setting("_ORDER", "launches") == "copies")
      order.assign(streams.rbegin(), streams.rend());
    while (!last->work.empty()) {
      bool goesOn = false;
      for (Stream *stream : order)
        if ((goesOn = step(stream)))
          break;
      if (!goesOn)
        refuse("a stream waits for what nobody does");
    }
  }

  void checkRoom(Address address, size_t bytes, const std::string &whose) {
    auto found = allocated.upper_bound(address);
    if (setting("_CALLER", "") == "anywhere" && !isInStep(address))
      return;
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

/// A line for each call of a stream: its number, and what it is to do.
void trace(const char *what, Handle stream) {
  if (setting("_TRACE", "").empty())
    return;
  const std::vector<Stream *> &all = device().streams;
  auto at = std::find(all.begin(), all.end(), device().streamOf(stream));
  std::fprintf(stderr, "stream %d: %s\n", static_cast<int>(at - all.begin()),
               what);
}

void traceMemory(const char *what, size_t bytes) {
  if (!setting("_TRACE", "").empty())
    std::fprintf(stderr, "%s: %zu bytes\n", what, bytes);
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
  static int one;
  ++device().numOwners;
  *context = reinterpret_cast<Handle>(&one);
  return 0;
}
Status cuDevicePrimaryCtxRelease_v2(int) {
  if (--device().numOwners == 0 &&
      !(device().handles.empty() && device().allocated.empty()))
    refuse("something of the device is not given back");
  return 0;
}
/// Whether this thread has a context: calls that need one are refused without.
static thread_local bool isEntered = false;
static void needContext() {
  if (!isEntered)
    refuse("a call in a thread that has no context");
}
Status cuCtxSetCurrent(Handle context) {
  FAIL_IF_ASKED;
  isEntered = context != nullptr;
  return 0;
}
Status cuMemGetInfo_v2(size_t *free, size_t *total) {
  FAIL_IF_ASKED;
  device().isArenaNext = true;
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
  if (std::exchange(device().isArenaNext, false)) {
    device().arenas.insert(*address);
    traceMemory("step", bytes);
  }
  return 0;
}
Status cuMemFree_v2(Address address) {
  if (!device().allocated.erase(address))
    refuse("memory is freed that was not allocated");
  device().arenas.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
Status cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                            Handle stream) {
  FAIL_IF_ASKED;
  needContext();
  trace("in", stream);
  device().checkRoom(to, bytes, "a copy");
  device().put(stream, {[=] {
                 std::memcpy(reinterpret_cast<void *>(to), from, bytes);
               }});
  return 0;
}
Status cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes,
                            Handle stream) {
  FAIL_IF_ASKED;
  needContext();
  trace("out", stream);
  device().checkRoom(from, bytes, "a copy");
  device().put(stream, {[=] {
                 std::memcpy(to, reinterpret_cast<void *>(from), bytes);
               }});
  return 0;
}
Status cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes,
                            Handle stream) {
  FAIL_IF_ASKED;
  needContext();
  trace("across", stream);
  auto copy = [=] {
    device().checkRoom(to, bytes, "a copy");
    device().checkRoom(from, bytes, "a copy");
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                bytes);
  };
  device().checkRoom(to, bytes, "a copy");
  device().checkRoom(from, bytes, "a copy");
  device().put(stream, {copy});
  return 0;
}
Status cuMemsetD8Async(Address to, unsigned char value, size_t bytes,
                       Handle stream) {
  FAIL_IF_ASKED;
  device().checkRoom(to, bytes, "a fill");
  device().put(stream, {[=] {
                 std::memset(reinterpret_cast<void *>(to), value, bytes);
               }});
  return 0;
}
Status cuMemAllocHost_v2(void **memory, size_t bytes) {
  FAIL_IF_ASKED;
  *memory = std::malloc(bytes);
  device().handles.insert(*memory);
  return 0;
}
Status cuMemFreeHost(void *memory) {
  if (!device().handles.erase(memory))
    refuse("memory of the host is freed that was not allocated");
  std::free(memory);
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
  device().streams.push_back(new Stream);
  *stream = make(device().streams.back());
  return 0;
}
Status cuStreamDestroy_v2(Handle stream) {
  std::vector<Stream *> &all = device().streams;
  auto *gone = reinterpret_cast<Stream *>(stream);
  if (!gone->work.empty() && setting("_FAIL", "").empty())
    refuse("a stream is given back that has work to do");
  all.erase(std::remove(all.begin(), all.end(), gone), all.end());
  release<Stream>(stream);
  return 0;
}
Status cuStreamSynchronize(Handle stream) {
  FAIL_IF_ASKED;
  device().wait(device().streamOf(stream));
  return 0;
}
Status cuEventCreate(Handle *event, unsigned) {
  FAIL_IF_ASKED;
  *event = make(new Event);
  return 0;
}
Status cuEventDestroy_v2(Handle event) {
  release<Event>(event);
  return 0;
}
Status cuEventRecord(Handle event, Handle stream) {
  FAIL_IF_ASKED;
  trace("record", stream);
  auto *recorded = reinterpret_cast<Event *>(event);
  ++recorded->recorded;
  device().put(stream, {nullptr, recorded});
  return 0;
}
/// In a graph, which is the only place for it.
Status cuEventRecordWithFlags(Handle event, Handle, unsigned flags) {
  FAIL_IF_ASKED;
  if (!device().recorded || flags != 1)
    refuse("an external event outside of a graph");
  auto *recorded = reinterpret_cast<Event *>(event);
  device().recorded->push_back([recorded] {
    ++recorded->done;
    recorded->at = std::chrono::steady_clock::now();
  });
  return 0;
}
Status cuEventElapsedTime(float *milliseconds, Handle begin, Handle end) {
  FAIL_IF_ASKED;
  auto *first = reinterpret_cast<Event *>(begin);
  auto *last = reinterpret_cast<Event *>(end);
  if (!first->done || !last->done)
    refuse("a time is asked for that has not come");
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->at - first->at).count();
  return 0;
}
Status cuStreamWaitEvent(Handle stream, Handle event, unsigned) {
  FAIL_IF_ASKED;
  trace("wait", stream);
  auto *awaited = reinterpret_cast<Event *>(event);
  if (setting("_DEAF", "").empty())
    device().put(stream, {nullptr, nullptr, awaited, awaited->recorded});
  return 0;
}
Status cuStreamBeginCapture_v2(Handle stream, int) {
  FAIL_IF_ASKED;
  trace("recording", stream);
  device().recorded = new std::vector<Node>;
  device().hasGraphs = true;
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
Status cuGraphLaunch(Handle executable, Handle stream) {
  FAIL_IF_ASKED;
  needContext();
  trace("graph", stream);
  for (const Node &node : *reinterpret_cast<std::vector<Node> *>(executable))
    device().put(stream, {node});
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
                      unsigned blockZ, unsigned sharedBytes, Handle stream,
                      void **parameters, void **) {
  FAIL_IF_ASKED;
  Device &here = device();
  const auto &kernel = *reinterpret_cast<ArtifactKernel *>(function);
  auto fits = [&](const ArtifactLaunch &launch) {
    return &here.artifact.kernels[launch.kernel] == &kernel;
  };
  const ArtifactLaunch *launch = here.expected(fits);
  std::array<int64_t, 3> grid = {gridX, gridY, gridZ};
  std::array<int64_t, 3> block = {blockX, blockY, blockZ};
  if (!launch || !fits(*launch))
    refuse("'" + kernel.name + "' is not the next launch of the manifest");
  if (grid != launch->grid || block != launch->block ||
      sharedBytes != launch->sharedBytes)
    refuse("'" + kernel.name + "' has another grid or block");
  std::vector<void *> pointers;
  for (size_t i = 0; i < launch->operands.size() + kernel.checks; ++i) {
    Address address = *static_cast<Address *>(parameters[i]);
    bool isMark = i == launch->operands.size();
    if (!isMark && launch->operands[i].memory.kind == ArtifactMemory::Arena &&
        !here.isInArena(address, launch->operands[i].memory.at))
      refuse("'" + kernel.name + "' has an operand at another offset");
    pointers.push_back(reinterpret_cast<void *>(address));
  }
  auto checkPointers = [launch, pointers, name = kernel.name] {
    for (size_t i = 0; i < pointers.size(); ++i)
      device().checkRoom(reinterpret_cast<Address>(pointers[i]),
                         i < launch->operands.size() ? launch->operands[i].bytes
                                                     : sizeof(KernelMark),
                         "'" + name + "'");
  };
  checkPointers();
  here.add(stream, kernel.name, [launch, pointers, checkPointers]() mutable {
    checkPointers();
    unsigned sizes[6];
    for (int axis = 0; axis < 3; ++axis) {
      sizes[axis] = static_cast<unsigned>(launch->grid[axis]);
      sizes[3 + axis] = static_cast<unsigned>(launch->block[axis]);
    }
    device().run(static_cast<int>(launch->kernel), sizes, sizes + 3,
                 static_cast<unsigned>(launch->sharedBytes), pointers.data());
  });
  return 0;
}

/// A product of the library that is a stand-in, in place of a launch.
void cutbackStandInProduct(const StandInProduct &product, Handle stream,
                           std::function<void()> compute) {
  Device &here = device();
  const ArtifactLaunch *launch = here.expected(
      [](const ArtifactLaunch &first) { return first.product.has_value(); });
  if (!launch || !launch->product)
    refuse("a product is not the next launch of the manifest");
  const ArtifactProduct &p = *launch->product;
  const std::string &name = here.artifact.kernels[launch->kernel].name;
  if (std::array<int64_t, 4>{p.m, p.n, p.k, p.batch} != product.sizes)
    refuse("the product of '" + name + "' has other sizes");
  if (!here.isInArena(product.workspace, p.workspaceAt) ||
      product.workspaceBytes != static_cast<size_t>(p.workspaceBytes))
    refuse("the product of '" + name + "' has another workspace");
  here.checkRoom(product.workspace, product.workspaceBytes, name);
  const ArtifactMatrix *matrices[] = {&p.a, &p.b, &p.out};
  for (int i = 0; i < 3; ++i) {
    const ArtifactOperand &operand = launch->operands[matrices[i]->operand];
    Address first =
        product.matrices[i] - matrices[i]->offset * bytesOfType(p.dtype);
    here.checkRoom(first, operand.bytes, "the product of '" + name + "'");
    if (operand.memory.kind == ArtifactMemory::Arena &&
        !here.isInArena(first, operand.memory.at))
      refuse("the product of '" + name + "' has a matrix at another offset");
  }
  here.add(stream, name, std::move(compute));
}

} // extern "C"
