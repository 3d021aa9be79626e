// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory over the step that a page shows, of random graphs: against the
// storages of the memory plan counted one by one at each moment, and against
// the peak of the report.

#include "../Transforms/RandomGraph.h"

#include "cutback/Report/Page.h"

#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

int64_t sumOf(const PageMoment &moment) {
  return moment.saved + moment.results + moment.gradients + moment.temporaries;
}

int64_t mostOf(const PagePlan &plan) {
  int64_t most = 0;
  for (const PageMoment &moment : plan.moments)
    most = std::max(most, sumOf(moment));
  return most;
}

/// What is live at one op of the step, counted without the page.
PageMoment countAt(const MemoryPlan &memory, const PagePlan &plan,
                   uint32_t step) {
  PageMoment counted;
  for (const PlannedStorage &storage : memory.storages) {
    bool isLive = false;
    for (uint32_t op = storage.begin; op < storage.end; ++op) {
      // The op behind each half is its terminator: what it returns is live at
      // the half's last op.
      bool isForward = op <= memory.program.forwardEnd;
      uint32_t last = isForward ? plan.forwardOps : plan.numOps;
      uint32_t at = isForward ? op : op - 1;
      isLive |= std::min(at, last - 1) == step;
    }
    if (!isLive)
      continue;
    int64_t bytes = llvm::alignTo(storage.bytes, memory.alignment);
    switch (storage.use) {
    case StorageUse::Outside:
      break;
    case StorageUse::Saved:
      counted.saved += bytes;
      break;
    case StorageUse::Result:
      counted.results += bytes;
      break;
    case StorageUse::Gradient:
      counted.gradients += bytes;
      break;
    default:
      counted.temporaries += bytes;
    }
  }
  return counted;
}

class PageMemory : public ::testing::TestWithParam<uint64_t> {
protected:
  PageMemory() { loadDialects(context); }

  /// The plan of a page of a random graph of `ops` ops.
  const PagePlan &plan(unsigned ops, bool memory) {
    RandomGraphOptions shape;
    shape.numForward = ops;
    shape.isChain = true;
    // What runs only once may leave no plan.
    shape.percentRandom = 0;
    module = parse(context, RandomGraph(GetParam(), shape).text());
    PartitionOptions options;
    if (memory)
      options.memory.emplace();
    auto made = partitionGraph(graphOf(*module), options);
    EXPECT_TRUE(succeeded(made));
    result = std::move(*made);
    EXPECT_EQ(result->memory.has_value(), memory) << result->memoryProblem;
    ReportExtras extras = collectExtras(*result);
    page.add(*result, extras, {PagePlanName::Price, "byte price 0", ""});
    return page.plans.front();
  }

  void expectSpansMatch(const PagePlan &plan) {
    for (size_t i = 0; i < plan.moments.size(); ++i) {
      int64_t saved = 0;
      for (const PageSpan &span : plan.spans)
        saved += span.begin <= i && i < span.end ? span.bytes : 0;
      EXPECT_EQ(saved, plan.moments[i].saved) << i;
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<PartitionResult> result;
  Page page;
};

} // namespace

TEST_P(PageMemory, everyMomentIsThePlannedStoragesThatAreLive) {
  const PagePlan &shown = plan(40, true);
  ASSERT_LE(shown.numOps, Page::kMoments);
  ASSERT_EQ(shown.moments.size(), shown.numOps);
  for (uint32_t step = 0; step < shown.numOps; ++step) {
    PageMoment counted = countAt(*result->memory, shown, step);
    const PageMoment &moment = shown.moments[step];
    EXPECT_EQ(moment.step, step);
    EXPECT_EQ(moment.saved, counted.saved) << step;
    EXPECT_EQ(moment.results, counted.results) << step;
    EXPECT_EQ(moment.gradients, counted.gradients) << step;
    EXPECT_EQ(moment.temporaries, counted.temporaries) << step;
  }
  expectSpansMatch(shown);
}

TEST_P(PageMemory, theHighestMomentIsThePeakHoweverLongTheStep) {
  const PagePlan &shown = plan(400, true);
  EXPECT_GT(shown.numOps, Page::kMoments);
  EXPECT_EQ(shown.moments.size(), Page::kMoments);
  EXPECT_EQ(mostOf(shown), result->memory->lowerBound());
  expectSpansMatch(shown);
}

TEST_P(PageMemory, withoutAPlanThePeakIsTheSimulatedOne) {
  const PagePlan &shown = plan(40, false);
  EXPECT_EQ(mostOf(shown), result->peak.bytes);
  EXPECT_EQ(mostOf(shown), shown.peakBytes);
  expectSpansMatch(shown);
}

TEST_P(PageMemory, theLargestOfAMomentComeInTheirOrder) {
  const PagePlan &shown = plan(40, true);
  for (const PageMoment &moment : shown.moments) {
    EXPECT_LE(moment.largest.size(), 4u);
    int64_t listed = 0;
    for (uint32_t item : moment.largest) {
      ASSERT_LT(item, page.items.size());
      listed += page.items[item].bytes;
    }
    // Planned storages are rounded up; views of one are listed once.
    EXPECT_LE(listed, sumOf(moment));
    EXPECT_EQ(moment.largest.empty(), sumOf(moment) == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, PageMemory, ::testing::Range<uint64_t>(1, 9));
