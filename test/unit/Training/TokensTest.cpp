// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of token files. Trainings with them: test/Tools/cutback.

#include "cutback/Training/Tokens.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <set>

using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// A file of the ids 0, 1, …, of two bytes each.
class TokensTest : public testing::Test {
protected:
  void write(unsigned count) {
    int file = -1;
    ASSERT_FALSE(
        llvm::sys::fs::createTemporaryFile("tokens", "u16", file, path));
    remover.setFile(path);
    llvm::raw_fd_ostream out(file, /*shouldClose=*/true);
    for (unsigned id = 0; id < count; ++id)
      out << static_cast<char>(id % 256) << static_cast<char>(id / 256);
  }

  std::string open(bool isShuffled, std::vector<TokenInput> inputs) {
    return batches.open(path.str().str(), TokenBatches::Width::U16, isShuffled,
                        std::move(inputs));
  }

  std::vector<int64_t> at(const char *name, int64_t batch, int64_t seed = 0) {
    auto tensor = batches.find(name, batch, seed);
    return tensor ? tensor->ints() : std::vector<int64_t>();
  }

  llvm::SmallString<128> path;
  llvm::FileRemover remover;
  TokenBatches batches;
};

TEST_F(TokensTest, WindowsFollowEachOtherAndBeginAgain) {
  write(11);
  ASSERT_EQ(open(false, {{"input.0", 0, DType::I64, {2, 2}},
                         {"input.1", 1, DType::I32, {2, 2}}}),
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
  ASSERT_EQ(open(true, {{"input.0", 0, DType::I64, {2}}}), "");
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
  EXPECT_EQ(open(false, {{"input.0", 0, DType::I64, {2, 2}},
                         {"input.1", 0, DType::I64, {4}}}),
            "'input.1' is tensor<4xi64>, and 'input.0' tensor<2x2xi64>: inputs "
            "of tokens have equal sizes");
  EXPECT_EQ(open(false, {{"input.0", 0, DType::I64, {}}}),
            "'input.0' is tensor<i64>, which has no dimension of tokens");
  EXPECT_EQ(open(false, {{"input.0", 0, DType::I64, {2, 0}}}),
            "'input.0' is tensor<2x0xi64>: no tokens fit into it");
}

} // namespace
