// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributions of random ops that are functions of a seed: mean, variance,
// and the distribution function by Kolmogorov and Smirnov's test, or Pearson's
// of whole numbers, both at 1e-3. Seeds are fixed, so a test that passes
// always does.

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Decompose/FunctionalizeRng.h"

#include "../Interpreter/RunHarness.h"

#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr int64_t kCount = 20000;
using Density = std::function<double(double)>;

class RandomRules : public RunTest {
protected:
  /// What `call` draws for `seed`, where %x is `value` throughout, behind op
  /// `before`, which gives another operand of type `more`.
  std::vector<double> draw(const std::string &call, const std::string &type,
                           int64_t seed = 7, double value = 2.5,
                           const std::string &given = "f32",
                           const std::string &before = "",
                           const std::string &more = "");
  /// Within five standard deviations of the mean; of the variance, given the
  /// fourth moment over its square.
  void expectMoments(const std::vector<double> &numbers, double mean,
                     double variance, double kurtosis);
  void expectContinuous(std::vector<double> numbers, const Density &below);
  void expectDiscrete(const std::vector<double> &numbers,
                      const Density &chance);
};

std::vector<double> RandomRules::draw(const std::string &call,
                                      const std::string &type, int64_t seed,
                                      double value, const std::string &given,
                                      const std::string &before,
                                      const std::string &more) {
  std::string of = "tensor<" + std::to_string(kCount) + "x";
  std::string x = of + given + ">", y = of + type + ">";
  Operation *graph = parse("joint.graph @g(%x: " + x +
                           " {joint.role = #joint.role<input>}) -> (" + y +
                           ") gradients () {\n" + before + "\n %y = " + call +
                           " : (" + x + (more.empty() ? "" : ", " + more) +
                           ") -> " + y + "\n joint.output %y : " + y + "\n}");
  if (!graph || failed(functionalizeRng(cast<joint::GraphOp>(graph))))
    return {};
  graph = &module->getBody()->front();
  bool isLeft = false;
  graph->walk([&](aten::CallOp op) { isLeft |= op.isRandom(); });
  EXPECT_FALSE(isLeft) << "is not a function of a seed";
  Tensor x0 = tensorOf(given == "f64" ? DType::F64 : DType::F32, {kCount},
                       std::vector<double>(kCount, value));
  Tensor number = Tensor::zeros(DType::I64, {});
  number.setInt(0, seed);
  auto results = runOn(graph, {x0, number});
  EXPECT_EQ(results.size(), 1u) << message;
  if (results.size() != 1)
    return {};
  return std::get<Tensor>(results[0]).doubles();
}

void RandomRules::expectMoments(const std::vector<double> &numbers, double mean,
                                double variance, double kurtosis) {
  ASSERT_EQ(numbers.size(), size_t(kCount));
  double n = kCount, sum = 0, squares = 0;
  for (double x : numbers)
    sum += x;
  for (double x : numbers)
    squares += (x - sum / n) * (x - sum / n);
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / (n - 1), variance,
              5 * variance * std::sqrt((kurtosis - 1) / n));
}

void RandomRules::expectContinuous(std::vector<double> numbers,
                                   const Density &below) {
  std::sort(numbers.begin(), numbers.end());
  double n = static_cast<double>(numbers.size()), distance = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double value = below(numbers[i]);
    distance = std::max({distance, std::fabs(value - double(i) / n),
                         std::fabs(double(i + 1) / n - value)});
  }
  // sqrt(-log(1e-3 / 2) / 2)
  EXPECT_LT(distance * std::sqrt(n), 1.9495);
}

