// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors go to a file and come back by their names.

#include "cutback/Runtime/TensorFiles.h"

#include "cutback/Support/SafeFile.h"

#include "gtest/gtest.h"

#include <cstdio>

using namespace cutback;

namespace {

ArtifactTensor tensor(const char *name, const char *dtype,
                      std::vector<int64_t> sizes) {
  ArtifactTensor one;
  one.name = name;
  one.dtype = dtype;
  one.sizes = std::move(sizes);
  return one;
}

TEST(TensorFilesTest, TypesHaveOneWordEach) {
  for (const char *dtype : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16",
                            "i8", "ui8", "i1", "complex<f32>", "complex<f64>"})
    EXPECT_EQ(typeOfFileType(fileTypeOf(dtype)), dtype);
  EXPECT_EQ(fileTypeOf("i1"), "BOOL");
  EXPECT_EQ(typeOfFileType("F4"), "");
}

TEST(TensorFilesTest, GoToAFileAndComeBack) {
  std::string path = testing::TempDir() + "tensor-files.safetensors";
  std::string halves(6, 'h'), doubles(8, 'd');
  std::vector<std::pair<ArtifactTensor, std::string_view>> given = {
      {tensor("a", "f16", {3}), halves}, {tensor("b", "f64", {}), doubles}};
  ASSERT_EQ(writeFileSafely(path, encodeTensorFile(given)), "");
  EXPECT_EQ(given[0].first.name, "b"); // wide types first
  TensorFiles files;
  ASSERT_EQ(files.add(path), "");
  ASSERT_EQ(files.all().size(), 2u);
  const TensorFiles::Tensor *found = files.find("a");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->entry.sizes, std::vector<int64_t>{3});
  EXPECT_EQ(std::string(found->bytes, 6), halves);
  EXPECT_EQ(files.find("c"), nullptr);
  std::remove(path.c_str());
}

TEST(TensorFilesTest, RefusesWhatIsNone) {
  std::string path = CUTBACK_SOURCE_DIR "/README.md";
  TensorFiles files;
  EXPECT_EQ(files.add("/nowhere"), "/nowhere: No such file or directory");
  EXPECT_EQ(files.add("/dev/zero"), "/dev/zero: this is not a file");
  EXPECT_EQ(files.add(path, [](std::string_view) { return "is bad"; }),
            path + ": is bad");
}

} // namespace
