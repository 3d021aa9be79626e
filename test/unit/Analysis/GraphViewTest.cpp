// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of a block: small ones of each kind by hand, and random graphs
// against MLIR's own use lists.

#include "../Transforms/RandomGraph.h"
#include "SameView.h"

#include "cutback/Analysis/GraphView.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

const char *const kGraph = R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %a = aten.mul.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.opaque "my.nothing"(%a) {effects} : (tensor<4xf32>) -> ()
  %l, %r = aten.split.Tensor(%a, 2) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %0 = aten.cat([%r, %r], 0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  joint.output %0 gradients(%t of 0) : tensor<4xf32>, tensor<4xf32>
}
)mlir";

class GraphViewTest : public ::testing::Test {
protected:
  GraphViewTest() { loadDialects(context); }
  MLIRContext context;
};

TEST_F(GraphViewTest, NumbersFollowTheProgram) {
  OwningOpRef<ModuleOp> module = parse(context, kGraph);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  ASSERT_EQ(view.numOps(), 4u);
  ASSERT_EQ(view.numValues(), 6u);
  EXPECT_EQ(view.numArgs, 2u);
  std::vector<std::string> names;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    names.push_back(view.name(value));
  EXPECT_EQ(names, (std::vector<std::string>{"x", "t", "a", "l", "r", "%5"}));
  EXPECT_EQ(view.definer, (std::vector<uint32_t>{
                              GraphView::kNone, GraphView::kNone, 0, 2, 2, 3}));
  EXPECT_EQ(view.numResults(1), 0u);
  EXPECT_EQ(view.numResults(2), 2u);
}

