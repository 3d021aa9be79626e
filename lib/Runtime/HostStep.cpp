// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One allocation, launches in their order, one after the other. The arena is
// NaN where nothing was written.
//
// With `checkMemory` each launch works on copies of its operands, each in a
// heap block of exactly its size; operands at the same place share one. What
// was written goes back, what was only read must be as it was.

#include "cutback/Runtime/HostStep.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace cutback;

void HostStep::Free::operator()(char *bytes) const { std::free(bytes); }

HostStep::Bytes HostStep::allocate(int64_t bytes) {
  void *memory = nullptr;
  if (::posix_memalign(&memory, 256, bytes > 0 ? bytes : 1) != 0)
    memory = nullptr;
  return Bytes(static_cast<char *>(memory));
}

std::unique_ptr<HostStep> HostStep::open(const std::string &path,
                                         const Artifact &artifact,
                                         const StepOptions &options,
                                         std::string &error) {
  // It stays: kernels may be running when others are loaded.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error = "cannot load '" + path + "': " + ::dlerror();
    return nullptr;
  }
  void *symbol = ::dlsym(library, "cutback_launch");
  if (!symbol) {
    error = "'" + path + "' has no kernels";
    return nullptr;
  }
  return std::unique_ptr<HostStep>(
      new HostStep(reinterpret_cast<Launch>(symbol), artifact, options));
}

std::string HostStep::run(const std::vector<size_t> &segments,
                          const std::vector<char *> &arguments) {
  bool isBegin = !arena;
  for (size_t segment : segments)
    isBegin |= segment == 0;
  if (isBegin)
    arena = allocate(artifact.arenaBytes);
  if (!arena)
    return "needs " + std::to_string(artifact.arenaBytes) +
           " bytes for its arena, and this machine has them not";
  if (isBegin)
    std::memset(arena.get(), 0xFF, artifact.arenaBytes);
  for (size_t segment : segments)
    for (const ArtifactLaunch &launch : artifact.segments[segment].launches)
      if (std::string error = runLaunch(launch, arguments); !error.empty())
        return error;
  return "";
}

std::string HostStep::read(int64_t at, int64_t bytes, char *to) {
  std::memcpy(to, arena.get() + at, bytes);
  return "";
}

std::string HostStep::runLaunch(const ArtifactLaunch &launch,
                                const std::vector<char *> &arguments) {
  unsigned grid[3], block[3];
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = static_cast<unsigned>(launch.grid[axis]);
    block[axis] = static_cast<unsigned>(launch.block[axis]);
  }
  int problem = 0;
  std::vector<void *> pointers;
  for (const ArtifactOperand &operand : launch.operands)
    pointers.push_back(at(operand.memory, arguments));
  pointers.push_back(&problem);
  std::string error;
  if (options.checkMemory)
    error = callApart(launch, pointers, grid, block);
  else
    entry(static_cast<int>(launch.kernel), grid, block,
          static_cast<unsigned>(launch.sharedBytes), pointers.data());
  if (problem)
    error = describeMark(problem);
  return error.empty() ? ""
                       : error + ", in " + describeLaunch(artifact, launch);
}

std::string HostStep::callApart(const ArtifactLaunch &launch,
                                std::vector<void *> pointers,
                                const unsigned *grid, const unsigned *block) {
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
  entry(static_cast<int>(launch.kernel), grid, block,
        static_cast<unsigned>(launch.sharedBytes), pointers.data());
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