/// Classes of five expected at least; the rest is one.
void RandomRules::expectDiscrete(const std::vector<double> &numbers,
                                 const Density &chance) {
  std::map<double, double> seen;
  for (double x : numbers)
    ++seen[x];
  double n = static_cast<double>(numbers.size()), sum = 0, rest = 1,
         restSeen = n, classes = 0;
  for (int i = 0; i < 100; ++i) {
    double k = i, expected = n * chance(k);
    if (expected < 5)
      continue;
    sum += std::pow(seen[k] - expected, 2) / expected;
    rest -= chance(k);
    restSeen -= seen[k];
    ++classes;
  }
  if (rest * n >= 5) {
    sum += std::pow(restSeen - rest * n, 2) / (rest * n);
    ++classes;
  } else {
    EXPECT_LT(restSeen, 30);
  }
  // Wilson and Hilferty's approximation of the quantile.
  double k = classes - 1;
  double most =
      k * std::pow(1 - 2 / (9 * k) + 3.0902 * std::sqrt(2 / (9 * k)), 3);
  EXPECT_LT(sum, most) << classes << " classes";
}

TEST_F(RandomRules, Uniform) {
  for (const char *type : {"f32", "f64"}) {
    std::vector<double> numbers =
        draw("aten.uniform(%x, -1.0, 3.0)", type, 7, 0, type);
    expectMoments(numbers, 1, 16.0 / 12, 1.8);
    expectContinuous(numbers, [](double x) { return (x + 1) / 4; });
  }
}

TEST_F(RandomRules, Normal) {
  std::vector<double> numbers =
      draw("aten.normal_functional(%x, 1.0, 2.0)", "f32");
  auto below = [](double x) {
    return std::erfc((1 - x) / (2 * std::sqrt(2.0))) / 2;
  };
  expectMoments(numbers, 1, 4, 3);
  expectContinuous(numbers, below);
  numbers = draw("aten.normal.Tensor_float(%x, 2.0)", "f32", 8, 1.0);
  expectMoments(numbers, 1, 4, 3);
  expectContinuous(numbers, below);
  numbers = draw("aten.normal.float_Tensor(1.0, %x)", "f32", 9, 2.0);
  expectContinuous(numbers, below);
}

TEST_F(RandomRules, LogNormal) {
  std::vector<double> numbers = draw("aten.log_normal(%x, 0.5, 0.25)", "f32");
  expectContinuous(numbers, [](double x) {
    return std::erfc((0.5 - std::log(x)) / (0.25 * std::sqrt(2.0))) / 2;
  });
  double s = 0.0625;
  expectMoments(numbers, std::exp(0.5 + s / 2),
                (std::exp(s) - 1) * std::exp(1 + s), 4.1);
}

TEST_F(RandomRules, Exponential) {
  for (const char *type : {"f32", "f64"}) {
    std::vector<double> numbers =
        draw("aten.exponential(%x, 2.0)", type, 7, 0, type);
    expectMoments(numbers, 0.5, 0.25, 9);
    expectContinuous(numbers, [](double x) { return 1 - std::exp(-2 * x); });
    EXPECT_GT(*std::min_element(numbers.begin(), numbers.end()), 0);
  }
}

// It has neither mean nor variance.
TEST_F(RandomRules, Cauchy) {
  expectContinuous(draw("aten.cauchy(%x, 1.0, 2.0)", "f32"), [](double x) {
    return 0.5 + std::atan((x - 1) / 2) / M_PI;
  });
}

TEST_F(RandomRules, Geometric) {
  std::vector<double> numbers = draw("aten.geometric(%x, 0.3)", "f32");
  expectMoments(numbers, 1 / 0.3, 0.7 / 0.09, 9.2);
  expectDiscrete(
      numbers, [](double k) { return k < 1 ? 0 : 0.3 * std::pow(0.7, k - 1); });
  // A sure success comes at once.
  numbers = draw("aten.geometric(%x, 1.0)", "f32");
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1.0), kCount);
}

TEST_F(RandomRules, Poisson) {
  for (double rate : {0.3, 2.5, 21.0}) {
    std::vector<double> numbers = draw("aten.poisson(%x)", "f32", 7, rate);
    expectMoments(numbers, rate, rate, 3 + 1 / rate);
    expectDiscrete(numbers, [=](double k) {
      return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1));
    });
  }
  for (double none : {0.0, -1.0, std::nan("")}) {
    std::vector<double> numbers = draw("aten.poisson(%x)", "f32", 7, none);
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0.0), kCount);
  }
}

