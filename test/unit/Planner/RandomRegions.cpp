// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tags on the ops of the forward as a reader of checkpointed models leaves
// them: intervals become regions with a policy each op, and parts of an
// interval become regions inside of it, four deep. One in six is to run whole,
// and one op in twelve is saved whatever its region asks.

#include "RandomRegions.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace cutback;

/// Cuts ops `begin` to `end` into regions, and some of these again.
static void addRegions(joint::GraphOp graph, ArrayRef<Operation *> ops,
                       ArrayRef<int64_t> path, std::mt19937_64 &random) {
  auto pick = [&](size_t n) { return size_t(random() % n); };
  int64_t number = 0;
  for (size_t begin = 0; begin < ops.size();) {
    ArrayRef<Operation *> part =
        ops.drop_front(begin).take_front(1 + pick(ops.size()));
    begin += part.size();
    if (pick(4) == 0)
      continue; // between two regions
    SmallVector<int64_t> inner(path);
    inner.push_back(number++);
    for (Operation *op : part) {
      static constexpr joint::PolicyKind kKinds[] = {
          joint::PolicyKind::PreferRecompute,
          joint::PolicyKind::PreferRecompute,
          joint::PolicyKind::PreferRecompute,
          joint::PolicyKind::MustRecompute,
          joint::PolicyKind::PreferSave,
          joint::PolicyKind::AdviseRecompute};
      bool isSaved = pick(12) == 0;
      op->setAttr(joint::JointDialect::kPolicy,
                  joint::PolicyAttr::get(op->getContext(),
                                         isSaved ? joint::PolicyKind::MustSave
                                                 : kKinds[pick(6)],
                                         inner, /*run=*/0));
    }
    RegionWishes wishes;
    wishes.earlyStop = pick(6) != 0;
    setRegionWishes(graph, inner, wishes);
    if (inner.size() < 4 && part.size() > 1 && pick(3) != 0)
      addRegions(graph, part, inner, random);
  }
}

/// The ops of the forward, in any regions.
void cutback::test::addRandomRegions(joint::GraphOp graph, uint64_t seed) {
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  ASSERT_TRUE(succeeded(sets));
  SmallVector<Operation *> forward;
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (sets->ops[op] == GraphSet::Forward)
      forward.push_back(view.ops[op]);
  std::mt19937_64 random(seed);
  addRegions(graph, forward, {}, random);
}
