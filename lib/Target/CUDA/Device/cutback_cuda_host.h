// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA kernels on the host, to be tried without a GPU. One block after the
// other, or each thread of the system a part of them; in a block a fiber a
// thread. A fiber runs until it must wait for the lanes of its warp (shuffles,
// votes) or for the block (__syncthreads). A wait that some threads do not come
// to ends the process with a line that says so. Shared memory is full of NaN
// when a block begins. Kernels that never wait run as plain loops.
//
// CUTBACK_CUDA_HOST_ORDER=reverse runs blocks, warps and lanes from the last to
// the first: results must not change.
//
// With clang's -fsanitize=thread each thread is a fiber for ThreadSanitizer
// too, which meets others at __syncthreads and __syncwarp only: shuffles order
// nothing, as on a device. Its own library has room for 255 threads and misses
// races in larger blocks; the one of tools/dev/race-suite does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define CUTBACK_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUTBACK_HOST_ASAN 1
#endif
#endif
#ifdef CUTBACK_HOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUTBACK_HOST_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// What the emulator itself reads and writes is no access of a kernel.
#ifdef CUTBACK_HOST_TSAN
#pragma clang attribute push(                                                  \
    __attribute__((disable_sanitizer_instrumentation)), apply_to = function)
#endif

namespace cutback_host {

constexpr size_t kStack = 128 * 1024;
constexpr unsigned kThreads = 1024, kShared = 48 * 1024;
/// The most that a lane gives to others at once.
constexpr size_t kSlot = 48;

enum class Waits { No, ForWarp, ForBlock, Done };

struct Fiber {
  void *stackPointer = nullptr; ///< where it goes on
  char *stack = nullptr;
  dim3 thread;
  unsigned number = 0;
  Waits waits = Waits::No;
  unsigned turn = 0; ///< which of the two slots its next exchange uses
  void *fakeStack = nullptr;
  void *tsan = nullptr;           ///< what ThreadSanitizer calls it
  unsigned barrier = 0, warp = 0; ///< which of two comes next
  ucontext_t context;
};

struct Device {
  Fiber fibers[kThreads];
  Fiber *current = nullptr;
  dim3 blockSize, gridSize;
  void (*body)(void *) = nullptr;
  void *arguments = nullptr;
  bool isReversed = false;
  Device *next = nullptr; ///< of those that nobody runs on
  alignas(16) unsigned char slots[2][kThreads * kSlot];
  void *mainPointer = nullptr, *mainFake = nullptr;
  const void *mainBottom = nullptr;
  size_t mainSize = 0;
  ucontext_t mainContext;
  void *mainTsan = nullptr;
  /// Of the block: where it begins and ends. Then its barriers, then those of
  /// each warp: every other one, as nobody is two ahead.
  char begin, end, barriers[2], warps[kThreads / 32][2];
  alignas(64) unsigned char shared[kShared];
};
#ifdef CUTBACK_OWN_CALLS // a process may hold many
#define CUTBACK_THREAD_LOCAL inline thread_local
#else // read at each step of a thread
#define CUTBACK_THREAD_LOCAL                                                   \
  __attribute__((tls_model("initial-exec"))) inline thread_local
#endif
/// What this thread of the process runs on, while it runs a kernel.
CUTBACK_THREAD_LOCAL Device *device;
/// The block that this thread of the process runs.
CUTBACK_THREAD_LOCAL dim3 blockNow;

[[noreturn]] inline void fail(const char *what) {
  std::fprintf(stderr, "emulated kernel: %s, in block (%u, %u, %u)\n", what,
               blockNow.x, blockNow.y, blockNow.z);
  std::abort();
}

//===--- Fibers
//-------------------------------------------------------------===//

#ifdef CUTBACK_HOST_TSAN
constexpr bool kIsEachAFiber = true;
inline void *makeFiber() { return __tsan_create_fiber(0); }
inline void *thisFiber() { return __tsan_get_current_fiber(); }
inline void nowRuns(void *fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
/// All before it in a thread that arrives is before all behind it in one that
/// departs.
inline void arrive(char *meeting) { __tsan_release(meeting); }
inline void depart(char *meeting) { __tsan_acquire(meeting); }
#else
constexpr bool kIsEachAFiber = false;
inline void *makeFiber() { return nullptr; }
inline void *thisFiber() { return nullptr; }
inline void nowRuns(void *) {}
inline void arrive(char *) {}
inline void depart(char *) {}
#endif

#if defined(__x86_64__)
extern "C" void cutback_host_switch(void **from, void *to);
asm(R"(.text
.weak cutback_host_switch
.hidden cutback_host_switch
.type cutback_host_switch,@function
cutback_host_switch:
 push %rbp
 push %rbx
 push %r12
 push %r13
 push %r14
 push %r15
 mov %rsp,(%rdi)
 mov %rsi,%rsp
 pop %r15
 pop %r14
 pop %r13
 pop %r12
 pop %rbx
 pop %rbp
 ret
)");
#endif

inline void leave() {
  Fiber *fiber = device->current;
#ifdef CUTBACK_HOST_ASAN
  __sanitizer_start_switch_fiber(
      fiber->waits == Waits::Done ? nullptr : &fiber->fakeStack,
      device->mainBottom, device->mainSize);
#endif
  nowRuns(device->mainTsan);
#if defined(__x86_64__)
  cutback_host_switch(&fiber->stackPointer, device->mainPointer);
#else
  swapcontext(&fiber->context, &device->mainContext);
#endif
#ifdef CUTBACK_HOST_ASAN
  __sanitizer_finish_switch_fiber(fiber->fakeStack, &device->mainBottom,
                                  &device->mainSize);
#endif
}

inline void resume(Fiber &fiber) {
  device->current = &fiber;
  fiber.waits = Waits::No;
#ifdef CUTBACK_HOST_ASAN
  __sanitizer_start_switch_fiber(&device->mainFake, fiber.stack, kStack);
#endif
  nowRuns(fiber.tsan);
#if defined(__x86_64__)
  cutback_host_switch(&device->mainPointer, fiber.stackPointer);
#else
  swapcontext(&device->mainContext, &fiber.context);
#endif
#ifdef CUTBACK_HOST_ASAN
  __sanitizer_finish_switch_fiber(device->mainFake, nullptr, nullptr);
#endif
}

inline void enter() {
#ifdef CUTBACK_HOST_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &device->mainBottom,
                                  &device->mainSize);
#endif
  depart(&device->begin);
  device->body(device->arguments);
  arrive(&device->end);
  device->current->waits = Waits::Done;
  leave();
  std::abort();
}

inline void setThread(Fiber &fiber, unsigned number) {
  const dim3 size = device->blockSize;
  fiber.number = number;
  if (size.y == 1 && size.z == 1)
    fiber.thread = {number, 0, 0};
  else
    fiber.thread = {number % size.x, number / size.x % size.y,
                    number / (size.x * size.y)};
}

inline void prepare(Fiber &fiber, unsigned number) {
  if (!fiber.stack) { // a page that nobody may touch in front of it
    auto *pages = static_cast<char *>(
        mmap(nullptr, kStack + 4096, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (pages == MAP_FAILED)
      std::abort();
    mprotect(pages, 4096, PROT_NONE);
    fiber.stack = pages + 4096;
    fiber.tsan = makeFiber();
  }
  setThread(fiber, number);
  fiber.waits = Waits::No;
  fiber.turn = fiber.barrier = fiber.warp = 0;
  fiber.fakeStack = nullptr;
#if defined(__x86_64__)
  auto *top = reinterpret_cast<void **>(fiber.stack + kStack - 64);
  top[0] = reinterpret_cast<void *>(enter);
  for (int i = 1; i <= 6; ++i)
    top[-i] = nullptr;
  fiber.stackPointer = top - 6;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, enter, 0);
#endif
}

//===--- Blocks
//-------------------------------------------------------------===//

/// Runs the lanes of a warp until all wait for the block or are done.
inline void runWarp(unsigned begin, unsigned end) {
  for (;;) {
    unsigned forWarp = 0, others = 0;
    for (unsigned i = begin; i < end; ++i) {
      Fiber &fiber =
          device->fibers[device->isReversed ? begin + end - 1 - i : i];
      if (fiber.waits == Waits::No)
        resume(fiber);
      fiber.waits == Waits::ForWarp ? ++forWarp : ++others;
    }
    if (!forWarp)
      return;
    if (others)
      fail("an exchange between lanes that some lanes of the warp miss");
    for (unsigned i = begin; i < end; ++i)
      device->fibers[i].waits = Waits::No;
  }
}

inline void runBlock(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i)
    prepare(device->fibers[i], i);
  device->mainTsan = thisFiber();
  arrive(&device->begin);
  const unsigned warps = (threads + 31) / 32;
  for (;;) {
    for (unsigned w = 0; w < warps; ++w) {
      const unsigned warp = device->isReversed ? warps - 1 - w : w;
      runWarp(warp * 32, std::min(threads, warp * 32 + 32));
    }
    unsigned done = 0;
    for (unsigned i = 0; i < threads; ++i)
      done += device->fibers[i].waits == Waits::Done;
    if (done == threads)
      return depart(&device->end);
    if (done)
      fail("a barrier that some threads of the block miss");
    for (unsigned i = 0; i < threads; ++i)
      device->fibers[i].waits = Waits::No;
  }
}

/// Devices that nobody runs on: as many as threads have run on at once.
struct Devices {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Device *first = nullptr;
};
inline Devices devices;

inline Device *takeDevice() {
  pthread_mutex_lock(&devices.lock);
  Device *taken = devices.first;
  if (taken)
    devices.first = taken->next;
  pthread_mutex_unlock(&devices.lock);
  if (taken)
    return taken;
  void *memory = std::aligned_alloc(alignof(Device), sizeof(Device));
  if (!memory)
    std::abort();
  return new (memory) Device;
}

inline void giveBack(Device *taken) {
  pthread_mutex_lock(&devices.lock);
  taken->next = devices.first;
  devices.first = taken;
  pthread_mutex_unlock(&devices.lock);
}

#ifndef CUTBACK_HOST_TSAN // which keeps its fibers
/// When the library goes.
__attribute__((destructor)) static void freeDevices() {
  while (Device *last = devices.first) {
    devices.first = last->next;
    for (Fiber &fiber : last->fibers)
      if (fiber.stack)
        munmap(fiber.stack - 4096, kStack + 4096);
    std::free(last);
  }
}
#endif

/// Runs `body(arguments)` once for each thread of the blocks of one of `parts`
/// parts of the grid. `waits`: it has exchanges or barriers.
inline void launch(const unsigned grid[3], const unsigned block[3],
                   unsigned sharedBytes, bool waits, void (*body)(void *),
                   void *arguments, int64_t part = 0, int64_t parts = 1) {
  const uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
  const uint64_t first = blocks * part / parts,
                 last = blocks * (part + 1) / parts;
  if (first == last)
    return;
  device = takeDevice();
  const unsigned threads = block[0] * block[1] * block[2];
  device->gridSize = {grid[0], grid[1], grid[2]};
  device->blockSize = {block[0], block[1], block[2]};
  device->body = body;
  device->arguments = arguments;
  const char *order = std::getenv("CUTBACK_CUDA_HOST_ORDER");
  device->isReversed = order && !std::strcmp(order, "reverse");
  if (threads > kThreads || sharedBytes > kShared)
    fail("a block that no device takes");
  for (uint64_t i = first; i < last; ++i) {
    const uint64_t number = device->isReversed ? blocks - 1 - i : i;
    blockNow = {unsigned(number % grid[0]),
                unsigned(number / grid[0] % grid[1]),
                unsigned(number / grid[0] / grid[1])};
    std::memset(device->shared, 0xFF, sharedBytes);
#ifdef CUTBACK_HOST_ASAN
    ASAN_POISON_MEMORY_REGION(device->shared + sharedBytes,
                              kShared - sharedBytes);
#endif
    if (waits || kIsEachAFiber) {
      runBlock(threads);
    } else {
      for (unsigned t = 0; t < threads; ++t) {
        device->current = &device->fibers[0];
        setThread(device->fibers[0], device->isReversed ? threads - 1 - t : t);
        body(arguments);
      }
    }
#ifdef CUTBACK_HOST_ASAN
    ASAN_UNPOISON_MEMORY_REGION(device->shared, kShared);
#endif
  }
  giveBack(device);
}

inline void wait(Waits what) {
  device->current->waits = what;
  leave();
}

/// A wait behind which a thread sees what those that it met did before.
inline void meet(Waits what, char *meetings, unsigned &next) {
  char *meeting = meetings + next;
  next ^= 1;
  arrive(meeting);
  wait(what);
  depart(meeting);
}

/// What each lane of the warp gives, until this one's next exchange but one.
/// Slots alternate, so that one wait is enough: nobody is two exchanges ahead.
template <typename T> const T *exchangeAll(const T &value) {
  static_assert(sizeof(T) <= kSlot, "a lane has no more room");
  Fiber &fiber = *device->current;
  const unsigned warp = fiber.number / 32, lane = fiber.number % 32;
  T *slots =
      reinterpret_cast<T *>(device->slots[fiber.turn] + warp * 32 * kSlot);
  fiber.turn ^= 1;
  std::memcpy(slots + lane, &value, sizeof(T));
  wait(Waits::ForWarp);
  return slots;
}
template <typename T> T exchange(T value, unsigned lane) {
  static_assert(sizeof(T) <= 8, "as on a device");
  return exchangeAll(value)[lane & 31];
}

} // namespace cutback_host

