// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which symbols results depend on, and sizes of symbols without a hint.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/SymbolUses.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class SymbolUsesTest : public ::testing::Test {
protected:
  SymbolUsesTest() { loadDialects(context); }
  MLIRContext context;
};

TEST_F(SymbolUsesTest, FollowShapesAndNumbers) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
               %m: index {joint.role = #joint.role<size>, joint.dims = ["s1"]},
               %x: tensor<?x4xf32> {joint.role = #joint.role<input>, joint.dims = ["s0", "4"]})
    -> (tensor<?x4xf32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24>, s1 = #joint.symbol<>}} {
  %r = aten.relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %k = aten.sym.mul(%m, 2) : (index) -> index
  %q = aten.sym.truediv(%n, %k) : (index, index) -> f64
  joint.output %r : tensor<?x4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  SymbolUses found = SymbolUses::find(view);
  ASSERT_EQ(found.names, (std::vector<std::string>{"s0", "s1"}));
  // n, m, x, r, k, q
  EXPECT_EQ(found.uses[0], (std::vector<uint8_t>{1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(found.uses[1], (std::vector<uint8_t>{0, 1, 0, 0, 1, 1}));
}

TEST_F(SymbolUsesTest, FollowNumbersWhereAllTensorsAreStatic) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%n: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
               %x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24>}} {
  %k = aten.sym.mul(%n, 2) : (index) -> index
  joint.output %x : tensor<4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  SymbolUses found = SymbolUses::find(GraphView::build(graphOf(*module)));
  ASSERT_EQ(found.names, (std::vector<std::string>{"s0"}));
  EXPECT_EQ(found.uses[0], (std::vector<uint8_t>{1, 0, 1}));
}

TEST_F(SymbolUsesTest, AssertsBoundWhatIsAssumed) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%x: tensor<4xi64> {joint.role = #joint.role<input>}, %t: tensor<i64> {joint.role = #joint.role<input>})
    -> (tensor<4xi64>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24>, u0 = #joint.symbol<>, u1 = #joint.symbol<>}} {
  %u = aten._local_scalar_dense(%t) {joint.dims = ["u0"]} : (tensor<i64>) -> index
  %le = aten.sym.le(%u, 99) {joint.dims = ["u0 <= 99"]} : (index) -> i1
  joint.assert %le, "u0 <= 99" {callee = "aten._assert_scalar.default"} : i1
  joint.output %x : tensor<4xi64>
}
)mlir");
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  llvm::StringMap<int64_t> values = assumeSymbols(view, 4096);
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(values["u0"], 99);
  EXPECT_EQ(values["u1"], 4096);
}

} // namespace
