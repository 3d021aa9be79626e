// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops against finite differences, and what they read.

#include "VjpCases.h"

using namespace mlir;
using namespace cutback::test;

//===----------------------------------------------------------------------===//
// Functions of one tensor
//===----------------------------------------------------------------------===//

static void anywhere(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3})}));
}
static void insideUnit(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.positive({2, 3})}));
}
static void aboveOne(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({4}, {1.1, 1.7, 2.5, 4.0})}));
}
/// Off the places where the piecewise ones bend.
static void offKinks(VjpCheck &c, const char *name) {
  c.output(c.b.call(
      name, {c.input({8}, {-4.1, -2.5, -0.8, -0.3, 0.2, 0.7, 1.5, 7.2})}));
}

TEST(PointwiseVjp, FunctionsOfOneTensor) {
  const VjpCase cases[] = {
      {"aten.neg.default", anywhere},
      {"aten.positive.default", anywhere},
      {"aten.frac.default", offKinks},
      {"aten.sgn.default", offKinks},
      {"aten.abs.default", anywhere},
      {"aten.nan_to_num.default", anywhere},
      {"aten.square.default", anywhere},
      {"aten.exp.default", anywhere},
      {"aten.exp2.default", anywhere},
      {"aten.expm1.default", anywhere},
      {"aten.log.default", insideUnit},
      {"aten.log2.default", insideUnit},
      {"aten.log10.default", insideUnit},
      {"aten.log1p.default", insideUnit},
      {"aten.sqrt.default", insideUnit},
      {"aten.rsqrt.default", insideUnit},
      {"aten.reciprocal.default", insideUnit},
      {"aten.sin.default", anywhere},
      {"aten.cos.default", anywhere},
      {"aten.tan.default", insideUnit},
      {"aten.asin.default", insideUnit},
      {"aten.acos.default", insideUnit},
      {"aten.atan.default", anywhere},
      {"aten.sinh.default", anywhere},
      {"aten.cosh.default", anywhere},
      {"aten.asinh.default", anywhere},
      {"aten.acosh.default", aboveOne},
      {"aten.atanh.default", insideUnit},
      {"aten.deg2rad.default", anywhere},
      {"aten.rad2deg.default", anywhere},
      {"aten.sinc.default", anywhere},
      {"aten.erf.default", anywhere},
      {"aten.erfc.default", anywhere},
      {"aten.erfinv.default", insideUnit},
      {"aten.special_erfcx.default", anywhere},
      {"aten.special_ndtr.default", anywhere},
      {"aten.special_ndtri.default", insideUnit},
      {"aten.special_log_ndtr.default", anywhere},
      {"aten.special_entr.default", insideUnit},
      {"aten.lgamma.default", insideUnit},
      {"aten.i0.default", anywhere},
      {"aten.special_i1.default", anywhere},
      {"aten.logit.default", insideUnit},
  };
  checkCases(cases);
}

TEST(PointwiseVjp, Activations) {
  const VjpCase cases[] = {
      {"aten.sigmoid.default", anywhere},
      {"aten.tanh.default", anywhere},
      {"aten.relu.default", offKinks},
      {"aten.relu6.default", offKinks},
      {"aten.hardtanh.default", offKinks},
      {"aten.hardswish.default", offKinks},
      {"aten.hardsigmoid.default", offKinks},
      {"aten.leaky_relu.default", offKinks},
      {"aten.hardshrink.default", offKinks},
      {"aten.softshrink.default", offKinks},
      {"aten.silu.default", anywhere},
      {"aten.gelu.default", anywhere},
      {"aten.mish.default", anywhere},
      {"aten.softplus.default", anywhere},
      {"aten.elu.default", offKinks},
      {"aten.selu.default", offKinks},
      {"aten.celu.default", offKinks},
      {"aten.log_sigmoid.default", anywhere},
  };
  checkCases(cases);
}

TEST(PointwiseVjp, ActivationsWithArguments) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 4});
    c.output(c.b.call("aten.threshold.default", {x, 0.05, 3.0}));
    c.output(c.b.call("aten.gelu.default", {x}, {{"approximate", "tanh"}}));
    c.output(c.b.call("aten.glu.default", {x, -1}));
    c.output(c.b.call("aten.elu.default", {x, 0.7, 1.3, 0.9}));
    c.output(c.b.call("aten.celu.default", {x, 0.4}));
    c.output(c.b.call("aten.softplus.default", {x, 2.0, 1.0}));
    c.output(c.b.call("aten.leaky_relu.default", {x, 0.3}));
    c.output(c.b.call("aten.hardtanh.default", {x, -0.4, 0.4}));
    c.output(c.b.callMany("aten.log_sigmoid_forward.default", {x})[0]);
    c.output(c.b.call("aten.logit.default", {c.positive({3}), 0.05}));
  });
}

