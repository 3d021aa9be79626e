// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of small graphs against all plans there are. CUTBACK_RANDOM_GRAPHS says
// how many, CUTBACK_RANDOM_SEED the first seed, CUTBACK_TABLE=1 prints what
// misses the optimum.

#include "AllPlans.h"
#include "SmallSteps.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/Planner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class AllPlansTest : public testing::Test {
protected:
  AllPlansTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// Calls `check` with graphs and all their plans, until there were `count`.
  void
  forEachStep(uint64_t count,
              llvm::function_ref<void(uint64_t seed, joint::GraphOp graph,
                                      const std::vector<EvaluatedPlan> &plans)>
                  check) {
    uint64_t seed = numberFrom("CUTBACK_RANDOM_SEED", 1);
    for (count = numberFrom("CUTBACK_RANDOM_GRAPHS", count); count > 0;
         ++seed) {
      std::string text = SmallStep(seed).text();
      if (text.empty())
        continue;
      auto module = parseSourceString<ModuleOp>(text, &context);
      ASSERT_TRUE(module && succeeded(verify(*module))) << text;
      auto graph = *module->getOps<joint::GraphOp>().begin();
      auto plans = allPlans(graph, options);
      if (!plans)
        continue;
      ASSERT_FALSE(plans->empty()) << text;
      check(seed, graph, *plans);
      --count;
    }
  }

  MLIRContext context;
  PartitionOptions options;
};

/// How far `--minimize=peak` is from the least peak of all plans.
TEST_F(AllPlansTest, theLeastPeakIsFoundInMostSteps) {
  options.minimize = Minimize::Peak;
  options.figures = options.verify = false;
  bool isPrinted = std::getenv("CUTBACK_TABLE") != nullptr;
  uint64_t count = 0, equal = 0;
  double worst = 1;
  forEachStep(20, [&](uint64_t seed, joint::GraphOp graph,
                      const std::vector<EvaluatedPlan> &plans) {
    auto made = planCopy(graph, options);
    ASSERT_TRUE(succeeded(made)) << seed;
    const EvaluatedPlan &least = leastPeak(plans);
    int64_t found = made->result->memory->arenaBytes();
    double ratio = double(found) / double(least.peakBytes);
    ++count;
    equal += ratio <= 1;
    worst = std::max(worst, ratio);
    if (isPrinted && ratio > 1)
      llvm::outs() << "seed " << seed << ": " << found
                   << " bytes, the least is " << least.peakBytes << ", saved "
                   << llvm::join(least.saved, " ") << "\n";
  });
  EXPECT_GE(100 * equal, 95 * count);
  EXPECT_LE(worst, 1.25);
  llvm::outs() << equal << " of " << count << " least peaks found, at worst "
               << worst << " times the least\n";
}

/// Under a limit: never beyond it, and how far from the fastest plan within it.
TEST_F(AllPlansTest, aLimitIsKeptAndThePlanIsNearlyTheFastest) {
  options.figures = options.verify = false;
  bool isPrinted = std::getenv("CUTBACK_TABLE") != nullptr;
  uint64_t count = 0, near = 0, notFound = 0;
  double worst = 1;
  forEachStep(20, [&](uint64_t seed, joint::GraphOp graph,
                      const std::vector<EvaluatedPlan> &plans) {
    auto free = planCopy(graph, options);
    ASSERT_TRUE(succeeded(free)) << seed;
    int64_t least = leastPeak(plans).peakBytes;
    int64_t most = std::max(least, free->result->memory->arenaBytes());
    for (int64_t step = 0; step < 5; ++step) {
      int64_t limit = least + step * (most - least) / 5;
      PartitionOptions limited = options;
      limited.memoryLimit = MemoryLimit{limit, std::nullopt};
      ++count;
      std::string error;
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        error = error.empty() ? diagnostic.str() : error;
        return success();
      });
      auto made = planCopy(graph, limited);
      const EvaluatedPlan &best = *fastestWithin(plans, limit);
      if (failed(made)) {
        ++notFound;
        if (isPrinted)
          llvm::outs() << "seed " << seed << ", limit " << limit << ": "
                       << error << "; saving " << llvm::join(best.saved, " ")
                       << " needs " << best.peakBytes << "\n";
        continue;
      }
      ASSERT_LE(made->result->memory->arenaBytes(), limit) << seed;
      double ratio = made->result->kernelPlan->ps() / best.stepPs;
      near += ratio <= 1.02;
      worst = std::max(worst, ratio);
      if (isPrinted && ratio > 1.02)
        llvm::outs() << "seed " << seed << ", limit " << limit << ": "
                     << made->result->kernelPlan->ps() << " ps with "
                     << llvm::join(savedStorages(*made->result), " ") << "; "
                     << best.stepPs << " with " << llvm::join(best.saved, " ")
                     << "\n";
    }
  });
  EXPECT_GE(100 * near, 95 * count);
  EXPECT_LE(worst, 1.15);
  llvm::outs() << count << " limits: " << near
               << " plans within 2 % of the fastest, at worst " << worst
               << " times its time; " << notFound << " not found\n";
}

/// The first test of the reference is that every plan of the planner is there.
TEST_F(AllPlansTest, aPlanOfThePlannerIsAmongThem) {
  options.figures = false;
  forEachStep(30, [&](uint64_t seed, joint::GraphOp graph,
                      const std::vector<EvaluatedPlan> &plans) {
    auto made = planCopy(graph, options);
    ASSERT_TRUE(succeeded(made)) << seed;
    std::vector<std::string> saved = savedStorages(*made->result);
    auto same = llvm::find_if(
        plans, [&](const EvaluatedPlan &plan) { return plan.saved == saved; });
    ASSERT_NE(same, plans.end()) << seed << ": " << llvm::join(saved, " ");
    EXPECT_EQ(same->peakBytes, made->result->memory->arenaBytes()) << seed;
    EXPECT_EQ(same->stepPs, made->result->kernelPlan->ps()) << seed;
  });
}

} // namespace
