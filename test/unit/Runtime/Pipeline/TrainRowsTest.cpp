// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a training side by side. Trainings:
// test/Tools/cutback-run/pipeline-batches.test.

#include "cutback/Runtime/Pipeline/TrainRows.h"

#include "cutback/Support/ExitCode.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// A stage that takes input.0, 2 x 2 and split along dimension 1, and input.1,
/// which is the same for each micro-batch; three rows of it in a file.
class TrainRowsTest : public testing::Test {
protected:
  void SetUp() override {
    PipelineStage &stage = pipeline.stages.emplace_back();
    stage.inputs.resize(2);
    static_cast<ArtifactTensor &>(stage.inputs[0]) = tensor("input.0", {2, 2});
    static_cast<ArtifactTensor &>(stage.inputs[1]) = tensor("input.1", {1});
    stage.inputs[0].splitDim = 1;
    stage.inputs[1].splitDim = -1;
    for (int i = 0; i < 12; ++i)
      values.push_back(float(i));
    char name[] = "/tmp/rows-XXXXXX";
    ::close(::mkstemp(name));
    path = name;
  }
  void TearDown() override { std::remove(path.c_str()); }

  static ArtifactTensor tensor(const char *name, std::vector<int64_t> sizes) {
    ArtifactTensor made;
    made.name = name;
    made.dtype = "f32";
    made.sizes = std::move(sizes);
    return made;
  }

  /// Opens a file with `input` and input.1. What is wrong, or empty.
  std::string open(const ArtifactTensor &input) {
    std::string_view bytes(reinterpret_cast<const char *>(values.data()), 48);
    std::vector<std::pair<ArtifactTensor, std::string_view>> tensors = {
        {input, bytes.substr(0, bytesOf(input))},
        {tensor("input.1", {1}), bytes.substr(20, 4)}};
    std::string file = encodeTensorFile(tensors);
    FILE *out = std::fopen(path.c_str(), "wb");
    std::fwrite(file.data(), 1, file.size(), out);
    std::fclose(out);
    EXPECT_EQ(files.add(path), "");
    StepError error;
    TrainInputOptions options;
    int code = rows.open({0}, options, /*isHeld=*/false, error);
    EXPECT_EQ(code, error.what.empty() ? Done : WrongInput);
    return error.what;
  }

  std::vector<float> taken(const char *name) {
    auto given = rows.find(name);
    std::vector<float> made(given ? bytesOf(*given) / 4 : 0);
    if (given)
      std::memcpy(made.data(), given->bytes, bytesOf(*given));
    return made;
  }

  Pipeline pipeline;
  std::vector<float> values;
  std::string path;
  TensorFiles files;
  TrainRows rows{pipeline, files};
};

TEST_F(TrainRowsTest, RowsAreSideBySideAlongTheirDimension) {
  ASSERT_EQ(open(tensor("input.0", {3, 2, 2})), "");
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.names(), (std::vector<std::string>{"input.0", "input.1"}));
  rows.take({0}, 2, 2, 0);
  EXPECT_EQ(rows.find("input.0")->sizes, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(taken("input.0"), (std::vector<float>{8, 9, 0, 1, 10, 11, 2, 3}))
      << "row 2, and row 0 again";
  EXPECT_EQ(taken("input.1"), std::vector<float>{5});
  EXPECT_EQ(rows.find("input.2"), std::nullopt);
}

TEST_F(TrainRowsTest, AnotherTypeOrSizeIsRefused) {
  ArtifactTensor other = tensor("input.0", {3, 2, 2});
  other.dtype = "i32";
  EXPECT_EQ(open(other), "--inputs has no 'input.0' for a training");
}

TEST_F(TrainRowsTest, ABatchWithoutRowsIsRefused) {
  EXPECT_EQ(open(tensor("input.0", {2, 2})),
            "--inputs has no 'input.0' for a training");
}

} // namespace