static void withSlopes(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), c.input({2, 3})}));
}
static void withBounds(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), 0.1, 0.3}));
}

TEST(PointwiseVjp, ActivationsOfTwoTensorsOrBounds) {
  checkCases({{"aten._prelu_kernel.default", withSlopes},
              {"aten.rrelu.default", withBounds}});
}

//===----------------------------------------------------------------------===//
// Functions of two
//===----------------------------------------------------------------------===//

static void pair(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3}), y = c.input({3});
  c.output(c.b.call(name, {x, y}));
  c.output(c.b.call(name, {y, x}));
}
static void positivePair(VjpCheck &c, const char *name) {
  Value x = c.positive({2, 3}), y = c.positive({3});
  c.output(c.b.call(name, {x, y}));
  c.output(c.b.call(name, {y, x}));
}
static void withNumber(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.positive({2, 3}), 0.37}));
}
static void numberFirst(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {0.37, c.positive({2, 3})}));
}
static void withAlpha(VjpCheck &c, const char *name) {
  Value x = c.input({2, 3}), y = c.input({3});
  c.output(c.b.call(name, {x, y}, {{"alpha", -1.5}}));
}

TEST(PointwiseVjp, FunctionsOfTwo) {
  const VjpCase cases[] = {
      {"aten.add.Tensor", pair},
      {"aten.add.Tensor", withAlpha},
      {"aten.add.Scalar", withNumber},
      {"aten.sub.Tensor", pair},
      {"aten.sub.Tensor", withAlpha},
      {"aten.sub.Scalar", withNumber},
      {"aten.rsub.Tensor", withAlpha},
      {"aten.rsub.Scalar", withNumber},
      {"aten.mul.Tensor", pair},
      {"aten.mul.Scalar", withNumber},
      {"aten.div.Tensor", positivePair},
      {"aten.div.Scalar", withNumber},
      {"aten.true_divide.Tensor", positivePair},
      {"aten.fmod.Tensor", positivePair},
      {"aten.fmod.Scalar", withNumber},
      {"aten.remainder.Tensor", positivePair},
      {"aten.remainder.Scalar", withNumber},
      {"aten.remainder.Scalar_Tensor", numberFirst},
      {"aten.atan2.default", pair},
      {"aten.hypot.default", pair},
      {"aten.xlogy.Tensor", positivePair},
      {"aten.xlogy.Scalar_Self", numberFirst},
      {"aten.xlogy.Scalar_Other", withNumber},
      {"aten.logaddexp.default", pair},
      {"aten.logaddexp2.default", pair},
      {"aten.copysign.Tensor", pair},
      {"aten.copysign.Scalar", withNumber},
      {"aten.pow.Tensor_Tensor", positivePair},
      {"aten.pow.Tensor_Scalar", withNumber},
      {"aten.pow.Scalar", numberFirst},
      {"aten.maximum.default", pair},
      {"aten.minimum.default", pair},
      {"aten.max.other", pair},
      {"aten.min.other", pair},
      {"aten.fmax.default", pair},
      {"aten.fmin.default", pair},
      {"aten.clamp_min.default", withNumber},
      {"aten.clamp_min.Tensor", pair},
      {"aten.clamp_max.default", withNumber},
      {"aten.clamp_max.Tensor", pair},
  };
  checkCases(cases);
}

TEST(PointwiseVjp, FunctionsOfMore) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3}), y = c.input({3}), z = c.positive({2, 3});
    c.output(c.b.call("aten.addcmul.default", {x, y, z}, {{"value", 0.3}}));
    c.output(c.b.call("aten.addcdiv.default", {x, y, z}, {{"value", 0.3}}));
    c.output(c.b.call("aten.lerp.Scalar", {x, y, 0.3}));
    c.output(c.b.call("aten.lerp.Tensor", {x, y, z}));
    c.output(c.b.call("prims.fma.default", {x, z, z}));
    c.output(c.b.call("aten.clamp.default", {x, -0.5, 0.6}));
    c.output(c.b.call("aten.clamp.default", {x, Arg(), 0.6}));
    c.output(c.b.call("aten.clamp.Tensor", {x, y, z}));
    c.output(c.b.call("aten.clamp.Tensor", {x, Arg(), z}));
    c.output(c.b.call("aten.div.Tensor_mode", {x, z}));
    c.output(c.b.call("aten.div.Scalar_mode", {x, 0.3}));
    c.output(
        c.b.call("aten.div.Tensor_mode", {x, z}, {{"rounding_mode", "floor"}}));
    for (double exponent : {1.0, 2.0, 3.0, 0.0, -1.0})
      c.output(c.b.call("aten.pow.Tensor_Scalar", {z, exponent}));
  });
}

