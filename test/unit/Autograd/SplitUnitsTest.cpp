// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Autograd/SplitUnits.h"

#include "Aten/VjpCheck.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

/// Splits the program and checks that it computes what it did. The text of the
/// graph after it.
static std::string checkSplit(const VjpProgram &program, bool isDynamic) {
  VjpCheck c(vjpContext(), isDynamic);
  program(c);
  joint::GraphOp graph = c.finish();
  auto before = run(graph, c.values);
  EXPECT_TRUE(succeeded(splitUnits(graph)));
  EXPECT_TRUE(succeeded(verify(graph)));
  auto after = run(graph, c.values);
  if (failed(before) || failed(after)) {
    ADD_FAILURE() << "the program does not run";
    return {};
  }
  for (auto [old, now] : llvm::zip_equal(*before, *after)) {
    Tensor expected = std::get<Tensor>(old).contiguous();
    Tensor actual = std::get<Tensor>(now).contiguous();
    EXPECT_EQ(expected.type, actual.type);
    EXPECT_TRUE(llvm::equal(expected.sizes, actual.sizes));
    for (int64_t i = 0; i < expected.numel(); ++i)
      EXPECT_NEAR(expected.getDouble(i), actual.getDouble(i), 1e-12);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  graph->print(os);
  return text;
}

static void outputAll(VjpCheck &c, ArrayRef<Value> values) {
  for (Value value : values)
    c.output(value);
}

TEST(SplitUnits, GroupNormIsStatisticsAndElementwiseOps) {
  for (bool isDynamic : {false, true}) {
    std::string text = checkSplit(
        [](VjpCheck &c) {
          Value x = c.input({2, 4, 3, 2});
          outputAll(c, c.b.callMany(
                           "aten.native_group_norm.default",
                           {x, c.input({4}), c.input({4}), 2, 4, 6, 2, 1e-5}));
          c.output(c.b.callMany("aten.native_group_norm.default",
                                {x, Arg(), Arg(), 2, 4, 6, 4, 1e-5})[0]);
        },
        isDynamic);
    EXPECT_EQ(text.find("native_group_norm"), std::string::npos) << text;
  }
}

TEST(SplitUnits, BatchNormUpdatesItsRunningStatistics) {
  std::string text = checkSplit(
      [](VjpCheck &c) {
        Value x = c.input({3, 2, 2});
        Value mean = c.constant({2}, {0.1, -0.2});
        Value variance = c.constant({2}, {1.1, 0.9});
        outputAll(
            c, c.b.callMany("aten._native_batch_norm_legit_functional.default",
                            {x, c.input({2}), c.input({2}), mean, variance,
                             true, 0.1, 1e-5}));
      },
      false);
  EXPECT_EQ(text.find("native_batch_norm"), std::string::npos) << text;
}

TEST(SplitUnits, EvaluatedBatchNormIsElementwise) {
  std::string text = checkSplit(
      [](VjpCheck &c) {
        Value mean = c.constant({2}, {0.1, -0.2});
        Value variance = c.constant({2}, {1.1, 0.9});
        c.output(
            c.b.callMany("aten._native_batch_norm_legit_no_training.default",
                         {c.input({3, 2}), c.input({2}), Arg(), mean, variance,
                          0.1, 1e-5})[0]);
      },
      false);
  EXPECT_EQ(text.find("native_batch_norm"), std::string::npos) << text;
}

TEST(SplitUnits, IndicesOfMaximaAreComputedFromOffsets) {
  std::string text = checkSplit(
      [](VjpCheck &c) {
        Value x = c.input({1, 2, 5, 6});
        SmallVector<Value> pooled =
            c.b.callMany("aten.max_pool2d_with_indices.default",
                         {x, {3, 2}, {2, 1}, {1, 1}, {1, 2}, true});
        c.output(pooled[0]);
        c.output(c.b.call("aten._to_copy.default", {pooled[1]},
                          {{"dtype", c.b.getBuilder().getF64Type()}}));
        // Nobody asks for its indices.
        c.output(
            c.b.callMany("aten.max_pool2d_with_indices.default", {x, 2})[0]);
      },
      false);
  EXPECT_NE(text.find("_low_memory_max_pool_offsets_to_indices"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("max_pool2d_with_indices"), std::string::npos) << text;
}

TEST(SplitUnits, ABatchOfUnknownSizeStaysAUnit) {
  std::string text = checkSplit(
      [](VjpCheck &c) {
        Value x = c.input({3, 2, 2});
        Value mean = c.constant({2}, {0.1, -0.2});
        Value variance = c.constant({2}, {1.1, 0.9});
        outputAll(c, c.b.callMany(
                         "aten._native_batch_norm_legit_functional.default",
                         {x, Arg(), Arg(), mean, variance, true, 0.1, 1e-5}));
      },
      true);
  EXPECT_NE(text.find("native_batch_norm"), std::string::npos) << text;
  EXPECT_EQ(text.find("var_mean"), std::string::npos) << text;
}
