// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What preparing hands over to partitioning is what partitioning would have
// found out itself: the numbers, sizes and FX view of the simplified graph, on
// random graphs with dead code, duplicates, views, writes and draws.

#include "../Transforms/RandomGraph.h"

#include "cutback/Planner/PartitionPipeline.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

void expectSameView(const GraphView &a, const GraphView &b) {
  EXPECT_EQ(a.ops, b.ops);
  EXPECT_TRUE(a.values == b.values);
  EXPECT_EQ(a.numArgs, b.numArgs);
  EXPECT_EQ(a.resultBegin, b.resultBegin);
  EXPECT_EQ(a.operandBegin, b.operandBegin);
  EXPECT_EQ(a.operandList, b.operandList);
  EXPECT_EQ(a.definer, b.definer);
  EXPECT_EQ(a.userBegin, b.userBegin);
  EXPECT_EQ(a.userList, b.userList);
  ASSERT_EQ(a.traits.size(), b.traits.size());
  for (size_t op = 0; op < a.traits.size(); ++op) {
    EXPECT_EQ(a.traits[op].fusion, b.traits[op].fusion);
    EXPECT_EQ(a.traits[op].random, b.traits[op].random);
    EXPECT_EQ(a.traits[op].ordered, b.traits[op].ordered);
    EXPECT_EQ(a.traits[op].view, b.traits[op].view);
  }
}

void expectSameSizes(const ValueSizes &a, const ValueSizes &b) {
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.unknown, b.unknown);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.storage, b.storage);
  EXPECT_TRUE(a.type == b.type);
}

/// Node by node; the numbers of targets and skeletons may differ.
void expectSameFx(const FxView &a, const FxView &b) {
  ASSERT_EQ(a.graph.size(), b.graph.size());
  EXPECT_EQ(a.valueOf, b.valueOf);
  EXPECT_EQ(a.opOf, b.opOf);
  EXPECT_EQ(a.nodeOf, b.nodeOf);
  EXPECT_EQ(a.graph.inputs.items, b.graph.inputs.items);
  EXPECT_EQ(a.graph.args.items, b.graph.args.items);
  EXPECT_EQ(a.graph.users.items, b.graph.users.items);
  EXPECT_EQ(a.graph.outputs, b.graph.outputs);
  EXPECT_EQ(a.graph.storageBytes, b.graph.storageBytes);
  for (FxNodeId n = 0; n < a.graph.size(); ++n) {
    const FxNode &l = a.graph.nodes[n], &r = b.graph.nodes[n];
    EXPECT_EQ(a.graph.packets[l.packet], b.graph.packets[r.packet]) << n;
    EXPECT_EQ(l.size, r.size) << n;
    EXPECT_EQ(l.flags, r.flags) << n;
    EXPECT_EQ(l.storage, r.storage) << n;
    EXPECT_EQ(l.destination, r.destination) << n;
    EXPECT_EQ(l.kind, r.kind) << n;
    EXPECT_EQ(a.graph.directArgs(n).size(), b.graph.directArgs(n).size()) << n;
  }
}

TEST(Prepared, IsWhatANewLookAtTheGraphFinds) {
  MLIRContext context;
  loadDialects(context);
  uint64_t erased = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraphOptions shape;
    shape.percentDuplicate = 30;
    shape.isChain = seed % 2;
    OwningOpRef<ModuleOp> module =
        parse(context, RandomGraph(seed, shape).text());
    ASSERT_TRUE(module);
    joint::GraphOp graph = graphOf(*module);
    uint32_t before = GraphView::build(graph).numOps();
    PartitionOptions options;
    options.costModel = CostModel::PyTorch;
    options.freeParameters.kind = FreeParameters::None;
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> prepared =
        preparePartition(graph, options, seconds);
    ASSERT_TRUE(succeeded(prepared));
    GraphView view = GraphView::build(graph);
    erased += before - view.numOps();
    expectSameView(*prepared->view, view);
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    ASSERT_TRUE(succeeded(sizes));
    expectSameSizes(*prepared->sizes, *sizes);
    std::vector<uint8_t> noneFree(view.numArgs, 0);
    FxView fx = FxView::build(view, *sizes, noneFree, TorchRuleSet::Torch213);
    expectSameFx(*prepared->fx, fx);
    if (HasFailure())
      FAIL() << "seed " << seed;
  }
  EXPECT_GT(erased, 500u);
}

TEST(Prepared, OurOwnCostModelHandsOverTheNumbers) {
  MLIRContext context;
  loadDialects(context);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    ASSERT_TRUE(module);
    joint::GraphOp graph = graphOf(*module);
    PhaseSeconds seconds;
    FailureOr<PreparedGraph> prepared =
        preparePartition(graph, PartitionOptions(), seconds);
    ASSERT_TRUE(succeeded(prepared));
    expectSameView(*prepared->view, GraphView::build(graph));
    EXPECT_FALSE(prepared->sizes || prepared->fx);
    if (HasFailure())
      FAIL() << "seed " << seed;
  }
}

} // namespace