TEST(PointwiseVjp, IncompleteGammaFunctionsMoveWithTheirBound) {
  checkVjp([](VjpCheck &c) {
    Value x = c.positive({3}), a = c.constant({3}, {0.4, 1.0, 2.5});
    c.output(c.b.call("aten.igamma.default", {a, x}));
    c.output(c.b.call("aten.igammac.default", {a, x}));
  });
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              Value a = c.positive({3});
              c.output(c.b.call("aten.igamma.default", {a, a}));
            }),
            "no rule for the gradient of the first operand of 'aten.igamma'");
}

// As PyTorch's: zeros, not none.
TEST(PointwiseVjp, StepsHaveGradientsOfZeros) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({2}, {1.2, -2.7}), y = c.input({2}, {0.3, 4.1});
    for (const char *name : {"sign", "sgn", "ceil", "floor", "round", "trunc"})
      x = c.b.call((llvm::Twine("aten.") + name + ".default").str(), {x});
    x = c.b.call("aten.round.decimals", {x}, {{"decimals", 1}});
    x = c.b.call("aten.angle.default", {x});
    c.output(
        c.b.call("aten.div.Tensor_mode", {x, y}, {{"rounding_mode", "floor"}}));
  });
  EXPECT_EQ(gradients, (std::vector<std::vector<double>>{{0, 0}, {0, 0}}));
}

// Finite differences see no steps between neighbours.
TEST(PointwiseVjp, AStepToTheNextNumberMovesWithIt) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({3}, {1, 2, -3}), to = c.input({3}, {4, 2, -4});
    c.output(c.b.call("aten.nextafter.default", {x, to}));
  });
  EXPECT_EQ(gradients,
            (std::vector<std::vector<double>>{{1, 0, 1}, {0, 0, 0}}));
}

TEST(PointwiseVjp, BroadcastDimensionsAreSummed) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({2, 1, 3}), y = c.input({4, 1}), z = c.input({});
        c.output(c.b.call("aten.mul.Tensor", {x, y}));
        c.output(c.b.call("aten.add.Tensor", {z, x}));
        c.output(c.b.call("aten.mul.Tensor", {y, z}));
      },
      {/*dynamic=*/false});
}

TEST(PointwiseVjp, ANumberMayStandForATensor) {
  checkVjp([](VjpCheck &c) {
    Value x = c.positive({2, 3});
    c.output(c.b.call("aten.mul.Tensor", {x, 0.3}));
    c.output(c.b.call("aten.div.Tensor", {0.3, x}));
    c.output(c.b.call("aten.sub.Tensor", {2, x}));
  });
}

TEST(PointwiseVjp, Selection) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3}), y = c.input({3}), number = c.input({});
    Value mask = c.mask({2, 3}, {1, 0, 1, 0, 0, 1});
    c.output(c.b.call("aten.where.self", {mask, x, y}));
    c.output(c.b.call("aten.where.ScalarOther", {mask, x, 0.3}));
    c.output(c.b.call("aten.where.ScalarSelf", {mask, 0.3, y}));
    c.output(c.b.call("aten.masked_fill.Scalar", {x, mask, 0.3}));
    c.output(c.b.call("aten.masked_fill.Tensor", {x, mask, number}));
    c.output(c.b.call("aten.fill.Tensor", {x, number}));
    c.output(c.b.call("aten.fill.Scalar", {x, 0.5}));
    c.output(c.b.call("aten.zero.default", {x}));
  });
}

TEST(PointwiseVjp, ComplexNumbers) {
  checkVjp([](VjpCheck &c) {
    Value x = c.complexInput({2, 2}), y = c.complexInput({2, 2});
    c.output(c.b.call("aten.mul.Tensor", {x, y}));
    c.output(c.b.call("aten.add.Tensor", {x, y}, {{"alpha", 0.3}}));
    c.output(c.b.call("aten.polar.default", {c.input({3}), c.input({3})}));
    for (double exponent : {0., 1., 2., 3.})
      c.output(c.b.call("aten.pow.Tensor_Scalar", {x, exponent}));
  });
}

TEST(PointwiseVjp, GradientsOfOtherTypesAreCastBack) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.input({2});
    Value y = c.b.call("aten._to_copy.default", {x}, {{"dtype", c.b.f32()}});
    c.output(
        c.b.call("aten.mul.Tensor", {y, c.b.call("aten.exp.default", {x})}));
  });
  EXPECT_NE(text.find("dtype = f32) : (tensor<2xf64>)"), std::string::npos);
  EXPECT_NE(text.find("dtype = f64) : (tensor<2xf32>)"), std::string::npos)
      << text;
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

