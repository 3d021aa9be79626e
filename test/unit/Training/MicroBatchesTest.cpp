// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of micro-batches, against a mean over all of their elements. What
// comes of them in a training: test/Tools/cutback/train-accumulate.test.

#include "cutback/Training/MicroBatches.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback;
using interpreter::DType;
using interpreter::Tensor;

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

TEST(MicroBatchesTest, TokensAreCountedFromThatOneOfARowOn) {
  Tensor labels = Tensor::zeros(DType::I64, {2, 4});
  for (int64_t e = 0; e < 8; ++e)
    labels.setInt(e, e % 3 ? e : -100); // -100 1 2 -100 | 4 5 -100 7
  EXPECT_EQ(ValidTokens::parse("input.1")->count(labels), 5);
  EXPECT_EQ(ValidTokens::parse("input.1+1")->count(labels), 4);
  EXPECT_EQ(ValidTokens::parse("input.1+1:7")->count(labels), 5);
  EXPECT_EQ(ValidTokens::parse("input.1:-7")->count(labels), 8);
  // A view: columns of rows.
  std::swap(labels.sizes[0], labels.sizes[1]);
  std::swap(labels.strides[0], labels.strides[1]);
  EXPECT_EQ(ValidTokens::parse("input.1+1")->count(labels), 3);
  EXPECT_EQ(ValidTokens::parse("input.1")->input, "input.1");
  for (const char *wrong : {"", ":3", "input.1:", "input.1:x", "input.1+",
                            "input.1+-1", "input.1+x:3", "+1"})
    EXPECT_FALSE(ValidTokens::parse(wrong)) << wrong;
}

} // namespace
