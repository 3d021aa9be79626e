// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One allocation, launches in their order, one after the other, each by as many
// threads as it is worth. The arena is NaN where nothing was written: of "cpu"
// in the first step alone, which nothing but its speed tells from later ones.
//
// With `checkMemory` each launch works on copies of its operands, each in a
// heap block of exactly its size; operands at the same place share one. What
// was written goes back, what was only read must be as it was.

#include "cutback/Runtime/HostStep.h"

#include "cutback/Runtime/LoadLibrary.h"

#include "cutback/Support/Heap.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace cutback;

/// Bytes of operands for each thread of a launch: fewer are read before another
/// thread has begun.
static constexpr int64_t kShare = 64 << 10;

void HostStep::Free::operator()(char *bytes) const { std::free(bytes); }

HostStep::Bytes HostStep::allocate(int64_t bytes) {
  return Bytes(static_cast<char *>(allocateBytes(bytes, 256)));
}

/// The symbols of its kernels, and who runs those that are none. An empty
/// string, or what is missing.
std::string HostStep::findKernels(void *library) {
  if (artifact.target != kCpuTarget) {
    entry = reinterpret_cast<Launch>(::dlsym(library, "cutback_launch"));
    return entry ? "" : "has no kernels";
  }
  for (const ArtifactKernel &kernel : artifact.kernels) {
    if (kernel.file == kGroupFile) {
      codes.push_back(nullptr);
      continue;
    }
    if (kernel.file == kCallsFile) {
      std::string error;
      const ArtifactFile *file = artifact.findFile(kCallsFile);
      if (!file || !file->contents)
        return std::string("has no ") + kCallsFile;
      if (!calls)
        calls = openCalls(*file->contents, error);
      if (!calls)
        return error;
      codes.push_back(nullptr);
      continue;
    }
    void *symbol = ::dlsym(library, (kernel.name + kCodeSuffix).c_str());
    if (!symbol)
      return "has no kernel '" + kernel.name + "'";
    codes.push_back(reinterpret_cast<KernelCode>(symbol));
  }
  return "";
}

std::unique_ptr<HostStep> HostStep::open(const ArtifactFile &library,
                                         const Artifact &artifact,
                                         const StepOptions &options,
                                         std::string &error) {
  void *handle = loadLibrary(library, error);
  if (!handle)
    return nullptr;
  std::unique_ptr<HostStep> step(new HostStep(artifact, options));
  error = step->findKernels(handle);
  if (error.empty())
    return step;
  error = "'" + library.name + "' " + error;
  return nullptr;
}

/// One arena for all steps: no page of it is asked for twice.
bool HostStep::prepareArena(bool isBegin) {
  bool isNew = !arena;
  if (isNew) {
    ownArena = allocate(artifact.arenaBytes);
    arena = ownArena.get();
  }
  if (!arena)
    return false;
  if (isNew || (isBegin && (options.checkMemory || codes.empty())))
    std::memset(arena, 0xFF, artifact.arenaBytes);
  return true;
}

std::string HostStep::run(const std::vector<size_t> &segments,
                          const std::vector<char *> &arguments) {
  HookedRun run(hooks);
  if (!run.error().empty())
    return run.error();
  bool isBegin =
      std::find(segments.begin(), segments.end(), size_t(0)) != segments.end();
  if (!prepareArena(isBegin))
    return noArena();
  if (measured)
    measured->clear();
  for (size_t segment : segments) {
    std::string error = runSegment(artifact.segments[segment], arguments);
    if (!error.empty())
      return error;
  }
  return "";
}

/// Launches, and between them the hooks that stand there.
std::string HostStep::runSegment(const ArtifactSegment &segment,
                                 const std::vector<char *> &arguments) {
  auto runHooks = [&](size_t before) -> std::string {
    auto [hook, end] = segment.hooksBefore(before);
    for (; hook != end; ++hook)
      if (std::string error = runHook(*hook, arguments); !error.empty())
        return error;
    return "";
  };
  for (size_t i = 0; i < segment.launches.size(); ++i) {
    std::string error = runHooks(i);
    if (error.empty())
      error = measured ? measureLaunch(segment.launches[i], arguments)
                       : runLaunch(segment.launches[i], arguments);
    if (!error.empty())
      return error;
  }
  return runHooks(segment.launches.size());
}

std::string HostStep::runHook(const ArtifactHook &hook,
                              const std::vector<char *> &arguments) {
  if (!hooks || !hooks->hasFunctions(hook.key))
    return "";
  return hooks->run(hook.key, {at(hook.memory, arguments), bytesOf(hook),
                               hook.dtype.c_str(), &hook.sizes});
}

std::string HostStep::noArena() const {
  return "needs " + std::to_string(artifact.arenaBytes) +
         " bytes for its arena, and this machine has them not";
}

char *HostStep::beginLaunches(std::string &error) {
  if (prepareArena(/*isBegin=*/true))
    return arena;
  error = noArena();
  return nullptr;
}

std::string HostStep::runLaunch(size_t segment, size_t launch,
                                const std::vector<char *> &arguments) {
  return runLaunch(artifact.segments[segment].launches[launch], arguments);
}

std::string HostStep::measureLaunch(const ArtifactLaunch &launch,
                                    const std::vector<char *> &arguments) {
  auto begin = std::chrono::steady_clock::now();
  std::string error = runLaunch(launch, arguments);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  measured->push_back(took.count());
  return error;
}

