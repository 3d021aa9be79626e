// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of token files. Trainings with them: test/Tools/cutback.

#include "cutback/Runtime/Tokens.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace cutback;

namespace {

/// A file of the ids 0, 1, …, of two bytes each.
class TokensTest : public testing::Test {
protected:
  void write(unsigned count) {
    char name[] = "/tmp/tokens-XXXXXX";
    int file = ::mkstemp(name);
    ASSERT_GE(file, 0);
    path = name;
    FILE *out = ::fdopen(file, "wb");
    for (unsigned id = 0; id < count; ++id) {
      std::fputc(static_cast<int>(id % 256), out);
      std::fputc(static_cast<int>(id / 256), out);
    }
    std::fclose(out);
  }
  void TearDown() override { std::remove(path.c_str()); }

  static TokenInput input(const char *name, int64_t ahead, const char *dtype,
                          std::vector<int64_t> sizes) {
    TokenInput made;
    made.name = name;
    made.dtype = dtype;
    made.sizes = std::move(sizes);
    made.ahead = ahead;
    return made;
  }

  std::string open(bool isShuffled, std::vector<TokenInput> inputs) {
    return batches.open(path, TokenBatches::Width::U16, isShuffled,
                        std::move(inputs));
  }

  std::vector<int64_t> at(const char *name, int64_t batch, int64_t seed = 0) {
    const TokenInput *found = batches.find(name);
    if (!found)
      return {};
    std::string bytes(bytesOf(*found), '\0');
    batches.read(*found, batch, seed, bytes.data());
    std::vector<int64_t> tokens;
    int64_t size = bytesOfType(found->dtype);
    for (size_t e = 0; e < bytes.size(); e += size) {
      int64_t token = 0; // no id here is negative
      std::memcpy(&token, bytes.data() + e, size);
      tokens.push_back(token);
    }
    return tokens;
  }

  std::string path;
  TokenBatches batches;
};

TEST_F(TokensTest, WindowsFollowEachOtherAndBeginAgain) {
  write(11);
  ASSERT_EQ(open(false, {input("input.0", 0, "i64", {2, 2}),
                         input("input.1", 1, "i32", {2, 2})}),
            "");
  EXPECT_EQ(batches.numWindows(), 5);
  EXPECT_EQ(batches.numBatches(), 2);
  EXPECT_EQ(at("input.0", 0), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(at("input.1", 0), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(at("input.0", 2), (std::vector<int64_t>{8, 9, 0, 1}));
  EXPECT_EQ(at("input.1", 2), (std::vector<int64_t>{9, 10, 1, 2}));
  EXPECT_TRUE(at("input.2", 0).empty());
}

TEST_F(TokensTest, AShuffledPassHasEachWindowOnce) {
  write(600);
  ASSERT_EQ(open(true, {input("input.0", 0, "i64", {2})}), "");
  ASSERT_EQ(batches.numWindows(), 300);
  auto pass = [&](int64_t number, int64_t seed) {
    std::vector<int64_t> begins;
    for (int64_t i = 0; i < 300; ++i)
      begins.push_back(at("input.0", 300 * number + i, seed).front());
    return begins;
  };
  std::vector<int64_t> first = pass(0, 1);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 300u);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_NE(first, pass(1, 1));
  EXPECT_NE(first, pass(0, 2));
  EXPECT_EQ(first, pass(0, 1)) << "whatever was asked for before";
}

TEST_F(TokensTest, InputsOfTokensHaveEqualSizes) {
  write(20);
  EXPECT_EQ(open(false, {input("input.0", 0, "i64", {2, 2}),
                         input("input.1", 0, "i64", {4})}),
            "'input.1' is tensor<4xi64>, and 'input.0' tensor<2x2xi64>: inputs "
            "of tokens have equal sizes");
  EXPECT_EQ(open(false, {input("input.0", 0, "i64", {})}),
            "'input.0' is tensor<i64>, which has no dimension of tokens");
  EXPECT_EQ(open(false, {input("input.0", 0, "i64", {2, 0})}),
            "'input.0' is tensor<2x0xi64>: no tokens fit into it");
}

} // namespace
