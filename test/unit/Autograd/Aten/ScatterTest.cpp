// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(ScatterVjp, IndexPut) {
  for (bool accumulate : {false, true})
    checkVjp(
        [=](VjpCheck &c) {
          Value x = c.input({3, 2}), row = c.input({2}), rows = c.input({2, 2});
          Value at = c.indices({2}, {2, 0});
          c.output(
              c.b.call("aten.index_put.default", {x, {at}, rows, accumulate}));
          c.output(c.b.call("aten._unsafe_index_put.default",
                            {x, {at}, row, accumulate}));
        },
        {/*dynamic=*/false});
}

TEST(ScatterVjp, Put) {
  for (bool accumulate : {false, true})
    checkVjp([=](VjpCheck &c) {
      Value x = c.input({3, 2}), source = c.input({2, 1});
      Value at = c.indices({1, 2}, {5, 1});
      c.output(c.b.call("aten.put.default", {x, at, source, accumulate}));
    });
}

TEST(ScatterVjp, SlicesAlongADimension) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2}), source = c.input({2, 2}), value = c.input({});
    Value at = c.indices({2}, {2, 0});
    c.output(
        c.b.call("aten.index_add.default", {x, 0, at, source}, {{"alpha", 3}}));
    c.output(c.b.call("aten.index_add.default",
                      {x, 0, c.indices({2}, {1, 1}), source}));
    c.output(c.b.call("aten.index_copy.default", {x, 0, at, source}));
    c.output(c.b.call("aten.index_fill.int_Scalar", {x, -2, at, 5}));
    c.output(c.b.call("aten.index_fill.int_Tensor", {x, 0, at, value}));
    c.output(c.b.call("aten.index_fill.int_Tensor",
                      {x, 0, c.indices({2}, {1, 1}), value}));
  });
}

TEST(ScatterVjp, ElementsAlongADimension) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2}), src = c.input({2, 2});
    Value at = c.indices({2, 2}, {2, 0, 0, 1});
    Value same = c.indices({2, 2}, {1, 0, 1, 0});
    c.output(c.b.call("aten.scatter.src", {x, 0, at, src}));
    c.output(c.b.call("aten.scatter.value", {x, 0, at, 7}));
    c.output(c.b.call("aten.scatter_add.default", {x, 0, same, src}));
  });
}

TEST(ScatterVjp, ASourceThatIsLargerThanTheIndex) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({3, 3}), src = c.input({3, 4});
        Value at = c.indices({2, 2}, {2, 0, 0, 1});
        c.output(c.b.call("aten.scatter.src", {x, 0, at, src}));
        c.output(c.b.call("aten.scatter_add.default", {x, 0, at, src}));
      },
      {/*dynamic=*/false});
}

TEST(ScatterVjp, MaskedScatter) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({2, 3}), source = c.input({5});
        c.output(c.b.call("aten.masked_scatter.default",
                          {x, c.mask({2, 3}, {0, 1, 1, 0, 0, 1}), source}));
        c.output(c.b.call("aten.masked_scatter.default",
                          {x, c.mask({3}, {0, 1, 1}), source}));
        c.output(c.b.call("aten.masked_scatter.default",
                          {x, c.mask({3}, {0, 0, 0}), source}));
      },
      {/*dynamic=*/false});
}

//===----------------------------------------------------------------------===//
// scatter_reduce
//===----------------------------------------------------------------------===//

static Value reduce(VjpCheck &c, Value x, Value src, const char *kind,
                    bool isIncluded) {
  Value at = c.indices({3, 2}, {2, 0, 0, 1, 2, 0});
  return c.b.call("aten.scatter_reduce.two", {x, 0, at, src, kind},
                  {{"include_self", isIncluded}});
}

TEST(ScatterVjp, ScatterReduce) {
  for (const char *kind : {"sum", "mean", "prod", "amin", "amax"})
    for (bool isIncluded : {false, true}) {
      SCOPED_TRACE(kind);
      checkVjp([=](VjpCheck &c) {
        Value x = c.input({3, 2}), src = c.input({3, 2});
        c.output(reduce(c, x, src, kind, isIncluded));
      });
    }
}

TEST(ScatterVjp, IndexReduce) {
  for (const char *kind : {"mean", "prod", "amin", "amax"})
    for (bool isIncluded : {false, true}) {
      SCOPED_TRACE(kind);
      checkVjp([=](VjpCheck &c) {
        Value x = c.input({3, 2}), source = c.input({3, 2});
        c.output(c.b.call("aten.index_reduce.default",
                          {x, 0, c.indices({3}, {2, 0, 2}), source, kind},
                          {{"include_self", isIncluded}}));
      });
    }
}

TEST(ScatterVjp, ProductsWithZeros) {
  checkVjp([](VjpCheck &c) {
    // Place 2, 0: 2 * 0 * 3. Place 0, 1: 5 * 0 * 0. Place 0, 0: 4 * 7.
    Value x = c.input({3, 2}, {4, 5, 0.5, 6, 2, 0});
    Value src = c.input({3, 2}, {0, 0, 7, 2, 3, 0});
    c.output(reduce(c, x, src, "prod", true));
  });
}

// torch 2.13: elements that are equal to the extremum share the gradient.
TEST(ScatterVjp, TiesShareTheGradient) {
  auto gradients = gradientsOf([](VjpCheck &c) {
    Value x = c.input({2}, {1, 3});
    Value src = c.input({4}, {1, 1, 2, 3});
    c.output(c.b.call("aten.scatter_reduce.two",
                      {x, 0, c.indices({4}, {0, 0, 1, 1}), src, "amax"}));
  });
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0], std::vector<double>({1.0 / 3, 0.5}));
  EXPECT_EQ(gradients[1], std::vector<double>({1.0 / 3, 1.0 / 3, 0, 0.5}));
}

TEST(ScatterVjp, AMaskThatIsLargerThanWhatItWritesInto) {
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.call(
            "aten.masked_scatter.default",
            {c.input({3}), c.mask({2, 3}, {1, 0, 1, 0, 0, 1}), c.input({4})}));
      },
      {/*dynamic=*/false});
}

TEST(ScatterVjp, Segments) {
  for (const char *reduce : {"sum", "mean", "max", "min", "prod"})
    checkVjp([=](VjpCheck &c) {
      Value x = c.input({5, 2}), rows = c.input({2, 4});
      Value lengths = c.indices({2}, {3, 2});
      Value offsets = c.indices({2, 3}, {0, 1, 4, 0, 3, 4});
      c.output(c.b.call("aten.segment_reduce.default", {x, reduce},
                        {{"lengths", lengths}}));
      c.output(c.b.call("aten.segment_reduce.default", {rows, reduce},
                        {{"offsets", offsets}, {"axis", 1}, {"initial", 1}}));
    });
}
