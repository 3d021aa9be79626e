// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a step read and write, and what two threads do to one
// byte in no order. It stands in front of host.cpp, which clang compiles with
// -fsanitize=thread, and is the library that such code calls. ThreadSanitizer's
// own has room for 255 threads at a time, and a block has up to 1024.
//
// An access is behind another one of the block if both are of one thread, if a
// __syncthreads is between them, or a __syncwarp where both are of one warp;
// shuffles and votes order nothing, as on a device. A race is two accesses to
// one byte in no order, of which one is a store. Exact for each byte: kept are
// the last store, two readers of one warp and one of another (a store that
// races with any reader races with one of these).
//
// Blocks have no order at all: a byte of an operand that one block stores and
// another one stores or reads is a race, too.
//
// CUTBACK_WATCH_OPERANDS names a file with a line a launch: the first block of
// each nest behind the first, -, and for each operand its bytes. CUTBACK_WATCH
// names the file that is written, a line a launch:
//
//   launch READ REREAD WRITTEN
//     READ: bytes of operands, each once a nest; REREAD: and again for each
//     later pass of a warp that reads it (between two passes its lanes have
//     met); WRITTEN: bytes, each as often as it was stored
//   race KIND WHERE: KIND names both accesses, WHERE is the place in libstep.so
//     of the later one
#pragma once

#include "cutback_cuda_host.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>

// Nothing of this is an access of a kernel; what it calls of the library is,
// and `isBusy` is in front of that.
#pragma clang attribute push(                                                  \
    __attribute__((disable_sanitizer_instrumentation)), apply_to = function)

namespace cutback_watch {

/// Who reads or stores, and when: blocks from 1 on, how many waits lie behind.
struct Stamp {
  unsigned block = 0;
  unsigned short thread = 0, barriers = 0;
  unsigned syncs = 0; ///< of its warp

