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
//      allocated first after somebody asked how much memory is free, or memory
//      that the device and the machine share.
//   3. When nobody has the context any more everything else must have been
//      given back.
// What does not hold ends the process with a message and exit code 86.
//
// Machine code of a phase of a pipeline is the name of its folder ("stage0/
// forward"): the stand-in is then for all phases of a pipeline, and for the
// ranks that are threads of a process. Devices share memory, but copies are of
// the device of the context at work.
//
// Work on a stream waits until somebody waits for a stream. Then all streams
// go on as far as events let them, the first one that was made before others,
// or the last one (CUTBACK_STAND_IN_ORDER=copies): what an event should order
// and does not has other results.
//
// Environment: CUTBACK_STAND_IN is a folder of --target=cuda-host, of a step or
// of a pipeline;
// CUTBACK_STAND_IN_FAIL=CALL=STATUS[@N] lets one call fail; _ARCH ("90"), _FREE
// (bytes), _VERSION, _DEVICES and _MANAGED ("0": the machine cannot reach
// memory of a device while that runs) are what the driver says of itself; with
// _DEAF events hold up nobody; _TRACE prints calls of streams, and the memory
// of steps.

#include "StandInDevice.h"

using namespace cutback;
using namespace cutback::cuda;

namespace {

int number(const char *name, const char *otherwise) {
  return static_cast<int>(
      std::strtol(setting(name, otherwise).c_str(), nullptr, 10));
}

/// What a module is to the caller.
struct Module {
  Program *program = nullptr;
};

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

#define LOCKED                                                                 \
  std::unique_lock<std::mutex> lock(mutex());                                  \
  (void)lock

extern "C" {

Status cuInit(unsigned) {
  LOCKED;
  FAIL_IF_ASKED;
  device().open();
  return 0;
}
Status cuDriverGetVersion(int *version) {
  LOCKED;
  *version = number("_VERSION", "13000");
  return 0;
}
Status cuGetErrorName(Status, const char **name) {
  LOCKED;
  *name = "CUDA_ERROR_OF_STAND_IN";
  return 0;
}
Status cuGetErrorString(Status, const char **text) {
  LOCKED;
  *text = "asked to fail";
  return 0;
}
Status cuDeviceGetCount(int *count) {
  LOCKED;
  FAIL_IF_ASKED;
  *count = number("_DEVICES", "1");
  return 0;
}
Status cuDeviceGet(int *number, int ordinal) {
  LOCKED;
  FAIL_IF_ASKED;
  *number = ordinal;
  return 0;
}
Status cuDeviceGetName(char *name, int length, int) {
  LOCKED;
  FAIL_IF_ASKED;
  std::snprintf(name, length, "a stand-in");
  return 0;
}
Status cuDeviceGetPCIBusId(char *name, int length, int number) {
  LOCKED;
  FAIL_IF_ASKED;
  std::snprintf(name, length, "0000:%02x:00.0", number);
  return 0;
}
Status cuDeviceGetAttribute(int *value, int attribute, int) {
  LOCKED;
  FAIL_IF_ASKED;
  int arch = number("_ARCH", "90");
  if (attribute == kConcurrentManagedAccess) {
    *value = setting("_MANAGED", "1") == "1";
    return 0;
  }
  *value = attribute == kComputeMajor ? arch / 10 : arch % 10;
  return 0;
}
/// The contexts of devices are the places of an array.
static char contexts[16];
static Handle contextOf(int number) {
  return reinterpret_cast<Handle>(&contexts[number]);
}
Status cuDevicePrimaryCtxRetain(Handle *context, int number) {
  LOCKED;
  FAIL_IF_ASKED;
  ++device().numOwners;
  *context = contextOf(number);
  return 0;
}
Status cuDevicePrimaryCtxRelease_v2(int) {
  LOCKED;
  if (--device().numOwners == 0 &&
      !(device().handles.empty() && device().allocated.empty()))
    refuse("something of the device is not given back");
  return 0;
}
/// Calls that need a context are refused without.
static void needContext() {
  if (current < 0)
    refuse("a call in a thread that has no context");
}
Status cuCtxSetCurrent(Handle context) {
  LOCKED;
  FAIL_IF_ASKED;
  current = context
                ? static_cast<int>(reinterpret_cast<char *>(context) - contexts)
                : -1;
  return 0;
}
Status cuMemGetInfo_v2(size_t *free, size_t *total) {
  LOCKED;
  FAIL_IF_ASKED;
  isArenaNext = true;
  *total = size_t(1) << 30;
  *free = std::strtoull(setting("_FREE", "1073741824").c_str(), nullptr, 10);
  return 0;
}
Status cuMemAlloc_v2(Address *address, size_t bytes) {
  LOCKED;
  FAIL_IF_ASKED;
  void *memory = nullptr;
  if (::posix_memalign(&memory, 256, bytes) != 0)
    return 2;
  std::memset(memory, 0xFF, bytes);
  *address = reinterpret_cast<Address>(memory);
  device().allocated[*address] = {bytes, std::max(current, 0)};
  if (std::exchange(isArenaNext, false)) {
    device().arenas.insert(*address);
    traceMemory("step", bytes);
  }
  return 0;
}
Status cuMemAllocManaged(Address *address, size_t bytes, unsigned flags) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  void *memory = nullptr;
  if (flags != 1 || ::posix_memalign(&memory, 256, bytes) != 0)
    return 2;
  std::memset(memory, 0xFF, bytes);
  *address = reinterpret_cast<Address>(memory);
  device().allocated[*address] = {bytes, current};
  device().shared.insert(*address);
  return 0;
}
Status cuMemFree_v2(Address address) {
  LOCKED;
  if (!device().allocated.erase(address))
    refuse("memory is freed that was not allocated");
  device().arenas.erase(address);
  device().shared.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
Status cuMemcpyAsync(Address to, Address from, size_t bytes, Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  trace("copy", stream);
  for (Address address : {to, from})
    device().checkOwner(address);
  device().put(stream, {[=] {
                          std::memcpy(reinterpret_cast<void *>(to),
                                      reinterpret_cast<void *>(from), bytes);
                        },
                        nullptr});
  return 0;
}
Status cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                            Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  trace("in", stream);
  device().checkRoom(to, bytes, "a copy");
  device().checkOwner(to);
  device().put(stream,
               {[=] { std::memcpy(reinterpret_cast<void *>(to), from, bytes); },
                nullptr});
  return 0;
}
Status cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes,
                            Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  trace("out", stream);
  device().checkRoom(from, bytes, "a copy");
  device().checkOwner(from);
  device().put(stream,
               {[=] { std::memcpy(to, reinterpret_cast<void *>(from), bytes); },
                nullptr});
  return 0;
}
Status cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes,
                            Handle stream) {
  LOCKED;
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
  device().put(stream, {copy, nullptr});
  return 0;
}
Status cuMemsetD8Async(Address to, unsigned char value, size_t bytes,
                       Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  device().checkRoom(to, bytes, "a fill");
  device().put(
      stream, {[=] { std::memset(reinterpret_cast<void *>(to), value, bytes); },
               nullptr});
  return 0;
}
Status cuMemAllocHost_v2(void **memory, size_t bytes) {
  LOCKED;
  FAIL_IF_ASKED;
  *memory = std::malloc(bytes);
  device().handles.insert(*memory);
  return 0;
}
Status cuMemFreeHost(void *memory) {
  LOCKED;
  if (!device().handles.erase(memory))
    refuse("memory of the host is freed that was not allocated");
  std::free(memory);
  return 0;
}
Status cuModuleLoadData(Handle *module, const void *image) {
  LOCKED;
  FAIL_IF_ASKED;
  *module =
      make(new Module{&device().programIn(static_cast<const char *>(image))});
  return 0;
}
Status cuModuleUnload(Handle module) {
  LOCKED;
  release<Module>(module);
  return 0;
}
Status cuModuleGetFunction(Handle *function, Handle module, const char *name) {
  LOCKED;
  FAIL_IF_ASKED;
  // Functions go with their module.
  Program &program = *reinterpret_cast<Module *>(module)->program;
  for (const ArtifactKernel &kernel : program.artifact.kernels)
    if (kernel.name == name) {
      Function &one = program.functions[name];
      one = {&program, &kernel};
      *function = reinterpret_cast<Handle>(&one);
      return 0;
    }
  refuse(std::string("there is no kernel '") + name + "'");
}
Status cuStreamCreate(Handle *stream, unsigned) {
  LOCKED;
  FAIL_IF_ASKED;
  device().streams.push_back(new Stream);
  *stream = make(device().streams.back());
  return 0;
}
Status cuStreamDestroy_v2(Handle stream) {
  LOCKED;
  std::vector<Stream *> &all = device().streams;
  auto *gone = reinterpret_cast<Stream *>(stream);
  if (!gone->work.empty() && setting("_FAIL", "").empty())
    refuse("a stream is given back that has work to do");
  all.erase(std::remove(all.begin(), all.end(), gone), all.end());
  release<Stream>(stream);
  return 0;
}
Status cuStreamSynchronize(Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  device().wait(device().streamOf(stream), lock);
  return 0;
}
Status cuEventCreate(Handle *event, unsigned) {
  LOCKED;
  FAIL_IF_ASKED;
  *event = make(new Event);
  return 0;
}
Status cuEventDestroy_v2(Handle event) {
  LOCKED;
  release<Event>(event);
  return 0;
}
Status cuEventRecord(Handle event, Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  trace("record", stream);
  auto *marked = reinterpret_cast<Event *>(event);
  ++marked->recorded;
  device().put(stream, {nullptr, nullptr, marked});
  return 0;
}
/// All streams go on as far as they can.
Status cuEventQuery(Handle event) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  while (device().stepAny()) {
  }
  auto *asked = reinterpret_cast<Event *>(event);
  return asked->done < asked->recorded ? kNotReady : 0;
}
/// In a graph, which is the only place for it.
Status cuEventRecordWithFlags(Handle event, Handle, unsigned flags) {
  LOCKED;
  FAIL_IF_ASKED;
  if (!recorded || flags != 1)
    refuse("an external event outside of a graph");
  auto *marked = reinterpret_cast<Event *>(event);
  recorded->push_back([marked] {
    ++marked->done;
    marked->at = std::chrono::steady_clock::now();
  });
  return 0;
}
Status cuEventElapsedTime(float *milliseconds, Handle begin, Handle end) {
  LOCKED;
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
  LOCKED;
  FAIL_IF_ASKED;
  trace("wait", stream);
  auto *awaited = reinterpret_cast<Event *>(event);
  if (setting("_DEAF", "").empty())
    device().put(stream,
                 {nullptr, nullptr, nullptr, awaited, awaited->recorded});
  return 0;
}
Status cuStreamBeginCapture_v2(Handle stream, int) {
  LOCKED;
  FAIL_IF_ASKED;
  trace("recording", stream);
  recorded = new std::vector<Node>;
  return 0;
}
Status cuStreamEndCapture(Handle, Handle *graph) {
  LOCKED;
  *graph = make(recorded);
  recorded = nullptr;
  return statusOf(__func__);
}
Status cuGraphInstantiateWithFlags(Handle *executable, Handle graph,
                                   unsigned long long) {
  LOCKED;
  FAIL_IF_ASKED;
  *executable = make(
      new std::vector<Node>(*reinterpret_cast<std::vector<Node> *>(graph)));
  return 0;
}
Status cuGraphLaunch(Handle executable, Handle stream) {
  LOCKED;
  FAIL_IF_ASKED;
  needContext();
  trace("graph", stream);
  for (const Node &node : *reinterpret_cast<std::vector<Node> *>(executable))
    device().put(stream, {node, nullptr});
  return 0;
}
Status cuGraphExecDestroy(Handle executable) {
  LOCKED;
  release<std::vector<Node>>(executable);
  return 0;
}
Status cuGraphDestroy(Handle graph) {
  LOCKED;
  release<std::vector<Node>>(graph);
  return 0;
}
Status cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, Handle stream,
                      void **parameters, void **) {
  LOCKED;
  FAIL_IF_ASKED;
  Device &here = device();
  Program &program = *reinterpret_cast<Function *>(function)->program;
  const ArtifactKernel &kernel =
      *reinterpret_cast<Function *>(function)->kernel;
  auto fits = [&](const ArtifactLaunch &launch) {
    return &program.artifact.kernels[launch.kernel] == &kernel;
  };
  const ArtifactLaunch *launch = program.expected(fits);
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
  here.add(program, stream, kernel.name,
           [launch, pointers, checkPointers, run = program.run]() mutable {
             checkPointers();
             unsigned sizes[6];
             for (int axis = 0; axis < 3; ++axis) {
               sizes[axis] = static_cast<unsigned>(launch->grid[axis]);
               sizes[3 + axis] = static_cast<unsigned>(launch->block[axis]);
             }
             run(static_cast<int>(launch->kernel), sizes, sizes + 3,
                 static_cast<unsigned>(launch->sharedBytes), pointers.data());
           });
  return 0;
}

/// A product of the library that is a stand-in, in place of a launch.
void cutbackStandInProduct(const StandInProduct &product, Handle stream,
                           std::function<void()> compute) {
  LOCKED;
  Device &here = device();
  Program &program = here.programIn("");
  const ArtifactLaunch *launch = program.expected(
      [](const ArtifactLaunch &first) { return first.product.has_value(); });
  if (!launch || !launch->product)
    refuse("a product is not the next launch of the manifest");
  const ArtifactProduct &p = *launch->product;
  const std::string &name = program.artifact.kernels[launch->kernel].name;
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
  here.add(program, stream, name, std::move(compute));
}

void cutbackStandInWork(Handle stream, StandInTry tries) {
  LOCKED;
  needContext();
  device().put(stream, {nullptr, std::move(tries)});
}

void cutbackStandInCheckMemory(Address address, size_t bytes,
                               const char *whose) {
  LOCKED;
  needContext();
  device().checkRoom(address, bytes, whose);
  device().checkOwner(address);
}

int cutbackStandInDevice() {
  LOCKED;
  needContext();
  return current;
}

} // extern "C"
