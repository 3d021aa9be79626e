// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tags at region boundaries and the flattening of checkpoint regions.

#include "RandomGraph.h"

#include "cutback/Transforms/CleanTags.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class CleanTagsTest : public ::testing::Test {
protected:
  CleanTagsTest() { loadDialects(context); }

  OwningOpRef<ModuleOp> graph(const std::string &body) {
    OwningOpRef<ModuleOp> module = parse(
        context, "joint.graph @g(%x: tensor<4xf32> {joint.role = "
                 "#joint.role<input>}) -> (tensor<4xf32>) gradients () {\n" +
                     body + "\n}");
    EXPECT_TRUE(module);
    return module;
  }

  /// Cleans the tags; what is known of them must follow.
  static uint64_t clean(ModuleOp module) {
    GraphView view = GraphView::build(graphOf(module));
    Policies policies = readPolicies(view);
    uint64_t changed = cleanTags(view, policies);
    EXPECT_EQ(policies, readPolicies(view));
    return changed;
  }

  /// "sin:prefer_recompute:0 cos:must_save:1"
  static std::string tags(ModuleOp module) {
    std::string text;
    graphOf(module).walk([&](Operation *op) {
      if (auto policy = op->getAttrOfType<PolicyAttr>(JointDialect::kPolicy))
        text += (text.empty() ? "" : " ") + op->getName().stripDialect().str() +
                ":" + stringifyPolicyKind(policy.getKind()).str() + ":" +
                regionText(policy.getRegion());
    });
    return text;
  }

  MLIRContext context;
};