  bool isThread(const Stamp &other) const {
    return block == other.block && thread == other.thread;
  }
  bool isWarp(const Stamp &other) const {
    return block == other.block && thread / 32 == other.thread / 32;
  }
  /// Whether what happened now, at `now`, may as well have happened before.
  bool races(const Stamp &now) const {
    if (!block || isThread(now))
      return false;
    if (block != now.block)
      return true;
    return barriers == now.barriers && !(isWarp(now) && syncs != now.syncs);
  }
};

/// What happened to a byte in this launch.
struct Byte {
  Stamp store, reader; ///< the last ones
  /// Readers beside that one: of its warp, of another warp, of another block.
  Stamp neighbor, other, far;
  unsigned nest = 0, pass = 0;
  unsigned short passes = 0, mostPasses = 0; ///< of that warp, of all warps
};

struct Stretch {
  char *begin, *end;
  std::vector<Byte> bytes;
};

/// Of a thread of the block: how often it waited at all, and for what.
struct Fiber {
  unsigned pass = 0;
  Stamp now;
};

struct Watch {
  std::vector<std::string> lines; ///< of CUTBACK_WATCH_OPERANDS
  std::vector<unsigned> nests;
  std::vector<Stretch> stretches; ///< operands; the first is shared memory
  size_t last = 0, numLaunches = 0;
  bool isBusy = true;
  unsigned long long read = 0, reread = 0, written = 0;
  std::set<std::string> races;
  Fiber fibers[cutback_host::kThreads + 1];
  unsigned numFibers = 1, current = 0, sharedBlock = 0;
};
inline Watch watch;

inline unsigned blockNumber() {
  const dim3 block = cutback_host::blockNow;
  const dim3 grid = cutback_host::device->gridSize;
  return 1 + block.x + grid.x * (block.y + grid.y * block.z);
}

inline Stretch *find(char *at) {
  auto &all = watch.stretches;
  if (watch.last < all.size() && at >= all[watch.last].begin &&
      at < all[watch.last].end)
    return &all[watch.last];
  for (size_t i = 0; i < all.size(); ++i)
    if (at >= all[i].begin && at < all[i].end) {
      watch.last = i;
      return &all[i];
    }
  return nullptr;
}

inline void report(const char *kind, void *place) {
  Dl_info info = {};
  ::dladdr(place, &info);
  char text[96];
  std::snprintf(text, sizeof(text), "race %s %zx", kind,
                static_cast<char *>(place) - 1 -
                    static_cast<char *>(info.dli_fbase));
  watch.races.insert(text);
}

inline void settle(Byte &byte) {
  watch.read += byte.mostPasses > 0;
  watch.reread += byte.mostPasses;
  byte.mostPasses = byte.passes = 0;
}

inline void countRead(Byte &byte, const Stamp &now, unsigned pass) {
  unsigned nest = 0;
  while (nest < watch.nests.size() && now.block > watch.nests[nest])
    ++nest;
  if (byte.nest != nest)
    settle(byte);
  byte.nest = nest;
  const bool isSame = byte.reader.isWarp(now);
  if (!isSame)
    byte.passes = 0;
  if (!isSame || byte.pass != pass)
    ++byte.passes;
  byte.pass = pass;
  byte.mostPasses = std::max(byte.mostPasses, byte.passes);
}

inline void storeByte(Byte &byte, const Stamp &now, void *place) {
  if (byte.store.races(now))
    report("store-store", place);
  if (byte.reader.races(now) || byte.neighbor.races(now) ||
      byte.other.races(now) || byte.far.races(now))
    report("read-store", place);
  byte.store = now;
}

inline void readByte(Byte &byte, const Stamp &now, void *place) {
  if (byte.store.races(now))
    report("store-read", place);
  Stamp &first = byte.reader;
  if (first.block != now.block) {
    byte.far = first;
    byte.other = byte.neighbor = {};
  } else if (first.barriers != now.barriers) {
    byte.other = byte.neighbor = {};
  } else if (!first.isWarp(now)) {
    byte.other = first;
    byte.neighbor = {};
  } else if (first.syncs != now.syncs) {
    byte.neighbor = {};
  } else if (!first.isThread(now)) {
    byte.neighbor = first;
  }
  first = now;
}

inline void access(void *address, size_t size, bool isStore, void *place) {
  if (watch.isBusy)
    return;
  watch.isBusy = true;
  char *at = static_cast<char *>(address);
  if (Stretch *stretch = find(at)) {
    const bool isShared = stretch == watch.stretches.data();
    const Fiber &fiber = watch.fibers[watch.current];
    for (size_t i = 0; i < size && at + i < stretch->end; ++i) {
      Byte &byte = stretch->bytes[at + i - stretch->begin];
      if (isStore) {
        watch.written += !isShared;
        storeByte(byte, fiber.now, place);
      } else {
        if (!isShared)
          countRead(byte, fiber.now, fiber.pass);
        readByte(byte, fiber.now, place);
      }
    }
  }
  watch.isBusy = false;
}

inline void readLines() {
  const char *path = std::getenv("CUTBACK_WATCH_OPERANDS");
  std::FILE *file = path ? std::fopen(path, "r") : nullptr;
  if (!file) // only the scripts beside this file build with it
    std::abort();
  std::string line;
  for (int c; (c = std::fgetc(file)) != EOF;)
    if (c == '\n') {
      watch.lines.push_back(line);
      line.clear();
    } else {
      line += char(c);
    }
  std::fclose(file);
}

inline void begin(void **pointers, unsigned sharedBytes) {
  if (watch.lines.empty())
    readLines();
  std::istringstream words(watch.lines.at(watch.numLaunches));
  // The one that the launch takes next.
  cutback_host::Device *device = cutback_host::takeDevice();
  cutback_host::giveBack(device);
  char *shared = reinterpret_cast<char *>(device->shared);
  watch.nests.clear();
  watch.stretches.clear();
  watch.stretches.push_back(
      {shared, shared + sharedBytes, std::vector<Byte>(sharedBytes)});
  std::string word;
  while (words >> word && word != "-")
    watch.nests.push_back(unsigned(std::stoul(word)));
  for (size_t bytes; words >> bytes;) {
    char *at = static_cast<char *>(*pointers++);
    if (!find(at))
      watch.stretches.push_back({at, at + bytes, std::vector<Byte>(bytes)});
  }
  watch.read = watch.reread = watch.written = 0;
  watch.sharedBlock = 0;
  watch.isBusy = false;
}

inline void end() {
  watch.isBusy = true;
  for (Stretch &stretch : watch.stretches)
    for (Byte &byte : stretch.bytes)
      settle(byte);
  const char *path = std::getenv("CUTBACK_WATCH");
  std::FILE *file = path ? std::fopen(path, "a") : nullptr;
  if (!file)
    std::abort();
  std::fprintf(file, "launch %llu %llu %llu\n", watch.read, watch.reread,
               watch.written);
  for (const std::string &race : watch.races)
    std::fprintf(file, "%s\n", race.c_str());
  watch.races.clear();
  std::fclose(file);
  ++watch.numLaunches;
}

/// A thread goes on.
inline void switchTo(Fiber *fiber) {
  if (!fiber)
    return;
  watch.current = unsigned(fiber - watch.fibers);
  ++fiber->pass;
  const unsigned block = blockNumber();
  if (watch.sharedBlock != block) { // whose shared memory is new
    const bool wasBusy = watch.isBusy;
    watch.isBusy = true;
    std::vector<Byte> &shared = watch.stretches.front().bytes;
    std::fill(shared.begin(), shared.end(), Byte());
    watch.sharedBlock = block;
    watch.isBusy = wasBusy;
  }
  fiber->now.block = block;
  fiber->now.thread = (unsigned short)cutback_host::device->current->number;
}

inline void meet(void *meeting) {
  auto &device = *cutback_host::device;
  char *at = static_cast<char *>(meeting);
  Stamp &now = watch.fibers[watch.current].now;
  if (at == &device.begin) {
    now.barriers = 0;
    now.syncs = 0;
    watch.fibers[watch.current].pass = 0;
  }
  now.barriers += at == device.barriers || at == device.barriers + 1;
  now.syncs += at >= &device.warps[0][0] &&
               at < &device.warps[0][0] + sizeof(device.warps);
}

} // namespace cutback_watch

