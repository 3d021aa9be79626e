// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(NormalizationVjp, LayerNorm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 4}), w = c.input({2, 4}), b = c.input({2, 4});
    c.output(c.b.callMany("aten.native_layer_norm.default",
                          {x, {2, 4}, w, b, 1e-5})[0]);
    c.output(c.b.callMany("aten.native_layer_norm.default",
                          {x, {4}, Arg(), Arg(), 1e-5})[0]);
  });
}

TEST(NormalizationVjp, GroupNorm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 4, 3}), w = c.input({4}), b = c.input({4});
    c.output(c.b.callMany("aten.native_group_norm.default",
                          {x, w, b, 2, 4, 3, 2, 1e-5})[0]);
    c.output(c.b.callMany("aten.native_group_norm.default",
                          {x, Arg(), Arg(), 2, 4, 3, 1, 1e-5})[0]);
  });
}

TEST(NormalizationVjp, StatisticsOfGroupAndRmsNorm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 4, 3}), w = c.input({4}), b = c.input({4});
    SmallVector<Value> all = c.b.callMany("aten.native_group_norm.default",
                                          {x, w, b, 2, 4, 3, 2, 1e-5});
    for (Value result : all)
      c.output(result);
    // Either statistic alone.
    for (unsigned i : {1U, 2U})
      c.output(c.b.callMany("aten.native_group_norm.default",
                            {x, Arg(), Arg(), 2, 4, 3, 1, 1e-5})[i]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 4}), w = c.input({2, 4});
    for (Value result :
         c.b.callMany("aten._fused_rms_norm.default", {x, {2, 4}, w, 1e-5}))
      c.output(result);
    c.output(
        c.b.callMany("aten._fused_rms_norm.default", {x, {4}, Arg(), 1e-5})[1]);
  });
}

TEST(NormalizationVjp, StatisticsOfLayerAndBatchNorm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 4}), w = c.input({2, 4}), b = c.input({2, 4});
    for (Value result : c.b.callMany("aten.native_layer_norm.default",
                                     {x, {2, 4}, w, b, 1e-5}))
      c.output(result);
    for (unsigned i : {1U, 2U})
      c.output(c.b.callMany("aten.native_layer_norm.default",
                            {x, {4}, Arg(), Arg(), 1e-5})[i]);
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 3}), w = c.input({2}), b = c.input({2});
    Value mean = c.constant({2}, {0.1, -0.2});
    Value variance = c.constant({2}, {1.1, 0.9});
    SmallVector<Value> all =
        c.b.callMany("aten._native_batch_norm_legit_functional.default",
                     {x, w, b, mean, variance, true, 0.1, 1e-5});
    for (unsigned i : {0U, 1U, 2U})
      c.output(all[i]);
    for (unsigned i : {1U, 2U})
      c.output(c.b.callMany("aten._native_batch_norm_legit.no_stats",
                            {x, Arg(), Arg(), true, 0.1, 1e-5})[i]);
  });
}

TEST(NormalizationVjp, AResultWithoutARuleIsAnError) {
  EXPECT_EQ(
      errorOf([](VjpCheck &c) {
        Value mean = c.constant({2}, {0.1, -0.2});
        Value variance = c.constant({2}, {1.1, 0.9});
        SmallVector<Value> all = c.b.callMany(
            "aten._native_batch_norm_legit_functional.default",
            {c.input({3, 2}), Arg(), Arg(), mean, variance, true, 0.1, 1e-5});
        c.output(all[0]);
        c.output(all[3]);
      }),
      "no rule for the gradient of result 3 of "
      "'aten._native_batch_norm_legit_functional.default', which is "
      "differentiated: compute what it gives by other ops, or detach() "
      "it");
}

TEST(NormalizationVjp, StatisticsOfNoSamples) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({0, 4}), w = c.input({4}), b = c.input({4});
    for (Value result : c.b.callMany("aten.native_group_norm.default",
                                     {x, w, b, 0, 4, 1, 2, 1e-5}))
      c.output(result);
  });
}

