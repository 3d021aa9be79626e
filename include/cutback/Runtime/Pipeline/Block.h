// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a rank keeps while micro-batches are in flight, counted.
#ifndef CUTBACK_RUNTIME_PIPELINE_BLOCK_H
#define CUTBACK_RUNTIME_PIPELINE_BLOCK_H

#include <algorithm>
#include <cstdint>
#include <memory>

namespace cutback::pipeline {

/// Where blocks have memory, unless it is the heap.
class BlockMemory {
public:
  virtual ~BlockMemory();
  /// At a multiple of 64; null where there is none. `bytes` is positive.
  virtual void *take(int64_t bytes) = 0;
  virtual void giveBack(void *memory, int64_t bytes) = 0;
};

/// Bytes of blocks that there are, and the most at a time. It outlives them.
struct BlockCount {
  int64_t now = 0, peak = 0;
  BlockMemory *memory = nullptr; ///< of blocks; null: the heap
  void add(int64_t bytes) {
    now += bytes;
    peak = std::max(peak, now);
  }
};

/// Bytes at a multiple of 64, held by whoever needs them: a slot of a
/// micro-batch, a message that is not sent yet.
class Block {
public:
  /// Throws std::bad_alloc where there is no memory.
  static std::shared_ptr<Block> make(int64_t bytes, BlockCount &count);
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  char *data() { return memory; }
  int64_t bytes() const { return size; }

private:
  Block(char *memory, int64_t size, BlockCount &count)
      : memory(memory), size(size), count(count) {}

  char *memory;
  int64_t size;
  BlockCount &count;
};
using BlockRef = std::shared_ptr<Block>;

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_BLOCK_H
