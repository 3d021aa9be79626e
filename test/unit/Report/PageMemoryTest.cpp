// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory over the step and the arena that a page shows, of random graphs:
// against the storages of the memory plan counted one by one at each moment,
// and against the peak of the report.

#include "../../../lib/Report/PageArena.h"
#include "RandomPlan.h"

#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using llvm::StringRef;

namespace {

using Bytes = std::array<int64_t, kLiveKinds>;

int64_t sumOf(const PageMoment &moment) {
  return std::accumulate(moment.bytes.begin(), moment.bytes.end(), int64_t(0));
}

int64_t mostOf(const PagePlan &plan) {
  int64_t most = 0;
  for (const PageMoment &moment : plan.moments)
    most = std::max(most, sumOf(moment));
  return most;
}

/// Does a copy of an op of the forward make the storage?
bool isCopy(const MemoryPlan &memory, size_t storage) {
  uint32_t value = memory.program.storages[storage].value;
  return StringRef(memory.program.name(value)).ends_with("_recompute");
}

/// The step of an op of the memory plan. The op behind each half is its
/// terminator: what it returns is live at the half's last op.
uint32_t stepOf(const MemoryPlan &memory, const PagePlan &plan, uint32_t op) {
  bool isForward = op <= memory.program.forwardEnd();
  uint32_t last = isForward ? plan.forwardOps : plan.numOps;
  return std::min(isForward ? op : op - 1, last - 1);
}

LiveKind kindOf(const MemoryPlan &memory, size_t storage) {
  switch (memory.storages[storage].use) {
  case StorageUse::Saved:
    return LiveKind::Saved;
  case StorageUse::Result:
    return LiveKind::Result;
  case StorageUse::Gradient:
    return LiveKind::Gradient;
  default:
    return isCopy(memory, storage) ? LiveKind::Recomputed : LiveKind::Temporary;
  }
}

/// What is live at one op of the step, counted without the page.
Bytes countAt(const MemoryPlan &memory, const PagePlan &plan, uint32_t step) {
  Bytes counted{};
  for (size_t i = 0; i < memory.storages.size(); ++i) {
    const PlannedStorage &storage = memory.storages[i];
    bool isLive = false;
    for (uint32_t op = storage.begin; op < storage.end; ++op)
      isLive |= stepOf(memory, plan, op) == step;
    if (isLive && storage.use != StorageUse::Outside)
      counted[static_cast<unsigned>(kindOf(memory, i))] +=
          llvm::alignTo(storage.bytes, memory.alignment);
  }
  return counted;
}

class PageMemory : public RandomPlan {
protected:
  /// The plan of a page of a random graph of `ops` ops.
  const PagePlan &plan(unsigned ops, bool memory) {
    makePlan(ops, /*isChain=*/true, memory);
    page.add(*result, extras, {PagePlanName::Price, "byte price 0", ""});
    return page.plans.front();
  }

  void expectSpansMatch(const PagePlan &plan) {
    for (size_t i = 0; i < plan.moments.size(); ++i) {
      int64_t saved = 0;
      for (const PageSpan &span : plan.spans)
        saved += span.begin <= i && i < span.end ? span.bytes : 0;
      EXPECT_EQ(saved, plan.moments[i].bytes[0]) << i;
    }
  }

  Page page;
};

} // namespace

