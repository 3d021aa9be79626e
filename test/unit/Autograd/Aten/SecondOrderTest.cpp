// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backward ops as parts of a program that is differentiated.

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(SecondOrderVjp, Pooling) {
  checkVjp([](VjpCheck &c) {
    Value x = c.constant({1, 1, 4, 4}, std::vector<double>(16, 1.0));
    Value g = c.input({1, 1, 2, 2});
    c.output(c.b.call("aten.avg_pool2d_backward.default",
                      {g, x, {2, 2}, {2, 2}, {0, 0}, false, true, Arg()}));
    c.output(c.b.call("aten._adaptive_avg_pool2d_backward.default", {g, x}));
    c.output(c.b.call("aten.max_pool2d_with_indices_backward.default",
                      {g,
                       x,
                       {2, 2},
                       {2, 2},
                       {0, 0},
                       {1, 1},
                       false,
                       c.indices({1, 1, 2, 2}, {1, 2, 13, 15})}));
  });
}

TEST(SecondOrderVjp, ResamplingAndPadding) {
  checkVjp([](VjpCheck &c) {
    Value g = c.input({1, 1, 4, 6});
    c.output(c.b.call("aten.upsample_bilinear2d_backward.default",
                      {g, {4, 6}, {1, 1, 2, 3}, true}));
    c.output(c.b.call("aten.upsample_nearest2d_backward.default",
                      {g, {4, 6}, {1, 1, 2, 3}, 2.0, 2.0}));
    Value x = c.constant({1, 1, 2, 4}, std::vector<double>(8, 1.0));
    c.output(c.b.call("aten.replication_pad2d_backward.default",
                      {g, x, {1, 1, 1, 1}}));
  });
}

TEST(SecondOrderVjp, ClassNumbersAndRows) {
  checkVjp([](VjpCheck &c) {
    Value table = c.indices({3}, {2, 0, 2});
    c.output(c.b.call("aten.embedding_dense_backward.default",
                      {c.input({3, 2}), table, 4, 0, false}));
    Value x = c.constant({3, 3}, std::vector<double>(9, 1.0));
    Value total = c.constant({}, {2});
    c.output(c.b.call("aten.nll_loss_backward.default",
                      {c.input({}), x, table, Arg(), 1, 0, total}));
  });
}

TEST(SecondOrderVjp, AnEmbeddingThatIsScaledByFrequencyHasNone) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              c.output(c.b.call(
                  "aten.embedding_dense_backward.default",
                  {c.input({2, 2}), c.indices({2}, {0, 0}), 3, -1, true}));
            }),
            "no gradient of the gradient of an embedding that is scaled by "
            "frequency");
}

TEST(SecondOrderVjp, Softmax) {
  checkVjp([](VjpCheck &c) {
    Value g = c.input({2, 3}), y = c.input({2, 3});
    Type type = c.b.getBuilder().getF64Type();
    c.output(c.b.call("aten._softmax_backward_data.default", {g, y, -1, type}));
    c.output(
        c.b.call("aten._log_softmax_backward_data.default", {g, y, 0, type}));
  });
}

TEST(SecondOrderVjp, LossesOfADifference) {
  for (int reduction : {0, 1, 2})
    checkVjp([reduction](VjpCheck &c) {
      Value x = c.input({2, 3}), y = c.input({2, 3});
      Value g = reduction == 0 ? c.input({2, 3}) : c.input({});
      c.output(
          c.b.call("aten.mse_loss_backward.default", {g, x, y, reduction}));
      c.output(c.b.call("aten.smooth_l1_loss_backward.default",
                        {g, x, y, reduction, 0.7}));
      c.output(c.b.call("aten.huber_loss_backward.default",
                        {g, x, y, reduction, 0.7}));
    });
}

TEST(SecondOrderVjp, Convolution) {
  for (bool transposed : {false, true})
    checkVjp([transposed](VjpCheck &c) {
      Value x = c.input({1, 2, 5}), w = c.input({2, 2, 3});
      Value g = c.input({1, 2, transposed ? 9 : 3});
      SmallVector<Value> gradients = c.b.callMany(
          "aten.convolution_backward.default", {g,
                                                x,
                                                w,
                                                {2},
                                                {2},
                                                {1},
                                                {1},
                                                transposed,
                                                {0},
                                                1,
                                                {true, true, true}});
      for (Value gradient : gradients)
        c.output(gradient);
      c.output(c.b.callMany("aten.convolution_backward.default",
                            {g,
                             x,
                             w,
                             {2},
                             {2},
                             {1},
                             {1},
                             transposed,
                             {0},
                             1,
                             {false, false, true}})[2]);
    });
}