//===--- What instrumented code calls -------------------------------------===//

extern "C" {
#define CUTBACK_ACCESS(size)                                                   \
  void __tsan_read##size(void *at) {                                           \
    cutback_watch::access(at, size, false, __builtin_return_address(0));       \
  }                                                                            \
  void __tsan_write##size(void *at) {                                          \
    cutback_watch::access(at, size, true, __builtin_return_address(0));        \
  }                                                                            \
  void __tsan_unaligned_read##size(void *at) {                                 \
    cutback_watch::access(at, size, false, __builtin_return_address(0));       \
  }                                                                            \
  void __tsan_unaligned_write##size(void *at) {                                \
    cutback_watch::access(at, size, true, __builtin_return_address(0));        \
  }
CUTBACK_ACCESS(1)
CUTBACK_ACCESS(2)
CUTBACK_ACCESS(4)
CUTBACK_ACCESS(8)
CUTBACK_ACCESS(16)
#undef CUTBACK_ACCESS
void *__tsan_memmove(void *to, const void *from, size_t size) {
  void *place = __builtin_return_address(0);
  cutback_watch::access(const_cast<void *>(from), size, false, place);
  cutback_watch::access(to, size, true, place);
  return std::memmove(to, from, size);
}
void *__tsan_memcpy(void *to, const void *from, size_t size) {
  void *place = __builtin_return_address(0);
  cutback_watch::access(const_cast<void *>(from), size, false, place);
  cutback_watch::access(to, size, true, place);
  return std::memcpy(to, from, size);
}
void *__tsan_memset(void *to, int value, size_t size) {
  cutback_watch::access(to, size, true, __builtin_return_address(0));
  return std::memset(to, value, size);
}
void __tsan_init() {}
void *__tsan_get_current_fiber() { return nullptr; }
void *__tsan_create_fiber(unsigned) {
  return &cutback_watch::watch.fibers[cutback_watch::watch.numFibers++];
}
void __tsan_switch_to_fiber(void *fiber, unsigned) {
  cutback_watch::switchTo(static_cast<cutback_watch::Fiber *>(fiber));
}
void __tsan_acquire(void *meeting) { cutback_watch::meet(meeting); }
void __tsan_release(void *) {}

void cutback_launch_unwatched(int, const unsigned *, const unsigned *, unsigned,
                              void **);
void cutback_launch(int kernel, const unsigned *grid, const unsigned *block,
                    unsigned sharedBytes, void **operands) {
  cutback_watch::begin(operands, sharedBytes);
  cutback_launch_unwatched(kernel, grid, block, sharedBytes, operands);
  cutback_watch::end();
}
}
#pragma clang attribute pop
#define cutback_launch cutback_launch_unwatched
