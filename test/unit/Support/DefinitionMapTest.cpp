// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of definitions against a map: addresses as allocators give them,
// far apart, and through growing. It never looks at an op.

#include "cutback/Support/MLIR/DefinitionMap.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace cutback;

namespace {

mlir::Operation *opAt(uint64_t address) {
  return reinterpret_cast<mlir::Operation *>(uintptr_t(address));
}

TEST(DefinitionMap, KnowsWhatWasInserted) {
  DefinitionMap map;
  map.reset();
  EXPECT_EQ(map.lookup(opAt(64)), DefinitionMap::kNone);
  map.insert(opAt(64), 0);
  map.insert(opAt(128), 7);
  EXPECT_EQ(map.lookup(opAt(64)), 0u);
  EXPECT_EQ(map.lookup(opAt(128)), 7u);
  EXPECT_EQ(map.lookup(opAt(192)), DefinitionMap::kNone);
  map.reset();
  EXPECT_EQ(map.lookup(opAt(64)), DefinitionMap::kNone);
}

TEST(DefinitionMap, AgreesWithAMapThroughGrowing) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    DefinitionMap map;
    map.reset();
    std::map<uint64_t, uint32_t> expected;
    uint64_t address = 1 << 20;
    for (uint32_t i = 0; i < 5000; ++i) {
      // Mostly behind each other; now and then a new region. No op is smaller
      // than 64 bytes.
      address = random() % 50 ? address + 64 + 16 * (random() % 40)
                              : (random() % (uint64_t(1) << 46)) / 16 * 16 + 64;
      auto next = expected.lower_bound(address - 63);
      if (next != expected.end() && next->first < address + 64)
        continue;
      expected[address] = i;
      map.insert(opAt(address), i);
    }
    for (auto [at, number] : expected) {
      ASSERT_EQ(map.lookup(opAt(at)), number) << "seed " << seed;
      auto next = expected.upper_bound(at);
      if (next == expected.end() || next->first >= at + 192)
        ASSERT_EQ(map.lookup(opAt(at + 64)), DefinitionMap::kNone);
    }
  }
}

} // namespace
