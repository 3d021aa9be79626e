// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward, input phase and weight phase, one after the other, are the joint
// graph to the bit: random graphs under random plans and under each rule at
// random prices, half of them with checkpoint regions. Some parameters are made
// inputs, so that both phases have something to compute; in some graphs none
// is, as in the first stage of a pipeline. Every plan passes the certificate of
// three parts. A plan of one size is that of another one, too.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs (200), CUTBACK_RANDOM_SEED the
// first seed (1). A failure prints its seed.

#include "RandomProgram.h"
#include "RandomRegions.h"
#include "RunPhases.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/ThreeWay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::test;

namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Outcome {
  std::vector<RuntimeValue> results, written;
  HookRecord hooks;
};

class ThreeWayTest : public testing::Test {
protected:
  ThreeWayTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  OwningOpRef<ModuleOp> program(int64_t larger = 0) {
    options.size = 2 + int64_t(seed % 4) + larger;
    OwningOpRef<ModuleOp> module =
        RandomProgram(seed, options, context).build();
    if (!module)
      return {};
    joint::GraphOp graph = graphOf(*module);
    for (unsigned arg = 0; arg < options.numParams; ++arg)
      if (seed % 5 != 0 && (seed >> arg) % 2 == 0)
        graph.setArgAttr(arg, joint::JointDialect::kRole,
                         joint::RoleAttr::get(&context, joint::RoleKind::Input,
                                              StringAttr(), -1, false));
    if (seed % 3 == 0)
      addRandomHooks(graph, seed);
    return module;
  }
  static joint::GraphOp graphOf(ModuleOp module) {
    return *module.getOps<joint::GraphOp>().begin();
  }

  /// With `phases`, or the graph as a whole.
  std::optional<Outcome> runStep(joint::GraphOp graph,
                                 const PhaseFunctions *phases) {
    StepNames names = nameStep(graph);
    auto values = randomArguments(graph, names, options.size, seed);
    if (failed(values))
      return std::nullopt;
    Outcome outcome;
    InterpreterOptions running;
    running.hook = outcome.hooks.hook();
    auto results = phases ? runPhases(graph, *phases, *values, running)
                          : run(graph, *values, running);
    if (failed(results))
      return std::nullopt;
    outcome.results = std::move(*results);
    for (const auto &[name, argument] : names.written)
      outcome.written.push_back((*values)[argument]);
    return outcome;
  }

  void compare(const Outcome &expected, const Outcome &actual,
               const std::string &what) {
    ASSERT_EQ(expected.results.size(), actual.results.size());
    for (size_t i = 0; i < expected.results.size(); ++i)
      EXPECT_TRUE(equalBits(expected.results[i], actual.results[i]))
          << "seed " << seed << ", " << what << ": result " << i;
    for (size_t i = 0; i < expected.written.size(); ++i)
      EXPECT_TRUE(equalBits(expected.written[i], actual.written[i]))
          << "seed " << seed << ", " << what << ": written " << i;
    ASSERT_EQ(expected.hooks.keys, actual.hooks.keys)
        << "seed " << seed << ", " << what;
    for (size_t i = 0; i < expected.hooks.seen.size(); ++i)
      EXPECT_TRUE(equalBits(expected.hooks.seen[i], actual.hooks.seen[i]))
          << "seed " << seed << ", " << what;
  }

  void checkRandomPlan(ModuleOp original, const Outcome &expected,
                       std::mt19937_64 &random);
  void checkInFlight(ModuleOp original, const Outcome &expected,
                     const ThreeWayOptions &rule);
  void checkRule(ModuleOp original, const Outcome &expected,
                 const ThreeWayOptions &rule, const std::string &what);

  MLIRContext context;
  RandomProgramOptions options;
  uint64_t seed = 0, plans = 0, refused = 0, mixed = 0;
  std::string lastError;
};

void ThreeWayTest::checkRandomPlan(ModuleOp original, const Outcome &expected,
                                   std::mt19937_64 &random) {
  OwningOpRef<ModuleOp> module(original.clone());
  joint::GraphOp graph = graphOf(*module);
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  ASSERT_TRUE(succeeded(sets)) << "seed " << seed;
  PhaseKinds kinds = PhaseKinds::compute(view, *sets);
  PhasePlan plan;
  unsigned percentInput = random() % 101, percentWeight = random() % 101;
  for (uint32_t value = 0; value < view.numValues(); ++value) {
    plan.toInput.push_back(random() % 100 < percentInput);
    plan.toWeight.push_back(random() % 100 < percentWeight);
  }
  Phases phases = splitPhases(view, *sets, kinds, plan);
  PhaseFunctions made = emitPhases(view, phases, kinds);
  ++plans;
  lastError.clear();
  ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << lastError;
  if (failed(verifyPhases(graph, made))) {
    EXPECT_NE(lastError, "") << "seed " << seed;
    ++refused;
    if (std::getenv("CUTBACK_VERBOSE"))
      printf("seed %llu: refused: %s\n", (unsigned long long)seed,
             lastError.c_str());
    return;
  }
  std::optional<Outcome> actual = runStep(graph, &made);
  ASSERT_TRUE(actual) << "seed " << seed << ": " << lastError;
  compare(expected, *actual, "random plan");
}