TEST(PointwiseVjp, OnlyTheResultIsRead) {
  for (const char *name : {"exp", "tanh", "sigmoid", "sqrt", "rsqrt", "relu"}) {
    std::string text = backwardOf([&](VjpCheck &c) {
      Value x = c.b.call("aten.neg.default", {c.input({2})});
      c.output(c.b.call("aten." + std::string(name) + ".default", {x}));
    });
    // %0 is the negative, %1 the result.
    size_t backward = text.find("aten." + std::string(name));
    EXPECT_EQ(text.find("%0", text.find('\n', backward)), std::string::npos)
        << text;
  }
}

TEST(PointwiseVjp, AProductReadsTheOtherFactorOnlyIfItIsAskedFor) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten.neg.default", {c.input({2})});
    Value y = c.b.call("aten.exp.default", {c.constant({2}, {1, 2})});
    c.output(c.b.call("aten.mul.Tensor", {x, y}));
  });
  size_t backward = text.find('\n', text.find("aten.mul.Tensor"));
  EXPECT_EQ(text.find("%0", backward), std::string::npos) << text;
  EXPECT_NE(text.find("%1", backward), std::string::npos) << text;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(PointwiseVjp, ComplexNumbersAreRefusedWithoutARule) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              c.output(c.b.call("aten.tan.default", {c.complexInput({2})}));
            }),
            "no rule for the gradient of a complex tensor");
}

TEST(PointwiseVjp, AnExponentMustBeANumber) {
  EXPECT_EQ(
      errorOf([](VjpCheck &c) {
        Value size = c.b.call("aten.sym_size.int", {c.unknownSizes({2}), 0});
        c.output(c.b.call("aten.pow.Tensor_Scalar", {c.positive({2}), size}));
      }),
      "the exponent of a power that is differentiated is no number");
}

static void backwardWithBound(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({3}), c.positive({3}), 0.5}));
}
static void linearBackward(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({3}), c.constant({3}, {-1, 0.5, 2})}));
}

TEST(PointwiseVjp, SecondDerivatives) {
  checkCases({{"aten.sigmoid_backward.default", positivePair},
              {"aten.tanh_backward.default", positivePair},
              {"aten.threshold_backward.default", backwardWithBound},
              {"aten.hardshrink_backward.default", backwardWithBound},
              {"aten.softshrink_backward.default", backwardWithBound},
              {"aten.hardsigmoid_backward.default", pair},
              {"aten.hardswish_backward.default", linearBackward},
              {"aten.gelu_backward.default", linearBackward},
              {"aten.silu_backward.default", linearBackward},
              {"aten.mish_backward.default", linearBackward}});
  checkVjp([](VjpCheck &c) {
    Value g = c.input({3}), x = c.constant({3}, {-1, 0.5, 2});
    c.output(c.b.call("aten.hardtanh_backward.default", {g, x, -0.5, 0.5}));
    c.output(c.b.call("aten.leaky_relu_backward.default", {g, x, 0.2, false}));
    c.output(c.b.call("aten.gelu_backward.default", {g, x},
                      {{"approximate", "tanh"}}));
    c.output(c.b.call("aten.softplus_backward.default", {g, x, 1, 20}));
    c.output(c.b.call("aten.elu_backward.default", {g, 1, 1, 1, false, x}));
  });
}

// Functions of complex numbers have the conjugate of their slope.
TEST(PointwiseVjp, FunctionsOfComplexNumbers) {
  for (const char *name :
       {"exp",           "exp2",  "expm1", "log",   "log2",
        "log10",         "log1p", "sqrt",  "rsqrt", "reciprocal",
        "square",        "sin",   "cos",   "sinh",  "cosh",
        "abs",           "angle", "conj",  "_conj", "conj_physical",
        "_conj_physical"}) {
    SCOPED_TRACE(name);
    checkVjp([name](VjpCheck &c) {
      c.output(c.b.call(("aten." + std::string(name) + ".default"),
                        {c.complexInput({3})}));
    });
  }
  checkVjp([](VjpCheck &c) {
    c.output(c.b.call("aten.linalg_vector_norm.default",
                      {c.complexInput({2, 3}), 2.0, {1}}));
  });
}

TEST(PointwiseVjp, GammaAndBesselFunctions) {
  checkVjp([](VjpCheck &c) {
    Value x = c.b.call("aten.add.Scalar", {c.positive({2, 3}), 0.5});
    c.output(c.b.call("aten.digamma.default", {x}));
    c.output(c.b.call("aten.polygamma.default", {1, x}));
    c.output(c.b.call("aten.polygamma.default", {2, x}));
    Value y = c.input({5});
    c.output(c.b.call("aten.special_i0e.default", {y}));
    c.output(c.b.call("aten.special_i1e.default", {y}));
  });
}

TEST(PointwiseVjp, MantissasScaleTheirGradient) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({5}, {-3.3, 0.7, 1.2, 5.0, -0.05});
    c.output(c.b.callMany("aten.frexp.Tensor", {x})[0]);
  });
}
