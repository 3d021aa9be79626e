// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A prepared heap takes address space and no memory, and what is allocated
// from it works.

#include "cutback/Support/Heap.h"

#include "gtest/gtest.h"

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

} // namespace
