// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVTX without NVIDIA's headers. A profiler names its library in
// NVTX_INJECTION64_PATH; the first range loads it and offers it a table, in
// which it puts its own functions where it wants to be called:
//
//   1. InitializeInjectionNvtx2(export) is called, and asks `export` for table
//      1: a function that gives the table of a module.
//   2. Of module 1 that is an array of the addresses of function pointers, by
//      numbers of which push (9, with a text) and pop (11) are used here. The
//      others are there so that a profiler may fill them.
//
// Without a profiler a range costs one test.

#include "cutback/Runtime/Cuda/ProfilerRanges.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

using namespace cutback::cuda;

namespace {

using Function = void (*)();

constexpr int kCallbacks = 1, kVersion = 3; // export tables
constexpr int kCoreModule = 1, kPush = 9, kPop = 11, kNumCore = 16;
constexpr uint32_t kVersionOfRanges = 3;

Function functions[kNumCore]; // number 0 is none
Function *entries[kNumCore + 1];

int findModule(int module, Function ***table, unsigned *size) {
  if (module != kCoreModule)
    return 0;
  for (int i = 1; i < kNumCore; ++i)
    entries[i] = &functions[i];
  if (table)
    *table = entries;
  if (size)
    *size = kNumCore;
  return 1;
}
void takeVersion(uint32_t) {}

const struct {
  size_t bytes;
  int (*find)(int module, Function ***table, unsigned *size);
} callbackTable = {sizeof callbackTable, findModule};
const struct {
  size_t bytes;
  uint32_t version, reserved;
  void (*take)(uint32_t version);
} versionTable = {sizeof versionTable, kVersionOfRanges, 0, takeVersion};

const void *findTable(uint32_t number) {
  return number == kCallbacks ? static_cast<const void *>(&callbackTable)
         : number == kVersion ? static_cast<const void *>(&versionTable)
                              : nullptr;
}

/// Whether a profiler wants ranges.
bool attach() {
  const char *path = std::getenv("NVTX_INJECTION64_PATH");
  void *library = path ? ::dlopen(path, RTLD_LAZY) : nullptr;
  if (!library)
    return false;
  auto start = reinterpret_cast<int (*)(const void *(*)(uint32_t))>(
      ::dlsym(library, "InitializeInjectionNvtx2"));
  return start && start(findTable) != 0 && functions[kPush] && functions[kPop];
}

bool isWanted() {
  static const bool isAttached = attach();
  return isAttached;
}

} // namespace

ProfilerRange::ProfilerRange(const std::string &name) {
  if (isWanted())
    (void)reinterpret_cast<int (*)(const char *)>(functions[kPush])(
        name.c_str());
}

ProfilerRange::~ProfilerRange() {
  if (isWanted())
    (void)reinterpret_cast<int (*)()>(functions[kPop])();
}
