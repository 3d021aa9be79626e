// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files, right and wrong ones.

#include "cutback/Interpreter/TensorFile.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace llvm;
using namespace cutback::interpreter;

namespace {

std::string withHeader(const std::string &header, const std::string &data) {
  std::string file(8, '\0');
  uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

std::string readBytes(const std::string &bytes, TensorFile &file) {
  return TensorFile::read(MemoryBuffer::getMemBufferCopy(bytes), "F", file);
}

std::string errorOf(const std::string &bytes) {
  TensorFile file;
  return readBytes(bytes, file);
}

TEST(TensorFileTest, WhatIsWrittenIsReadAgain) {
  Tensor a = Tensor::zeros(DType::BF16, {2, 3});
  Tensor b = Tensor::zeros(DType::I64, {});
  for (int64_t i = 0; i < 6; ++i)
    a.set(i, i - 2.5);
  b.setInt(0, -7);
  std::string bytes = encodeTensors({{"x", a}, {"quote\"d", b}});
  TensorFile file;
  ASSERT_EQ(readBytes(bytes, file), "");
  ASSERT_EQ(file.tensors().size(), 2u);
  ASSERT_NE(file.find("x"), nullptr);
  EXPECT_TRUE(equalBits(*file.find("x"), a));
  ASSERT_NE(file.find("quote\"d"), nullptr);
  EXPECT_TRUE(equalBits(*file.find("quote\"d"), b));
  EXPECT_EQ(file.find("y"), nullptr);
  EXPECT_EQ(bytes, encodeTensors({{"x", a}, {"quote\"d", b}}));
}

TEST(TensorFileTest, AViewIsWrittenRowByRow) {
  Tensor a = Tensor::zeros(DType::F32, {2, 2});
  for (int64_t i = 0; i < 4; ++i)
    a.set(i, i);
  Tensor transposed = a;
  std::swap(transposed.strides[0], transposed.strides[1]);
  TensorFile file;
  ASSERT_EQ(readBytes(encodeTensors({{"t", transposed}}), file), "");
  EXPECT_EQ(file.find("t")->getDouble(1), 2);
  EXPECT_EQ(file.find("t")->getDouble(2), 1);
}

TEST(TensorFileTest, MetadataIsNoTensor) {
  TensorFile file;
  EXPECT_EQ(
      readBytes(withHeader("{\"__metadata__\":{\"format\":\"pt\"}}", ""), file),
      "");
  EXPECT_TRUE(file.tensors().empty());
}

TEST(TensorFileTest, AWrongFileSaysWhatIsWrong) {
  EXPECT_EQ(errorOf("short"),
            "F: no safetensors file: it is shorter than a header");
  EXPECT_EQ(errorOf(std::string(8, '\x01')),
            "F: no safetensors file: its header would have "
            "72340172838076673 bytes");
  EXPECT_EQ(errorOf(withHeader("[]", "")), "F: the header is no JSON object");
  EXPECT_NE(errorOf(withHeader("{\"x\"", ""))
                .find("the header is no JSON at "
                      "byte "),
            std::string::npos);
  auto tensor = [](const std::string &fields) {
    return errorOf(withHeader("{\"x\":{" + fields + "}}", "12345678"));
  };
  EXPECT_EQ(tensor("\"dtype\":\"F3\",\"shape\":[2],\"data_offsets\":[0,8]"),
            "F: tensor 'x' has the unknown dtype 'F3'");
  EXPECT_EQ(tensor("\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]"),
            "F: tensor 'x' has no shape that fits the file");
  EXPECT_EQ(tensor("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
                   "\"data_offsets\":[0,8]"),
            "F: tensor 'x' has no shape that fits the file");
  EXPECT_EQ(tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[1,9]"),
            "F: tensor 'x' lies outside of the file");
  EXPECT_EQ(tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]"),
            "F: tensor 'x' has 8 bytes of data where its shape needs 4");
  EXPECT_EQ(errorOf(withHeader("{\"x\":{\"dtype\":\"F32\",\"shape\":[],"
                               "\"data_offsets\":[0,4]},"
                               "\"x\":{\"dtype\":\"F32\",\"shape\":[],"
                               "\"data_offsets\":[0,4]}}",
                               "1234")),
            "F: tensor 'x' occurs twice");
}

TEST(TensorFileTest, EveryTruncationIsAnError) {
  Tensor a = Tensor::zeros(DType::F32, {3});
  std::string bytes = encodeTensors({{"a", a}});
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(errorOf(bytes.substr(0, length)), "") << length;
}

TEST(TensorFileTest, AMissingFileIsAnError) {
  TensorFile file;
  EXPECT_EQ(TensorFile::open("/nowhere/x", file),
            "/nowhere/x: No such file or directory");
}

} // namespace