TEST_F(GraphViewTest, OperandsRepeatAndUsersDoNot) {
  OwningOpRef<ModuleOp> module = parse(context, kGraph);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  EXPECT_EQ(view.operands(0).vec(), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(view.users(0).vec(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(view.users(2).vec(), (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(view.users(3).empty());
  EXPECT_EQ(view.operands(view.numOps()).vec(), (std::vector<uint32_t>{5, 1}));
  EXPECT_EQ(view.users(5).vec(), (std::vector<uint32_t>{view.numOps()}));
  EXPECT_EQ(view.forwardResults().vec(), (std::vector<uint32_t>{5}));
  EXPECT_EQ(view.gradients().vec(), (std::vector<uint32_t>{1}));
}

TEST_F(GraphViewTest, TraitsAreWhatTheInterfacesSay) {
  OwningOpRef<ModuleOp> module = parse(context, kGraph);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  EXPECT_TRUE(view.traits[0].recomputable);
  EXPECT_FALSE(view.traits[0].ordered);
  EXPECT_EQ(view.traits[0].fusion, joint::FusionKind::Pointwise);
  EXPECT_FALSE(view.traits[1].recomputable);
  EXPECT_TRUE(view.traits[1].ordered);
  EXPECT_TRUE(view.traits[2].view);
  EXPECT_EQ(view.findStorages(), (std::vector<uint32_t>{0, 1, 2, 2, 2, 5}))
      << "both parts of a split lie in what is split";
  EXPECT_EQ(view.traits[3].fusion, joint::FusionKind::Concat);
}

TEST_F(GraphViewTest, RegionsReadTheirCaptures) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %y: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %z = joint.checkpoint {
    %a = aten.mul.Tensor(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = aten.mul.Tensor(%a, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  joint.output %z : tensor<4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  ASSERT_EQ(view.numOps(), 1u);
  EXPECT_EQ(view.operands(0).vec(), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(view.users(0).vec(), (std::vector<uint32_t>{0}));
}

TEST_F(GraphViewTest, FollowsOpsThatWereTakenOut) {
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %a = aten.neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %dead = aten.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aten.neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = joint.checkpoint {
    %c = aten.mul.Tensor(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.yield %c : tensor<4xf32>
  } : tensor<4xf32>
  %y = aten.mul.Tensor(%z, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  joint::GraphOp graph = graphOf(*module);
  GraphView view = GraphView::build(graph);
  view.values[3].replaceAllUsesWith(view.values[1]);
  view.ops[2]->erase();
  view.ops[1]->erase();
  Renumbering numbers = view.removeOps({0, 1, 1, 0, 0}, {0, 1, 2, 1, 4, 5});
  GraphView again = GraphView::build(graph);
  expectSameView(view, again);
  EXPECT_EQ(view.operands(1).size(), 1u) << "two captures became one";
  const uint32_t none = GraphView::kNone;
  EXPECT_EQ(numbers.newOp, (std::vector<uint32_t>{0, none, none, 1, 2}));
  EXPECT_EQ(numbers.newValue, (std::vector<uint32_t>{0, 1, none, 1, 2, 3}));
  EXPECT_EQ(numbers.oldValue, (std::vector<uint32_t>{0, 1, 4, 5}));
}

TEST_F(GraphViewTest, ANumberIsAskedOfMLIROnlyOnce) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    ASSERT_TRUE(module);
    joint::GraphOp graph = graphOf(*module);
    GraphView view = GraphView::build(graph);
    std::map<Operation *, uint32_t> number;
    for (Operation &op : graph.getBlock())
      number.emplace(&op, number.size());
    ASSERT_EQ(number.size(), view.numOps() + 1u);
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      std::set<uint32_t> users;
      for (Operation *user : view.values[value].getUsers())
        users.insert(number[user]);
      EXPECT_EQ(view.users(value).vec(),
                std::vector<uint32_t>(users.begin(), users.end()));
      Operation *definer = view.values[value].getDefiningOp();
      EXPECT_EQ(view.definer[value],
                definer ? number[definer] : GraphView::kNone);
    }
    for (auto [op, i] : number)
      for (auto [k, operand] : llvm::enumerate(op->getOperands()))
        EXPECT_EQ(view.values[view.operands(i)[k]], operand);
  }
}

/// Another order in which everything comes behind what it reads.
std::vector<uint32_t> shuffled(const GraphView &view, std::mt19937_64 &random) {
  std::vector<uint32_t> order, ready, missing(view.numOps(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    std::set<uint32_t> definers;
    for (uint32_t value : view.operands(op))
      if (!view.isArg(value))
        definers.insert(view.definer[value]);
    missing[op] = definers.size();
    if (definers.empty())
      ready.push_back(op);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    uint32_t op = ready.back();
    ready.pop_back();
    order.push_back(op);
    std::set<uint32_t> readers;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t user : view.users(r))
        if (user < view.numOps())
          readers.insert(user);
    for (uint32_t user : readers)
      if (--missing[user] == 0)
        ready.push_back(user);
  }
  return order;
}

TEST_F(GraphViewTest, FollowsOpsThatWereMoved) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    RandomGraphOptions options;
    options.percentWrite = 0;
    OwningOpRef<ModuleOp> module =
        parse(context, randomGraphText(seed, options));
    joint::GraphOp graph = graphOf(*module);
    GraphView view = GraphView::build(graph);
    const GraphView old = view;
    std::vector<uint32_t> order = shuffled(view, random);
    ASSERT_EQ(order.size(), view.numOps());
    for (uint32_t op : order)
      old.ops[op]->moveBefore(old.terminator);
    std::vector<uint32_t> newValue = view.reorderOps(order);
    GraphView again = GraphView::build(graph);
    expectSameView(view, again);
    for (uint32_t value = 0; value < old.numValues(); ++value)
      EXPECT_EQ(view.values[newValue[value]], old.values[value]);
  }
}

TEST_F(GraphViewTest, FollowsAttributesThatWereChanged) {
  // The second draw reads what the forward writes behind it.
  OwningOpRef<ModuleOp> module = parse(context, R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %b: tensor<4xf32> {joint.role = #joint.role<buffer "b">})
    -> (tensor<4xf32>) gradients () {
  %r = aten.rand_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = aten.rand_like(%b) : (tensor<4xf32>) -> tensor<4xf32>
  joint.write %b, %r : tensor<4xf32>, tensor<4xf32>
  joint.output %s : tensor<4xf32>
}
)mlir");
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  for (uint32_t op : {0, 1}) {
    EXPECT_FALSE(view.traits[op].recomputable);
    view.ops[op]->setDiscardableAttr(joint::kReplay,
                                     Builder(&context).getI64IntegerAttr(op));
    view.readTraits(op);
  }
  EXPECT_TRUE(view.traits[0].recomputable);
  EXPECT_FALSE(view.traits[1].recomputable);
  expectSameView(view, GraphView::build(graphOf(*module)));
}

const char *const kForeign = R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>})
    -> (tensor<4xf32>) gradients () {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %e = math.exp %x : tensor<4xf32>
  %none = tensor.empty() : tensor<4xf32>
  %s = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %e : tensor<4xf32>
}
)mlir";

TEST_F(GraphViewTest, OpsWithoutModelsAreWhatMlirKnowsOfThem) {
  OwningOpRef<ModuleOp> module = parse(context, kForeign);
  ASSERT_TRUE(module);
  GraphView view = GraphView::build(graphOf(*module));
  std::string text;
  for (const OpTraits &traits : view.traits)
    text += joint::stringifyFusionKind(traits.fusion).str() +
            (traits.recomputable ? "" : " once") +
            (traits.literal ? " literal" : "") + "; ";
  EXPECT_EQ(text, "create literal; pointwise; never; pointwise; ");
}

//===----------------------------------------------------------------------===//
// Other blocks than a graph's
//===----------------------------------------------------------------------===//

/// Ops and values as numbers: "2 <- 0 1; <- 2" is an op of %0 and %1 and a
/// terminator.
std::string textOf(const GraphView &view) {
  std::string text;
  for (uint32_t op = 0; op <= view.numOps(); ++op) {
    if (op < view.numOps())
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        text += std::to_string(r) + " ";
    else if (!view.terminator)
      continue;
    text += "<-";
    for (uint32_t value : view.operands(op))
      text += " " + std::to_string(value);
    text += "; ";
  }
  return text;
}

const char *const kStep = R"mlir(
func.func @half(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = joint.write %w, %x : tensor<4xf32>, tensor<4xf32>
  %y = kernel.launch call at [0] : () -> tensor<4xf32> {
    %v = aten.view(%n, [2, 2]) : (tensor<4xf32>) -> tensor<2x2xf32>
    %e = aten.exp(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %f = aten.view(%e, [4]) : (tensor<2x2xf32>) -> tensor<4xf32>
    %m = aten.mul.Tensor(%f, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %m : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
kernel.func @k(%x: memref<8xf32>) to (%y: memref<2xf32>) schedule "row" {
  kernel.nest (%i, %j) in [2, 4 reduced] {
    %0 = kernel.load %x[%i * 4 + %j] : memref<8xf32>
    %1 = kernel.reduce add %0 : f32
    kernel.store %1, %y[%i] : memref<2xf32>
  }
}
func.func @upstream(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%none : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func private @declared()
)mlir";

class BlockViewTest : public GraphViewTest {
protected:
  BlockViewTest() {
    context.loadDialect<kernel::KernelDialect>();
    module = parse(context, kStep);
  }
  GraphView viewOf(const char *function) {
    return GraphView::build(
        module->lookupSymbol<func::FuncOp>(function).getBody().front());
  }
  OwningOpRef<ModuleOp> module;
};

TEST_F(BlockViewTest, AHalfIsNumberedLikeAGraph) {
  ASSERT_TRUE(module);
  GraphView view = viewOf("half");
  // The launch reads what its ops read.
  EXPECT_EQ(textOf(view), "2 <- 0 1; 3 <- 2 1; <- 3; ");
  EXPECT_EQ(view.numArgs, 2u);
  EXPECT_FALSE(view.graph);
  EXPECT_TRUE(isa<func::ReturnOp>(view.terminator));
  EXPECT_EQ(view.results().vec(), std::vector<uint32_t>{3});
  EXPECT_TRUE(view.traits[0].ordered);
  EXPECT_EQ(view.baseOf(0), 0u) << "a write gives its argument back";
  EXPECT_EQ(view.users(1).vec(), (std::vector<uint32_t>{0, 1}));
}

TEST_F(BlockViewTest, ALaunchHasWhatItReadsAsArguments) {
  ASSERT_TRUE(module);
  auto half = module->lookupSymbol<func::FuncOp>("half");
  auto launch = *half.front().getOps<kernel::LaunchOp>().begin();
  GraphView view = GraphView::build(launch.getBlock());
  EXPECT_EQ(view.numArgs, 2u);
  EXPECT_EQ(view.values[0], half.front().front().getResult(0));
  EXPECT_EQ(view.values[1], half.getArgument(1));
  EXPECT_EQ(textOf(view), "2 <- 0; 3 <- 2; 4 <- 3; 5 <- 4 1; <- 5; ");
  EXPECT_EQ(view.definer[1], GraphView::kNone);
  EXPECT_EQ(view.findStorages(), (std::vector<uint32_t>{0, 1, 0, 3, 3, 5}));
}

TEST_F(BlockViewTest, AKernelHasNoTerminator) {
  ASSERT_TRUE(module);
  auto function = *module->getOps<kernel::FuncOp>().begin();
  GraphView view = GraphView::build(function.getBlock());
  EXPECT_FALSE(view.terminator);
  EXPECT_TRUE(view.results().empty());
  EXPECT_EQ(textOf(view), "<- 0 1; ");
  // A nest: its own indices, and the memory above it.
  auto nest = cast<kernel::NestOp>(view.ops[0]);
  GraphView body = GraphView::build(nest.getBlock());
  EXPECT_EQ(body.numArgs, 4u);
  EXPECT_EQ(textOf(body), "4 <- 2 0 1; 5 <- 4; <- 5 3 0; ");
}

TEST_F(BlockViewTest, UpstreamFunctionsAreNumbered) {
  ASSERT_TRUE(module);
  GraphView view = viewOf("upstream");
  EXPECT_EQ(textOf(view), "1 <-; 2 <-; 3 <- 1 2; 4 <- 0 0 3; <- 4; ");
  EXPECT_TRUE(view.traits[0].literal);
}

TEST_F(BlockViewTest, AnEmptyBlockIsAnEmptyView) {
  Block block;
  GraphView view = GraphView::build(block);
  EXPECT_EQ(view.numOps(), 0u);
  EXPECT_EQ(view.numValues(), 0u);
  EXPECT_TRUE(view.results().empty());
}

} // namespace
