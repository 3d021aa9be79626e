// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loss in parts: what is split, what stays whole, and that the proof of it
// refuses every split graph with one operand or number changed.

#include "RandomGraph.h"

#include "cutback/Transforms/SplitCheck.h"
#include "cutback/Transforms/SplitOps.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

/// Logits of 12 rows, their log softmax, and the gradients of both factors.
/// `extra` stands behind the logits, `result` is a second result.
std::string lossGraph(const std::string &extra = "",
                      const std::string &result = "%loss",
                      const std::string &type = "tensor<f32>") {
  return R"(joint.graph @g(
  %x: tensor<12x4xf32> {joint.role = #joint.role<param "x">},
  %w: tensor<4x32xf32> {joint.role = #joint.role<param "w">},
  %i: tensor<12x1xi64> {joint.role = #joint.role<input>},
  %t: tensor<f32> {joint.role = #joint.role<tangent of 0>}) ->
  (tensor<f32>, )" +
         type + R"() gradients (tensor<12x4xf32>, tensor<4x32xf32>) {
  %mm = aten.mm(%x, %w) : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  )" + extra +
         R"(
  %amax = aten.amax(%mm, [1], true) : (tensor<12x32xf32>) -> tensor<12x1xf32>
  %sub = aten.sub.Tensor(%mm, %amax) : (tensor<12x32xf32>, tensor<12x1xf32>) -> tensor<12x32xf32>
  %exp = aten.exp(%sub) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %sum = aten.sum.dim_IntList(%exp, [1], true) : (tensor<12x32xf32>) -> tensor<12x1xf32>
  %log = aten.log(%sum) : (tensor<12x1xf32>) -> tensor<12x1xf32>
  %lp = aten.sub.Tensor(%sub, %log) : (tensor<12x32xf32>, tensor<12x1xf32>) -> tensor<12x32xf32>
  %pick = aten.gather(%lp, 1, %i) : (tensor<12x32xf32>, tensor<12x1xi64>) -> tensor<12x1xf32>
  %loss = aten.sum(%pick) : (tensor<12x1xf32>) -> tensor<f32>
  %full = aten.full([12, 32], 0, dtype = f32) : () -> tensor<12x32xf32>
  %hot = aten.scatter.value(%full, 1, %i, 1.0) : (tensor<12x32xf32>, tensor<12x1xi64>) -> tensor<12x32xf32>
  %p = aten.exp(%lp) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %d = aten.sub.Tensor(%hot, %p) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %dl = aten.mul.Tensor(%d, %t) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12x32xf32>
  %wt = aten.permute(%w, [1, 0]) : (tensor<4x32xf32>) -> tensor<32x4xf32>
  %dx = aten.mm(%dl, %wt) : (tensor<12x32xf32>, tensor<32x4xf32>) -> tensor<12x4xf32>
  %xt = aten.permute(%x, [1, 0]) : (tensor<12x4xf32>) -> tensor<4x12xf32>
  %dw = aten.mm(%xt, %dl) : (tensor<4x12xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  joint.output %loss, )" +
         result + R"( gradients(%dx of 0, %dw of 1) : tensor<f32>, )" + type +
         R"(, tensor<12x4xf32>, tensor<4x32xf32>
})";
}

class SplitOpsTest : public ::testing::Test {
protected:
  SplitOpsTest() { loadDialects(context); }

  OwningOpRef<ModuleOp> graph(const std::string &text) {
    OwningOpRef<ModuleOp> module = parse(context, text);
    EXPECT_TRUE(module);
    return module;
  }

  SplitOutcome split(GraphOp graph, unsigned parts) {
    GraphView view = GraphView::build(graph);
    auto sets = GraphSets::compute(view);
    EXPECT_TRUE(succeeded(sets));
    return splitOps(graph, view, *sets, parts);
  }

  /// Why a graph stays whole.
  std::string refusal(const std::string &text) {
    OwningOpRef<ModuleOp> module = graph(text);
    SplitOutcome outcome = split(graphOf(*module), 3);
    EXPECT_EQ(outcome.parts, 0u);
    return outcome.refusal.why;
  }

  bool isProved(GraphOp whole, GraphOp split) {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    return succeeded(verifySplit(whole, split));
  }

  MLIRContext context;
};

unsigned count(GraphOp graph, StringRef name, int64_t rows) {
  unsigned found = 0;
  for (Operation &op : graph.getBlock())
    for (Value result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        found += op.getName().getStringRef() == name && type.getRank() == 2 &&
                 type.getDimSize(0) == rows;
  return found;
}

TEST_F(SplitOpsTest, NoLogitsAreThereAsAWhole) {
  OwningOpRef<ModuleOp> whole = graph(lossGraph()), parts = graph(lossGraph());
  SplitOutcome outcome = split(graphOf(*parts), 5);
  EXPECT_EQ(outcome.parts, 5u);
  EXPECT_EQ(outcome.root, "mm");
  ASSERT_TRUE(succeeded(verify(*parts)));
  for (Operation &op : graphOf(*parts).getBlock())
    for (Value result : op.getResults())
      EXPECT_NE(staticShape(result), ArrayRef<int64_t>({12, 32}));
  // 12 rows in 5 parts, for mm, amax, …: 2, 2, 3, 2, 3.
  EXPECT_EQ(count(graphOf(*parts), "aten.amax", 2), 3u);
  EXPECT_EQ(count(graphOf(*parts), "aten.amax", 3), 2u);
  // The first part's product, to which four others add.
  EXPECT_EQ(count(graphOf(*parts), "aten.addmm", 4), 4u);
  SplitCheckStats stats;
  ASSERT_TRUE(succeeded(verifySplit(graphOf(*whole), graphOf(*parts), &stats)));
  EXPECT_GT(stats.parts, 50u);
}

TEST_F(SplitOpsTest, AtMostAsManyPartsAsRows) {
  OwningOpRef<ModuleOp> module = graph(lossGraph());
  EXPECT_EQ(split(graphOf(*module), 100).parts, 12u);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(SplitOpsTest, SumsInNarrowTypesAreAddedInF32) {
  std::string text = lossGraph();
  for (size_t at = 0; (at = text.find("xf32", at)) != std::string::npos;)
    text.replace(at, 4, "xbf16");
  for (size_t at = 0; (at = text.find("<f32", at)) != std::string::npos;)
    text.replace(at, 4, "<bf16");
  for (size_t at = 0; (at = text.find("= f32", at)) != std::string::npos;)
    text.replace(at, 5, "= bf16");
  OwningOpRef<ModuleOp> whole = graph(text), parts = graph(text);
  ASSERT_EQ(split(graphOf(*parts), 3).parts, 3u);
  EXPECT_TRUE(isProved(graphOf(*whole), graphOf(*parts)));
  unsigned wide = 0;
  for (Operation &op : graphOf(*parts).getBlock())
    if (op.getName().getStringRef() == "aten.add.Tensor") {
      ++wide;
      EXPECT_TRUE(getElementTypeOrSelf(op.getResult(0).getType()).isF32());
    }
  EXPECT_EQ(wide, 2u);
}

TEST_F(SplitOpsTest, WhatStaysWhole) {
  EXPECT_EQ(refusal(lossGraph("", "%mm", "tensor<12x32xf32>")),
            "is a result of the graph");
  EXPECT_EQ(refusal(lossGraph("%c = aten.cumsum(%mm, 0) : (tensor<12x32xf32>)"
                              " -> tensor<12x32xf32>",
                              "%c", "tensor<12x32xf32>")),
            "does not run in parts");
  // All rows before any of them: the parts would wait for each other.
  std::string centered = lossGraph(
      "%all = aten.sum(%mm) : (tensor<12x32xf32>) -> tensor<f32>\n"
      "%cen = aten.sub.Tensor(%mm, %all) : (tensor<12x32xf32>, tensor<f32>) ->"
      " tensor<12x32xf32>");
  std::string from = "aten.amax(%mm";
  centered.replace(centered.find(from), from.size(), "aten.amax(%cen");
  EXPECT_EQ(refusal(centered), "needs all of 'all'");
}

TEST_F(SplitOpsTest, OtherResultsArgumentsAndEffectsAreNamed) {
  auto differ = [&](const std::string &whole, const std::string &split) {
    OwningOpRef<ModuleOp> a = graph(whole), b = graph(split);
    std::string said;
    ScopedDiagnosticHandler keep(
        &context, [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
    EXPECT_TRUE(failed(verifySplit(graphOf(*a), graphOf(*b))));
    return said;
  };
  std::string checked =
      lossGraph("%ok = aten.sum(%i) : (tensor<12x1xi64>) -> tensor<i64>\n"
                "joint.assert %ok, \"labels\" : tensor<i64>");
  EXPECT_EQ(differ(checked, lossGraph()),
            "has an effect that the split graph has not");
  std::string two = "%two = aten.sum(%x) : (tensor<12x4xf32>) -> tensor<f32>";
  EXPECT_EQ(differ(lossGraph(two), lossGraph(two, "%two")),
            "result 1 is not 'loss', as in the graph that it was split from");
  std::string other = lossGraph();
  other.replace(other.find("param \"x\""), 9, "param \"y\"");
  EXPECT_EQ(differ(lossGraph(), other),
            "has other arguments, results or gradients than the graph that it "
            "was split from");
}

TEST_F(SplitOpsTest, EveryOtherGraphIsRefused) {
  OwningOpRef<ModuleOp> whole = graph(lossGraph()), parts = graph(lossGraph());
  ASSERT_EQ(split(graphOf(*parts), 3).parts, 3u);
  GraphOp own = graphOf(*parts);
  ASSERT_TRUE(isProved(graphOf(*whole), own));
  SmallVector<Value> values(own.getBody().getArguments());
  unsigned changed = 0;
  for (Operation &op : own.getBlock()) {
    for (OpOperand &use : op.getOpOperands())
      for (Value other : values) {
        Value before = use.get();
        bool isCreated = before.getDefiningOp() &&
                         before.getDefiningOp()->getNumOperands() == 0;
        if (other == before || other.getType() != before.getType() || isCreated)
          continue;
        Operation *a = other.getDefiningOp(), *b = before.getDefiningOp();
        if (a && b &&
            OperationEquivalence::isEquivalentTo(
                a, b,
                static_cast<OperationEquivalence::Flags>(
                    OperationEquivalence::IgnoreLocations |
                    OperationEquivalence::IgnoreDiscardableAttrs)))
          continue; // the same slice
        use.set(other);
        EXPECT_FALSE(isProved(graphOf(*whole), own))
            << op.getName().getStringRef().str();
        use.set(before);
        ++changed;
      }
    values.append(op.result_begin(), op.result_end());
  }
  EXPECT_GT(changed, 100u);
  ASSERT_TRUE(isProved(graphOf(*whole), own));
}

} // namespace
