// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// glibc grows its heap in front of what is in use. A block as large as what is
// needed, taken and given back, makes it grow once; the pages of the block are
// marked before anything is in them, and what is allocated next comes from
// there.

#include "cutback/Support/Heap.h"

#ifdef __GLIBC__
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#endif

#ifdef __GLIBC__
void cutback::prepareHeap(uint64_t bytes) {
  constexpr uint64_t least = 16 << 20;
  constexpr uintptr_t hugePage = 2 << 20;
  if (bytes < least)
    return;
  mallopt(M_TRIM_THRESHOLD, -1); // never
  mallopt(M_MMAP_MAX, 0);        // no block is a mapping of its own
  void *block = std::malloc(bytes);
  if (!block)
    return;
  uintptr_t begin = reinterpret_cast<uintptr_t>(block);
  uintptr_t end = (begin + malloc_usable_size(block)) / hugePage * hugePage;
  begin = (begin + hugePage - 1) / hugePage * hugePage;
  if (begin < end)
    // An advice: without huge pages all is as before.
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}
#else
void cutback::prepareHeap(uint64_t) {}
#endif
