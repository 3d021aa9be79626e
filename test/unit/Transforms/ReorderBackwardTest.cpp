// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward's order against a recursive reference, and its guarantees on
// random graphs: same set, topological, effects in order, no higher peak.

#include "RandomGraph.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <functional>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class ReorderBackwardTest : public ::testing::Test {
protected:
  ReorderBackwardTest() { loadDialects(context); }
  MLIRContext context;
};

/// The same by recursion.
std::vector<uint32_t> naiveReorder(const ReorderProblem &problem) {
  uint32_t n = problem.numOps();
  std::vector<uint32_t> order, depth(n, 0);
  std::vector<uint8_t> done(n, 0);
  auto needs = [&](uint32_t op) {
    Rows::Row row = problem.depends[op];
    return std::vector<uint32_t>(row.begin(), row.end());
  };
  for (uint32_t op = 0; op < n; ++op)
    for (uint32_t other : needs(op))
      depth[op] = std::max(depth[op], depth[other] + 1);
  std::function<void(uint32_t)> place = [&](uint32_t op) {
    if (done[op])
      return;
    std::vector<uint32_t> others = needs(op);
    std::stable_sort(others.begin(), others.end(), [&](uint32_t a, uint32_t b) {
      return depth[a] > depth[b];
    });
    for (uint32_t other : others)
      place(other);
    done[op] = 1;
    order.push_back(op);
  };
  for (uint32_t op = 0; op < problem.first; ++op)
    if (problem.needed[op] && problem.hasEffect[op])
      place(op);
  for (uint32_t op = problem.first; op < n; ++op)
    if (problem.needed[op])
      place(op);
  for (uint32_t op = 0; op < problem.first; ++op)
    if (problem.needed[op])
      place(op);
  return order;
}

TEST_F(ReorderBackwardTest, EqualsTheRecursiveReference) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    ReorderProblem problem;
    uint32_t n = 1 + random() % 60;
    for (uint32_t op = 0; op < n; ++op) {
      unsigned count = op == 0 ? 0 : random() % (trial % 50 == 0 ? 30 : 4);
      for (unsigned i = 0; i < count; ++i)
        problem.depends.add(random() % op);
      problem.depends.endRow();
      problem.hasEffect.push_back(random() % 10 == 0);
      problem.needed.push_back(problem.hasEffect.back() || random() % 3 == 0);
    }
    for (uint32_t op = n; op-- > 0;)
      if (problem.needed[op])
        for (uint32_t other : problem.depends[op])
          problem.needed[other] = 1;
    problem.first = random() % n;
    EXPECT_EQ(problem.check(), "");
    EXPECT_EQ(reorder(problem), naiveReorder(problem));
  }
}

TEST_F(ReorderBackwardTest, AProblemSaysWhatIsWrongWithIt) {
  ReorderProblem problem;
  problem.depends.endRow();
  problem.depends.add(0);
  problem.depends.endRow();
  problem.needed = {0, 1};
  problem.hasEffect = {0, 0};
  EXPECT_EQ(problem.check(), "needs an op that nothing needs");
  problem.needed = {1, 1};
  EXPECT_EQ(problem.check(), "");
  problem.depends.list[0] = 1;
  EXPECT_EQ(problem.check(), "depends on an op that comes later");
  problem.depends.list[0] = 0;
  problem.hasEffect.push_back(0);
  EXPECT_EQ(problem.check(), "has other numbers of ops");
  problem.hasEffect = {1, 0};
  problem.needed = {0, 0};
  EXPECT_EQ(problem.check(), "has an effect that nothing needs");
}

TEST_F(ReorderBackwardTest, NeedsNoStackOfItsOwn) {
  ReorderProblem problem;
  uint32_t n = 1000000;
  for (uint32_t op = 0; op < n; ++op) {
    if (op)
      problem.depends.add(op - 1);
    problem.depends.endRow();
  }
  problem.needed.assign(n, 1);
  problem.hasEffect.assign(n, 0);
  problem.first = n - 1;
  std::vector<uint32_t> order = reorder(problem);
  ASSERT_EQ(order.size(), n);
  EXPECT_EQ(order.front(), 0u);
  EXPECT_EQ(order.back(), n - 1);
}

/// Saves what may not be recomputed, and of the rest a random part.
Plan randomPlan(const GraphView &view, std::mt19937_64 &random) {
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  unsigned percent = random() % 60;
  for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
    plan.saved[value] = random() % 100 < percent ||
                        !view.traits[view.definer[value]].recomputable;
  return plan;
}

