// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/TensorHeader.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TensorEntry entry(std::string name, std::string dtype,
                  std::vector<int64_t> sizes) {
  TensorEntry made;
  made.name = std::move(name);
  made.dtype = std::move(dtype);
  made.sizes = std::move(sizes);
  return made;
}

std::string withHeader(const std::string &header, size_t dataBytes) {
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + std::string(dataBytes, 'x');
}

std::string problemOf(const std::string &file) {
  std::vector<TensorEntry> read;
  return readTensorHeader(file, read);
}

TEST(TensorHeaderTest, WhatIsWrittenIsRead) {
  std::vector<TensorEntry> tensors = {entry("a\"b", "F64", {2, 3}),
                                      entry("scalar", "BF16", {}),
                                      entry("empty", "BOOL", {0, 4})};
  std::string file = writeTensorHeader(tensors);
  EXPECT_EQ(file.size() % 16, 0u);
  EXPECT_EQ(tensors[0].begin, file.size());
  file += std::string(50, 'x');
  std::vector<TensorEntry> read;
  ASSERT_EQ(readTensorHeader(file, read), "");
  ASSERT_EQ(read.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[i].name, tensors[i].name);
    EXPECT_EQ(read[i].dtype, tensors[i].dtype);
    EXPECT_EQ(read[i].sizes, tensors[i].sizes);
    EXPECT_EQ(read[i].begin, tensors[i].begin);
    EXPECT_EQ(read[i].bytes, tensors[i].bytes);
  }
  EXPECT_EQ(read[1].bytes, 2u);
  EXPECT_EQ(read[2].bytes, 0u);
}

TEST(TensorHeaderTest, NothingIsTrusted) {
  EXPECT_EQ(problemOf("short"),
            "no safetensors file: it is shorter than a header");
  EXPECT_EQ(problemOf(std::string("\xff\0\0\0\0\0\0\0{}", 10)),
            "no safetensors file: its header would have 255 bytes");
  EXPECT_EQ(problemOf(withHeader("[]", 0)), "the header is no JSON object");
  auto one = [](const std::string &type, const std::string &shape,
                const std::string &offsets) {
    return withHeader("{\"t\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
                          ",\"data_offsets\":" + offsets + "}}",
                      8);
  };
  EXPECT_EQ(problemOf(one("F32", "[2]", "[0,8]")), "");
  EXPECT_EQ(problemOf(one("F33", "[2]", "[0,8]")),
            "tensor 't' has the unknown dtype 'F33'");
  EXPECT_EQ(problemOf(one("F32", "[-1]", "[0,8]")),
            "tensor 't' has no shape that fits the file");
  EXPECT_EQ(problemOf(one("F32", "[4611686018427387904,4]", "[0,8]")),
            "tensor 't' has no shape that fits the file");
  EXPECT_EQ(problemOf(one("F32", "[2]", "[4,12]")),
            "tensor 't' lies outside of the file");
  EXPECT_EQ(problemOf(one("F32", "[2]", "[8,0]")),
            "tensor 't' lies outside of the file");
  EXPECT_EQ(problemOf(one("F32", "[1]", "[0,8]")),
            "tensor 't' has 8 bytes of data where its shape needs 4");
}

TEST(TensorHeaderTest, TensorsFollowEachOtherToTheEnd) {
  auto two = [](const char *first, const char *second, size_t bytes) {
    return problemOf(withHeader(
        std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") +
            first + R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" +
            second + "}}",
        bytes));
  };
  EXPECT_EQ(two("[0,8]", "[8,12]", 12), "");
  EXPECT_EQ(two("[4,12]", "[0,4]", 12), "");
  EXPECT_EQ(two("[0,8]", "[4,8]", 8), "tensor 'b' overlaps another one");
  EXPECT_EQ(two("[0,8]", "[10,14]", 14),
            "tensor 'b' begins 2 bytes behind the end of the one before it");
  EXPECT_EQ(two("[0,8]", "[8,12]", 15),
            "there are 3 bytes behind the last tensor");
}

} // namespace
