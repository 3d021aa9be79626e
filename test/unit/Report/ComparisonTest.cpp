// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the strategy table has the figures of the report of that strategy,
// whatever the plan was asked for that the table stands beside.

#include "cutback/Report/Comparison.h"

#include "AskedPlan.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class Comparison : public testing::TestWithParam<std::string> {
protected:
  /// `words` ask for the plan; `kept` are those that stay when a strategy is
  /// asked for in its place.
  void expectRowsAsAsked(AskedGraph &input,
                         const std::vector<std::string> &words,
                         const std::vector<std::string> &kept) {
    CopiedPlan chosen = input.ask(words);
    if (!chosen.result)
      return; // no such plan
    ReportExtras extras = collectExtras(*chosen.result);
    compareStrategies(input.graph(), *chosen.result, extras,
                      PlannedGraph::AsRead);
    ASSERT_EQ(extras.strategies.size(), 4u);
    for (const StrategyLine &line : extras.strategies) {
      SCOPED_TRACE(spell(line.strategy).str());
      if (line.chosen)
        continue;
      std::vector<std::string> other = kept;
      other.push_back("--strategy=" + spell(line.strategy).str());
      CopiedPlan asked = input.ask(other);
      ASSERT_EQ(line.possible, asked.result != nullptr) << input.message;
      if (!asked.result)
        continue;
      EXPECT_EQ(line.savedBytes, asked.result->savedBytes);
      EXPECT_EQ(line.peakBytes, asked.result->peak.bytes);
      EXPECT_EQ(line.isPlanned, asked.result->peak.isPlanned);
      EXPECT_EQ(line.extraPs, asked.result->pricedPs);
      EXPECT_EQ(line.recomputed, asked.result->recomputed.size());
    }
  }
};

TEST_P(Comparison, RowsHaveTheFiguresOfAskingForThem) {
  AskedGraph input(GetParam());
  ASSERT_TRUE(input.graph()) << input.message;
  expectRowsAsAsked(input, {}, {});
}

TEST_P(Comparison, RowsHaveThemBesideOtherPlansToo) {
  AskedGraph input(GetParam());
  ASSERT_TRUE(input.graph()) << input.message;
  size_t ops = input.graph().getBody().front().getOperations().size();
  if (ops > 1500)
    return;
  expectRowsAsAsked(input, {"--strategy=eager"}, {});
  if (ops <= 400)
    expectRowsAsAsked(input, {"--minimize=peak"}, {});
  expectRowsAsAsked(input, {"--byte-price=0.5"}, {});
  expectRowsAsAsked(input, {"--cost-model=pytorch"}, {"--cost-model=pytorch"});
}

INSTANTIATE_TEST_SUITE_P(Graphs, Comparison, testing::ValuesIn(realGraphs()),
                         nameOfText);

} // namespace
