// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(SoftmaxVjp, SoftmaxAndItsLogarithm) {
  for (int dim : {-1, 0, 1})
    checkVjp([dim](VjpCheck &c) {
      Value x = c.input({2, 3, 2});
      c.output(c.b.call("aten._softmax.default", {x, dim, false}));
      c.output(c.b.call("aten._log_softmax.default", {x, dim, false}));
      c.output(c.b.call("aten._safe_softmax.default", {x, dim}));
    });
}

TEST(SoftmaxVjp, AnEmptyRowOfSafeSoftmaxHasNoGradient) {
  double none = -INFINITY;
  auto gradients = gradientsOf([&](VjpCheck &c) {
    Value x = c.input({2, 2}, {none, none, 0.5, none});
    Value y = c.b.call("aten._safe_softmax.default", {x, -1});
    c.output(
        c.b.call("aten.mul.Tensor", {y, c.constant({2, 2}, {1, 2, 3, 4})}));
  });
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0], std::vector<double>({0, 0, 0, 0}));
}

TEST(SoftmaxVjp, TheGradientHasTheTypeBeforeWidening) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({2, 3});
        Value narrow = c.b.call("aten._to_copy.default", {x},
                                {{"dtype", c.b.getBuilder().getF16Type()}});
        Value y = c.b.call("aten._softmax.default", {narrow, -1, true});
        c.output(c.b.call("aten._to_copy.default", {y},
                          {{"dtype", c.b.getBuilder().getF64Type()}}));
      },
      {/*dynamic=*/true, /*differences=*/false});
}
