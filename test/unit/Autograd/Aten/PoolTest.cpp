// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(PoolVjp, Maxima) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 5, 6});
    c.output(c.b.callMany("aten.max_pool2d_with_indices.default",
                          {x, {3, 2}, {2, 1}, {1, 1}, {1, 2}, true})[0]);
    c.output(c.b.callMany("aten.max_pool2d_with_indices.default", {x, 2})[0]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 1, 4, 3, 4});
    c.output(c.b.callMany("aten.max_pool3d_with_indices.default",
                          {x, {2, 2, 2}, {1, 1, 2}})[0]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 2, 7});
    c.output(
        c.b.callMany("aten.max_pool1d_with_indices.default", {x, 3, 2, 1})[0]);
  });
}

TEST(PoolVjp, MaximaOfRandomWindows) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 5, 6});
    Value samples = c.constant({1, 2, 2}, {0.1, 0.8, 0.4, 0.6});
    c.output(c.b.callMany("aten.fractional_max_pool2d.default",
                          {x, {2, 2}, {2, 3}, samples})[0]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 4, 3, 4});
    Value samples = c.constant({1, 1, 3}, {0.1, 0.8, 0.4});
    auto y = c.b.callMany("aten.fractional_max_pool3d.default",
                          {x, {2, 2, 2}, {2, 1, 2}, samples});
    c.output(y[0]);
    Value g = c.input({1, 2, 1, 2});
    c.output(c.b.call("aten.fractional_max_pool3d_backward.default",
                      {g, x, {2, 2, 2}, {2, 1, 2}, y[1]}));
  });
}

TEST(PoolVjp, Averages) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 5, 6});
    c.output(c.b.call("aten.avg_pool2d.default", {x, {2, 3}}));
    c.output(c.b.call("aten.avg_pool2d.default",
                      {x, {3, 3}, {2, 2}, {1, 1}, true, false}));
    c.output(c.b.call("aten.avg_pool2d.default",
                      {x, {3, 3}, {2, 2}, {1, 1}, false, true, 5}));
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 4, 3, 4});
    c.output(c.b.call("aten.avg_pool3d.default", {x, {2, 2, 2}, {1, 1, 2}}));
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 2, 7});
    c.output(c.b.call("aten.avg_pool1d.default", {x, 3, 2, 1, true, false}));
    c.output(c.b.call("aten.avg_pool1d.default", {x, 2}));
  });
}

TEST(PoolVjp, WindowsFromTheSizes) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 5, 7});
    c.output(c.b.call("aten._adaptive_avg_pool2d.default", {x, {3, 2}}));
    c.output(c.b.call("aten.adaptive_avg_pool2d.default", {x, {1, 1}}));
    c.output(c.b.callMany("aten.adaptive_max_pool2d.default", {x, {2, 3}})[0]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({1, 2, 3, 4, 3});
    c.output(c.b.call("aten._adaptive_avg_pool3d.default", {x, {2, 2, 1}}));
    c.output(
        c.b.callMany("aten.adaptive_max_pool3d.default", {x, {2, 2, 2}})[0]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 2, 7});
    c.output(c.b.call("aten.adaptive_avg_pool1d.default", {x, 3}));
    c.output(c.b.callMany("aten.adaptive_max_pool1d.default", {x, 3})[0]);
  });
}

TEST(PoolVjp, OnlyTheShapeOfTheInputIsRead) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten.mul.Tensor", {c.input({1, 1, 4, 4}), 2.0});
    c.output(c.b.call("aten.avg_pool2d.default", {x, {2, 2}}));
  });
  EXPECT_NE(text.find("aten.expand(%full, [1, 1, 4, 4])"), std::string::npos)
      << text;
}
