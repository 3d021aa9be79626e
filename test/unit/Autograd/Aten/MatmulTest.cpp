// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(MatmulVjp, Mm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3}), y = c.input({3, 4});
    c.output(c.b.call("aten.mm.default", {x, y}));
  });
}

TEST(MatmulVjp, MmOfComplexNumbersConjugatesTheFactors) {
  checkVjp([](VjpCheck &c) {
    Value x = c.complexInput({2, 3}), y = c.complexInput({3, 2});
    c.output(c.b.call("aten.mm.default", {x, y}));
  });
}

TEST(MatmulVjp, AddmmWithBroadcastBiasAndFactors) {
  checkVjp([](VjpCheck &c) {
    Value bias = c.input({4}), x = c.input({2, 3}), y = c.input({3, 4});
    c.output(c.b.call("aten.addmm.default", {bias, x, y}));
    c.output(c.b.call("aten.addmm.default", {bias, x, y},
                      {{"beta", 0.5}, {"alpha", -3}}));
  });
}

TEST(MatmulVjp, BmmAndBaddbmm) {
  checkVjp([](VjpCheck &c) {
    Value bias = c.input({2, 2, 4}), x = c.input({2, 2, 3}),
          y = c.input({2, 3, 4});
    c.output(c.b.call("aten.bmm.default", {x, y}));
    c.output(c.b.call("aten.baddbmm.default", {bias, x, y},
                      {{"beta", 2}, {"alpha", 0.25}}));
  });
}

TEST(MatmulVjp, MatricesAndVectors) {
  checkVjp([](VjpCheck &c) {
    Value matrix = c.input({2, 3}), vector = c.input({3}), other = c.input({2});
    c.output(c.b.call("aten.mv.default", {matrix, vector}));
    c.output(c.b.call("aten.addmv.default", {other, matrix, vector},
                      {{"beta", 3}, {"alpha", 0.5}}));
    c.output(c.b.call("aten.outer.default", {other, vector}));
  });
}

TEST(MatmulVjp, DotProducts) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({5}), y = c.input({5});
    c.output(c.b.call("aten.dot.default", {x, y}));
    c.output(c.b.call("aten.vdot.default", {x, y}));
  });
}

TEST(MatmulVjp, DotProductsOfComplexNumbers) {
  checkVjp([](VjpCheck &c) {
    Value x = c.complexInput({3}), y = c.complexInput({3});
    c.output(c.b.call("aten.dot.default", {x, y}));
    c.output(c.b.call("aten.vdot.default", {x, y}));
  });
}

TEST(MatmulVjp, GroupedProductsInAllForms) {
  auto check = [](ArrayRef<int64_t> left, ArrayRef<int64_t> right, bool isCut) {
    checkVjp([&](VjpCheck &c) {
      Value x = c.input(left), y = c.input(right);
      Arg offsets;
      if (isCut)
        offsets =
            Arg(c.b.call("aten._to_copy.default", {c.indices({3}, {2, 2, 6})},
                         {{"dtype", c.b.getBuilder().getI32Type()}}));
      c.output(c.b.call("aten._grouped_mm.default", {x, y, offsets}));
    });
  };
  check({6, 2}, {3, 2, 4}, true);     // rows
  check({3, 2, 4}, {4, 6}, true);     // columns
  check({2, 6}, {6, 3}, true);        // inner
  check({3, 2, 4}, {3, 4, 2}, false); // batch
}

TEST(MatmulVjp, GroupedProductHasNoGradientForItsBias) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              Value x = c.constant({2, 2}, {1, 2, 3, 4});
              Value y = c.constant({1, 2, 2}, {1, 2, 3, 4});
              Value offsets =
                  c.b.call("aten._to_copy.default", {c.indices({1}, {2})},
                           {{"dtype", c.b.getBuilder().getI32Type()}});
              c.output(c.b.call("aten._grouped_mm.default",
                                {x, y, offsets, c.input({1, 2})}));
            }),
            "'aten._grouped_mm.default' has no gradient for its bias");
}

TEST(MatmulVjp, EachFactorReadsOnlyTheOther) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.input({2, 3});
    Value y = c.constant({3, 2}, {1, 2, 3, 4, 5, 6});
    Value twice = c.b.call("aten.mul.Tensor", {x, 2.0});
    c.output(c.b.call("aten.mm.default", {twice, y}));
  });
  // The product, the transposed constant, and the gradient's product.
  size_t backward = text.find("aten.permute");
  ASSERT_NE(backward, std::string::npos) << text;
  EXPECT_EQ(text.find("%mul,", backward), std::string::npos) << text;
}

TEST(MatmulVjp, Distances) {
  for (double p : {1.0, 1.5, 2.0, 3.0, double(INFINITY)})
    checkVjp([p](VjpCheck &c) {
      Value x = c.input({2, 3, 2}), y = c.input({2, 4, 2});
      c.output(c.b.call("aten._cdist_forward.default", {x, y, p, Arg()}));
    });
}

TEST(MatmulVjp, GroupsOfRows) {
  checkVjp([](VjpCheck &c) {
    Value ends = c.indices({3}, {2, 2, 4});
    c.output(c.b.call("transformers.grouped_mm_fallback.default",
                      {c.input({5, 2}), c.input({3, 2, 4}), ends}));
  });
}

TEST(MatmulVjp, DistancesOfBatchesThatBroadcast) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({2, 3, 2}), y = c.input({2, 2}),
              z = c.input({1, 2, 2});
        c.output(c.b.call("aten._cdist_forward.default", {x, y, 2.0, Arg()}));
        c.output(c.b.call("aten._cdist_forward.default", {z, x, 1.0, Arg()}));
      },
      {/*dynamic=*/false});
}