TEST_P(PageMemory, everyMomentIsThePlannedStoragesThatAreLive) {
  const PagePlan &shown = plan(40, true);
  ASSERT_LE(shown.numOps, Page::kMoments);
  ASSERT_EQ(shown.moments.size(), shown.numOps);
  for (uint32_t step = 0; step < shown.numOps; ++step) {
    const PageMoment &moment = shown.moments[step];
    EXPECT_EQ(moment.step, step);
    EXPECT_EQ(moment.bytes, countAt(*result->memory, shown, step)) << step;
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

TEST_P(PageMemory, withoutAnArenaTheLargestOfAMomentAreListed) {
  const PagePlan &shown = plan(40, false);
  EXPECT_FALSE(shown.arena.problem.empty());
  EXPECT_TRUE(shown.arena.placed.empty());
  for (const PageMoment &moment : shown.moments) {
    EXPECT_LE(moment.largest.size(), 4u);
    int64_t listed = 0;
    for (uint32_t item : moment.largest) {
      ASSERT_LT(item, page.items.size());
      listed += page.items[item].bytes;
    }
    EXPECT_LE(listed, sumOf(moment));
    EXPECT_EQ(moment.largest.empty(), sumOf(moment) == 0);
  }
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

TEST_P(PageMemory, everyPlannedStorageHasItsPlaceInTheArena) {
  const PagePlan &shown = plan(40, true);
  const MemoryPlan &memory = *result->memory;
  const PageArena &arena = shown.arena;
  EXPECT_EQ(arena.bytes, memory.arenaBytes());
  EXPECT_EQ(arena.numSmall, 0u);
  using Place = std::tuple<uint32_t, uint32_t, int64_t, int64_t, LiveKind>;
  std::vector<Place> expected, found;
  for (size_t i = 0; i < memory.storages.size(); ++i) {
    const PlannedStorage &storage = memory.storages[i];
    if (storage.use != StorageUse::Outside && storage.bytes > 0)
      expected.emplace_back(
          stepOf(memory, shown, storage.begin),
          stepOf(memory, shown, storage.end - 1) + 1, storage.offset,
          llvm::alignTo(storage.bytes, memory.alignment), kindOf(memory, i));
  }
  for (const PagePlaced &placed : arena.placed) {
    found.emplace_back(placed.begin, placed.end, placed.offset, placed.bytes,
                       placed.kind);
    EXPECT_LE(placed.offset + placed.bytes, arena.bytes);
    ASSERT_LT(placed.item, page.items.size());
  }
  llvm::sort(expected);
  llvm::sort(found);
  EXPECT_EQ(found, expected);
}

TEST(PageArena, smallValuesAreMergedIntoTheCellsWhereTheyLie) {
  PartitionResult result;
  result.memory.emplace();
  result.memory->layout.bytes = 64 * Page::kRows;
  StepTimeline timeline;
  timeline.numOps = 2 * Page::kMoments;
  // One large value more than are shown, and two small ones that touch.
  for (uint32_t i = 0; i <= Page::kPlaced; ++i)
    timeline.values.push_back({i, 0, 1 + i % 7, 128, LiveKind::Saved, 0});
  timeline.values[9] = {9, 10, 14, 64, LiveKind::Temporary, 64 * 5};
  timeline.values.push_back({1, 14, 20, 32, LiveKind::Gradient, 64 * 5});
  PageArena arena = collectArena(result, timeline, {timeline.numOps},
                                 [](uint32_t value) { return value; });
  EXPECT_EQ(arena.placed.size(), Page::kPlaced);
  EXPECT_EQ(arena.numSmall, 2u);
  EXPECT_EQ(arena.largestSmall, 64);
  // Two ops a stretch; row 5 of the arena.
  ASSERT_EQ(arena.small.size(), 1u);
  EXPECT_EQ(arena.small[0].row, 5u);
  EXPECT_EQ(arena.small[0].begin, 5u);
  EXPECT_EQ(arena.small[0].end, 10u);
}

TEST(PageArena, stretchesCoverTheStep) {
  for (uint32_t numOps : {1u, 7u, 359u, 360u, 361u, 1000u, 99'991u}) {
    StretchedStep step{numOps};
    for (uint32_t at = 0; at < numOps; ++at) {
      uint32_t stretch = step.stretchOf(at);
      ASSERT_LT(stretch, step.numStretches());
      ASSERT_LE(step.beginOf(stretch), at);
      ASSERT_LT(at, step.beginOf(stretch + 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, PageMemory, ::testing::Range<uint64_t>(1, 9));
