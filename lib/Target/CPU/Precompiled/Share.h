// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls that were compiled with Cutback have of the headers for a device:
// types and functions of scalars, behind the emulation of one, of which they
// use the number of a block alone. How the threads of a step share a call, and
// memory that they have while they are at it.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_SHARE_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_SHARE_H

/// What blocks of threads do together is not theirs.
#define CUTBACK_OWN_CALLS 1

#include "cutback_cuda_host.h"

#include <sys/mman.h>

#include <memory>
#include <utility>

namespace cutback_host {

/// This thread's part of a call, which may be several products.
struct Share {
  int64_t part = 0, parts = 1, run = 0, runs = 1;
};
inline thread_local Share shareNow;

/// Memory that a thread has while it is at a call, and leaves to the next: a
/// page that the system gives anew costs more than what is put into it. Mapped:
/// one that is too small goes back to the system, not into holes of a heap.
struct alignas(64) Scratch {
  size_t bytes; ///< of all
  Scratch *next;
};
struct Scratches {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Scratch *first = nullptr;
};
inline Scratches scratches;

/// No memory for sums that are not held where they are stored: a mark of a
/// call, as kWrongIndex is.
constexpr int kNoMemory = 3;

inline void freeScratch(Scratch *scratch) { munmap(scratch, scratch->bytes); }

/// `bytes` behind it; nothing where there is no memory.
inline Scratch *takeScratch(size_t bytes) {
  constexpr size_t page = 4096;
  bytes = (sizeof(Scratch) + bytes + page - 1) / page * page;
  pthread_mutex_lock(&scratches.lock);
  Scratch *taken = scratches.first;
  if (taken)
    scratches.first = taken->next;
  pthread_mutex_unlock(&scratches.lock);
  if (taken && taken->bytes >= bytes)
    return taken;
  if (taken)
    freeScratch(taken);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Scratch{bytes, nullptr};
}

inline void giveBack(Scratch *taken) {
  pthread_mutex_lock(&scratches.lock);
  taken->next = scratches.first;
  scratches.first = taken;
  pthread_mutex_unlock(&scratches.lock);
}

struct GiveBack {
  void operator()(Scratch *taken) const { giveBack(taken); }
};
/// One that goes back when its owner goes; nothing where there is no memory.
using OwnScratch = std::unique_ptr<Scratch, GiveBack>;

/// What stands in it.
template <typename T> inline T *numbersOf(const OwnScratch &scratch) {
  return reinterpret_cast<T *>(scratch.get() + 1);
}

/// When the library goes.
__attribute__((destructor)) static void freeScratches() {
  while (Scratch *last = scratches.first) {
    scratches.first = last->next;
    freeScratch(last);
  }
}

/// Runs `body` once for each of `count` heads: blockIdx.z is its number.
inline void runBodies(unsigned count, void (*body)(void *), void *given,
                      const int64_t *cells) {
  shareNow = Share();
  for (unsigned i = unsigned(cells[2]); i < count; i += unsigned(cells[3])) {
    blockNow = {0, 0, i};
    body(given);
  }
}
/// The same of the matrices of a batch, of which each is shared block by block.
inline void runProducts(unsigned count, void (*body)(void *), void *given,
                        const int64_t *cells) {
  for (unsigned i = 0; i < count; ++i) {
    shareNow = {cells[2], cells[3], i, count};
    blockNow = {0, 0, i};
    body(given);
  }
}

} // namespace cutback_host

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_SHARE_H
