// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers by keys near something: against a map, with lists that run over into
// the hash table and with tags that tell nothing apart.

#include "cutback/Support/NearIndex.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace cutback;

namespace {

TEST(NearIndex, NothingIsFoundInTheEmptyOne) {
  NearIndex index;
  auto always = [](uint32_t) { return true; };
  auto hash = [] { return uint64_t(1) << 40; };
  EXPECT_EQ(index.find(0, 0, always, hash), NearIndex::kNone);
  EXPECT_EQ(index.find(NearIndex::kNone, 0, always, hash), NearIndex::kNone);
}

TEST(NearIndex, ResetForgets) {
  NearIndex index;
  auto always = [](uint32_t) { return true; };
  auto hash = [] { return uint64_t(1) << 40; };
  index.insert(2, 5, 0, hash);
  index.insert(NearIndex::kNone, 5, 1, hash);
  EXPECT_EQ(index.find(2, 5, always, hash), 0u);
  EXPECT_EQ(index.find(NearIndex::kNone, 5, always, hash), 1u);
  index.reset();
  EXPECT_EQ(index.find(2, 5, always, hash), NearIndex::kNone);
  EXPECT_EQ(index.find(NearIndex::kNone, 5, always, hash), NearIndex::kNone);
}

/// Keys are pairs (near, below 64); `numNear` things, of which the last is
/// none, and `numTags` different tags.
void compareWithMap(uint32_t numNear, uint32_t numTags) {
  std::mt19937_64 random(numNear + numTags);
  NearIndex index;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> reference;
  std::vector<std::pair<uint32_t, uint32_t>> keys;
  for (unsigned step = 0; step < 20000; ++step) {
    auto near = static_cast<uint32_t>(random() % numNear);
    std::pair<uint32_t, uint32_t> key(
        near + 1 == numNear ? NearIndex::kNone : near, random() % 64);
    uint32_t tag = key.second % numTags;
    auto hash = [&] {
      return (uint64_t(key.first) * 64 + key.second) * 0x9E3779B97F4A7C15ull;
    };
    auto isEqual = [&](uint32_t number) { return keys[number] == key; };
    uint32_t found = index.find(key.first, tag, isEqual, hash);
    auto it = reference.find(key);
    ASSERT_EQ(found, it == reference.end() ? NearIndex::kNone : it->second);
    if (found != NearIndex::kNone)
      continue;
    reference[key] = keys.size();
    index.insert(key.first, tag, keys.size(), hash);
    keys.push_back(key);
  }
}

TEST(NearIndex, BehavesLikeAMap) {
  compareWithMap(1000, 64);
  compareWithMap(30, 64);
}

TEST(NearIndex, SurvivesTagsThatTellNothing) {
  compareWithMap(30, 1);
  compareWithMap(1, 1);
}

} // namespace
