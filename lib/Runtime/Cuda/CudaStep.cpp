// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. The device, machine code for it, and the memory: what is missing is said
//      before anything runs.
//   2. One allocation: arena, arguments, and an int for each launch that checks
//      its indices, each from a multiple of 256 bytes on.
//   3. Each segment is recorded as a CUDA graph: launches in their order on one
//      stream. A run copies what its first segment takes, launches its graphs
//      with transfers beside them (Transfers.h), and copies back what was
//      written.
//
// Every call is checked; while recording, a message names the kernel. A kernel
// that fails while it runs is reported by the driver at the end of the step,
// without its name: run with --target=cuda-host finds it.

#include "cutback/Runtime/Cuda/CudaStep.h"

#include "cutback/Runtime/Cuda/ProfilerRanges.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

using namespace cutback;
using namespace cutback::cuda;

static constexpr int kRelaxedCapture = 2; // CU_STREAM_CAPTURE_MODE_RELAXED
static constexpr const char *kReport =
    "please report it, with the folder that was run";

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::unique_ptr<CudaStep> CudaStep::open(const Artifact &artifact,
                                         const std::string &folder,
                                         const StepOptions &options,
                                         StepError &error) {
  std::unique_ptr<CudaStep> step(new CudaStep(artifact, options));
  step->driver = Driver::open(error.what, error.next);
  if (!step->driver || !step->start(folder, error))
    return nullptr;
  return step;
}

bool CudaStep::start(const std::string &folder, StepError &error) {
  error.next = kReport;
  device = driver->deviceOf(options.device, error.what);
  if (!error.what.empty())
    return false;
  DeviceArchitecture found;
  DeviceImages images;
  if (!describeDevice(found, error) ||
      !loadImages(folder, artifact, found, images, error))
    return false;
  error = {"", kReport};
  hasContext =
      calls(error.what).run(driver->cuDevicePrimaryCtxRetain, &context, device);
  if (!hasContext || !enter(error.what))
    return false;
  if (!allocate(error) || !load(images, error) ||
      !openProducts(folder, found.name, error) || !openStreams(error))
    return false;
  if (!options.singleLaunches && !caller)
    for (size_t i = 0; i < artifact.segments.size() && error.what.empty(); ++i)
      error.what = record(i, recordings[i], nullptr);
  return error.what.empty();
}

bool CudaStep::openStreams(StepError &error) {
  if (!calls(error.what).run(driver->cuStreamCreate, &stream, kNonBlocking))
    return false;
  transfers = std::make_unique<Transfers>(artifact, *driver);
  error.what = transfers->start(/*copiesOut=*/!options.onDevice);
  if (error.what.empty() && options.onDevice) {
    caller = std::make_unique<CallerStream>(*driver);
    error.what = caller->start();
  }
  return error.what.empty();
}

/// The library, if a launch is to be its own, with an algorithm for each.
bool CudaStep::openProducts(const std::string &folder,
                            const std::string &device, StepError &error) {
  if (!artifact.hasProducts())
    return true;
  StepError missing;
  products = ProductLibrary::open(missing);
  if (!products) {
    error = missing;
    return false;
  }
  std::string name = device;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '-';
  error.what = products->choose(artifact,
                                folder + "/cublaslt-" + name + ".json", device);
  return error.what.empty();
}

bool CudaStep::describeDevice(DeviceArchitecture &found, StepError &error) {
  CheckedCalls asked = calls(error.what);
  asked.run(driver->cuDeviceGetAttribute, &found.major, kComputeMajor, device);
  asked.run(driver->cuDeviceGetAttribute, &found.minor, kComputeMinor, device);
  char text[256] = "";
  asked.run(driver->cuDeviceGetName, text, int(sizeof text), device);
  found.name = name = text;
  return error.what.empty();
}

bool CudaStep::allocate(StepError &error) {
  arguments =
      std::make_unique<DeviceArguments>(artifact, *driver, options.onDevice);
  int64_t arena = options.givesArena ? 0 : roundUp(artifact.arenaBytes);
  int64_t end = arguments->layOut(arena, kAlignment);
  numMarks = marksBefore(artifact.segments.size());
  int64_t marksAt = end;
  end += roundUp(numMarks * sizeof(KernelMark));
  size_t free = 0, total = 0;
  if (!calls(error.what).run(driver->cuMemGetInfo_v2, &free, &total))
    return false;
  if (static_cast<size_t>(end) > free) {
    error.what = "the step needs " + std::to_string(end) +
                 " bytes on the device, of which " +
                 std::to_string(arena ? artifact.arenaBytes : 0) +
                 " are the arena; " + std::to_string(free) + " of " +
                 std::to_string(total) + " are free";
    error.next = "plan for less memory: --minimize=peak, or --byte-price";
    return false;
  }
  if (!calls(error.what)
           .run(driver->cuMemAlloc_v2, &allocation, std::max<int64_t>(end, 1)))
    return false;
  arguments->place(allocation);
  marks = allocation + marksAt;
  if (!options.givesArena)
    base = allocation;
  return true;
}