/// Every op finds its operands; each argument's writes and reads stay in
/// order; effects too.
void checkOrder(const GraphView &view, const Halves &halves,
                const std::vector<uint32_t> &order) {
  std::vector<uint32_t> place(view.numOps(), GraphView::kNone);
  for (uint32_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(place[order[i]], GraphView::kNone);
    place[order[i]] = i;
  }
  std::vector<uint8_t> saved(view.numValues(), 0), inHalf(view.numOps(), 0);
  for (uint32_t value : halves.savedTensors)
    saved[value] = 1;
  for (uint32_t op : halves.backwardOps)
    inHalf[op] = 1;
  for (uint32_t op : order) {
    EXPECT_TRUE(inHalf[op]);
    for (uint32_t value : view.operands(op))
      if (!view.isArg(value) && !saved[value]) {
        ASSERT_NE(place[view.definer[value]], GraphView::kNone);
        EXPECT_LT(place[view.definer[value]], place[op]);
      }
  }
  uint32_t last = 0;
  for (uint32_t op : halves.backwardOps) {
    if (!view.traits[op].ordered)
      continue;
    ASSERT_NE(place[op], GraphView::kNone);
    EXPECT_GE(place[op], last);
    last = place[op];
  }
}

TEST_F(ReorderBackwardTest, KeepsWhatMattersOnRandomGraphs) {
  unsigned reordered = 0, kept = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    std::mt19937_64 random(seed);
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    GraphView view = GraphView::build(graphOf(*module));
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    ASSERT_TRUE(succeeded(sets));
    FailureOr<Halves> halves =
        splitGraph(view, *sets, randomPlan(view, random));
    if (failed(halves))
      continue; // reads a buffer that the forward wrote
    std::vector<uint32_t> order = reorderBackward(view, *halves);
    checkOrder(view, *halves, order);
    EXPECT_EQ(order.size(), halves->backwardOps.size());

    std::vector<int64_t> bytes(view.numValues());
    for (int64_t &size : bytes)
      size = 1 + random() % 100;
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    ASSERT_TRUE(succeeded(sizes));
    Halves improved = *halves;
    ReorderOutcome outcome =
        improveBackwardOrder(view, improved, bytes, sizes->storage);
    EXPECT_LE(outcome.peakAfter, outcome.peakBefore);
    EXPECT_EQ(improved.backwardOps,
              outcome.reordered ? order : halves->backwardOps);
    ++(outcome.reordered ? reordered : kept);
  }
  EXPECT_GT(reordered, 150u);
  EXPECT_GT(kept, 0u);
}

TEST_F(ReorderBackwardTest, AFunctionGetsTheSameOrderAsItsPartition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    OwningOpRef<ModuleOp> module = parse(context, randomGraphText(seed));
    GraphView view = GraphView::build(graphOf(*module));
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    FailureOr<Halves> halves =
        splitGraph(view, *sets, randomPlan(view, random));
    if (failed(halves))
      continue;
    Partition before = emitHalves(view, *halves);
    before.backward.setName("reordered");
    ReorderOutcome outcome = reorderBackward(before.backward);
    EXPECT_TRUE(succeeded(verify(before.backward)));
    if (!outcome.reordered)
      continue;
    halves->backwardOps = reorderBackward(view, *halves);
    Partition after = emitHalves(view, *halves);
    // Numbers of copies follow the order; names say the rest.
    auto names = [](func::FuncOp function) {
      std::vector<Attribute> list;
      for (Operation &op : function.front())
        list.push_back(op.getAttr("names"));
      return list;
    };
    EXPECT_EQ(names(before.backward), names(after.backward)) << seed;
  }
}

const char *const kBackward = R"mlir(
  func.func @backward(%b: tensor<4xf32> {joint.role = #joint.role<saved>, joint.name = "b"}, %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<4xf32>, tensor<4xf32>) {
    %r1 = aten.sin(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %r2 = aten.cos(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %g0 = aten.neg(%t) : (tensor<4xf32>) -> tensor<4xf32>
    %w = joint.write %b, %g0 : tensor<4xf32>, tensor<4xf32>
    %g1 = aten.mul.Tensor(%g0, %r1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r3 = aten.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %g2 = aten.mul.Tensor(%g1, %r2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g3 = aten.mul.Tensor(%g2, %r3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %dead = aten.abs(%g3) : (tensor<4xf32>) -> tensor<4xf32>
    return %g3, %g2 : tensor<4xf32>, tensor<4xf32>
  })mlir";

TEST_F(ReorderBackwardTest, ReadersStayOnTheirSideOfAWrite) {
  OwningOpRef<ModuleOp> module = parse(context, kBackward);
  auto function = module->lookupSymbol<func::FuncOp>("backward");
  ReorderOutcome outcome = reorderBackward(function);
  EXPECT_EQ(outcome.erased, 1u);
  std::string order;
  for (Operation &op : function.front())
    if (op.getNumResults())
      order += getValueName(op.getResult(0)).str() + " ";
  EXPECT_EQ(order, "g0 r1 r2 w g1 r3 g2 g3 ");
}

} // namespace
