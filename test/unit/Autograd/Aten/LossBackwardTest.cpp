// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Second derivatives of losses of two classes.

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(LossBackwardVjp, BinaryCrossEntropy) {
  for (int64_t reduction : {0, 1, 2})
    checkVjp([&](VjpCheck &c) {
      Value g = reduction ? c.input({}) : c.input({2, 3});
      Value x = c.positive({2, 3}), t = c.positive({2, 3});
      c.output(c.b.call("aten.binary_cross_entropy_backward.default",
                        {g, x, t, Arg(), reduction}));
      Value weight = c.constant({2, 3}, {1, 2, 3, 4, 5, 6});
      c.output(c.b.call("aten.binary_cross_entropy_backward.default",
                        {g, x, t, weight, reduction}));
    });
}

TEST(LossBackwardVjp, SoftMargin) {
  for (int64_t reduction : {0, 1, 2})
    checkVjp([&](VjpCheck &c) {
      Value g = reduction ? c.input({}) : c.input({2, 3});
      c.output(c.b.call("aten.soft_margin_loss_backward.default",
                        {g, c.input({2, 3}), c.input({2, 3}), reduction}));
    });
}
