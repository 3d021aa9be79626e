// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

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
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              Value sizes =
                  c.b.call("aten.sym_size.int", {c.unknownSizes({2}), 0});
              Value q = c.b.call("aten.full.default", {{1, 1, 2, sizes}, 0.5},
                                 {{"dtype", c.b.getBuilder().getF64Type()}});
              c.output(c.b.callMany(kFlashForCpu, {q, q, q},
                                    {{"attn_mask", c.input({2, 2})}})[0]);
            }),
            "the gradient of an attention mask needs a width of heads that is "
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
