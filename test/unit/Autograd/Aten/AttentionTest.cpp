// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

#include <cmath>

using namespace mlir;
using namespace cutback::test;

static const char kFlashForCpu[] =
    "aten._scaled_dot_product_flash_attention_for_cpu.default";
static const char kEfficient[] =
    "aten._scaled_dot_product_efficient_attention.default";

TEST(AttentionVjp, FlashForCpu) {
  for (bool isCausal : {false, true})
    checkVjp([=](VjpCheck &c) {
      Value q = c.input({1, 2, 3, 2}), k = c.input({1, 2, 3, 2}),
            v = c.input({1, 2, 3, 2});
      c.output(c.b.callMany(kFlashForCpu, {q, k, v, 0.0, isCausal})[0]);
      c.output(c.b.callMany(kFlashForCpu, {q, k, v, 0.0, isCausal},
                            {{"scale", 0.3}})[0]);
    });
}

TEST(AttentionVjp, TheMaskHasAGradientToo) {
  checkVjp(
      [](VjpCheck &c) {
        Value q = c.input({2, 1, 3, 2}), k = c.input({2, 1, 4, 2}),
              v = c.input({2, 1, 4, 3}), mask = c.input({1, 1, 3, 4});
        c.output(
            c.b.callMany(kFlashForCpu, {q, k, v}, {{"attn_mask", mask}})[0]);
      },
      {/*dynamic=*/false});
  checkVjp([](VjpCheck &c) {
    Value q = c.input({1, 2, 3, 2}), k = c.input({1, 2, 3, 2}),
          v = c.input({1, 2, 3, 2}), mask = c.input({1, 2, 3, 3});
    c.output(c.b.callMany(kFlashForCpu, {q, k, v, 0.0, true},
                          {{"attn_mask", mask}, {"scale", 0.5}})[0]);
  });
}

TEST(AttentionVjp, AMaskNeedsAWidthThatIsANumber) {
  EXPECT_EQ(
      errorOf([](VjpCheck &c) {
        Value sizes = c.b.call("aten.sym_size.int", {c.unknownSizes({2}), 0});
        Value q = c.b.call("aten.full.default", {{1, 1, 2, sizes}, 0.5},
                           {{"dtype", c.b.getBuilder().getF64Type()}});
        c.output(c.b.callMany(kFlashForCpu, {q, q, q},
                              {{"attn_mask", c.input({2, 2})}})[0]);
      }),
      "this gradient of attention needs a scale, or a width of heads that is "
      "a number");
}

TEST(AttentionVjp, Efficient) {
  for (bool isCausal : {false, true})
    checkVjp([=](VjpCheck &c) {
      Value q = c.input({1, 2, 3, 2}), k = c.input({1, 2, 3, 2}),
            v = c.input({1, 2, 3, 2}), bias = c.input({1, 2, 3, 3});
      c.output(
          c.b.callMany(kEfficient, {q, k, v, Arg(), true, 0.0, isCausal})[0]);
      c.output(c.b.callMany(kEfficient, {q, k, v, bias, true, 0.0, isCausal},
                            {{"scale", 0.4}})[0]);
    });
}

TEST(AttentionVjp, EfficientNeedsItsLogSumExp) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              Value q = c.input({1, 1, 2, 2});
              c.output(c.b.callMany(kEfficient, {q, q, q, Arg(), false})[0]);
            }),
            "the gradient of "
            "'aten._scaled_dot_product_efficient_attention.default' needs its "
            "log-sum-exp, which is not computed");
}

TEST(AttentionVjp, FlashAndCudnn) {
  checkVjp([](VjpCheck &c) {
    Value q = c.input({1, 2, 3, 2}), k = c.input({1, 2, 3, 2}),
          v = c.input({1, 2, 3, 2});
    c.output(c.b.callMany("aten._scaled_dot_product_flash_attention.default",
                          {q, k, v, 0.0, true})[0]);
    c.output(c.b.callMany("aten._scaled_dot_product_cudnn_attention.default",
                          {q, k, v, Arg(), true})[0]);
  });
}

namespace {

/// Query, key, value and the output's gradient.
struct Heads {
  explicit Heads(VjpCheck &c, std::vector<int64_t> query = {1, 2, 3, 2},
                 std::vector<int64_t> key = {1, 2, 3, 2})
      : q(c.input(query)), k(c.input(key)), v(c.input(key)), g(c.input(query)) {
  }
  Value q, k, v, g;
};

void outputAll(VjpCheck &c, ArrayRef<Value> gradients, unsigned count) {
  for (Value gradient : gradients.take_front(count))
    c.output(gradient);
}

} // namespace

