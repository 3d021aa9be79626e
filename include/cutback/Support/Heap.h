// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large memory: what a program that works on one large graph tells the C
// library's allocator, and blocks in huge pages.
#ifndef CUTBACK_SUPPORT_HEAP_H
#define CUTBACK_SUPPORT_HEAP_H

#include <cstdint>

namespace cutback {

/// For programs, never for a library inside others: memory that is freed stays
/// with the process, and the next `bytes` bytes of the heap lie in huge pages
/// where the system has them on request. A graph of 100,000 ops lies in about
/// ten thousand small pages, several times what a processor knows the places
/// of. Nothing is touched that is not allocated later. Below 16 MiB, and where
/// the C library is another one, nothing is done.
void prepareHeap(uint64_t bytes);

/// `bytes` bytes, not set, at a multiple of `alignment` (a power of two, 8 at
/// least), for std::free; null where there are none. The whole huge pages in a
/// block of 8 MiB or more are asked for as such: a core reads an arena in small
/// pages at three quarters of the speed. What is in memory grows with what is
/// touched, rounded up to huge pages inside of the block.
void *allocateBytes(uint64_t bytes, uint64_t alignment);

/// Heap that the graph in a text of `bytes` bytes takes, with a plan for it and
/// the memory of its step: 17 times the text at 400,000 ops.
inline uint64_t heapOfText(uint64_t bytes) { return 18 * bytes; }

} // namespace cutback

#endif // CUTBACK_SUPPORT_HEAP_H
