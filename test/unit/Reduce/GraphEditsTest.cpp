// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReduceFixture.h"

using namespace cutback;
using namespace cutback::test;

TEST(GraphEdits, theTangentOfADroppedResultStaysInTheBackward) {
  Graph g;
  dropResults(g.graph(), 0, 1);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(
      g.has("%t: tensor<4x8xf32> {joint.role = #joint.role<grad_seed>"));
  // The other one is the tangent of the first result now.
  EXPECT_TRUE(
      g.has("%u: tensor<4x16xf32> {joint.role = #joint.role<tangent of 0>"));
  EXPECT_EQ(sizeOf(g.graph()).results, 3u);
}

TEST(GraphEdits, argumentsThatNobodyReadsGo) {
  Graph g;
  // The side result and the gradient of x: z and u are left without readers.
  dropResults(g.graph(), 3, 4);
  dropResults(g.graph(), 1, 2);
  EXPECT_TRUE(g.verifies());
  EXPECT_FALSE(g.has("%z"));
  EXPECT_FALSE(g.has("%u"));
  EXPECT_TRUE(g.has("gradients(%dw of 0)"));
}

TEST(GraphEdits, usersOfADroppedOpGoWithIt) {
  Graph g;
  dropOpsAndUsers(g.graph(), 2, 3); // %y
  EXPECT_TRUE(g.verifies());
  EXPECT_FALSE(g.has("aten.tanh"));
  EXPECT_TRUE(g.has("joint.output %side : tensor<4x16xf32>"));
}

TEST(GraphEdits, whatACutOpComputedBecomesAnArgument) {
  Graph g;
  cutOps(g.graph(), 5, 6); // %dy, in the backward
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(
      g.has("%dy: tensor<4x8xf32> {joint.role = #joint.role<grad_seed>"));
  Graph f;
  cutOps(f.graph(), 0, 3); // the forward of y
  EXPECT_TRUE(f.verifies());
  EXPECT_TRUE(f.has("%y: tensor<4x8xf32> {joint.role = #joint.role<input>"));
  EXPECT_FALSE(f.has("%wt"));
}

TEST(GraphEdits, anOpIsBypassedByAnOperandOfItsType) {
  Graph g;
  bypassOps(g.graph(), 2, 3); // tanh
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("joint.output %mm, %side"));
  bypassOps(g.graph(), 0, 1); // a transpose has another type
  EXPECT_TRUE(g.has("aten.permute(%w"));
}

TEST(GraphEdits, equalArgumentsAreMerged) {
  Graph g;
  mergeArguments(g.graph(), 0, 5);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("aten.mul.Tensor(%x, %x)"));
  EXPECT_FALSE(g.has("%z"));
}

TEST(GraphEdits, oneOpBecomesTheWholeStep) {
  Graph g;
  keepOnly(g.graph(), 5); // %dy
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("joint.output %dy : tensor<4x8xf32>"));
  EXPECT_TRUE(g.has("%t: tensor<4x8xf32> {joint.role = #joint.role<input>}"));
  EXPECT_FALSE(g.has("%u"));
}

TEST(GraphEdits, aRegionIsReplacedByWhatIsInIt) {
  Graph g(R"(
joint.graph @step(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %r = joint.checkpoint {
    %y = aten.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.yield %y : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %r : tensor<4xf32>
}
)");
  EXPECT_EQ(sizeOf(g.graph()).ops, 3u);
  unwrapOps(g.graph(), 0, 1);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("joint.output %y"));
  EXPECT_EQ(sizeOf(g.graph()).ops, 1u);
}

TEST(GraphEdits, aSizeIsReplacedEverywhere) {
  Graph g;
  EXPECT_EQ(distinctSizes(g.graph()), (std::vector<int64_t>{16, 8, 4}));
  replaceSize(g.graph(), 16, 2, true);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("%w: tensor<8x2xf32>"));
  EXPECT_EQ(distinctSizes(g.graph()), (std::vector<int64_t>{8, 4, 2}));
  // With its multiples: 8 and 4 shrink together.
  replaceSize(g.graph(), 4, 1, true);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("%t: tensor<1x2xf32>"));
}

TEST(GraphEdits, resultsFollowTheSizesOfOperands) {
  Graph g(R"(
joint.graph @step(%x: tensor<6x4xf32> {joint.role = #joint.role<input>})
    -> (tensor<24xf32>) gradients () {
  %y = aten.view(%x, [-1]) : (tensor<6x4xf32>) -> tensor<24xf32>
  joint.output %y : tensor<24xf32>
}
)");
  replaceSize(g.graph(), 6, 1, false);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("-> tensor<4xf32>"));
  limitRank(g.graph(), 1);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("%x: tensor<4xf32>"));
}

TEST(GraphEdits, symbolsAreBound) {
  Graph g(R"(
joint.graph @step(%x: tensor<?x4xf32> {joint.dims = ["s0", "4"], joint.role = #joint.role<input>})
    -> (tensor<?x4xf32>) gradients ()
    attributes {symbols = {s0 = #joint.symbol<hint = 24>}} {
  %y = aten.tanh(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  joint.output %y : tensor<?x4xf32>
}
)");
  bindSymbols(g.graph(), 2);
  EXPECT_TRUE(g.verifies());
  EXPECT_FALSE(g.has("s0"));
  EXPECT_TRUE(g.has("-> tensor<2x4xf32>"));
}

TEST(GraphEdits, attributesAreDroppedAndRolesLoseTheirNames) {
  Graph g(R"(
joint.graph @step(%w: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "a.b">})
    -> (tensor<4xf32>) gradients () {
  %y = aten.tanh(%w) {joint.policy = #joint.policy<must_save>} : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
)");
  EXPECT_EQ(attributeSites(g.graph()).size(), 3u);
  dropAttributes(g.graph(), 0, 3);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("{joint.role = #joint.role<param>}"));
  EXPECT_FALSE(g.has("policy"));
}

TEST(GraphEdits, entriesOfCallsBecomeSimpler) {
  const char *text = R"(
joint.graph @step(%x: tensor<4xf32> {joint.role = #joint.role<input>},
                  %y: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<?xf32>) gradients () {
  %c = aten.cat([%x, %y]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  joint.output %c : tensor<?xf32>
}
)";
  Graph g(text);
  EXPECT_EQ(numCallEntries(g.graph()), 2u);
  simplifyEntry(g.graph(), 0, Simpler::Half);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("aten.cat([%x])"));
  EXPECT_FALSE(g.has("%y"));
  Graph h(text);
  simplifyEntry(h.graph(), 0, Simpler::None);
  EXPECT_FALSE(h.verifies());
}
