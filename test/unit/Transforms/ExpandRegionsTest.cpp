// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of nested regions: which ops get copies, what each copy reads.

#include "../Analysis/SameView.h"
#include "RandomGraph.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Transforms/Anonymize.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class ExpandRegionsTest : public ::testing::Test {
protected:
  ExpandRegionsTest() { loadDialects(context); }

  /// The graph after expansion. `body` computes the result %y and the gradient
  /// %dx from %x and the tangent %t.
  ExpandedRegions expand(const std::string &body,
                         const std::string &attributes = "") {
    module = parse(
        context,
        "joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}, "
        "%t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> "
        "(tensor<4xf32>) gradients (tensor<4xf32>) " +
            attributes + " {\n" + body +
            "\njoint.output %y gradients(%dx of 0) : tensor<4xf32>, "
            "tensor<4xf32>\n}");
    EXPECT_TRUE(module);
    return expand();
  }

  /// Expands `module`. The view must follow.
  ExpandedRegions expand() {
    GraphView view = GraphView::build(graphOf(*module));
    Policies policies = readPolicies(view);
    EXPECT_TRUE(hasRegionsToExpand(view, policies));
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    EXPECT_TRUE(succeeded(sets));
    ExpandedRegions expanded = expandRegions(view, *sets, policies);
    EXPECT_TRUE(succeeded(verify(*module)));
    expectSameView(view, GraphView::build(graphOf(*module)));
    if (expanded.any())
      EXPECT_FALSE(hasRegionsToExpand(view, readPolicies(view)))
          << "it is done once";
    return expanded;
  }

  /// "sin(x) sin.2(exp)": ops by name, with the run of copies, and what they
  /// read.
  std::string ops() {
    std::string text;
    for (Operation &op : graphOf(*module).getBlock()) {
      std::string operands;
      for (Value value : op.getOperands())
        operands += (operands.empty() ? "" : ",") + nameOf(value);
      text += (text.empty() ? "" : " ") + nameOf(&op) + "(" + operands + ")";
    }
    return text;
  }

  static std::string nameOf(Operation *op) {
    auto policy = op->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
    std::string name = op->getName().stripDialect().str();
    if (policy && policy.getRun())
      name += "." + std::to_string(policy.getRun());
    return name;
  }
  static std::string nameOf(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arg.getArgNumber() ? "t" : "x";
    return nameOf(value.getDefiningOp());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ExpandRegionsTest, AnInputOfAnInnerRegionStaysFromTheOuterRun) {
  // exp is in region 0.0, sin and cos in 0.1: the outer run gives exp, the
  // inner one sin.
  ExpandedRegions expanded = expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %b = math.exp %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %c = math.sin %b {joint.policy = #joint.policy<prefer_recompute, region = [0, 1]>} : tensor<4xf32>
    %y = math.cos %c {joint.policy = #joint.policy<prefer_recompute, region = [0, 1]>} : tensor<4xf32>
    %d = arith.mulf %t, %c : tensor<4xf32>
    %e = arith.subf %d, %b : tensor<4xf32>
    %dx = arith.addf %e, %a : tensor<4xf32>)mlir");
  EXPECT_EQ(expanded.copies, 2u);
  EXPECT_EQ(ops(), "log(x) log.2(x) exp(log) sin(exp) sin.2(exp) cos(sin) "
                   "mulf(t,sin.2) subf(mulf,exp) addf(subf,log.2) "
                   "output(cos,addf)");
}

TEST_F(ExpandRegionsTest, AGraphInAnOpReadsLastRunsToo) {
  // What the op's region reads from outside, and the op itself.
  ExpandedRegions expanded = expand(R"mlir(
    %b = math.exp %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %c = math.sin %b {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %c {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %dx = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t, %b : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %i = linalg.index 0 : index
      %s = tensor.extract %c[%i] : tensor<4xf32>
      %u = arith.mulf %q, %s : f32
      linalg.yield %u : f32
    } -> tensor<4xf32>)mlir");
  EXPECT_EQ(expanded.copies, 2u);
  EXPECT_EQ(ops(), "exp(x) exp.2(x) sin(exp) sin.2(exp.2) cos(sin) "
                   "generic(t,exp.2,t) output(cos,generic)");
  std::string inside;
  graphOf(*module).walk(
      [&](tensor::ExtractOp op) { inside += nameOf(op.getTensor()); });
  EXPECT_EQ(inside, "sin.2");
}

TEST_F(ExpandRegionsTest, EachLevelHasARunOfItsOwn) {
  ExpandedRegions expanded = expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0, 0]>} : tensor<4xf32>
    %b = math.exp %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0, 1]>} : tensor<4xf32>
    %c = math.sin %b {joint.policy = #joint.policy<prefer_recompute, region = [0, 0, 1]>} : tensor<4xf32>
    %y = math.cos %c {joint.policy = #joint.policy<prefer_recompute, region = [0, 1]>} : tensor<4xf32>
    %d = arith.mulf %t, %b : tensor<4xf32>
    %dx = arith.subf %d, %c : tensor<4xf32>)mlir");
  // sin is read in 0.1, so the run of 0 keeps it; log is read in 0.0.1, so the
  // run of 0.0 keeps it; exp is of run 3.
  EXPECT_EQ(expanded.copies, 2u);
  EXPECT_EQ(ops(), "log(x) log.2(x) exp(log) exp.3(log.2) sin(exp) cos(sin) "
                   "mulf(t,exp.3) subf(mulf,sin) output(cos,subf)");
}