TEST(AttentionVjp, OfTheGradientForCpu) {
  for (bool isCausal : {false, true})
    checkVjp(
        [=](VjpCheck &c) {
          Heads h(c, {1, 2, 3, 2}, {1, 2, 4, 2});
          Arg scale = isCausal ? Arg(0.4) : Arg();
          auto y = c.b.callMany(kFlashForCpu, {h.q, h.k, h.v, 0.0, isCausal},
                                {{"scale", scale}});
          outputAll(
              c,
              c.b.callMany("aten._scaled_dot_product_flash_attention_for_cpu_"
                           "backward.default",
                           {h.g, h.q, h.k, h.v, y[0], y[1], 0.0, isCausal},
                           {{"scale", scale}}),
              3);
        },
        {/*dynamic=*/isCausal});
}

TEST(AttentionVjp, OfTheGradientOfOneOperandAlone) {
  for (unsigned which = 0; which < 3; ++which)
    checkVjp(
        [=](VjpCheck &c) {
          Heads h(c);
          Value mask = c.input({1, 1, 3, 3});
          auto y = c.b.callMany(kFlashForCpu, {h.q, h.k, h.v, 0.0, false},
                                {{"attn_mask", mask}});
          c.output(c.b.callMany("aten._scaled_dot_product_flash_attention_for_"
                                "cpu_backward.default",
                                {h.g, h.q, h.k, h.v, y[0], y[1], 0.0, false},
                                {{"attn_mask", mask}})[which]);
        },
        {/*dynamic=*/false});
}

// Their log-sum-exp is in single precision, which blurs the differences.
TEST(AttentionVjp, OfTheGradientOfKernelsForGpus) {
  VjpCheckOptions options;
  options.dynamic = false;
  options.tolerance = 2e-2;
  checkVjp(
      [](VjpCheck &c) {
        Heads h(c);
        Value bias = c.input({1, 2, 3, 3});
        auto y = c.b.callMany(kEfficient, {h.q, h.k, h.v, bias, true});
        outputAll(
            c,
            c.b.callMany(
                "aten._scaled_dot_product_efficient_attention_backward.default",
                {h.g,
                 h.q,
                 h.k,
                 h.v,
                 bias,
                 y[0],
                 y[1],
                 y[2],
                 y[3],
                 0.0,
                 {true, true, true, true}}),
            4);
      },
      options);
  checkVjp(
      [](VjpCheck &c) {
        Heads h(c);
        Value empty = c.b.call("aten.zeros.default", {{0}},
                               {{"dtype", c.b.getBuilder().getI32Type()}});
        auto y =
            c.b.callMany("aten._scaled_dot_product_cudnn_attention.default",
                         {h.q, h.k, h.v, Arg(), true});
        outputAll(
            c,
            c.b.callMany(
                "aten._scaled_dot_product_cudnn_attention_backward.default",
                {h.g, h.q, h.k, h.v, y[0], y[1], y[6], y[7], Arg(), empty,
                 empty, y[4], y[5], 0.0, false}),
            3);
      },
      options);
}

TEST(AttentionVjp, RowsThatLookAtNothingHaveNoGradient) {
  checkVjp(
      [](VjpCheck &c) {
        Heads h(c);
        Value all = c.b.call("aten.full.default", {{1, 1, 3, 3}, -HUGE_VAL},
                             {{"dtype", c.b.getBuilder().getF64Type()}});
        Value mask = c.b.call("aten.triu.default", {all});
        auto y = c.b.callMany(kFlashForCpu, {h.q, h.k, h.v, 0.0, false},
                              {{"attn_mask", mask}});
        outputAll(c,
                  c.b.callMany("aten._scaled_dot_product_flash_attention_for_"
                               "cpu_backward.default",
                               {h.g, h.q, h.k, h.v, y[0], y[1], 0.0, false},
                               {{"attn_mask", mask}}),
                  3);
      },
      {/*dynamic=*/false});
}

TEST(AttentionVjp, OfTheGradientNeedsNoDropoutAndHeadsOfTheirOwn) {
  auto of = [](VjpCheck &c, int64_t heads, double dropout) {
    Heads h(c, {1, 2, 3, 2}, {1, heads, 3, 2});
    Value zero = c.b.call("aten.zeros.default", {Arg(ArrayRef<int64_t>())},
                          {{"dtype", c.b.getBuilder().getI64Type()}});
    auto y = c.b.callMany(kEfficient, {h.q, h.k, h.v, Arg(), true, 0.0});
    outputAll(
        c,
        c.b.callMany(
            "aten._scaled_dot_product_efficient_attention_backward.default",
            {h.g,
             h.q,
             h.k,
             h.v,
             Arg(),
             y[0],
             y[1],
             zero,
             zero,
             dropout,
             {true, true, true, false}}),
        3);
  };
  EXPECT_EQ(errorOf([&](VjpCheck &c) { of(c, 2, 0.5); }),
            "no gradient of the gradient of attention with dropout");
  EXPECT_EQ(errorOf([&](VjpCheck &c) { of(c, 1, 0.0); }),
            "no gradient of the gradient of attention whose heads share a key");
}
