// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// glibc grows its heap in front of what is in use. A block as large as what is
// needed, taken and given back, makes it grow once; the pages of the block are
// marked before anything is in them, and what is allocated next comes from
// there.
//
// A large block begins where a huge page does, and asks for such.

#include "cutback/Support/Heap.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static constexpr uintptr_t kHugePage = 2 << 20;

/// Asks for huge pages for the whole ones between two places. An advice:
/// without them all is as before.
static void adviseHugePages(uintptr_t begin, uintptr_t end) {
#ifdef MADV_HUGEPAGE
  begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
  end = end / kHugePage * kHugePage;
  if (begin < end)
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void *cutback::allocateBytes(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t least = 8 << 20;
  if (bytes >= least)
    alignment = std::max<uint64_t>(alignment, kHugePage);
  void *memory = nullptr;
  if (::posix_memalign(&memory, alignment, std::max<uint64_t>(bytes, 1)) != 0)
    return nullptr;
  if (bytes >= least)
    adviseHugePages(reinterpret_cast<uintptr_t>(memory),
                    reinterpret_cast<uintptr_t>(memory) + bytes);
  return memory;
}

#ifdef __GLIBC__
void cutback::prepareHeap(uint64_t bytes) {
  constexpr uint64_t least = 16 << 20;
  if (bytes < least)
    return;
  mallopt(M_TRIM_THRESHOLD, -1); // never
  mallopt(M_MMAP_MAX, 0);        // no block is a mapping of its own
  void *block = std::malloc(bytes);
  if (!block)
    return;
  uintptr_t begin = reinterpret_cast<uintptr_t>(block);
  adviseHugePages(begin, begin + malloc_usable_size(block));
  std::free(block);
}
#else
void cutback::prepareHeap(uint64_t) {}
#endif
