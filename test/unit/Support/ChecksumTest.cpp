// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checksum against values of the reference implementation.

#include "cutback/Support/Checksum.h"

#include "gtest/gtest.h"

using namespace cutback;

TEST(ChecksumTest, IsXXH64) {
  EXPECT_EQ(checksumOf(""), "ef46db3751d8e999");
  EXPECT_EQ(checksumOf("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(checksumOf("abc"), "44bc2cf5ad770999");
  // More than a stripe of 32 bytes, and a rest of each width.
  EXPECT_EQ(checksumOf("Nobody inspects the spammish repetition"),
            "fbcea83c8a378bf1");
}

TEST(ChecksumTest, EachBitCounts) {
  std::string bytes(77, 'x');
  std::string whole = checksumOf(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_NE(checksumOf(bytes), whole) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}
