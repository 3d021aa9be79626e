// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(EmbeddingVjp, RowsAreAdded) {
  checkVjp([](VjpCheck &c) {
    Value table = c.input({4, 2});
    Value at = c.indices({2, 3}, {3, 1, 3, 0, 3, 1});
    c.output(c.b.call("aten.embedding.default", {table, at}));
  });
}

// torch 2.13: the row of padding_idx gets none, frequent rows get less.
TEST(EmbeddingVjp, PaddingAndFrequency) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value table = c.input({4, 1});
    Value at = c.indices({5}, {3, 1, 3, 0, 3});
    c.output(c.b.call("aten.embedding.default", {table, at, 1}));
    c.output(c.b.call("aten.embedding.default", {table, at, -1, true}));
  });
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0], std::vector<double>({2, 1, 0, 4}));
}

TEST(EmbeddingVjp, Bags) {
  for (int mode : {0, 1, 2})
    for (bool includeLast : {false, true})
      checkVjp([=](VjpCheck &c) {
        Value table = c.input({4, 2});
        Value at = c.indices({5}, {3, 1, 3, 0, 2});
        Value offsets = includeLast ? c.indices({4}, {0, 2, 2, 5})
                                    : c.indices({3}, {0, 2, 2});
        c.output(c.b.callMany(
            "aten._embedding_bag.default",
            {table, at, offsets, false, mode, false, Arg(), includeLast})[0]);
      });
}

TEST(EmbeddingVjp, BagsWithWeightsPerSample) {
  checkVjp(
      [](VjpCheck &c) {
        Value table = c.input({4, 2}), weights = c.input({5});
        Value at = c.indices({5}, {3, 1, 3, 0, 2});
        Value offsets = c.indices({3}, {0, 2, 2});
        c.output(c.b.callMany(
            "aten._embedding_bag.default",
            {table, at, offsets, false, 0, false, weights, false, 0})[0]);
      },
      {/*dynamic=*/true, /*differences=*/false});
  checkVjp([](VjpCheck &c) {
    Value table = c.input({4, 2}), weights = c.input({5});
    Value at = c.indices({5}, {3, 1, 3, 0, 2});
    Value offsets = c.indices({3}, {0, 2, 2});
    c.output(c.b.callMany("aten._embedding_bag.default",
                          {table, at, offsets, false, 0, false, weights})[0]);
  });
}

// Bags are linear in the gradient that arrives and in the weights.
TEST(EmbeddingVjp, GradientsOfBags) {
  for (int mode : {0, 1, 2})
    for (bool includeLast : {false, true})
      checkVjp(
          [=](VjpCheck &c) {
            Value table = c.constant({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
            Value gradient = c.input({3, 2});
            Value at = c.indices({5}, {3, 1, 3, 0, 2});
            Value offsets = includeLast ? c.indices({4}, {0, 2, 2, 5})
                                        : c.indices({3}, {0, 2, 2});
            SmallVector<Value> bags = c.b.callMany(
                "aten._embedding_bag.default",
                {table, at, offsets, false, mode, false, Arg(), includeLast});
            c.output(c.b.call("aten._embedding_bag_backward.default",
                              {gradient, at, offsets, bags[1], bags[2], bags[3],
                               4, false, mode, false, Arg()}));
          },
          {/*dynamic=*/false});
}

TEST(EmbeddingVjp, GradientsOfBagsWithWeights) {
  checkVjp(
      [](VjpCheck &c) {
        Value table = c.input({4, 2}), weights = c.input({5});
        Value gradient = c.input({3, 2});
        Value at = c.indices({5}, {3, 1, 3, 0, 2});
        Value offsets = c.indices({3}, {0, 2, 2});
        Value bagOf = c.indices({5}, {0, 0, 2, 2, 2});
        Value size = c.indices({3}, {2, 0, 3});
        c.output(c.b.call("aten._embedding_bag_backward.default",
                          {gradient, at, offsets, bagOf, size, size, 4, false,
                           0, false, weights}));
        c.output(
            c.b.call("aten._embedding_bag_per_sample_weights_backward.default",
                     {gradient, table, at, offsets, bagOf, 0}));
      },
      {/*dynamic=*/false});
}
