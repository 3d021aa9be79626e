// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The objectives, against plans that are asked for one by one: no strategy,
// under no cost model and rules, and no price of a byte has a smaller arena
// than `--minimize=peak`; and the plan for time is the fastest of what it
// compared.

#include "../Report/AskedPlan.h"

#include "cutback/Report/Report.h"

#include <map>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

std::string corpus(llvm::StringRef name) {
  return (CUTBACK_SOURCE_DIR "/test/corpus/" + name + "/joint.txt").str();
}

class LeastPeak : public testing::TestWithParam<const char *> {
protected:
  /// The peak of the plan that the words ask for, or the largest number.
  int64_t peak(std::vector<std::string> words) {
    CopiedPlan plan = input.ask(words);
    return plan.result ? plan.result->peak.bytes : INT64_MAX;
  }

  /// The least peak of the graph. Searched once: it is most of a test's time.
  int64_t leastPeak() {
    static std::map<std::string, int64_t> known;
    auto [found, isNew] = known.try_emplace(GetParam(), 0);
    if (isNew)
      found->second = peak({"--minimize=peak"});
    return found->second;
  }

  AskedGraph input{corpus(GetParam())};
};

TEST_P(LeastPeak, IsNotAboveAnyStrategyUnderAnyRules) {
  int64_t least = leastPeak();
  ASSERT_NE(least, INT64_MAX) << input.message;
  for (const char *strategy :
       {"min-cut", "eager", "precompute", "recompute-all"})
    for (std::vector<std::string> words :
         {std::vector<std::string>{},
          {"--cost-model=pytorch"},
          {"--cost-model=pytorch", "--rules=torch-2.3"}}) {
      words.push_back("--strategy=" + std::string(strategy));
      EXPECT_LE(least, peak(words)) << strategy << ", " << words.size();
    }
}

TEST_P(LeastPeak, IsNotAboveAnyPriceOfAByte) {
  int64_t least = leastPeak();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-3, 4);
  for (int i = 0; i < 20; ++i) {
    std::string price = std::to_string(std::pow(10, exponent(random)));
    EXPECT_LE(least, peak({"--byte-price=" + price})) << price;
  }
}

TEST_P(LeastPeak, SaysWhatWasSearchedAndIsMadeAgainByItsChoice) {
  CopiedPlan plan = input.ask({"--minimize=peak"});
  ASSERT_TRUE(plan.result) << input.message;
  const PartitionResult &least = *plan.result;
  ASSERT_TRUE(least.search);
  EXPECT_TRUE(least.search->isWhole);
  EXPECT_GT(least.search->plans, 0u);
  EXPECT_TRUE(least.verified);
  EXPECT_EQ(least.options.minimize, Minimize::Peak);
  EXPECT_FALSE(least.options.bytePrice);
  if (least.isOfTorchGraph)
    return;
  PartitionOptions options = least.options;
  options.checkpoint = least.choice.regions.modules;
  options.checkpointSegments = least.choice.regions.segments;
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(input.graph().getLoc());
  auto copy = cast<joint::GraphOp>(input.graph()->clone());
  scratch->push_back(copy);
  PhaseSeconds seconds;
  auto prepared = preparePartition(copy, options, seconds);
  ASSERT_TRUE(succeeded(prepared));
  auto again =
      partitionGraph(copy, options, least.choice, std::move(*prepared));
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ((*again)->peak.bytes, least.peak.bytes);
  EXPECT_EQ((*again)->plan.saved, least.plan.saved);
}

INSTANTIATE_TEST_SUITE_P(Graphs, LeastPeak,
                         testing::Values("mlp", "gpt2", "resnet18_2023", "lstm",
                                         "double_use", "two_losses",
                                         "dynamic_llama", "gpt2_selective"));

/// Found by hand once, with prices of a byte.
TEST(LeastPeakOf, GraphsIsAtMostWhatWasFoundByHand) {
  for (auto [name, bytes] :
       {std::pair("resnet18_2023", 92'861'120), std::pair("gpt2", 595'008),
        std::pair("gpt2_dropout", 606'592)}) {
    AskedGraph input(corpus(name));
    CopiedPlan plan = input.ask({"--minimize=peak"});
    ASSERT_TRUE(plan.result) << input.message;
    EXPECT_LE(plan.result->peak.bytes, bytes) << name;
  }
}

TEST(LeastPeakOf, SaysWhichValuesItRecomputesOnTopOfTheCut) {
  AskedGraph input(corpus("autocast_bf16"));
  CopiedPlan plan = input.ask({"--minimize=peak"});
  ASSERT_TRUE(plan.result) << input.message;
  std::vector<std::string> names = plan.result->choice.recompute;
  ASSERT_FALSE(names.empty());
  EXPECT_NE(reportText(*plan.result, collectExtras(*plan.result))
                .find("recomputed on top"),
            std::string::npos);
  // They can be asked for by hand.
  std::vector<std::string> words = {"--byte-price=" +
                                    std::to_string(plan.result->bytePricePs)};
  for (const std::string &name : names)
    words.push_back("--policy=" + name + "=must-recompute");
  CopiedPlan asked = input.ask(words);
  ASSERT_TRUE(asked.result) << input.message;
  EXPECT_LE(plan.result->peak.bytes, asked.result->peak.bytes);
}

TEST(LeastPeakOf, KeepsThePoliciesOfTheCommandLine) {
  AskedGraph input(corpus("gpt2"));
  CopiedPlan plan = input.ask({"--minimize=peak", "--policy=tanh=must-save",
                               "--policy=addmm_2=must-save"});
  ASSERT_TRUE(plan.result) << input.message;
  EXPECT_NE(plan.result->choice.strategy, Strategy::RecomputeAll);
  EXPECT_NE(plan.result->choice.strategy, Strategy::Precompute);
}

TEST(PlanForTime, IsNoSlowerThanTheReferenceThatItWouldTake) {
  unsigned passed = 0;
  // Sizes that the graphs leave open.
  const std::string sizes[] = {"--sym=s29=3", "--sym=s1=32", "--sym=s21=2",
                               "--sym=s25=12"};
  for (const std::string &text : realGraphs(1 << 17)) {
    SCOPED_TRACE(text);
    AskedGraph input(text);
    std::vector<std::string> words;
    for (const std::string &size : sizes)
      if (input.ask({size}).result)
        words.push_back(size);
    CopiedPlan plan = input.ask(words);
    if (!plan.result || !plan.result->passedOver)
      continue;
    ++passed;
    words.push_back("--cost-model=pytorch");
    CopiedPlan reference = input.ask(words);
    ASSERT_TRUE(reference.result) << input.message;
    EXPECT_LE(plan.result->peak.bytes, reference.result->peak.bytes);
    EXPECT_LE(plan.result->kernelPlan->ps(),
              reference.result->kernelPlan->ps() * (1 + 1e-9));
  }
  EXPECT_GT(passed, 0u);
}

} // namespace
