// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy by numbers is the graph: its text, and each value in its place.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/CopyOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class CopyOpsTest : public ::testing::Test {
protected:
  CopyOpsTest() { loadDialects(context); }

  void check(const std::string &text) {
    OwningOpRef<ModuleOp> module = parse(context, text);
    ASSERT_TRUE(module);
    joint::GraphOp graph = graphOf(*module);
    GraphView view = GraphView::build(graph);
    std::vector<Value> copies;
    OwningOpRef<joint::GraphOp> copy(copyGraph(view, copies));
    // What stands in no module is printed with its line's end.
    EXPECT_EQ(print(*copy), print(graph) + "\n");
    GraphView again = GraphView::build(*copy);
    EXPECT_EQ(again.values, copies);
    OwningOpRef<joint::GraphOp> unseen(copyGraph(graph));
    EXPECT_EQ(print(*unseen), print(*copy));
  }

  MLIRContext context;
};

TEST_F(CopyOpsTest, RandomGraphs) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    check(randomGraphText(seed));
}

TEST_F(CopyOpsTest, RegionsReadWhatStandsAbove) {
  check(R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %a = aten.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = joint.checkpoint attributes {early_stop = false} {
    %c = aten.mul.Tensor(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.yield %c : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %b gradients() : tensor<4xf32>
}
)mlir");
}

TEST_F(CopyOpsTest, AResultThatIsThereStays) {
  OwningOpRef<ModuleOp> module = parse(context, randomGraphText(1));
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  uint32_t op = 0;
  while (view.numResults(op) == 0)
    ++op;
  std::vector<Value> copies = view.values;
  Operation *copy = copyOp(view, op, copies);
  EXPECT_EQ(copies, view.values);
  EXPECT_EQ(copy->getName(), view.ops[op]->getName());
  copy->destroy();
}

} // namespace