TEST_F(ExpandRegionsTest, WhatIsSavedIsReadInEveryRun) {
  ExpandedRegions expanded = expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<must_save, region = [0, 0]>} : tensor<4xf32>
    %b = math.exp %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %b {joint.policy = #joint.policy<advise_recompute, region = [0, 0]>} : tensor<4xf32>
    %dx = arith.mulf %t, %b : tensor<4xf32>)mlir");
  EXPECT_EQ(expanded.copies, 1u);
  EXPECT_EQ(ops(), "log(x) exp(log) exp.2(log) cos(exp) mulf(t,exp.2) "
                   "output(cos,mulf)");
}

TEST_F(ExpandRegionsTest, ALaterOutermostRegionReadsWhatIsSaved) {
  ExpandedRegions expanded = expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %a {joint.policy = #joint.policy<prefer_recompute, region = [1, 0]>} : tensor<4xf32>
    %dx = arith.mulf %t, %a : tensor<4xf32>)mlir");
  EXPECT_EQ(expanded.copies, 0u);
}

TEST_F(ExpandRegionsTest, AGradientMayBeTheValueItself) {
  (void)expand(R"mlir(
    %dx = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %dx {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>)mlir");
  EXPECT_EQ(ops(), "log(x) log.2(x) cos(log) output(cos,log.2)");
}

TEST_F(ExpandRegionsTest, ARegionWithoutEarlyStopIsReadWhole) {
  ExpandedRegions expanded = expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %b = math.exp %a {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %y = math.cos %b {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %dx = arith.mulf %t, %a : tensor<4xf32>)mlir",
                                    "attributes {joint.regions = {\"0\" = "
                                    "{early_stop = false}}}");
  EXPECT_EQ(expanded.copies, 0u);
  EXPECT_EQ(expanded.reruns, 1u);
  EXPECT_EQ(ops(), "log(x) exp(log) cos(exp) rerun(cos) mulf(t,log) "
                   "output(cos,mulf)");
}

TEST_F(ExpandRegionsTest, AnInnerRegionRunsWholeInItsOwnRun) {
  (void)expand(R"mlir(
    %a = math.log %x {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %b = math.exp %a {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %b {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %dx = arith.mulf %t, %a : tensor<4xf32>)mlir",
               "attributes {joint.regions = {\"0.0\" = {early_stop = false}}}");
  // exp is an input of nothing that runs again in 0.0: it stays from the run of
  // 0, in which cos reads it.
  EXPECT_EQ(ops(), "log(x) log.2(x) exp(log) cos(exp) rerun(log.2) "
                   "mulf(t,log.2) output(cos,mulf)");
}

TEST_F(ExpandRegionsTest, OtherNumbersAreAnotherStream) {
  module = parse(context, R"mlir(
  joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %s: tensor<i64> {joint.role = #joint.role<rng_seed>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) attributes {joint.regions = {"0" = {preserve_rng = false}}} {
    %r = joint.random <uniform> %s stream 7 {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : (tensor<i64>) -> tensor<4xf32>
    %a = arith.mulf %x, %r {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : tensor<4xf32>
    %y = math.cos %a {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %d = arith.mulf %t, %r : tensor<4xf32>
    %dx = arith.subf %d, %a : tensor<4xf32>
    joint.output %y gradients(%dx of 0) : tensor<4xf32>, tensor<4xf32>
  })mlir");
  ASSERT_TRUE(module);
  // The run of region 0 draws anew; that of region 0.0 draws as that one did.
  EXPECT_EQ(expand().copies, 3u);
  std::string streams;
  for (auto random : graphOf(*module).getBlock().getOps<RandomOp>())
    streams += std::to_string(random.getStream()) + " ";
  EXPECT_EQ(streams, "7 8 8 ");
}

TEST_F(ExpandRegionsTest, NamesOfCopiesLeadBackToTheGraph) {
  module = parse(context, R"mlir(
  joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>) gradients (tensor<4xf32>) {
    %a = aten.rand_like(%x) {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>, joint.replay = 0} : (tensor<4xf32>) -> tensor<4xf32>
    %y = aten.mul.Tensor(%x, %a) {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %dx = aten.mul.Tensor(%t, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.output %y gradients(%dx of 0) : tensor<4xf32>, tensor<4xf32>
  })mlir");
  ASSERT_TRUE(module);
  EXPECT_EQ(expand().copies, 1u);
  Operation *original = &graphOf(*module).getBlock().front();
  Operation *copy = original->getNextNode();
  EXPECT_EQ(nameInGraph(copy), "a");
  EXPECT_EQ(drawStreamOf(copy), drawStreamOf(original));
  EXPECT_EQ(copy->getDiscardableAttr(kReplay),
            original->getDiscardableAttr(kReplay));
}

/// Tags of regions in regions, in program order, each with some ops.
void tagAtRandom(GraphOp graph, std::mt19937_64 &random) {
  SmallVector<int64_t> path(3, 0);
  for (Operation &op : graph.getBlock()) {
    if (random() % 4 == 0) {
      size_t depth = random() % path.size();
      ++path[depth];
      std::fill(path.begin() + depth + 1, path.end(), 0);
    }
    if (op.getNumResults() == 0 || random() % 8 == 0)
      continue;
    op.setDiscardableAttr(
        JointDialect::kPolicy,
        PolicyAttr::get(op.getContext(), PolicyKind::PreferRecompute,
                        ArrayRef(path).take_front(1 + random() % path.size()),
                        /*run=*/0));
  }
  for (int64_t region = 0; region < 3; ++region)
    setRegionWishes(graph, {region},
                    {/*earlyStop=*/random() % 2 == 0,
                     /*preserveRng=*/random() % 2 == 0});
}

TEST_F(ExpandRegionsTest, TheViewFollowsRandomGraphs) {
  uint64_t copies = 0, reruns = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    module = parse(context, randomGraphText(seed));
    ASSERT_TRUE(module);
    tagAtRandom(graphOf(*module), random);
    markReplays(graphOf(*module));
    ExpandedRegions expanded = expand();
    copies += expanded.copies;
    reruns += expanded.reruns;
  }
  EXPECT_GT(copies, 100u);
  EXPECT_GT(reruns, 10u);
}

TEST_F(ExpandRegionsTest, ATextHasTheNamesOfCopiesWhole) {
  (void)expand(R"mlir(
    %a = aten.exp(%x) {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : (tensor<4xf32>) -> tensor<4xf32>
    %y = aten.sin(%a) {joint.policy = #joint.policy<prefer_recompute, region = [0, 0]>} : (tensor<4xf32>) -> tensor<4xf32>
    %dx = aten.mul.Tensor(%t, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)mlir");
  std::string text, again;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_NE(text.find("%a_run2 = aten.exp(%x)"), std::string::npos);
  OwningOpRef<ModuleOp> read = parse(context, text);
  ASSERT_TRUE(read);
  llvm::raw_string_ostream(again) << *read;
  EXPECT_EQ(text, again) << "the run is said once";
  Operation *copy = graphOf(*read).getBlock().front().getNextNode();
  EXPECT_EQ(getValueName(copy->getResult(0)), "a_run2");
  EXPECT_EQ(nameInGraph(copy), "a");
  anonymize(*read);
  EXPECT_EQ(getValueName(copy->getResult(0)), "exp_run2");
  EXPECT_EQ(nameInGraph(copy), nameInGraph(copy->getPrevNode()));
}

} // namespace