TEST_F(RandomRules, Binomial) {
  for (double p : {0.0, 0.3, 0.9, 1.0}) {
    std::vector<double> numbers = draw(
        "aten.binomial(%x, %p)", "f32", 7, 12.0, "f32",
        "%p = aten.full([1], " + std::to_string(p) + ") : () -> tensor<1xf32>",
        "tensor<1xf32>");
    if (p == 0 || p == 1) {
      EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 12 * p), kCount);
      continue;
    }
    double variance = 12 * p * (1 - p);
    expectMoments(numbers, 12 * p, variance, 3 - 6.0 / 12 + 1 / variance);
    expectDiscrete(numbers, [=](double k) {
      return k > 12 ? 0
                    : std::exp(std::lgamma(13) - std::lgamma(k + 1) -
                               std::lgamma(13 - k) + k * std::log(p) +
                               (12 - k) * std::log1p(-p));
    });
  }
}

TEST_F(RandomRules, Gamma) {
  for (double shape : {0.3, 1.0, 2.5, 40.0}) {
    for (const char *type : {"f32", "f64"}) {
      std::vector<double> numbers =
          draw("aten._standard_gamma(%x)", type, 7, shape, type);
      expectMoments(numbers, shape, shape, 3 + 6 / shape);
      expectContinuous(numbers, [=](double x) {
        return boost::math::gamma_p(shape, std::max(x, 0.0));
      });
      EXPECT_GT(*std::min_element(numbers.begin(), numbers.end()), 0);
    }
  }
}

// Its quantile stays: PyTorch's implicit gradient.
TEST_F(RandomRules, TheShapeOfGammaHasAGradient) {
  DialectRegistry registry;
  registerAtenVjps(registry);
  context.appendDialectRegistry(registry);
  std::string type = "tensor<3xf64>", each = " : (" + type + ") -> " + type;
  auto graph = cast<joint::GraphOp>(
      parse("joint.graph @g(%x: " + type +
            " {joint.role = #joint.role<param \"x\">}) -> (" + type +
            ") gradients () {\n%y = aten._standard_gamma(%x)" + each +
            "\njoint.output %y : " + type + "\n}"));
  ASSERT_TRUE(succeeded(functionalizeRng(graph)));
  ASSERT_TRUE(succeeded(differentiate(graph)));
  Tensor shapes = tensorOf(DType::F64, {3}, {0.5, 2, 9});
  Tensor tangent = tensorOf(DType::F64, {3}, {1, 1, 2});
  Tensor seed = Tensor::zeros(DType::I64, {});
  SmallVector<RuntimeValue> arguments;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i)
    arguments.push_back(i == 0 ? shapes
                        : graph.getRole(i).getKind() == joint::RoleKind::RngSeed
                            ? seed
                            : tangent);
  auto results = runOn(graph, arguments);
  ASSERT_EQ(results.size(), 2u) << message;
  std::vector<double> drawn = std::get<Tensor>(results[0]).doubles();
  std::vector<double> slopes = std::get<Tensor>(results[1]).doubles();
  const double shape[] = {0.5, 2, 9}, scale[] = {1, 1, 2};
  for (int i = 0; i < 3; ++i) {
    double quantile = boost::math::gamma_p(shape[i], drawn[i]), h = 1e-5;
    double slope = (boost::math::gamma_p_inv(shape[i] + h, quantile) -
                    boost::math::gamma_p_inv(shape[i] - h, quantile)) /
                   (2 * h);
    EXPECT_NEAR(slopes[i], scale[i] * slope, 1e-5 * std::fabs(slope)) << i;
  }
}

TEST_F(RandomRules, Bernoulli) {
  auto chance = [](double k) { return k == 1 ? 0.3 : k == 0 ? 0.7 : 0; };
  expectDiscrete(draw("aten.bernoulli.p(%x, 0.3)", "f32"), chance);
  expectDiscrete(draw("aten.bernoulli(%x)", "f32", 8, 0.3), chance);
}