TEST_F(CleanTagsTest, OnlyALaterRegionMakesABoundary) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %a = math.sin %x {joint.policy = #joint.policy<must_recompute, region = 1>} : tensor<4xf32>
    %b = math.cos %a {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %c = math.exp %b {joint.policy = #joint.policy<must_recompute, region = 1>} : tensor<4xf32>
    %d = math.log %c {joint.policy = #joint.policy<must_save, region = 2>} : tensor<4xf32>
    %e = math.tan %d {joint.policy = #joint.policy<prefer_recompute, region = 3>} : tensor<4xf32>
    joint.output %e : tensor<4xf32>)mlir");
  EXPECT_EQ(clean(*module), 1u);
  EXPECT_EQ(tags(*module), "sin:must_recompute:1 cos:must_save:0 "
                           "exp:must_recompute:1 log:must_save:2 "
                           "tan:prefer_recompute:3");
  EXPECT_EQ(clean(*module), 0u);
}

TEST_F(CleanTagsTest, AChainOfRegionsIsCutAtEachBoundary) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %a = math.sin %x {joint.policy = #joint.policy<prefer_recompute, region = 0>} : tensor<4xf32>
    %b = math.cos %a {joint.policy = #joint.policy<prefer_recompute, region = 1>} : tensor<4xf32>
    %c = math.exp %b {joint.policy = #joint.policy<prefer_recompute, region = 2>} : tensor<4xf32>
    joint.output %c : tensor<4xf32>)mlir");
  EXPECT_EQ(clean(*module), 2u);
  EXPECT_EQ(tags(*module),
            "sin:must_save:0 cos:must_save:1 exp:prefer_recompute:2");
}

TEST_F(CleanTagsTest, NestedRegionsShareTheOutermostNumber) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %t = math.tan %x {joint.policy = #joint.policy<must_save, region = 4>} : tensor<4xf32>
    %y = joint.checkpoint attributes {policies = {math.cos = #joint.policy<must_save>}} {
      %a = math.sin %t : tensor<4xf32>
      %b = joint.checkpoint attributes {policies = {math.sin = #joint.policy<must_recompute>, math.cos = #joint.policy<must_recompute>}} {
        %i = math.sin %a : tensor<4xf32>
        %j = math.cos %i : tensor<4xf32>
        %k = math.exp %j {joint.policy = #joint.policy<prefer_save>} : tensor<4xf32>
        joint.yield %k : tensor<4xf32>
      } : tensor<4xf32>
      %c = math.log %b : tensor<4xf32>
      joint.yield %c : tensor<4xf32>
    } : tensor<4xf32>
    %z = joint.checkpoint {
      %d = math.absf %y : tensor<4xf32>
      joint.yield %d : tensor<4xf32>
    } : tensor<4xf32>
    joint.output %z : tensor<4xf32>)mlir");
  EXPECT_EQ(flattenCheckpoints(graphOf(*module)), 3u);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(tags(*module),
            "tan:must_save:4 sin:prefer_recompute:5 sin:must_recompute:5.0 "
            "cos:must_save:5.0 exp:prefer_save:5.0 log:prefer_recompute:5 "
            "absf:prefer_recompute:6");
}

TEST_F(CleanTagsTest, ARegionMayYieldItsInputsAndNothing) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %y:2 = joint.checkpoint {
      joint.yield %x, %x : tensor<4xf32>, tensor<4xf32>
    } : tensor<4xf32>, tensor<4xf32>
    joint.checkpoint {
      %d = math.absf %y#1 : tensor<4xf32>
      joint.yield
    }
    joint.output %y#0 : tensor<4xf32>)mlir");
  EXPECT_EQ(flattenCheckpoints(graphOf(*module)), 2u);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(graphOf(*module).getOutput().getOperand(0),
            Value(graphOf(*module).getBody().getArgument(0)));
}

TEST_F(CleanTagsTest, AViewOnTheBoundaryKeepsWhatItLooksAt) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %a = aten.sin(%x) {joint.policy = #joint.policy<prefer_recompute, region = 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %b = aten.cos(%a) {joint.policy = #joint.policy<prefer_recompute, region = 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %c = aten.view(%b, [2, 2]) {joint.policy = #joint.policy<prefer_recompute, region = 0>} : (tensor<4xf32>) -> tensor<2x2xf32>
    %d = aten.view(%c, [4]) {joint.policy = #joint.policy<prefer_recompute, region = 1>} : (tensor<2x2xf32>) -> tensor<4xf32>
    joint.output %d : tensor<4xf32>)mlir");
  EXPECT_EQ(clean(*module), 2u);
  EXPECT_EQ(tags(*module), "sin:prefer_recompute:0 cos:must_save:0 "
                           "view:must_save:0 view:prefer_recompute:1");
}

TEST_F(CleanTagsTest, RegionsOfARegionAreNumberedFromZero) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %y = joint.checkpoint {
      %a = joint.checkpoint {
        %b = math.sin %x : tensor<4xf32>
        joint.yield %b : tensor<4xf32>
      } : tensor<4xf32>
      %c = math.cos %a : tensor<4xf32>
      %d = joint.checkpoint {
        %e = joint.checkpoint attributes {advise = true} {
          %f = math.exp %c : tensor<4xf32>
          joint.yield %f : tensor<4xf32>
        } : tensor<4xf32>
        joint.yield %e : tensor<4xf32>
      } : tensor<4xf32>
      joint.yield %d : tensor<4xf32>
    } : tensor<4xf32>
    joint.output %y : tensor<4xf32>)mlir");
  EXPECT_EQ(flattenCheckpoints(graphOf(*module)), 4u);
  EXPECT_EQ(tags(*module), "sin:prefer_recompute:0.0 cos:prefer_recompute:0 "
                           "exp:advise_recompute:0.1.0");
}

TEST_F(CleanTagsTest, RegionsThatAreDeeperRunWithTheLastOne) {
  std::string body = "%y = math.sin %x : tensor<4xf32>\n";
  unsigned depth = kMaxRegionDepth + 3;
  for (unsigned i = 0; i < depth; ++i)
    body = "%y = joint.checkpoint {\n" + body +
           "joint.yield %y : tensor<4xf32>\n} : tensor<4xf32>\n";
  OwningOpRef<ModuleOp> module =
      graph(body + "joint.output %y : tensor<4xf32>");
  EXPECT_EQ(flattenCheckpoints(graphOf(*module)), depth);
  std::string path = "0";
  for (unsigned i = 1; i < kMaxRegionDepth; ++i)
    path += ".0";
  EXPECT_EQ(tags(*module), "sin:prefer_recompute:" + path);
}

TEST_F(CleanTagsTest, WhatARegionAsksForStaysWithTheGraph) {
  OwningOpRef<ModuleOp> module = graph(R"mlir(
    %y = joint.checkpoint attributes {early_stop = false} {
      %d = joint.checkpoint attributes {preserve_rng = false} {
        %e = joint.checkpoint attributes {preserve_rng = false, reentrant = true} {
          %f = math.absf %x : tensor<4xf32>
          joint.yield %f : tensor<4xf32>
        } : tensor<4xf32>
        joint.yield %e : tensor<4xf32>
      } : tensor<4xf32>
      joint.yield %d : tensor<4xf32>
    } : tensor<4xf32>
    joint.output %y : tensor<4xf32>)mlir");
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages.push_back(diagnostic.str());
  });
  flattenCheckpoints(graphOf(*module));
  ASSERT_EQ(messages.size(), 1u) << "said once";
  EXPECT_EQ(messages[0],
            "a checkpoint region with preserve_rng = false draws other random "
            "numbers when it runs again: gradients are not those of what the "
            "forward has computed");
  std::string text;
  llvm::raw_string_ostream(text)
      << graphOf(*module)->getAttr(JointDialect::kRegions);
  EXPECT_EQ(text, "{\"0\" = {early_stop = false}, "
                  "\"0.0\" = {preserve_rng = false}, "
                  "\"0.0.0\" = {early_stop = false, preserve_rng = false}}");
}

} // namespace
