// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forced choices: what was asked for is done, costs no less than the plan
// without it, and is the plan itself where it was the choice anyway.

#include "cutback/Pipelines/WhatIf.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Report/Explain.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

struct Planned {
  explicit Planned(CostModel model, const char *name = "gpt2")
      : context(MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &d) { message = d.str(); }) {
    options.costModel = model;
    options.freeParameters.kind = FreeParameters::None;
    auto read = readInput(std::string(CUTBACK_SOURCE_DIR) + "/test/corpus/" +
                              name + "/joint.txt",
                          context);
    EXPECT_TRUE(succeeded(read));
    input = std::move(*read);
    PhaseSeconds seconds;
    auto prepared = preparePartition(input.graph, options, seconds);
    EXPECT_TRUE(succeeded(prepared));
    kept = *prepared;
    auto result = partitionGraph(input.graph, options, std::move(*prepared));
    EXPECT_TRUE(succeeded(result));
    plan = std::move(*result);
  }
  std::unique_ptr<PartitionResult> force(uint32_t value, bool save) {
    auto result = partitionForced(input.graph, options, {value, save}, kept);
    return succeeded(result) ? std::move(*result) : nullptr;
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler;
  PartitionOptions options;
  ImportedModule input;
  PreparedGraph kept;
  std::unique_ptr<PartitionResult> plan;
};

class WhatIf : public testing::TestWithParam<CostModel> {};

TEST_P(WhatIf, WhatIsAskedForIsDoneAndIsNotCheaper) {
  Planned g(GetParam());
  Fates fates(*g.plan);
  unsigned forced = 0;
  for (uint32_t value = g.plan->view.numArgs; value < g.plan->view.numValues();
       value += 7) {
    Fate fate = fates.of(value);
    if (fate != Fate::Saved && fate != Fate::Recomputed)
      continue;
    bool save = fate == Fate::Recomputed;
    std::unique_ptr<PartitionResult> other = g.force(value, save);
    if (!other)
      continue; // a view, or what must not run twice
    ++forced;
    EXPECT_EQ(Fates(*other).of(value) == Fate::Saved, save)
        << g.plan->view.name(value);
    EXPECT_GE(other->cutValue, g.plan->cutValue);
  }
  EXPECT_GT(forced, 5u);
}

TEST_P(WhatIf, AChoiceThatIsMadeAnywayChangesNothing) {
  Planned g(GetParam());
  unsigned checked = 0;
  for (const SavedValue &saved : g.plan->saved) {
    if (saved.argument || saved.kind != SavedValue::Tensor)
      continue;
    std::unique_ptr<PartitionResult> same = g.force(saved.value, true);
    ASSERT_TRUE(same != nullptr) << saved.name;
    EXPECT_EQ(same->cutValue, g.plan->cutValue);
    EXPECT_EQ(same->savedBytes, g.plan->savedBytes);
    EXPECT_EQ(same->recomputed, g.plan->recomputed);
    if (++checked == 8)
      break;
  }
  EXPECT_GT(checked, 3u);
}

TEST(WhatIfMessage, SaysThatTheBackwardHasNoUseForIt) {
  Planned g(CostModel::Roofline);
  EXPECT_TRUE(g.force(g.plan->view.gradients().back(), true) == nullptr);
  EXPECT_EQ(g.message, "the backward has no use for it");
}

INSTANTIATE_TEST_SUITE_P(Models, WhatIf,
                         testing::Values(CostModel::Roofline,
                                         CostModel::PyTorch));

} // namespace
