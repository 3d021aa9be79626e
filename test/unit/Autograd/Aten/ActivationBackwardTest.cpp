// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Second derivatives of activation functions: gradients of their backward ops,
// in the gradient and in what the op bends by.

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(ActivationBackwardVjp, SmoothFunctions) {
  checkVjp([](VjpCheck &c) {
    Value g = c.input({3, 4}), x = c.input({3, 4});
    for (const char *name : {"sigmoid", "tanh", "silu", "mish", "gelu"})
      c.output(
          c.b.call("aten." + std::string(name) + "_backward.default", {g, x}));
    c.output(c.b.call("aten.gelu_backward.default", {g, x},
                      {{"approximate", "tanh"}}));
    c.output(c.b.call("aten.log_sigmoid_backward.default",
                      {g, x, c.constant({0}, {})}));
  });
}

TEST(ActivationBackwardVjp, FunctionsOfParts) {
  checkVjp([](VjpCheck &c) {
    Value g = c.input({3, 4}), x = c.input({3, 4});
    Value wide = c.b.call("aten.mul.Scalar", {x, 2.5});
    c.output(c.b.call("aten.hardswish_backward.default", {g, wide}));
    c.output(
        c.b.call("aten.elu_backward.default", {g, 0.7, 1.2, 0.9, false, x}));
    c.output(
        c.b.call("aten.elu_backward.default", {g, 0.7, 1.2, 0.9, true, x}));
    c.output(c.b.call("aten.softplus_backward.default", {g, wide, 2, 3}));
  });
}

// A large element is on the straight part, and not an infinity times zero.
TEST(ActivationBackwardVjp, LargeElementsOfElu) {
  auto lists = gradientsOf([](VjpCheck &c) {
    Value g = c.constant({2}, {1, 1}), x = c.input({2}, {800, -1});
    c.output(c.b.call("aten.elu_backward.default", {g, 1, 1, 1, false, x}));
  });
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0][0], 0.0);
  EXPECT_NEAR(lists[0][1], std::exp(-1.0), 1e-12);
}

TEST(ActivationBackwardVjp, LogitWithinItsBounds) {
  checkVjp([](VjpCheck &c) {
    Value g = c.input({5});
    Value x = c.input({5}, {0.2, 0.3, 0.45, 0.7, 0.8});
    c.output(c.b.call("aten.logit_backward.default", {g, x}));
    c.output(c.b.call("aten.logit_backward.default", {g, x, 0.25}));
  });
}

TEST(ActivationBackwardVjp, SeveralOperands) {
  checkVjp([](VjpCheck &c) {
    c.output(c.b.call("aten.glu_backward.default",
                      {c.input({2, 3}), c.input({2, 6}), -1}));
    SmallVector<Value> gradients =
        c.b.callMany("aten._prelu_kernel_backward.default",
                     {c.input({2, 3}), c.input({2, 3}), c.input({2, 3})});
    for (Value gradient : gradients)
      c.output(gradient);
  });
}

TEST(ActivationBackwardVjp, OneGradientOfPrelu) {
  checkVjp([](VjpCheck &c) {
    SmallVector<Value> gradients =
        c.b.callMany("aten._prelu_kernel_backward.default",
                     {c.input({4}), c.input({4}), c.input({4})});
    if (!gradients.empty())
      c.output(gradients[1]);
  });
}