bool CudaStep::load(const DeviceImages &images, StepError &error) {
  functions.resize(artifact.kernels.size());
  modules.resize(images.size());
  recordings.resize(images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    // A segment without launches has no machine code.
    if (artifact.segments[i].launches.empty())
      continue;
    if (!calls(error.what)
             .run(driver->cuModuleLoadData, &modules[i], images[i].data())) {
      error.what += ", of the " + artifact.segments[i].name;
      error.next = "a newer driver may take it; or compile the model again";
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// With a watch: an event behind each launch.
std::string CudaStep::record(size_t segment, Recording &recording,
                             Stopwatch *watch) {
  std::string error;
  CheckedCalls recorded = calls(error);
  if (artifact.segments[segment].launches.empty() ||
      !recorded.run(driver->cuStreamBeginCapture_v2, stream, kRelaxedCapture))
    return error;
  error = launchAll(segment, watch);
  // Else the stream would stay in capture.
  recorded.runAnyway(driver->cuStreamEndCapture, stream, &recording.graph);
  recorded.run(driver->cuGraphInstantiateWithFlags, &recording.executable,
               recording.graph, 0);
  return error;
}

size_t CudaStep::marksBefore(size_t segment) const {
  size_t count = 0;
  for (size_t i = 0; i < segment; ++i)
    for (const ArtifactLaunch &launch : artifact.segments[i].launches)
      count += artifact.kernels[launch.kernel].checks;
  return count;
}

std::string CudaStep::launchAll(size_t segment, Stopwatch *watch) {
  auto split = [&]() -> std::string {
    return watch ? watch->mark(stream, !isSingle(segment)) : "";
  };
  size_t mark = marksBefore(segment);
  if (std::string error = split(); !error.empty())
    return error;
  const std::vector<ArtifactLaunch> &launches =
      artifact.segments[segment].launches;
  for (size_t i = 0; i < launches.size(); ++i) {
    const ArtifactLaunch &launch = launches[i];
    if (std::string error = runHooks(segment, i); !error.empty())
      return error;
    std::string error = launchOne(launch, marks + mark * sizeof(KernelMark));
    if (!error.empty())
      return error + ", of " + describeLaunch(artifact, launch);
    if (error = split(); !error.empty())
      return error;
    mark += artifact.kernels[launch.kernel].checks;
  }
  return runHooks(segment, launches.size());
}

/// Functions of the user in front of a launch, with the stream that it is
/// issued to. Ours wait for what is in front of them.
std::string CudaStep::runHooks(size_t segment, size_t before) {
  auto [next, end] = artifact.segments[segment].hooksBefore(before);
  for (; next != end; ++next) {
    const ArtifactHook &hook = *next;
    if (!hooks || !hooks->hasFunctions(hook.key))
      continue;
    Address at = addressOf(hook.memory);
    int64_t bytes = bytesOf(hook);
    auto copy = [&](char *host, bool back) {
      std::string error;
      CheckedCalls copied = calls(error);
      if (back)
        copied.run(driver->cuMemcpyHtoDAsync_v2, at, host, bytes, stream);
      else
        copied.run(driver->cuMemcpyDtoHAsync_v2, host, at, bytes, stream);
      copied.run(driver->cuStreamSynchronize, stream);
      return error;
    };
    std::string error =
        hooks->run(hook.key, {reinterpret_cast<void *>(at), bytes,
                              hook.dtype.c_str(), &hook.sizes, stream, copy});
    if (!error.empty())
      return error;
  }
  return "";
}

/// Whether functions of the user run between the launches of a segment: then
/// these are no recorded graph.
bool CudaStep::isHooked(size_t segment) const {
  const std::vector<ArtifactHook> &all = artifact.segments[segment].hooks;
  return hooks &&
         std::any_of(all.begin(), all.end(), [&](const ArtifactHook &hook) {
           return hooks->hasFunctions(hook.key);
         });
}

std::string CudaStep::launchOne(const ArtifactLaunch &launch, Address mark) {
  // The names of the model; a recording has no time that they would show.
  std::optional<ProfilerRange> range;
  if (options.singleLaunches)
    range.emplace(launch.op + (launch.place.empty() ? "" : ", ") +
                  launch.place);
  std::vector<Address> values;
  for (const ArtifactOperand &operand : launch.operands)
    values.push_back(addressOf(operand.memory));
  if (launch.product && products->has(*launch.product))
    return products->launch(*launch.product, values,
                            base + launch.product->workspaceAt, stream);
  if (artifact.kernels[launch.kernel].checks)
    values.push_back(mark);
  return launchKernel(launch, values);
}

std::string CudaStep::launchKernel(const ArtifactLaunch &launch,
                                   std::vector<Address> &values) {
  const ArtifactKernel &kernel = artifact.kernels[launch.kernel];
  // A kernel of several segments is a function of the one that has it first.
  size_t home = 0;
  while (home + 1 < modules.size() &&
         kernel.file != artifact.segments[home].name + ".cu")
    ++home;
  Handle &function = functions[launch.kernel];
  std::string error;
  CheckedCalls launched = calls(error);
  if (!function)
    launched.run(driver->cuModuleGetFunction, &function, modules[home],
                 kernel.name.c_str());
  std::vector<void *> parameters;
  for (Address &value : values)
    parameters.push_back(&value);
  auto size = [](int64_t number) { return static_cast<unsigned>(number); };
  launched.run(driver->cuLaunchKernel, function, size(launch.grid[0]),
               size(launch.grid[1]), size(launch.grid[2]),
               size(launch.block[0]), size(launch.block[1]),
               size(launch.block[2]), size(launch.sharedBytes), stream,
               parameters.data(), nullptr);
  return error;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A context is one of a thread, and a step may run in another one than it was
/// opened in.
bool CudaStep::enter(std::string &error) {
  return calls(error).run(driver->cuCtxSetCurrent, context);
}

std::string CudaStep::run(const std::vector<size_t> &segments,
                          const std::vector<char *> &given) {
  std::string error;
  if (!enter(error))
    return error;
  HookedRun hooked(hooks);
  if (!hooked.error().empty())
    return hooked.error();
  arguments->begin(given, transfers->findFirst(segments));
  if (caller)
    error = caller->follow(stream);
  if (error.empty())
    error = prepare(segments);
  if (error.empty())
    error = execute(segments);
  error = finish(std::move(error));
  if (measured)
    measured->clear();
  for (size_t i = 0; i < segments.size() && measured && error.empty(); ++i)
    error = readTiming(*timings[segments[i]]);
  if (error.empty() && numMarks)
    error = findMark();
  if (error.empty())
    error = arguments->bringBack(segments, stream);
  calls(error).run(driver->cuStreamSynchronize, stream);
  return error;
}

/// What must be there before anything of the run is.
std::string CudaStep::prepare(const std::vector<size_t> &segments) {
  std::string error;
  bool isBegin =
      std::find(segments.begin(), segments.end(), 0) != segments.end();
  CheckedCalls filled = calls(error);
  if (options.checkMemory && artifact.arenaBytes && isBegin)
    filled.run(driver->cuMemsetD8Async, base, 0xFF, artifact.arenaBytes,
               stream);
  if (numMarks)
    filled.run(driver->cuMemsetD8Async, marks, 0, numMarks * sizeof(KernelMark),
               stream);
  return error;
}

std::string CudaStep::execute(const std::vector<size_t> &segments) {
  std::string error;
  for (size_t i = 0; i < segments.size() && error.empty(); ++i) {
    std::vector<TransferIn> copies = arguments->copiesFor(static_cast<int>(i));
    // Behind the launch of the segment in front, beside which they run.
    if (caller)
      error = arguments->bringAcross(copies, stream);
    else if (!copies.empty())
      error = transfers->bring(segments[i], copies, stream);
    transfers->forget(segments[i]);
    if (error.empty())
      error = launchSegment(segments[i]);
    if (error.empty() && i + 1 < segments.size())
      error = transfers->mark(segments[i], stream);
  }
  for (size_t i = 0; i + 1 < segments.size() && error.empty(); ++i)
    error = transfers->fetch(segments[i], base);
  return error;
}

std::string CudaStep::launchSegment(size_t segment) {
  ProfilerRange range(artifact.segments[segment].name);
  if (measured)
    return launchMeasured(segment);
  return isSingle(segment)
             ? launchAll(segment, nullptr)
             : launchRecorded(segment, recordings[segment], nullptr);
}

/// Records first, if there is no recording, or one with other addresses of the
/// caller than this run. Of a segment without launches there is none.
std::string CudaStep::launchRecorded(size_t segment, Recording &recording,
                                     Stopwatch *watch) {
  std::string error;
  std::vector<Address> used = arguments->usedBy(segment);
  if (!recording.executable || used != recording.used) {
    release(recording);
    recording.used = std::move(used);
    if (watch)
      watch->restart();
    error = record(segment, recording, watch);
  }
  if (recording.executable)
    calls(error).run(driver->cuGraphLaunch, recording.executable, stream);
  return error;
}

std::string CudaStep::launchMeasured(size_t segment) {
  timings.resize(artifact.segments.size());
  if (!timings[segment])
    timings[segment] = std::make_unique<Timing>(*driver);
  Timing &timing = *timings[segment];
  if (measuredWhat == Measured::Segments) {
    timing.whole.restart();
    std::string error = timing.whole.mark(stream, /*isRecorded=*/false);
    if (error.empty())
      error = isSingle(segment)
                  ? launchAll(segment, nullptr)
                  : launchRecorded(segment, recordings[segment], nullptr);
    return error.empty() ? timing.whole.mark(stream, /*isRecorded=*/false)
                         : error;
  }
  if (isSingle(segment)) {
    timing.launches.restart();
    return launchAll(segment, &timing.launches);
  }
  return launchRecorded(segment, timing.recording, &timing.launches);
}

std::string CudaStep::readTiming(const Timing &timing) {
  return measuredWhat == Measured::Segments ? timing.whole.read(*measured)
                                            : timing.launches.read(*measured);
}

double CudaStep::measureCopies(std::string &error) {
  return enter(error) ? measureDeviceCopies(*driver, stream, error) : 0;
}

/// Waits for both streams, also after an error: copies are from and to memory
/// that the caller may free.
std::string CudaStep::finish(std::string error) {
  std::string copies = transfers->finish();
  calls(error).runAnyway(driver->cuStreamSynchronize, stream);
  return error.empty() ? copies : error;
}

/// The first launch that left a mark: of a wrong index, or a failed check.
std::string CudaStep::findMark() {
  std::vector<KernelMark> found(numMarks);
  std::string error;
  CheckedCalls copied = calls(error);
  copied.run(driver->cuMemcpyDtoHAsync_v2, found.data(), marks,
             numMarks * sizeof(KernelMark), stream);
  copied.run(driver->cuStreamSynchronize, stream);
  size_t mark = 0;
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches)
      if (artifact.kernels[launch.kernel].checks && error.empty())
        if (const KernelMark &left = found[mark++]; left.kind)
          return describeMark(left) + ", in " +
                 describeLaunch(artifact, launch);
  return error;
}

std::string CudaStep::read(int64_t at, int64_t bytes, char *to) {
  std::string error;
  if (const char *copied = transfers->find(at, bytes)) {
    std::memcpy(to, copied, bytes);
    return error;
  }
  if (caller)
    return enter(error) ? caller->copy(reinterpret_cast<Address>(to), base + at,
                                       bytes, stream)
                        : error;
  if (bytes && enter(error)) {
    CheckedCalls copied = calls(error);
    copied.run(driver->cuMemcpyDtoHAsync_v2, to, base + at, bytes, stream);
    copied.run(driver->cuStreamSynchronize, stream);
  }
  return error;
}

std::string CudaStep::keep(size_t argument, const char *from) {
  std::string error;
  return enter(error) ? arguments->keep(argument, from, stream) : error;
}

std::string CudaStep::readArgument(size_t argument, int64_t from, int64_t bytes,
                                   const char *given, char *to) {
  std::string error;
  if (caller)
    return enter(error) ? caller->copy(reinterpret_cast<Address>(to),
                                       arguments->sourceOf(argument) + from,
                                       bytes, stream)
                        : error;
  if (!arguments->keeps(argument))
    return Executor::readArgument(argument, from, bytes, given, to);
  return enter(error) ? arguments->read(argument, from, bytes, to, stream)
                      : error;
}

std::string CudaStep::setStream(void *given) {
  std::string error;
  if (!caller)
    return Executor::setStream(given);
  return enter(error) ? caller->set(static_cast<Handle>(given), stream) : error;
}

/// Errors are dropped: no caller is left.
void CudaStep::release(Recording &recording) {
  if (recording.executable)
    (void)driver->cuGraphExecDestroy(recording.executable);
  if (recording.graph)
    (void)driver->cuGraphDestroy(recording.graph);
  recording.executable = recording.graph = nullptr;
}

CudaStep::~CudaStep() {
  if (!driver)
    return;
  // No caller is left to hear of errors.
  if (hasContext)
    (void)driver->cuCtxSetCurrent(context);
  for (Recording &one : recordings)
    release(one);
  for (const std::unique_ptr<Timing> &timing : timings)
    if (timing)
      release(timing->recording);
  timings.clear();
  transfers.reset();
  caller.reset();
  if (stream)
    (void)driver->cuStreamDestroy_v2(stream);
  products.reset();
  for (Handle module : modules)
    if (module)
      (void)driver->cuModuleUnload(module);
  if (allocation)
    (void)driver->cuMemFree_v2(allocation);
  if (hasContext)
    (void)driver->cuDevicePrimaryCtxRelease_v2(device);
}
