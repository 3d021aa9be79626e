// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of micro-batches, against a mean over all of their elements. What
// comes of them in a training: test/Tools/cutback/train-accumulate.test.

#include "cutback/Runtime/MicroBatches.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback;

namespace {

TEST(MicroBatchesTest, SharesMakeTheMeanOverAllTokens) {
  std::mt19937 draw(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> counts;
    std::vector<double> means;
    double sum = 0, weighed = 0;
    int64_t total = 0;
    for (size_t i = 0, n = 1 + draw() % 7; i < n; ++i) {
      counts.push_back(static_cast<int64_t>(draw() % 5));
      double own = 0;
      for (int64_t t = 0; t < counts.back(); ++t)
        own += static_cast<double>(draw() % 1000);
      means.push_back(counts.back() ? own / double(counts.back()) : 1e300);
      sum += own;
      total += counts.back();
    }
    std::vector<double> shares = sharesOf(counts);
    ASSERT_EQ(shares.size(), counts.size());
    for (size_t i = 0; i < shares.size(); ++i) {
      EXPECT_EQ(shares[i] == 0, counts[i] == 0);
      weighed += shares[i] * (counts[i] ? means[i] : 0);
    }
    if (total)
      EXPECT_NEAR(weighed, sum / static_cast<double>(total), 1e-9);
  }
  EXPECT_EQ(equalShares(4), std::vector<double>(4, 0.25));
  EXPECT_EQ(equalShares(1), std::vector<double>{1});
}

template <typename T>
static int64_t countOf(const char *text, const char *dtype,
                       std::vector<int64_t> sizes, std::vector<T> elements) {
  ArtifactTensor labels;
  labels.dtype = dtype;
  labels.sizes = std::move(sizes);
  auto valid = ValidTokens::parse(text);
  return valid ? valid->count(labels, reinterpret_cast<char *>(elements.data()))
               : -1;
}

TEST(MicroBatchesTest, TokensAreCountedFromThatOneOfARowOn) {
  std::vector<int64_t> labels = {-100, 1, 2, -100, 4, 5, -100, 7};
  EXPECT_EQ(countOf("input.1", "i64", {2, 4}, labels), 5);
  EXPECT_EQ(countOf("input.1+1", "i64", {2, 4}, labels), 4);
  EXPECT_EQ(countOf("input.1+1:7", "i64", {2, 4}, labels), 5);
  EXPECT_EQ(countOf("input.1:-7", "i64", {2, 4}, labels), 8);
  EXPECT_EQ(countOf("input.1+1", "i64", {4, 2}, labels), 3);
  EXPECT_EQ(countOf("input.1", "i64", {}, std::vector<int64_t>{3}), 1);
  EXPECT_EQ(ValidTokens::parse("input.1")->input, "input.1");
  for (const char *wrong : {"", ":3", "input.1:", "input.1:x", "input.1+",
                            "input.1+-1", "input.1+x:3", "+1"})
    EXPECT_FALSE(ValidTokens::parse(wrong)) << wrong;
}

TEST(MicroBatchesTest, TokensOfEachTypeOfIntegersAreCounted) {
  EXPECT_EQ(countOf("a:-2", "i32", {3}, std::vector<int32_t>{-2, 0, 1}), 2);
  EXPECT_EQ(countOf("a:-2", "i16", {3}, std::vector<int16_t>{-2, -2, 1}), 1);
  EXPECT_EQ(countOf("a:-2", "i8", {3}, std::vector<int8_t>{-2, 0, 1}), 2);
  EXPECT_EQ(countOf("a:254", "ui8", {3}, std::vector<uint8_t>{254, 0, 1}), 2);
  EXPECT_EQ(countOf("a:0", "i1", {3}, std::vector<uint8_t>{1, 0, 1}), 2);
  EXPECT_TRUE(ValidTokens::isCountable("i64"));
  EXPECT_FALSE(ValidTokens::isCountable("f32"));
}

TEST(MicroBatchesTest, NoValidTokenAtAllIsAnError) {
  std::vector<double> shares;
  EXPECT_EQ(findShares(*ValidTokens::parse("a:0"), {0, 3}, shares), "");
  EXPECT_EQ(shares, (std::vector<double>{0, 1}));
  EXPECT_EQ(findShares(*ValidTokens::parse("a:0"), {0, 0}, shares),
            "no element of 'a' counts: all are 0");
}

} // namespace
