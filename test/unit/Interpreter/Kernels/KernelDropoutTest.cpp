// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout inside of attention and recurrent layers: the backward of a kernel
// drops what its forward dropped, the seed decides, and what is kept is scaled.

#include "../RunHarness.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Forward and backward of one kernel: operands %q, %k, %v, %g; results out and
/// dV. The output is linear in v for one mask, so <g, out> = <dV, v> holds if
/// and only if both drop the same weights. The lengths of sequences are not
/// read: any tensor stands for them.
const char *const kFlash = R"mlir(
  %r:9 = aten._scaled_dot_product_flash_attention(%q, %k, %v, 0.5)
      : (T, T, T) -> (T, tensor<2x2x4xf32>, none, none, index, index, tensor<2xui64>, tensor<ui64>, tensor<0xf32>)
  %d:3 = aten._scaled_dot_product_flash_attention_backward(%g, %q, %k, %v, %r#0, %r#1, %r#1, %r#1, 4, 4, 0.5, false, %r#6, %r#7)
      : (T, T, T, T, T, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2xui64>, tensor<ui64>) -> (T, T, T)
)mlir";
const char *const kCudnn = R"mlir(
  %r:9 = aten._scaled_dot_product_cudnn_attention(%q, %k, %v, none, true, 0.5)
      : (T, T, T) -> (T, tensor<2x2x4x1xf32>, none, none, index, index, tensor<i64>, tensor<i64>, none)
  %d:3 = aten._scaled_dot_product_cudnn_attention_backward(%g, %q, %k, %v, %r#0, %r#1, %r#6, %r#7, none, %r#1, %r#1, 4, 4, 0.5, false)
      : (T, T, T, T, T, tensor<2x2x4x1xf32>, tensor<i64>, tensor<i64>, tensor<2x2x4x1xf32>, tensor<2x2x4x1xf32>) -> (T, T, T)
)mlir";
const char *const kEfficient = R"mlir(
  %r:4 = aten._scaled_dot_product_efficient_attention(%q, %k, %v, none, true, 0.5)
      : (T, T, T) -> (T, tensor<2x2x32xf32>, tensor<i64>, tensor<i64>)
  %d:4 = aten._scaled_dot_product_efficient_attention_backward(%g, %q, %k, %v, none, %r#0, %r#1, %r#2, %r#3, 0.5, [true, true, true, false])
      : (T, T, T, T, T, tensor<2x2x32xf32>, tensor<i64>, tensor<i64>) -> (T, T, T, none)
)mlir";

class KernelDropoutTest : public RunTest {
protected:
  /// The named results of `body`, in which T is the type of all operands.
  std::vector<Tensor> attend(const std::string &body, uint64_t seed) {
    std::string text = "-> (T, T) {\n" + body + "  return %r#0, %d#2 : T, T\n}";
    std::string arguments = "%q: T, %k: T, %v: T, %g: T";
    for (std::string *part : {&text, &arguments})
      for (size_t at; (at = part->find('T')) != std::string::npos;)
        part->replace(at, 1, "tensor<2x2x4x3xf32>");
    std::vector<RuntimeValue> values;
    for (int i = 0; i < 4; ++i)
      values.push_back(wave({2, 2, 4, 3}, i + 1));
    InterpreterOptions options;
    options.seed = seed;
    std::vector<Tensor> tensors;
    for (const RuntimeValue &value : run(arguments, text, values, options))
      tensors.push_back(std::get<Tensor>(value));
    EXPECT_EQ(message, "");
    return tensors;
  }

  static Tensor wave(ArrayRef<int64_t> sizes, double step) {
    Tensor tensor = Tensor::zeros(DType::F32, sizes);
    for (int64_t i = 0; i < tensor.numel(); ++i)
      tensor.set(i, std::sin(step * static_cast<double>(i) + step));
    return tensor;
  }

  static double inner(const Tensor &a, const Tensor &b) {
    double sum = 0;
    for (auto [x, y] : llvm::zip_equal(a.doubles(), b.doubles()))
      sum += x * y;
    return sum;
  }
};

