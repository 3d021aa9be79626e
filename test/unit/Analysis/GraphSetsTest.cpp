// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F, B and X of random graphs against reachability, asked for every pair of
// ops.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/GraphSets.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

/// By op: it is reached from one of `from` (by op) along uses.
std::vector<uint8_t> reached(const GraphView &view, std::vector<uint8_t> from) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (!from[op])
        continue;
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        for (uint32_t user : view.users(r))
          if (user < view.numOps() && !from[user])
            changed = from[user] = 1;
    }
  }
  return from;
}

/// By op: `op` alone reaches a root.
bool reachesRoot(const GraphView &view, uint32_t op,
                 const std::vector<uint8_t> &roots) {
  std::vector<uint8_t> from(view.numOps(), 0);
  from[op] = 1;
  from = reached(view, from);
  for (uint32_t other = 0; other < view.numOps(); ++other)
    if (from[other] && roots[other])
      return true;
  return false;
}

class GraphSetsTest : public ::testing::Test {
protected:
  GraphSetsTest() { loadDialects(context); }

  void compare(const GraphView &view, const GraphSets &sets) {
    joint::GraphOp graph = view.graph;
    std::vector<uint8_t> backward(view.numOps(), 0), roots(backward);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      if (graph.getRole(arg).getKind() == joint::RoleKind::Tangent)
        for (uint32_t user : view.users(arg))
          if (user < view.numOps())
            backward[user] = 1;
    backward = reached(view, backward);
    for (uint32_t value : view.forwardResults())
      if (!view.isArg(value))
        roots[view.definer[value]] = 1;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      roots[op] |= view.traits[op].ordered && !backward[op];
    uint32_t counts[3] = {0, 0, 0};
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      GraphSet expected = reachesRoot(view, op, roots) ? GraphSet::Forward
                          : backward[op]               ? GraphSet::Backward
                                                       : GraphSet::Unclaimed;
      EXPECT_EQ(sets.ops[op], expected) << op;
      ++counts[static_cast<unsigned>(expected)];
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        EXPECT_EQ(sets.values[r], expected);
    }
    EXPECT_EQ(sets.numForward, counts[0]);
    EXPECT_EQ(sets.numBackward, counts[1]);
    EXPECT_EQ(sets.numUnclaimed, counts[2]);
  }

  MLIRContext context;
};

TEST_F(GraphSetsTest, AgreeWithReachability) {
  RandomGraphOptions options;
  options.numForward = 20;
  options.numBackward = 20;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    OwningOpRef<ModuleOp> module =
        parse(context, randomGraphText(seed, options));
    ASSERT_TRUE(module);
    GraphView view = GraphView::build(graphOf(*module));
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    ASSERT_TRUE(succeeded(sets));
    compare(view, *sets);
  }
}

} // namespace
