// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

namespace {
struct Shape {
  SmallVector<int64_t> input, weight, stride, padding, dilation;
  bool transposed = false;
  SmallVector<int64_t> outputPadding;
  int64_t groups = 1;
};
} // namespace

static Value convolve(VjpCheck &c, const Shape &s, Value x, Value w,
                      Value bias) {
  return c.b.call("aten.convolution.default",
                  {x, w, bias, s.stride, s.padding, s.dilation, s.transposed,
                   s.outputPadding, s.groups});
}

TEST(ConvolutionVjp, AllKindsOfConvolution) {
  const Shape shapes[] = {
      {{2, 2, 7}, {3, 2, 3}, {2}, {1}, {1}, false, {0}, 1},
      {{1, 4, 5, 6}, {4, 2, 3, 2}, {1, 2}, {1, 0}, {2, 1}, false, {0, 0}, 2},
      {{1, 3, 4, 4}, {3, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 3},
      {{1, 1, 3, 3, 3},
       {2, 1, 2, 2, 2},
       {1, 1, 1},
       {0, 1, 0},
       {1, 1, 1},
       false,
       {0, 0, 0},
       1},
      {{1, 4, 3, 3}, {4, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}, true, {1, 0}, 2},
  };
  for (const Shape &s : shapes)
    checkVjp([&](VjpCheck &c) {
      Value x = c.input(s.input), w = c.input(s.weight);
      int64_t channels = s.transposed ? s.weight[1] * s.groups : s.weight[0];
      c.output(convolve(c, s, x, w, c.input({channels})));
      c.output(convolve(c, s, x, w, Value()));
    });
}

TEST(ConvolutionVjp, AGradientThatIsNotAskedForReadsNothing) {
  const Shape s = {{1, 2, 4}, {2, 2, 3}, {1}, {0}, {1}, false, {0}, 1};
  std::string text = backwardOf([&](VjpCheck &c) {
    Value x = c.b.call("aten.exp.default",
                       {c.constant(s.input, {1, 2, 3, 4, 5, 6, 7, 8})});
    Value scale = c.input({1});
    Value scaled = c.b.call("aten.mul.Tensor", {x, scale});
    Value w = c.constant(s.weight, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3});
    c.output(convolve(c, s, scaled, w, Value()));
  });
  // A placeholder instead of %mul.
  EXPECT_NE(text.find("aten.expand(%full, [1, 2, 4])"), std::string::npos)
      << text;
  EXPECT_NE(text.find("[true, false, false]"), std::string::npos) << text;
}

TEST(ConvolutionVjp, WindowsAndBlocks) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 4, 5});
    c.output(
        c.b.call("aten.im2col.default", {x, {2, 3}, {1, 1}, {1, 0}, {2, 1}}));
    Value columns = c.input({1, 8, 9});
    c.output(c.b.call("aten.col2im.default",
                      {columns, {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}}));
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 8, 2, 4});
    c.output(c.b.call("aten.pixel_shuffle.default", {x, 2}));
    c.output(c.b.call("aten.pixel_unshuffle.default", {x, 2}));
    c.output(c.b.call("aten.native_channel_shuffle.default", {x, 2}));
  });
}
