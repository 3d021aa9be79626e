// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

using Lists = std::vector<std::vector<double>>;

static void expectNear(const Lists &ours, const Lists &theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].size(), theirs[i].size());
    for (size_t j = 0; j < ours[i].size(); ++j)
      EXPECT_NEAR(ours[i][j], theirs[i][j], 1e-6) << i << " " << j;
  }
}

// Values of torch 2.13: inside of the range, outside, and on its ends.
static Value sixElements(VjpCheck &c) {
  return c.input({6}, {-3, -0.26, 0.1, 0.25, 0.35, 5});
}

TEST(QuantizationVjp, PassesInsideOfTheRange) {
  expectNear(gradientsOf([](VjpCheck &c) {
               c.output(c.b.callMany(
                   "aten.fake_quantize_per_tensor_affine_cachemask.default",
                   {sixElements(c), 0.1, 1, -8, 7})[0]);
             }),
             {{0, 1, 1, 1, 1, 0}});
}

TEST(QuantizationVjp, LearnedGrids) {
  // 0.5 is added to the zero point of all elements before it is cut.
  for (auto [zero, ofAll, ofEach] :
       {std::tuple(1.3, -1.7, -1.7), std::tuple(-1.3, -0.7, 0.3),
        std::tuple(-2.6, 1.3, 2.3)}) {
    expectNear(
        gradientsOf([zero = zero](VjpCheck &c) {
          Value x = sixElements(c);
          c.output(c.b.call(
              "aten._fake_quantize_learnable_per_tensor_affine.default",
              {x, c.input({1}, {0.1}), c.input({1}, {zero}), -8, 7, 0.5}));
        }),
        {{0, 1, 1, 1, 1, 0}, {ofAll}, {-0.1}});
    expectNear(
        gradientsOf([zero = zero](VjpCheck &c) {
          Value x = sixElements(c);
          x = c.b.call("aten.view.default", {x, ArrayRef<int64_t>{1, 6}});
          c.output(c.b.call(
              "aten._fake_quantize_learnable_per_channel_affine.default",
              {x, c.input({1}, {0.1}), c.input({1}, {zero}), 0, -8, 7, 0.5}));
        }),
        {{0, 1, 1, 1, 1, 0}, {ofEach}, {-0.1}});
  }
}
