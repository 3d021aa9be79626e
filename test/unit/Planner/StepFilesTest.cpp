// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of a file that a step does not have. Results against a file: what
// 16-bit floats on the way allow, and what the expected values' own error does.
// Results of tied tensors under all of their names.

#include "cutback/Planner/StepFiles.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::interpreter;

namespace {

Tensor floats(std::vector<double> values, DType type = DType::F32) {
  Tensor tensor = Tensor::zeros(type, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set(i, values[i]);
  return tensor;
}

TensorFile fileOf(const std::vector<NamedTensor> &tensors) {
  TensorFile file;
  EXPECT_EQ(TensorFile::read(llvm::MemoryBuffer::getMemBufferCopy(encodeTensors(
                                 llvm::ArrayRef<NamedTensor>(tensors))),
                             "F", file),
            "");
  return file;
}

TEST(StepFilesTest, WhatComesFromHalvesHasTheirTolerance) {
  TensorFile expected = fileOf({{"output.1", floats({1})}});
  std::vector<NamedTensor> results = {{"output.1", floats({1.01})}};
  Tolerance tolerance;
  EXPECT_FALSE(compareResults(results, expected, tolerance)[0].isRight());
  tolerance.rounding["output.1"] = 1.0 / 128;
  EXPECT_TRUE(compareResults(results, expected, tolerance)[0].isRight());
}

TEST(StepFilesTest, AGradientOfHalvesThatIsZeroIsNoise) {
  TensorFile expected =
      fileOf({{"grad.a", floats({0.5})}, {"grad.b", floats({2e-5})}});
  std::vector<NamedTensor> results = {{"grad.a", floats({0.5})},
                                      {"grad.b", floats({-3e-5})}};
  Tolerance tolerance;
  EXPECT_FALSE(compareResults(results, expected, tolerance)[1].isRight());
  tolerance.rounding["grad.a"] = tolerance.rounding["grad.b"] = 1.0 / 128;
  auto list = compareResults(results, expected, tolerance);
  EXPECT_TRUE(list[1].isRight());
  EXPECT_NEAR(list[1].allowed, 1e-7 + 2e-2 / 128 * 0.5, 1e-9);
  results[1].second = floats({2e-4});
  EXPECT_FALSE(compareResults(results, expected, tolerance)[1].isRight());
}

TEST(StepFilesTest, NamesThatTheStepLacksAreFound) {
  StepFiles files;
  Tensor one = floats({1});
  files.inputs = fileOf({{"input.0", one},
                         {"input.1", one},
                         {"loss", one},
                         {"output.1", one},
                         {"param.w", one},
                         {"buffer.b", one},
                         {"const.c", one},
                         {"grad.tied", one},
                         {"targets", one}});
  StepNames names;
  names.arguments = {"param.v", "input.0", ""};
  names.results = {"loss", "grad.v"};
  std::vector<std::string> expected = {"input.1", "output.1", "targets"};
  EXPECT_EQ(files.findStray(names), expected);
}

TEST(StepFilesTest, ATiedTensorHasItsResultsUnderEachName) {
  mlir::MLIRContext context;
  WeightFile weights;
  std::string bytes(8, 0);
  auto add = [&](const char *name, unsigned payload, int64_t offset) {
    WeightTensor tensor;
    tensor.name = name;
    tensor.elementType = mlir::Float32Type::get(&context);
    tensor.sizes = tensor.strides = {1};
    tensor.offset = offset;
    tensor.storage = std::make_shared<WeightStorage>(
        llvm::ArrayRef<char>(bytes.data(), bytes.size()));
    tensor.payload = payload;
    EXPECT_TRUE(weights.add(std::move(tensor)));
  };
  add("embedding", 0, 0);
  add("decoder", 0, 0);
  add("other half", 0, 1);
  add("untied", 1, 0);
  add("seen", 2, 0);
  add("seen again", 2, 0);
  std::vector<NamedTensor> results = {{"loss", floats({1})},
                                      {"grad.embedding", floats({2})},
                                      {"grad.untied", floats({3})},
                                      {"grad.input.0", floats({4})},
                                      {"buffer.seen again", floats({5})}};
  llvm::StringMap<double> rounding;
  rounding["grad.embedding"] = 0.5;
  addTiedResults(results, rounding, nullptr);
  EXPECT_EQ(results.size(), 5u);
  addTiedResults(results, rounding, &weights);
  ASSERT_EQ(results.size(), 7u);
  EXPECT_EQ(results[5].first, "grad.decoder");
  EXPECT_EQ(results[5].second.getDouble(0), 2);
  EXPECT_EQ(results[6].first, "buffer.seen");
  EXPECT_EQ(results[6].second.getDouble(0), 5);
  EXPECT_EQ(rounding.lookup("grad.decoder"), 0.5);
  addTiedResults(results, rounding, &weights);
  EXPECT_EQ(results.size(), 7u);
}

TEST(StepFilesTest, TheErrorOfTheExpectedValuesIsAllowedFourTimes) {
  TensorFile expected = fileOf({{"loss", floats({1.1})}});
  TensorFile exact = fileOf({{"loss", floats({1}, DType::F64)}});
  Tolerance tolerance;
  tolerance.exact = &exact;
  std::vector<NamedTensor> results = {{"loss", floats({0.75})}};
  EXPECT_TRUE(compareResults(results, expected, tolerance)[0].isRight());
  results[0].second = floats({0.65});
  EXPECT_FALSE(compareResults(results, expected, tolerance)[0].isRight());
  TensorFile other = fileOf({{"loss", floats({1, 2}, DType::F64)}});
  tolerance.exact = &other;
  EXPECT_EQ(compareResults(results, expected, tolerance)[0].problem,
            "in --check is f32[1], expected f64[2] as --exact has");
}

} // namespace