TEST(NormalizationVjp, RmsNorm) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 4}), w = c.input({4});
    c.output(
        c.b.callMany("aten._fused_rms_norm.default", {x, {4}, w, 1e-5})[0]);
    c.output(c.b.callMany("aten._fused_rms_norm.default",
                          {x, {4}, Arg(), Arg()})[0]);
  });
}

TEST(NormalizationVjp, BatchNormWithBatchStatistics) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 3}), w = c.input({2}), b = c.input({2});
    Value mean = c.constant({2}, {0.1, -0.2});
    Value variance = c.constant({2}, {1.1, 0.9});
    c.output(c.b.callMany("aten._native_batch_norm_legit_functional.default",
                          {x, w, b, mean, variance, true, 0.1, 1e-5})[0]);
    c.output(c.b.callMany("aten._native_batch_norm_legit.no_stats",
                          {x, w, b, true, 0.1, 1e-5})[0]);
    c.output(
        c.b.callMany("aten.native_batch_norm.default",
                     {x, Arg(), Arg(), mean, variance, true, 0.1, 1e-5})[0]);
  });
}

TEST(NormalizationVjp, BatchNormWithRunningStatistics) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 2, 3}), w = c.input({2}), b = c.input({2});
    Value mean = c.constant({2}, {0.1, -0.2});
    Value variance = c.constant({2}, {1.1, 0.9});
    c.output(c.b.callMany("aten._native_batch_norm_legit_no_training.default",
                          {x, w, b, mean, variance, 0.1, 1e-5})[0]);
    c.output(c.b.callMany("aten.native_batch_norm.default",
                          {x, w, b, mean, variance, false, 0.1, 1e-5})[0]);
    c.output(c.b.callMany("aten.cudnn_batch_norm.default",
                          {x, w, b, mean, variance, false, 0.1, 1e-5})[0]);
  });
}

TEST(NormalizationVjp, BatchStatisticsDoNotReadTheRunningOnes) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value mean = c.constant({2}, {0.1, -0.2});
    Value variance = c.constant({2}, {1.1, 0.9});
    c.output(c.b.callMany(
        "aten._native_batch_norm_legit_functional.default",
        {c.input({3, 2}), Arg(), Arg(), mean, variance, true, 0.1, 1e-5})[0]);
  });
  size_t backward = text.find("aten.native_batch_norm_backward");
  ASSERT_NE(backward, std::string::npos) << text;
  EXPECT_EQ(text.find("%a0", backward), std::string::npos) << text;
  EXPECT_EQ(text.find("%a1", backward), std::string::npos) << text;
}

TEST(NormalizationVjp, ABiasAloneReadsNothing) {
  for (int kind : {0, 1, 2}) {
    std::string text = backwardOf([kind](VjpCheck &c) {
      Value x =
          c.b.call("aten.exp.default", {c.constant({2, 2}, {1, 2, 3, 4})});
      Value b = c.input({2});
      if (kind == 0)
        c.output(c.b.callMany("aten.native_layer_norm.default",
                              {x, {2}, Arg(), b, 1e-5})[0]);
      else if (kind == 1)
        c.output(c.b.callMany("aten.native_group_norm.default",
                              {x, Arg(), b, 2, 2, 1, 1, 1e-5})[0]);
      else
        c.output(c.b.callMany("aten._native_batch_norm_legit.no_stats",
                              {x, Arg(), b, true, 0.1, 1e-5})[0]);
    });
    EXPECT_NE(text.find("= aten.sum.dim_IntList(%tangents_1, [0])"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("_backward"), std::string::npos) << text;
  }
}

TEST(NormalizationVjp, WeightsByLengthAndDirection) {
  checkVjp([](VjpCheck &c) {
    c.output(c.b.callMany("aten._weight_norm_interface.default",
                          {c.input({3, 2, 2}), c.input({3, 1, 1})})[0]);
    for (Value result : c.b.callMany("aten._weight_norm_interface.default",
                                     {c.input({3, 2}), c.input({3, 1})}))
      c.output(result);
    c.output(c.b.callMany("aten._weight_norm_interface.default",
                          {c.input({2, 4}), c.input({1, 4}), 1})[0]);
  });
}