TEST_F(KernelDropoutTest, TheBackwardDropsWhatTheForwardDropped) {
  Tensor v = wave({2, 2, 4, 3}, 3), g = wave({2, 2, 4, 3}, 4);
  for (const char *kernel : {kFlash, kCudnn, kEfficient}) {
    std::vector<Tensor> results = attend(kernel, 7);
    ASSERT_EQ(results.size(), 2u) << kernel;
    EXPECT_NEAR(inner(g, results[0]), inner(results[1], v), 1e-5) << kernel;
    EXPECT_TRUE(equalBits(attend(kernel, 7)[0], results[0]));
    EXPECT_FALSE(equalBits(attend(kernel, 8)[0], results[0]));
  }
}

TEST_F(KernelDropoutTest, KeptWeightsAreScaled) {
  // Weights of one row are equal, so each is 0 or 1 / 64 / (1 - 0.25).
  Tensor q = Tensor::zeros(DType::F32, {1, 64, 1});
  Tensor v = counting({1, 64, 1});
  std::vector<RuntimeValue> results =
      run("%q: tensor<1x64x1xf32>, %v: tensor<1x64x1xf32>",
          "-> tensor<1x64x64xf32> {\n"
          "  %r:2 = aten._scaled_dot_product_attention_math(%q, %q, %v, none, "
          "0.25) : (tensor<1x64x1xf32>, tensor<1x64x1xf32>, "
          "tensor<1x64x1xf32>) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>)\n"
          "  return %r#1 : tensor<1x64x64xf32>\n}",
          {q, v});
  ASSERT_EQ(results.size(), 1u) << message;
  int64_t kept = 0;
  for (double weight : std::get<Tensor>(results[0]).doubles()) {
    EXPECT_TRUE(weight == 0 || std::abs(weight - 1 / 48.0) < 1e-7) << weight;
    kept += weight != 0;
  }
  // 4096 draws: six standard deviations around three quarters.
  EXPECT_NEAR(static_cast<double>(kept), 3072.0, 6 * std::sqrt(768.0));
}

TEST_F(KernelDropoutTest, RecurrentLayersDropBetweenLayersOnly) {
  auto layers = [&](int count, bool train, uint64_t seed) {
    std::string weights, types, given;
    std::vector<RuntimeValue> values = {wave({3, 2, 4}, 1),
                                        wave({count, 2, 4}, 2)};
    for (int i = 0; i < 2 * count; ++i) {
      std::string name = "%w" + std::to_string(i);
      weights += ", " + name + ": tensor<4x4xf32>";
      given += (i ? ", " : "") + name;
      types += ", tensor<4x4xf32>";
      values.push_back(wave({4, 4}, i + 3));
    }
    std::string state = llvm::formatv("tensor<{0}x2x4xf32>", count);
    std::string body = llvm::formatv(
        "-> tensor<3x2x4xf32> {{\n  %r:2 = aten.rnn_tanh.input(%x, %h, [{0}], "
        "false, {1}, 0.5, {2}, false, false) : (tensor<3x2x4xf32>, {3}{4}) -> "
        "(tensor<3x2x4xf32>, {3})\n  return %r#0 : tensor<3x2x4xf32>\n}",
        given, count, train ? "true" : "false", state, types);
    InterpreterOptions options;
    options.seed = seed;
    std::vector<RuntimeValue> results = run(
        "%x: tensor<3x2x4xf32>, %h: " + state + weights, body, values, options);
    EXPECT_EQ(message, "");
    return results;
  };
  auto same = [](const std::vector<RuntimeValue> &a,
                 const std::vector<RuntimeValue> &b) {
    return a.size() == 1 && b.size() == 1 && equalBits(a[0], b[0]);
  };
  EXPECT_TRUE(same(layers(1, true, 1), layers(1, true, 2)));
  EXPECT_TRUE(same(layers(2, false, 1), layers(2, false, 2)));
  EXPECT_TRUE(same(layers(2, true, 1), layers(2, true, 1)));
  EXPECT_FALSE(same(layers(2, true, 1), layers(2, true, 2)));
}

} // namespace
