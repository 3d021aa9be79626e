// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena of a plan, small enough for a page.
//
//   1. The kPlaced values with most bytes are kept as they are; of equal ones,
//      those that live longer. In a graph of a few thousand ops these are all.
//   2. The others are told by where they lie: the arena is divided into rows,
//      the step into the stretches of the picture of memory, and a row is
//      marked as long as it holds any of them. How many they are, and how large
//      the largest of them is, stands beside the picture.
//
// O(n log n).

#include "PageArena.h"

namespace cutback {

/// Marks rows of the arena.
static void addSmall(PageArena &arena, const LiveValue &value,
                     const StretchedStep &step) {
  ++arena.numSmall;
  arena.largestSmall = std::max(arena.largestSmall, value.bytes);
  auto rowOf = [&](int64_t offset) {
    double part =
        static_cast<double>(offset) / static_cast<double>(arena.bytes);
    return std::min(Page::kRows - 1, uint32_t(part * Page::kRows));
  };
  uint32_t last = rowOf(value.offset + value.bytes - 1);
  for (uint32_t row = rowOf(value.offset); row <= last; ++row)
    arena.small.push_back(
        {row, step.stretchOf(value.begin), step.stretchOf(value.end - 1) + 1});
}

/// Joins what meets in a row.
static void joinSmall(std::vector<PageSmall> &small) {
  llvm::sort(small, [](const PageSmall &a, const PageSmall &b) {
    return std::tuple(a.row, a.begin, a.end) <
           std::tuple(b.row, b.begin, b.end);
  });
  std::vector<PageSmall> joined;
  for (const PageSmall &run : small)
    if (!joined.empty() && joined.back().row == run.row &&
        run.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, run.end);
    else
      joined.push_back(run);
  small = std::move(joined);
}

PageArena collectArena(const PartitionResult &result,
                       const StepTimeline &timeline, const StretchedStep &step,
                       llvm::function_ref<uint32_t(uint32_t)> itemOf) {
  PageArena arena;
  if (!result.memory) {
    arena.problem = result.memoryProblem.empty() ? "it was not asked for"
                                                 : result.memoryProblem;
    return arena;
  }
  arena.bytes = result.memory->arenaBytes();
  arena.alignment = result.memory->alignment;
  std::vector<const LiveValue *> values;
  for (const LiveValue &value : timeline.values)
    if (value.bytes > 0)
      values.push_back(&value);
  llvm::stable_sort(values, [](const LiveValue *a, const LiveValue *b) {
    return std::pair(a->bytes, a->end - a->begin) >
           std::pair(b->bytes, b->end - b->begin);
  });
  for (auto [i, value] : llvm::enumerate(values))
    if (i < Page::kPlaced)
      arena.placed.push_back({itemOf(value->value), value->begin, value->end,
                              value->offset, value->bytes, value->kind});
    else
      addSmall(arena, *value, step);
  llvm::stable_sort(arena.placed, [](const PagePlaced &a, const PagePlaced &b) {
    return std::pair(a.begin, a.offset) < std::pair(b.begin, b.offset);
  });
  joinSmall(arena.small);
  return arena;
}

} // namespace cutback