void ThreeWayTest::checkRule(ModuleOp original, const Outcome &expected,
                             const ThreeWayOptions &rule,
                             const std::string &what) {
  OwningOpRef<ModuleOp> module(original.clone());
  joint::GraphOp graph = graphOf(*module);
  ++plans;
  lastError.clear();
  auto made = partitionThreeWay(graph, rule);
  if (failed(made)) {
    EXPECT_NE(lastError, "") << "seed " << seed << ", " << what;
    ++refused;
    if (std::getenv("CUTBACK_VERBOSE"))
      printf("seed %llu, %s: refused: %s\n", (unsigned long long)seed,
             what.c_str(), lastError.c_str());
    return;
  }
  ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << lastError;
  std::optional<Outcome> actual = runStep(graph, &made->functions);
  ASSERT_TRUE(actual) << "seed " << seed << ", " << what << ": " << lastError;
  compare(expected, *actual, what);
}

/// Many graphs write and read buffers everywhere: those are refused for it.
void ThreeWayTest::checkInFlight(ModuleOp original, const Outcome &expected,
                                 const ThreeWayOptions &rule) {
  uint64_t before = refused;
  checkRule(original, expected, rule, "in flight");
  if (refused > before &&
      StringRef(lastError).contains("with several micro-batches in flight")) {
    --refused;
    --plans;
    ++mixed;
  }
}

TEST_F(ThreeWayTest, APlanIsTakenOverForAnotherSize) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  ThreeWayOptions rule;
  rule.partition.decompose = false;
  rule.severalInFlight = false;
  uint64_t taken = 0, others = 0;
  for (seed = 1; seed <= 40; ++seed) {
    OwningOpRef<ModuleOp> first = program(), second = program(/*larger=*/3);
    ASSERT_TRUE(first && second) << "seed " << seed << ": " << lastError;
    std::optional<Outcome> expected = runStep(graphOf(*second), nullptr);
    ASSERT_TRUE(expected) << "seed " << seed << ": " << lastError;
    auto plan = partitionThreeWay(graphOf(*first), rule);
    if (failed(plan))
      continue;
    HandedNames names = plan->handedNames();
    OwningOpRef<ModuleOp> copy(second->clone());
    ThreeWayOptions follow = rule;
    follow.as = &names;
    // What a byte is worth does not matter any more.
    follow.toInputPrice = follow.toWeightPrice = 1e9;
    auto same = partitionThreeWay(graphOf(*copy), follow);
    ASSERT_TRUE(succeeded(same)) << "seed " << seed << ": " << lastError;
    HandedNames found = same->handedNames();
    taken += found.toInput == names.toInput && found.toWeight == names.toWeight;
    std::optional<Outcome> actual = runStep(graphOf(*copy), &same->functions);
    ASSERT_TRUE(actual) << "seed " << seed << ": " << lastError;
    compare(*expected, *actual, "as another size");
    // A name that the graph does not have: it is planned by itself.
    names.toInput.push_back("no_such_value");
    rule.toInputPrice = rule.toWeightPrice = 1;
    follow.toInputPrice = follow.toWeightPrice = 1;
    OwningOpRef<ModuleOp> third(second->clone());
    auto other = partitionThreeWay(graphOf(*third), follow),
         alone = partitionThreeWay(graphOf(*second), rule);
    ASSERT_TRUE(succeeded(other) && succeeded(alone)) << lastError;
    EXPECT_EQ(other->figures.cost, alone->figures.cost) << "seed " << seed;
    EXPECT_EQ(other->handedNames().toInput, alone->handedNames().toInput);
    EXPECT_EQ(other->handedNames().toWeight, alone->handedNames().toWeight);
    ++others;
  }
  EXPECT_GT(others, 30u);
  EXPECT_EQ(taken, others);
}

TEST_F(ThreeWayTest, PhasesAreTheJointGraphToTheBit) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 200);
  for (seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    OwningOpRef<ModuleOp> module = program();
    ASSERT_TRUE(module) << "seed " << seed << ": " << lastError;
    ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << lastError;
    std::optional<Outcome> expected = runStep(graphOf(*module), nullptr);
    ASSERT_TRUE(expected) << "seed " << seed << ": " << lastError;
    for (unsigned i = 0; i < 3; ++i)
      checkRandomPlan(*module, *expected, random);
    if (seed % 2 == 0)
      addRandomRegions(graphOf(*module), seed);
    ThreeWayOptions rule;
    rule.partition.decompose = false; // other ops round otherwise
    static const BytePrice kPrices[] = {0, 1, 1e3, 1e9, BytePrice::ownTimes(1)};
    for (ThreeWayRule which : {ThreeWayRule::Closure, ThreeWayRule::Cuts}) {
      rule.rule = which;
      rule.toInputPrice = kPrices[random() % 5];
      rule.toWeightPrice = kPrices[random() % 5];
      rule.criticalPrice = double(random() % 4) / 2;
      rule.severalInFlight = false;
      checkRule(*module, *expected, rule,
                which == ThreeWayRule::Cuts ? "cuts" : "closure");
      rule.severalInFlight = true;
      checkInFlight(*module, *expected, rule);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  printf("seeds %llu to %llu: %llu plans, %llu refused with a reason, %llu mix "
         "micro-batches\n",
         (unsigned long long)first, (unsigned long long)(first + count - 1),
         (unsigned long long)plans, (unsigned long long)refused,
         (unsigned long long)mixed);
  EXPECT_LT(mixed, count);
  EXPECT_LT(refused, plans / 20 + 1) << lastError;
}

} // namespace
