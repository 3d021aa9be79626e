// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a rank, which one thread makes and frees. They come and go in the
// same few sizes for each micro-batch, so the C library has the memory of the
// last one at hand; a pool of our own would only be counted for longer.

#include "cutback/Runtime/Pipeline/Block.h"

#include "cutback/Support/Heap.h"

#include <cstdlib>
#include <new>

using namespace cutback::pipeline;

BlockMemory::~BlockMemory() = default;

BlockRef Block::make(int64_t bytes, BlockCount &count) {
  int64_t room = std::max<int64_t>(bytes, 1);
  void *memory =
      count.memory ? count.memory->take(room) : allocateBytes(room, 64);
  if (!memory)
    throw std::bad_alloc();
  count.add(bytes);
  return BlockRef(new Block(static_cast<char *>(memory), bytes, count));
}

Block::~Block() {
  if (count.memory)
    count.memory->giveBack(memory, std::max<int64_t>(size, 1));
  else
    std::free(memory);
  count.now -= size;
}
