// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three known answers for Philox-4x32-10 that its authors publish (file
// kat_vectors of Random123): counter and key of zeros, of ones, and of digits
// of pi. Those of the device are in DeviceMathTest.

#include "../../../lib/Interpreter/Philox.h"

#include "gtest/gtest.h"

using namespace cutback::interpreter;

namespace {

struct Answer {
  uint64_t seed, stream, number;
  Philox::Words words;
};

const Answer kAnswers[] = {
    {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {0x299f31d0a4093822,
     0x0370734413198a2e,
     0x85a308d3243f6a88,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

} // namespace

TEST(PhiloxTest, GivesTheKnownAnswers) {
  for (const Answer &answer : kAnswers) {
    Philox philox(answer.seed, answer.stream);
    // The first block is not the one that is kept.
    (void)philox.block(answer.number ^ 1);
    EXPECT_EQ(philox.block(answer.number), answer.words);
  }
}

TEST(PhiloxTest, TheRoundIsTheLastWordOfTheCounter) {
  EXPECT_EQ(streamOfRound(0x13198a2e, 0x03707344), 0x0370734413198a2eull);
  EXPECT_EQ(streamOfRound(5, 0), 5u);
  // A long stream has no room for more than its low half.
  EXPECT_EQ(streamOfRound(0x100000005, 2), 0x200000005u);
}

TEST(PhiloxTest, NumbersAreInOrder) {
  Philox philox(3, 4);
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(philox.word(i), Philox(3, 4).block(i / 4)[i % 4]);
    EXPECT_EQ(philox.uniform(i), (Philox(3, 4).word(i) >> 8) * 0x1p-24);
    EXPECT_EQ(philox.word64(i) >> 32,
              uint64_t(Philox(3, 4).block(i / 2)[i % 2 * 2 + 1]));
  }
}
