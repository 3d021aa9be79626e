// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws from gamma and binomial distributions have their means and variances,
// depend on the seed alone, and the slope of a gamma draw is that of its
// quantile; drawn slopes of negative elements lie between their bounds.

#include "../RunHarness.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class GammaTest : public RunTest {
protected:
  /// The result of `call` on vectors of f64, %0 and behind.
  Tensor draw(const std::string &call, std::vector<RuntimeValue> operands,
              uint64_t seed = 1) {
    int64_t count = std::get<Tensor>(operands[0]).numel();
    std::string type = "tensor<" + std::to_string(count) + "xf64>";
    std::string arguments = "%0: " + type, types = type;
    if (operands.size() > 1) {
      arguments += ", %1: " + type;
      types += ", " + type;
    }
    InterpreterOptions options;
    options.seed = seed;
    auto results =
        run(arguments,
            "-> (" + type + ") {\n  %r = aten." + call + " : (" + types +
                ") -> " + type + "\n  return %r : " + type + "\n}",
            operands, options);
    EXPECT_EQ(message, "");
    return results.empty() ? Tensor() : std::get<Tensor>(results[0]);
  }

  static Tensor filled(int64_t count, double value) {
    Tensor tensor = Tensor::zeros(DType::F64, {count});
    for (int64_t i = 0; i < count; ++i)
      tensor.set(i, value);
    return tensor;
  }

  /// Mean and variance of the elements.
  static std::pair<double, double> moments(const Tensor &tensor) {
    double sum = 0, squares = 0;
    for (double x : tensor.doubles()) {
      sum += x;
      squares += x * x;
    }
    auto n = static_cast<double>(tensor.numel());
    return {sum / n, squares / n - sum * sum / n / n};
  }
};

TEST_F(GammaTest, DrawsHaveTheMeanAndTheVarianceOfTheirShape) {
  for (double shape : {0.3, 1.0, 4.5}) {
    auto draws = [&](uint64_t seed) {
      return draw("_standard_gamma(%0)", {filled(20000, shape)}, seed);
    };
    Tensor first = draws(1);
    auto [mean, variance] = moments(first);
    EXPECT_NEAR(mean, shape, 5 * std::sqrt(shape / 20000));
    EXPECT_NEAR(variance, shape, 0.15 * shape);
    EXPECT_TRUE(equalBits(draws(1), first));
    EXPECT_FALSE(equalBits(draws(2), first));
  }
}

TEST_F(GammaTest, TrialsSucceedWithTheirProbability) {
  Tensor drawn =
      draw("binomial(%0, %1)", {filled(20000, 10), filled(20000, 0.3)});
  auto [mean, variance] = moments(drawn);
  EXPECT_NEAR(mean, 3, 0.06);
  EXPECT_NEAR(variance, 2.1, 0.15);
  for (double trials : {-1.0, 0x1p31, std::nan("")})
    EXPECT_TRUE(
        std::isnan(draw("binomial(%0, %1)", {filled(1, trials), filled(1, 0.5)})
                       .doubles()[0]));
}

TEST_F(GammaTest, SlopesOfNegativeElementsAreDrawnBetweenTheirBounds) {
  Tensor x = filled(2000, -2);
  x.set(0, 3);
  auto results = run("%x: tensor<2000xf64>",
                     R"mlir(-> (tensor<2000xf64>, tensor<2000xf64>) {
  %r:2 = aten.rrelu_with_noise_functional(%x, %x, 0.25, 0.5, true) : (tensor<2000xf64>, tensor<2000xf64>) -> (tensor<2000xf64>, tensor<2000xf64>)
  return %r#0, %r#1 : tensor<2000xf64>, tensor<2000xf64>
})mlir",
                     {x}, InterpreterOptions());
  ASSERT_EQ(message, "");
  std::vector<double> y = std::get<Tensor>(results[0]).doubles();
  std::vector<double> slopes = std::get<Tensor>(results[1]).doubles();
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(slopes[0], 1);
  double sum = 0;
  for (size_t i = 1; i < y.size(); ++i) {
    EXPECT_EQ(y[i], -2 * slopes[i]);
    EXPECT_TRUE(slopes[i] >= 0.25 && slopes[i] <= 0.5) << slopes[i];
    sum += slopes[i];
  }
  EXPECT_NEAR(sum / 1999, 0.375, 0.01);
}

// The expected slopes are -(dP/da) / p by mpmath 1.3 with 40 digits. PyTorch
// approximates them to about three.
TEST_F(GammaTest, TheSlopeOfADrawIsThatOfItsQuantile) {
  const double table[][3] = {
      {0.1, 0.001, 0.064907247383741}, {0.5, 0.2, 0.794050566330843},
      {0.5, 20.0, 4.88917177294408},   {1.0, 0.7, 0.973218740992388},
      {2.5, 2.0, 0.953462702918616},   {2.5, 9.0, 1.89171180009085},
      {9.0, 4.0, 0.66056163331414},    {9.0, 12.0, 1.17223384306241},
      {50.0, 52.0, 1.02314434936828},  {300.0, 270.0, 0.948771414420938},
  };
  for (auto [shape, x, slope] : table) {
    Tensor result =
        draw("_standard_gamma_grad(%0, %1)", {filled(1, shape), filled(1, x)});
    EXPECT_NEAR(result.doubles()[0], slope, 1e-10 * slope) << shape << " " << x;
  }
}

} // namespace
