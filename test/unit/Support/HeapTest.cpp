// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A prepared heap takes address space and no memory, and what is allocated
// from it works. Blocks begin where they were asked to, and what is not touched
// of them is not in memory.

#include "cutback/Support/Heap.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace cutback;

namespace {

/// Bytes of this process that are in memory; 0 where the system does not say.
uint64_t residentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      uint64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  return 0;
}

TEST(Heap, PreparingItTouchesNothing) {
  uint64_t before = residentBytes();
  prepareHeap(uint64_t(512) << 20);
  EXPECT_LT(residentBytes(), before + (uint64_t(64) << 20));
}

TEST(Heap, ServesBlocksOfAllSizesAfterwards) {
  prepareHeap(0);
  prepareHeap(~uint64_t(0));
  std::vector<std::unique_ptr<std::vector<uint8_t>>> blocks;
  for (unsigned i = 0; i < 2000; ++i)
    blocks.push_back(std::make_unique<std::vector<uint8_t>>(
        i % 100 ? i : 300000 + i, uint8_t(i)));
  for (unsigned i = 0; i < blocks.size(); i += 2)
    blocks[i] = std::make_unique<std::vector<uint8_t>>(3 * i, uint8_t(i));
  for (unsigned i = 0; i < blocks.size(); ++i)
    for (uint8_t byte : *blocks[i])
      ASSERT_EQ(byte, uint8_t(i));
}

TEST(Heap, BlocksAreAlignedAndTakeWhatIsTouched) {
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  using Block = std::unique_ptr<void, Free>;
  for (uint64_t bytes : {uint64_t(0), uint64_t(1), uint64_t(100000),
                         (uint64_t(8) << 20) - 1, (uint64_t(8) << 20) + 1})
    for (uint64_t alignment : {8, 64, 256, 4096}) {
      Block block(allocateBytes(bytes, alignment));
      ASSERT_TRUE(block);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % alignment, 0U);
      std::memset(block.get(), 1, bytes);
    }
  uint64_t before = residentBytes(), all = uint64_t(256) << 20;
  Block block(allocateBytes(all, 64));
  ASSERT_TRUE(block);
  std::memset(block.get(), 1, all / 4);
  EXPECT_LT(residentBytes(), before + all / 2);
  EXPECT_FALSE(Block(allocateBytes(uint64_t(1) << 62, 64)));
}

} // namespace