//===--- What kernels see
//---------------------------------------------------===//

#define threadIdx (cutback_host::device->current->thread)
#define blockIdx (cutback_host::blockNow)
#define blockDim (cutback_host::device->blockSize)
#define gridDim (cutback_host::device->gridSize)

inline void __syncthreads() {
  cutback_host::meet(cutback_host::Waits::ForBlock,
                     cutback_host::device->barriers,
                     cutback_host::device->current->barrier);
}
inline void __syncwarp(unsigned = ~0u) {
  cutback_host::Fiber &fiber = *cutback_host::device->current;
  cutback_host::meet(cutback_host::Waits::ForWarp,
                     cutback_host::device->warps[fiber.number / 32],
                     fiber.warp);
}
template <typename T> T __shfl_sync(unsigned, T value, int lane) {
  return cutback_host::exchange(value, unsigned(lane));
}
template <typename T> T *sharedMemory() {
  return reinterpret_cast<T *>(cutback_host::device->shared);
}
inline unsigned __ballot_sync(unsigned, bool value) {
  unsigned all = 0;
  const int *votes = cutback_host::exchangeAll(int(value));
  for (unsigned lane = 0; lane < 32; ++lane)
    all |= unsigned(votes[lane] != 0) << lane;
  return all;
}
#ifdef CUTBACK_HOST_TSAN
#pragma clang attribute pop
#endif
inline int atomicMax(int *at, int value) {
  int old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
  return old;
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline float __int_as_float(int bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
inline int __float_as_int(float x) {
  int bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
using std::signbit;
