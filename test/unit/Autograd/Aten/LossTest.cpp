// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(LossVjp, LossesOfADifference) {
  for (int reduction : {0, 1, 2})
    checkVjp([reduction](VjpCheck &c) {
      Value x = c.input({2, 3}), y = c.input({2, 3});
      c.output(c.b.call("aten.mse_loss.default", {x, y, reduction}));
      c.output(c.b.call("aten.l1_loss.default", {x, y, reduction}));
      c.output(c.b.call("aten.smooth_l1_loss.default", {x, y, reduction, 0.7}));
      c.output(c.b.call("aten.huber_loss.default", {x, y, reduction, 0.7}));
    });
}

TEST(LossVjp, CrossEntropyOfProbabilities) {
  for (int reduction : {0, 1, 2})
    for (bool hasWeight : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value x = c.positive({2, 3}), y = c.positive({2, 3});
        Value weight = c.constant({3}, {0.5, 2, 1});
        c.output(c.b.call("aten.binary_cross_entropy.default",
                          {x, y, hasWeight ? Arg(weight) : Arg(), reduction}));
      });
}

TEST(LossVjp, CrossEntropyOfLogits) {
  for (int reduction : {0, 1, 2})
    for (bool hasWeight : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value x = c.input({2, 3}), y = c.positive({2, 3});
        Value weight = c.constant({3}, {0.5, 2, 1});
        Arg weights = hasWeight ? Arg(weight) : Arg();
        c.output(c.b.call("aten.binary_cross_entropy_with_logits.default",
                          {x, y, weights, Arg(), reduction}));
        c.output(c.b.call("aten.binary_cross_entropy_with_logits.default",
                          {x, y, weights, c.positive({3}), reduction}));
      });
}

TEST(LossVjp, DivergenceAndSoftMargin) {
  for (int reduction : {0, 1, 2})
    checkVjp([=](VjpCheck &c) {
      Value x = c.input({2, 3}), y = c.positive({2, 3});
      c.output(c.b.call("aten.kl_div.default", {x, y, reduction}));
      c.output(c.b.call("aten.kl_div.default", {x, y, reduction},
                        {{"log_target", true}}));
      c.output(c.b.call("aten.soft_margin_loss.default", {x, y, reduction}));
    });
}

TEST(LossVjp, ClassNumbers) {
  for (int reduction : {0, 1, 2})
    for (bool hasWeight : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value x = c.input({4, 3});
        Value target = c.indices({4}, {2, 0, -100, 1});
        Value weight = c.constant({3}, {0.5, 2, 1});
        Arg weights = hasWeight ? Arg(weight) : Arg();
        c.output(c.b.callMany("aten.nll_loss_forward.default",
                              {x, target, weights, reduction, -100})[0]);
        c.output(c.b.callMany(
            "aten.nll_loss_forward.default",
            {x, c.indices({4}, {0, 1, 0, 2}), weights, reduction, 0})[0]);
      });
}

TEST(LossVjp, ClassNumbersOfAnImage) {
  for (int reduction : {0, 1, 2})
    checkVjp([=](VjpCheck &c) {
      Value x = c.input({2, 3, 1, 2});
      Value target = c.indices({2, 1, 2}, {2, 0, 5, 1});
      Value weight = c.constant({3}, {0.5, 2, 1});
      c.output(c.b.callMany("aten.nll_loss2d_forward.default",
                            {x, target, weight, reduction, 5})[0]);
    });
}

TEST(LossVjp, TheLogProbabilitiesAreNotRead) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten.mul.Tensor", {c.input({2, 3}), 2.0});
    Value target = c.indices({2}, {2, 0});
    c.output(c.b.callMany("aten.nll_loss_forward.default",
                          {x, target, Arg(), 1, -100})[0]);
  });
  EXPECT_NE(text.find("aten.expand(%full, [2, 3])"), std::string::npos) << text;
}

// torch 2.13: binary_cross_entropy(x, [0, 1, .5, 0], reduction="sum").
TEST(LossVjp, ProbabilitiesAtTheEdges) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({4}, {0, 1, 0.5, 0.25});
    Value y = c.constant({4}, {0, 1, 0.5, 0});
    c.output(c.b.call("aten.binary_cross_entropy.default", {x, y, Arg(), 2}));
  });
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0][0], 0);
  EXPECT_EQ(gradients[0][1], 0);
  EXPECT_EQ(gradients[0][2], 0);
  EXPECT_NEAR(gradients[0][3], 4.0 / 3, 1e-12);
}

// The kinks, as in torch 2.13: the difference 0, and |difference| = beta.
TEST(LossVjp, Kinks) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({3}, {1, 2, 0});
    Value y = c.constant({3}, {1, 1, 1});
    c.output(c.b.call("aten.l1_loss.default", {x, y, 2}));
    c.output(c.b.call("aten.smooth_l1_loss.default", {x, y, 2, 1.0}));
    c.output(c.b.call("aten.huber_loss.default", {x, y, 2, 1.0}));
  });
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0], std::vector<double>({0, 3, -3}));
}

// PyTorch's gradient takes for granted that a log-softmax stands in front.
TEST(LossVjp, AlignmentsOfLabels) {
  for (bool flat : {false, true})
    checkVjp([flat](VjpCheck &c) {
      Value x =
          c.b.call("aten._log_softmax.default", {c.input({5, 2, 4}), 2, false});
      Value labels =
          flat ? c.indices({3}, {1, 1, 3}) : c.indices({2, 2}, {1, 1, 3, 2});
      c.output(c.b.callMany("aten._ctc_loss.default",
                            {x, labels, {5, 4}, {2, 1}})[0]);
      c.output(c.b.callMany(
          "aten._ctc_loss.Tensor",
          {x, labels, c.indices({2}, {5, 4}), c.indices({2}, {2, 1})})[0]);
    });
}

TEST(LossVjp, ATargetThatStandsForSeveralInputs) {
  for (int reduction : {0, 1, 2})
    checkVjp([=](VjpCheck &c) {
      Value x = c.input({2, 3}), y = c.positive({3});
      c.output(c.b.call("aten.kl_div.default", {x, y, reduction}));
      c.output(c.b.call("aten.kl_div.default", {y, x, reduction},
                        {{"log_target", true}}));
    });
}
