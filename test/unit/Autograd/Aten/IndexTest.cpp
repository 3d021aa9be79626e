// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(IndexVjp, PlacesReadTwiceGetBothGradients) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({3, 4, 2});
        Value rows = c.indices({3}, {2, 0, 2}),
              columns = c.indices({3}, {1, -1, 1});
        c.output(c.b.call("aten.index.Tensor", {x, {rows, columns}}));
        c.output(c.b.call("aten.index.Tensor", {x, {Arg(), columns}}));
        c.output(c.b.call("aten._unsafe_index.Tensor",
                          {x, {rows, Arg(), c.indices({3}, {1, 0, 1})}}));
      },
      {/*dynamic=*/false});
}

TEST(IndexVjp, Masks) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3});
    Value mask = c.mask({2, 3}, {1, 0, 1, 0, 0, 1});
    c.output(c.b.call("aten.index.Tensor", {x, {mask}}));
    c.output(c.b.call("aten.masked_select.default", {x, mask}));
    c.output(
        c.b.call("aten.masked_select.default", {x, c.mask({1, 3}, {1, 0, 1})}));
  });
}

TEST(IndexVjp, UnsafeMaskedIndex) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({4});
    Value at = c.indices({3}, {3, 1, 3}), mask = c.mask({3}, {1, 0, 1});
    c.output(
        c.b.call("aten._unsafe_masked_index.default", {x, mask, {at}, 0.5}));
    Value values = c.input({3});
    c.output(c.b.call("aten._unsafe_masked_index_put_accumulate.default",
                      {x, mask, {at}, values}));
  });
}

TEST(IndexVjp, GatherTakeAndSelect) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 3});
    Value index = c.indices({2, 3}, {2, 0, 0, 2, 1, 0});
    c.output(c.b.call("aten.gather.default", {x, 0, index}));
    c.output(c.b.call("aten.gather.default", {x, -1, index}));
    c.output(c.b.call("aten.take.default", {x, index}));
    c.output(c.b.call("aten.index_select.default",
                      {x, 1, c.indices({4}, {0, 2, 2, 1})}));
  });
}

TEST(IndexVjp, TakeAlongDim) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({3, 2});
        c.output(c.b.call("aten.take_along_dim.default",
                          {x, c.indices({2, 1}, {2, 2}), 0}));
        c.output(c.b.call("aten.take_along_dim.default",
                          {x, c.indices({2, 2}, {5, 0, 5, 1})}));
      },
      {/*dynamic=*/false});
}
