// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `explain --what-if` says of the opposite choice is what the report says
// of the plan for which that choice is asked with `--policy`: of the four
// largest values of each graph that have an opposite.

#include "cutback/Report/WhatIf.h"

#include "AskedPlan.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class WhatIf : public testing::TestWithParam<std::string> {
protected:
  static std::vector<uint32_t> largestWithOpposite(const PartitionResult &plan,
                                                   size_t count) {
    std::vector<uint32_t> values(plan.view.numValues() - plan.view.numArgs);
    std::iota(values.begin(), values.end(), plan.view.numArgs);
    llvm::stable_sort(values, [&](uint32_t a, uint32_t b) {
      return plan.bytes[a] > plan.bytes[b];
    });
    std::vector<uint32_t> largest;
    for (uint32_t value : values)
      if (largest.size() < count && oppositeOf(plan, value).whyNot.empty())
        largest.push_back(value);
    return largest;
  }

  static void expectFigure(const llvm::json::Object &whatIf, const char *key,
                           int64_t before, int64_t after) {
    const llvm::json::Object *figure = whatIf.getObject(key);
    ASSERT_TRUE(figure) << key;
    EXPECT_EQ(figure->getInteger("before"), before) << key;
    EXPECT_EQ(figure->getInteger("after"), after) << key;
  }

  void expectAsAsked(AskedGraph &input, const std::vector<std::string> &words,
                     size_t count) {
    CopiedPlan plan = input.ask(words);
    ASSERT_TRUE(plan.result) << input.message;
    const PartitionResult &before = *plan.result;
    for (uint32_t value : largestWithOpposite(before, count)) {
      SCOPED_TRACE(before.view.name(value));
      Opposite opposite = oppositeOf(before, value);
      auto other = planOpposite(input.graph(), before, opposite);
      std::vector<std::string> policy = words;
      policy.push_back("--policy=" + opposite.name + "=" + opposite.policy());
      CopiedPlan asked = input.ask(policy);
      ASSERT_EQ(succeeded(other), asked.result != nullptr);
      if (!asked.result)
        continue;
      const PartitionResult &after = *asked.result;
      auto json = llvm::json::parse(
          explainJson(before, other->result.get(), &opposite, value, ""));
      ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
      const llvm::json::Object *whatIf =
          json->getAsObject()->getObject("what_if");
      ASSERT_TRUE(whatIf);
      EXPECT_EQ(whatIf->getString("option"), policy.back());
      expectFigure(*whatIf, "saved_bytes", before.savedBytes, after.savedBytes);
      expectFigure(*whatIf, "peak_bytes", before.peak.bytes, after.peak.bytes);
      expectFigure(*whatIf, "priced_ps", before.pricedPs, after.pricedPs);
      expectFigure(*whatIf, "recomputed", before.recomputed.size(),
                   after.recomputed.size());
      ++compared;
    }
  }

  size_t compared = 0;
};

TEST_P(WhatIf, FiguresAreThoseOfAskingForThePlan) {
  AskedGraph input(GetParam());
  ASSERT_TRUE(input.graph()) << input.message;
  expectAsAsked(input, {}, 4);
  size_t ops = input.graph().getBody().front().getOperations().size();
  if (ops <= 1000)
    expectAsAsked(input, {"--cost-model=pytorch"}, 2);
  if (ops <= 400)
    expectAsAsked(input, {"--minimize=peak"}, 1);
}

INSTANTIATE_TEST_SUITE_P(Graphs, WhatIf, testing::ValuesIn(realGraphs()),
                         nameOfText);

class OppositeChoice : public testing::Test {
protected:
  OppositeChoice()
      : input(std::string(CUTBACK_SOURCE_DIR) + "/test/corpus/gpt2/joint.txt"),
        plan(input.ask({})) {}

  AskedGraph input;
  CopiedPlan plan;
};

TEST_F(OppositeChoice, IsMadeByThePlan) {
  ASSERT_TRUE(plan.result);
  const PartitionResult &before = *plan.result;
  Fates fates(before);
  unsigned compared = 0;
  for (uint32_t value = before.view.numArgs; value < before.view.numValues();
       value += 7) {
    Opposite opposite = oppositeOf(before, value);
    if (!opposite.whyNot.empty())
      continue;
    auto other = planOpposite(input.graph(), before, opposite);
    if (failed(other))
      continue;
    std::optional<uint32_t> there =
        findValue(other->result->view, opposite.name);
    ASSERT_TRUE(there);
    // Who must be saved is not computed again; who must be recomputed is not
    // saved.
    Fate fate = Fates(*other->result).of(*there);
    if (opposite.save)
      EXPECT_NE(fate, Fate::Recomputed) << opposite.name;
    else
      EXPECT_NE(fate, Fate::Saved) << opposite.name;
    ++compared;
  }
  EXPECT_GT(compared, 5u);
}

TEST_F(OppositeChoice, OfPlansThatAreEqualChangesNothing) {
  ASSERT_TRUE(plan.result);
  EXPECT_TRUE(changedFates(*plan.result, *plan.result, 0).empty());
}

} // namespace
