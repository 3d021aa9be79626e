// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed bytes come back, short and long ones, and are the same each time.

#include "cutback/Support/Gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

using namespace cutback;

/// Unpacks with zlib, which checks length and checksum of the format.
static std::string unpack(const std::string &packed, size_t size) {
  std::string out(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = packed.size();
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = out.size();
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, comesBack) {
  std::string text;
  for (size_t size : {0, 1, 1000, 1 << 18, (1 << 18) + 1, 1'000'000}) {
    while (text.size() < size)
      text += std::to_string(text.size() * 2654435761u) + ",";
    std::string part = text.substr(0, size);
    std::string packed = gzip(part);
    EXPECT_EQ(unpack(packed, size), part) << size;
    EXPECT_EQ(packed, gzip(part));
  }
}

TEST(Gzip, saysNeitherNameNorTime) {
  std::string packed = gzip("text");
  ASSERT_GT(packed.size(), 10u);
  EXPECT_EQ(packed.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(packed.substr(3, 5), std::string(5, '\0'));
}
