// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes and storages of values: by hand, and storages of random graphs against
// a walk from each value to its base.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/ValueSizes.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

const char *const kSymbolic = R"mlir(
joint.graph @g(%n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
               %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]},
               %f: f64 {joint.role = #joint.role<input>},
               %b: i1 {joint.role = #joint.role<input>},
               %u: none {joint.role = #joint.role<input>})
    -> (tensor<?x4xf32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24>}} {
  %r = aten.relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  joint.output %r : tensor<?x4xf32>
}
)mlir";

class ValueSizesTest : public ::testing::Test {
protected:
  ValueSizesTest() { loadDialects(context); }
  MLIRContext context;
};

TEST_F(ValueSizesTest, KindsAndTypesUnderHints) {
  OwningOpRef<ModuleOp> module = parse(context, kSymbolic);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
  ASSERT_TRUE(succeeded(sizes));
  EXPECT_EQ(sizes->kind,
            (std::vector<ValueKind>{ValueKind::Size, ValueKind::Tensor,
                                    ValueKind::Float, ValueKind::Bool,
                                    ValueKind::Other, ValueKind::Tensor}));
  EXPECT_EQ(sizes->bytes, (std::vector<int64_t>{8, 384, 8, 8, 0, 384}));
  EXPECT_TRUE(sizes->isScalar(0));
  EXPECT_FALSE(sizes->isScalar(1));
  EXPECT_FALSE(sizes->isScalar(4));
  auto type = cast<RankedTensorType>(sizes->type[5]);
  EXPECT_EQ(type.getShape().vec(), (std::vector<int64_t>{24, 4}));
}

TEST_F(ValueSizesTest, GivenSymbolsOverrideHints) {
  OwningOpRef<ModuleOp> module = parse(context, kSymbolic);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  llvm::StringMap<int64_t> symbols;
  symbols["s0"] = 2;
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, symbols);
  ASSERT_TRUE(succeeded(sizes));
  EXPECT_EQ(sizes->bytes[5], 32);
  symbols["s0"] = 0;
  sizes = ValueSizes::compute(view, symbols);
  ASSERT_TRUE(succeeded(sizes));
  EXPECT_EQ(sizes->bytes[5], 0);
  symbols["s0"] = INT64_MAX;
  ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(ValueSizes::compute(view, symbols)));
}

TEST_F(ValueSizesTest, StoragesAreThoseOfTheBases) {
  RandomGraphOptions options;
  options.percentView = 40;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    OwningOpRef<ModuleOp> module =
        parse(context, randomGraphText(seed, options));
    ASSERT_TRUE(module);
    GraphView view = GraphView::build(graphOf(*module));
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    ASSERT_TRUE(succeeded(sizes));
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      Value base = view.values[value];
      while (auto model =
                 base.getDefiningOp<joint::RematerializableOpInterface>()) {
        int64_t operand =
            model.getAliasedOperand(cast<OpResult>(base).getResultNumber());
        if (operand < 0)
          break;
        base = model->getOperand(operand);
      }
      EXPECT_EQ(view.values[sizes->storage[value]], base);
      EXPECT_EQ(sizes->storageBytes(value), 64);
    }
  }
}

TEST_F(ValueSizesTest, LiteralsTakeNothingUnlessTheyAreReturned) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>, tensor<4xf32>) gradients () {
  %read = arith.constant dense<1.0> : tensor<4xf32>
  %returned = arith.constant dense<2.0> : tensor<4xf32>
  %y = arith.addf %x, %read : tensor<4xf32>
  joint.output %y, %returned : tensor<4xf32>, tensor<4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
  ASSERT_TRUE(succeeded(sizes));
  EXPECT_EQ(sizes->bytes, (std::vector<int64_t>{16, 0, 16, 16}));
}

} // namespace
