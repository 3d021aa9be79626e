// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(ScanVjp, AllKinds) {
  for (int dim : {0, -1})
    checkVjp([dim](VjpCheck &c) {
      Value x = c.input({3, 4});
      c.output(c.b.call("aten.cumsum.default", {x, dim}));
      c.output(c.b.call("aten.cumprod.default", {x, dim}));
      c.output(c.b.call("aten.logcumsumexp.default", {x, dim}));
    });
}

TEST(ScanVjp, OneNumber) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({});
    c.output(c.b.call("aten.cumsum.default", {x, 0}));
    c.output(c.b.call("aten.cumprod.default", {x, 0}));
    c.output(c.b.call("aten.logcumsumexp.default", {x, 0}));
  });
}

TEST(ScanVjp, ProductsWithZeros) {
  checkVjp([](VjpCheck &c) {
    // None, one in front, one in the middle, two, at the end.
    Value x = c.input(
        {5, 4}, {1, 2, 3, 4, 0, 2, 3, 4, 2, 0, 3, 4, 2, 0, 3, 0, 1, 2, 3, 0});
    c.output(c.b.call("aten.cumprod.default", {x, 1}));
    c.output(c.b.call("aten.cumprod.default", {x, 0}));
  });
}

TEST(ScanVjp, ProductsOfComplexNumbers) {
  checkVjp([](VjpCheck &c) {
    c.output(c.b.call("aten.cumprod.default", {c.complexInput({2, 4}), 1}));
  });
}

TEST(ScanVjp, NothingOverflows) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({3}, {1000, 0, 1000});
    c.output(c.b.call("aten.logcumsumexp.default", {x, 0}));
  });
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_NEAR(gradients[0][0], 2.5, 1e-12);
  EXPECT_NEAR(gradients[0][1], 0, 1e-12);
  EXPECT_NEAR(gradients[0][2], 0.5, 1e-12);
}