TEST_F(RandomRules, WholeNumbers) {
  auto chance = [](double k) { return k >= 3 && k < 9 ? 1.0 / 6 : 0; };
  expectDiscrete(draw("aten.random.from(%x, 3, 9)", "f32"), chance);
  expectDiscrete(
      draw("aten.randint_like.low_dtype(%x, 3, 9, dtype = i64)", "i64"),
      chance);
  expectDiscrete(draw("aten.random.to(%x, 4)", "f32"),
                 [](double k) { return k < 4 ? 0.25 : 0; });
  // All that the type holds exactly.
  std::vector<double> numbers = draw("aten.random(%x)", "f32");
  expectContinuous(numbers, [](double x) { return x * 0x1p-24; });
  numbers = draw("aten.random(%x)", "f64", 7, 0, "f64");
  expectContinuous(numbers, [](double x) { return x * 0x1p-53; });
}

TEST_F(RandomRules, ThereMustBeAnIntegerToDraw) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  (void)draw("aten.random.from(%x, 9, 3)", "f32");
  EXPECT_EQ(said, "'aten.random.from' has no integer to draw from 9 to 3");
}

TEST_F(RandomRules, MultinomialWithReplacement) {
  std::string text =
      "joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> "
      "(tensor<20000xi64>, tensor<2xi64>) gradients () {\n"
      "%y = aten.multinomial(%x, 20000, true) : (tensor<4xf32>) -> "
      "tensor<20000xi64>\n"
      "%z = aten.multinomial(%x, 2) : (tensor<4xf32>) -> tensor<2xi64>\n"
      "joint.output %y, %z : tensor<20000xi64>, tensor<2xi64>\n}";
  auto graph = cast<joint::GraphOp>(parse(text));
  ASSERT_TRUE(succeeded(functionalizeRng(graph)));
  const double weights[] = {1, 0, 3, 4};
  std::map<double, double> first;
  for (int64_t seed = 0; seed < 2000; ++seed) {
    Tensor number = Tensor::zeros(DType::I64, {});
    number.setInt(0, seed);
    // One run has the 20,000 draws; the pair needs many.
    auto results = runOn(graph, {floats({4}, weights), number});
    ASSERT_EQ(results.size(), 2u) << message;
    if (seed == 0)
      expectDiscrete(std::get<Tensor>(results[0]).doubles(),
                     [&](double k) { return k < 4 ? weights[int(k)] / 8 : 0; });
    std::vector<int64_t> pair = std::get<Tensor>(results[1]).ints();
    EXPECT_NE(pair[0], pair[1]);
    EXPECT_TRUE(pair[0] != 1 && pair[1] != 1) << "weighs nothing";
    ++first[double(pair[0])];
    if (seed == 199) // a share, to be quick
      break;
  }
  // Five standard deviations.
  EXPECT_NEAR(first[3], 100, 36);
  EXPECT_NEAR(first[2], 75, 35);
}

// f16 and bf16 are drawn in f32 and rounded once.
TEST_F(RandomRules, HalfPrecision) {
  std::vector<double> wide = draw("aten.exponential(%x, 2.0)", "f32");
  std::string call = "aten.exponential(%x, 2.0)";
  std::string of = "tensor<20000xbf16>";
  auto graph = cast<joint::GraphOp>(parse(
      "joint.graph @g(%x: " + of + " {joint.role = #joint.role<input>}) -> (" +
      of + ") gradients () {\n %y = " + call + " : (" + of + ") -> " + of +
      "\n joint.output %y : " + of + "\n}"));
  ASSERT_TRUE(succeeded(functionalizeRng(graph)));
  Tensor number = Tensor::zeros(DType::I64, {});
  number.setInt(0, 7);
  auto results = runOn(graph, {Tensor::zeros(DType::BF16, {kCount}), number});
  ASSERT_EQ(results.size(), 1u) << message;
  std::vector<double> narrow = std::get<Tensor>(results[0]).doubles();
  for (size_t i = 0; i < narrow.size(); ++i)
    ASSERT_NEAR(narrow[i], wide[i], wide[i] * 0x1p-8);
}

} // namespace
