// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FX view of hand-written graphs, node by node: kinds, names, flags,
// roles, tags, and the edges that the rules walk.

#include "SmallGraph.h"

#include "cutback/TorchRules/FxView.h"
#include "cutback/TorchRules/TorchProblem.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

const char *const kGraph = R"mlir(
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">},
               %buf: tensor<4xf32> {joint.role = #joint.role<buffer "b">},
               %c: tensor<f32> {joint.role = #joint.role<constant>},
               %s0: index {joint.role = #joint.role<size>, joint.dims = ["s0"]},
               %ok: tensor<i1> {joint.role = #joint.role<input>},
               %seed: tensor<i64> {joint.role = #joint.role<rng_seed>},
               %late: tensor<i64> {joint.role = #joint.role<rng_offset backward>},
               %t: tensor<2xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<2xf32>) gradients (tensor<4xf32>)
    attributes {symbols = {s0 = #joint.symbol<hint = 4>}} {
  %a = aten.mul.Tensor(%w, %c) {joint.policy = #joint.policy<must_recompute, region = 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l, %r = aten.split.Tensor(%a, 2) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %noise = aten.bernoulli(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.sym.mul(%s0, 2) : (index) -> index
  joint.assert %ok, "bad" : tensor<i1>
  %wr = joint.write %buf, %a : tensor<4xf32>, tensor<4xf32>
  %k = aten.cat([%t, %t], 0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%k, %noise) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %l gradients(%g of 0) : tensor<2xf32>, tensor<4xf32>
}
)mlir";

class FxViewTest : public ::testing::Test {
protected:
  FxViewTest() {
    loadDialects(context);
    module = parse(context, kGraph);
    GraphView view = GraphView::build(graphOf(*module));
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    std::vector<uint8_t> isFree(view.numArgs, 0);
    isFree[0] = 1;
    fx = FxView::build(view, *sizes, isFree, TorchRuleSet::Torch213);
    EXPECT_FALSE(fx.graph.hasNames());
    fx.nameNodes(view);
  }

  /// The node called `name`; a failure if there is none.
  const FxNode &node(std::string_view name) {
    for (FxNodeId id = 0; id < fx.graph.size(); ++id)
      if (fx.graph.name(id) == name)
        return fx.graph.nodes[id];
    ADD_FAILURE() << "no node " << name;
    return fx.graph.nodes[0];
  }
  std::string names(FxRow<uint32_t> row) {
    std::string text;
    for (uint32_t id : row)
      text += (text.empty() ? "" : " ") + std::string(fx.graph.name(id));
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  FxView fx;
};

TEST_F(FxViewTest, NodesStandInPyTorchsOrder) {
  std::string text;
  for (FxNodeId id = 0; id < fx.graph.size(); ++id)
    text += std::string(fx.graph.name(id)) + " ";
  // Constants in front of their first user, elements behind their call.
  EXPECT_EQ(text, "w buf s0 ok seed late t c a call_1 l noise n call_4 wr k g "
                  "output ");
  EXPECT_EQ(node("c").kind, FxKind::GetAttr);
  EXPECT_EQ(node("w").kind, FxKind::Placeholder);
  EXPECT_EQ(node("l").kind, FxKind::GetItem);
  EXPECT_EQ(node("a").kind, FxKind::Call);
}

TEST_F(FxViewTest, RolesAndFlagsComeFromArgumentsAndEffects) {
  EXPECT_EQ(node("w").role, FxRole::Primal);
  EXPECT_TRUE(node("w").has(fxflag::StaticLifetime));
  EXPECT_FALSE(node("buf").has(fxflag::StaticLifetime));
  EXPECT_EQ(node("c").role, FxRole::None);
  EXPECT_EQ(node("seed").role, FxRole::ForwardSeed);
  EXPECT_EQ(node("late").role, FxRole::BackwardSeed);
  EXPECT_EQ(node("t").role, FxRole::Tangent);
  EXPECT_TRUE(node("noise").has(fxflag::SeededRandom));
  EXPECT_TRUE(node("call_4").has(fxflag::Assert));
  EXPECT_TRUE(node("wr").has(fxflag::MutableSchema));
  EXPECT_EQ(fx.graph.name(node("wr").destination), "buf");
  EXPECT_EQ(fx.graph.packets[node("wr").packet], "aten.copy_");
}

TEST_F(FxViewTest, ValuesHaveSizesAndStorages) {
  EXPECT_EQ(node("a").size, 16);
  EXPECT_EQ(node("call_1").value, FxValue::Tuple);
  EXPECT_EQ(node("call_1").size, 16) << "results that nobody uses count too";
  EXPECT_EQ(node("l").size, 8);
  EXPECT_EQ(node("l").storage, node("a").storage) << "a view";
  EXPECT_NE(node("noise").storage, node("a").storage);
  EXPECT_EQ(node("n").value, FxValue::SymInt);
  EXPECT_EQ(node("call_4").value, FxValue::None);
}

TEST_F(FxViewTest, TagsAndEdgesAreThoseOfTheGraph) {
  EXPECT_EQ(node("a").policy, FxPolicy::MustRecompute);
  EXPECT_EQ(node("a").region, 2);
  EXPECT_EQ(node("noise").policy, FxPolicy::None);
  auto idOf = [&](std::string_view name) { return &node(name) - &node("w"); };
  EXPECT_EQ(names(fx.graph.users[idOf("a")]), "call_1 noise wr");
  EXPECT_EQ(names(fx.graph.inputs[idOf("k")]), "t");
  EXPECT_EQ(names(fx.graph.inputs[idOf("wr")]), "buf a");
  ASSERT_EQ(fx.graph.binds[idOf("s0")], 0);
  EXPECT_EQ(fx.graph.symbolNames[0], "s0");
}

TEST_F(FxViewTest, ArgumentsWithoutAGradientReturnNone) {
  ASSERT_EQ(fx.graph.numForwardOutputs, 1u);
  ASSERT_EQ(fx.graph.outputs.size(), 9u);
  EXPECT_EQ(fx.graph.name(fx.graph.outputs[0]), "l");
  EXPECT_EQ(fx.graph.name(fx.graph.outputs[1]), "g");
  for (size_t i = 2; i < 9; ++i)
    EXPECT_EQ(fx.graph.outputs[i], noFxNode);
}

TEST_F(FxViewTest, NodesAndValuesPointAtEachOther) {
  for (uint32_t value = 0; value < fx.nodeOf.size(); ++value)
    if (fx.nodeOf[value] != noFxNode) {
      EXPECT_EQ(fx.valueOf[fx.nodeOf[value]], value);
    }
  EXPECT_EQ(fx.valueOf.back(), GraphView::kNone);
  EXPECT_EQ(fx.opOf.size(), fx.graph.size());
}

const char *const kTwins = R"mlir(
#id = affine_map<(i) -> (i)>
joint.graph @twins(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>)
    gradients () {
  %exp = math.exp %x : tensor<4xf32>
  %exp_again = math.exp %x : tensor<4xf32>
  %fast = math.exp %x fastmath<fast> : tensor<4xf32>
  %sin = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = math.sin %i : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %cos = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = math.cos %i : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %cos_again = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = math.cos %i : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %small = tensor.empty() : tensor<4xf32>
  %large = tensor.empty() : tensor<8xf32>
  // PyTorch merges nothing that is returned.
  %r0 = arith.negf %exp : tensor<4xf32>
  %r1 = arith.negf %exp_again : tensor<4xf32>
  %r2 = arith.negf %fast : tensor<4xf32>
  %r3 = arith.negf %sin : tensor<4xf32>
  %r4 = arith.negf %cos : tensor<4xf32>
  %r5 = arith.negf %cos_again : tensor<4xf32>
  %r6 = arith.negf %small : tensor<4xf32>
  %r7 = arith.negf %large : tensor<8xf32>
  joint.output %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}
)mlir";

TEST_F(FxViewTest, OpsThatAreNoCallsMergeOnlyIfAllIsEqual) {
  module = parse(context, kTwins);
  ASSERT_TRUE(module);
  joint::GraphOp graph = graphOf(*module);
  GraphView view = GraphView::build(graph);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
  ASSERT_TRUE(succeeded(sizes));
  fx = FxView::build(view, *sizes, std::vector<uint8_t>(view.numArgs, 0),
                     TorchRuleSet::Torch213);
  EXPECT_EQ(simplifyAsTorch(graph, view, *sizes, fx, TorchRulesOptions()), 1u);
  SmallVector<Value> read;
  for (Value result : graph.getOutput()->getOperands())
    read.push_back(result.getDefiningOp()->getOperand(0));
  EXPECT_EQ(read[0], read[1]) << "equal ops";
  std::set<void *> distinct;
  for (Value value : ArrayRef(read).drop_front())
    distinct.insert(value.getAsOpaquePointer());
  EXPECT_EQ(distinct.size(), 7u)
      << "other flags, other or any bodies, other types";
}

} // namespace
