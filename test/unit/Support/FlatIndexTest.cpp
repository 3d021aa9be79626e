// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hash table of numbers: against a map, with hashes that collide, and
// through growing.

#include "cutback/Support/FlatIndex.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace cutback;

namespace {

TEST(FlatIndex, FindsTheFirstEqualNumber) {
  FlatIndex index;
  auto always = [](uint32_t) { return true; };
  EXPECT_EQ(index.find(7, always), FlatIndex::kNone);
  index.insert(7, 1);
  index.insert(7, 2);
  EXPECT_EQ(index.find(7, always), 1u);
  EXPECT_EQ(index.find(7, [](uint32_t number) { return number == 2; }), 2u);
  EXPECT_EQ(index.find(7, [](uint32_t) { return false; }), FlatIndex::kNone);
  EXPECT_EQ(index.find(uint64_t(1) << 40, always), FlatIndex::kNone);
}

TEST(FlatIndex, WhatIsFoundCanBeReplaced) {
  FlatIndex index;
  auto always = [](uint32_t) { return true; };
  EXPECT_EQ(index.findPlace(9, always), nullptr);
  index.insert(9, 4);
  *index.findPlace(9, always) = 5;
  EXPECT_EQ(index.find(9, always), 5u);
}

TEST(FlatIndex, ResetForgets) {
  FlatIndex index(100);
  index.insert(3, 0);
  index.reset(0);
  EXPECT_EQ(index.find(3, [](uint32_t) { return true; }), FlatIndex::kNone);
}

/// Keys are numbers below 2,000; `bits` of the hash tell them apart.
void compareWithMap(unsigned bits) {
  std::mt19937_64 random(bits);
  FlatIndex index;
  std::map<uint64_t, uint32_t> reference;
  std::vector<uint64_t> keys;
  uint64_t mask = ~uint64_t(0) << (64 - bits);
  for (unsigned step = 0; step < 5000; ++step) {
    uint64_t key = random() % 2000;
    uint64_t hash = (key * 0x9E3779B97F4A7C15ull) & mask;
    uint32_t found =
        index.find(hash, [&](uint32_t number) { return keys[number] == key; });
    auto it = reference.find(key);
    ASSERT_EQ(found, it == reference.end() ? FlatIndex::kNone : it->second);
    if (found != FlatIndex::kNone)
      continue;
    reference[key] = keys.size();
    index.insert(hash, keys.size());
    keys.push_back(key);
  }
}

TEST(FlatIndex, BehavesLikeAMap) {
  compareWithMap(64);
  compareWithMap(40);
}

TEST(FlatIndex, SurvivesBadHashes) { compareWithMap(4); }

} // namespace