std::string HostStep::read(int64_t at, int64_t bytes, char *to) {
  std::memcpy(to, arena + at, bytes);
  return "";
}

std::string HostStep::runLaunch(const ArtifactLaunch &launch,
                                const std::vector<char *> &arguments) {
  pointers.clear();
  for (const ArtifactOperand &operand : launch.operands)
    pointers.push_back(at(operand.memory, arguments));
  std::string error =
      options.checkMemory ? callApart(launch) : call(launch, pointers);
  return error.empty() ? ""
                       : error + ", in " + describeLaunch(artifact, launch);
}

void HostStep::setThreads(unsigned count) {
  threads = count;
  pool.reset();
}

/// Where launches are checked, all threads have a part of each.
unsigned HostStep::partsOf(const ArtifactLaunch &launch) {
  int64_t parts = options.checkMemory ? threads : bytesOf(launch) / kShare;
  if (threads <= 1 || parts <= 1)
    return 1;
  if (!pool)
    pool = std::make_unique<ThreadPool>(threads);
  return static_cast<unsigned>(std::min<int64_t>(parts, pool->size()));
}

std::string HostStep::callCode(const ArtifactLaunch &launch,
                               std::vector<void *> &pointers) {
  unsigned parts = partsOf(launch);
  cells.resize(parts);
  auto runPart = [&](unsigned part) {
    cells[part] = {0, 0, part, parts, 0};
    callKernel(codes[launch.kernel], pointers.data(), cells[part].data());
  };
  if (parts == 1)
    runPart(0);
  else
    pool->run([&](unsigned part) {
      if (part < parts)
        runPart(part);
    });
  // Of calls the largest mark counts, as on a device; of nests the first.
  const std::vector<int64_t> &bounds = artifact.kernels[launch.kernel].bounds;
  auto wrong = std::find_if(cells.begin(), cells.end(),
                            [](const Cells &part) { return part[0] != 0; });
  if (bounds.empty())
    wrong = std::max_element(
        cells.begin(), cells.end(),
        [](const Cells &a, const Cells &b) { return a[0] < b[0]; });
  if (wrong == cells.end() || (*wrong)[0] == 0)
    return "";
  auto [what, where] = std::pair((*wrong)[0], (*wrong)[1]);
  KernelMark mark = {static_cast<int>(what), 0, where, (*wrong)[kSizeCell]};
  if (what >= 1 && what <= static_cast<int64_t>(bounds.size()))
    mark = {1, 0, where, bounds[what - 1]};
  return describeMark(mark);
}

std::string HostStep::callGroup(const ArtifactLaunch &launch,
                                const std::vector<void *> &pointers) {
  const ArtifactCollective &what = *launch.collective;
  if (!collectives)
    return std::string(nameOf(what.kind)) + " is for the group '" + what.group +
           "', which this run has not: run the pipeline with mpirun and "
           "cutback-run --group=" +
           what.group + "=N";
  return collectives->run(
      what, static_cast<const char *>(pointers[0]), launch.operands[0].bytes,
      static_cast<char *>(pointers[1]), launch.operands[1].bytes);
}

/// Runs its kernel on `pointers`, one an operand.
std::string HostStep::call(const ArtifactLaunch &launch,
                           std::vector<void *> &pointers) {
  if (launch.collective)
    return callGroup(launch, pointers);
  if (!codes.empty() && !codes[launch.kernel])
    return calls->run(artifact.kernels[launch.kernel].name, pointers.data());
  if (!codes.empty())
    return callCode(launch, pointers);
  unsigned grid[3], block[3];
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = static_cast<unsigned>(launch.grid[axis]);
    block[axis] = static_cast<unsigned>(launch.block[axis]);
  }
  KernelMark mark;
  pointers.push_back(&mark);
  entry(static_cast<int>(launch.kernel), grid, block,
        static_cast<unsigned>(launch.sharedBytes), pointers.data());
  pointers.pop_back();
  return mark.kind ? describeMark(mark) : "";
}

std::string HostStep::callApart(const ArtifactLaunch &launch) {
  size_t count = launch.operands.size();
  std::vector<void *> places(pointers);
  std::vector<Bytes> copies(count);
  std::vector<size_t> copyOf(count);
  for (size_t i = 0; i < count; ++i) {
    copyOf[i] = i;
    for (size_t j = 0; j < i; ++j)
      if (places[j] == places[i] &&
          launch.operands[j].bytes == launch.operands[i].bytes)
        copyOf[i] = copyOf[j];
    if (copyOf[i] == i) {
      copies[i] = allocate(launch.operands[i].bytes);
      if (!copies[i])
        return "there is no memory for a copy";
      std::memcpy(copies[i].get(), places[i], launch.operands[i].bytes);
    }
    pointers[i] = copies[copyOf[i]].get();
  }
  if (std::string error = call(launch, pointers); !error.empty())
    return error;
  std::vector<bool> isWritten(count, false);
  for (size_t i = 0; i < count; ++i)
    if (launch.operands[i].isWritten)
      isWritten[copyOf[i]] = true;
  for (size_t i = 0; i < count; ++i) {
    if (copyOf[i] != i)
      continue;
    if (isWritten[i])
      std::memcpy(places[i], copies[i].get(), launch.operands[i].bytes);
    else if (std::memcmp(places[i], copies[i].get(),
                         launch.operands[i].bytes) != 0)
      return "operand " + std::to_string(i) + " is changed and only read";
  }
  return "";
}
