// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No plan is below its bounds: terms of the network against the kernels of any
// plan of random graphs, and on small ones the bounds of peak and time against
// all plans there are, with their kernels and arenas.
//
// CUTBACK_RANDOM_GRAPHS sets how many graphs, CUTBACK_RANDOM_SEED the first
// seed. A failure prints its seed.

#include "cutback/Kernels/PlanBound.h"

#include "../Planner/RandomProgram.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Kernels/KernelPlan.h"
#include "cutback/Kernels/NetworkTerms.h"
#include "cutback/Partition/Strategies.h"
#include "cutback/Planner/OtherPlan.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// A graph with all that is known of it.
struct Known {
  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph;
  Device device;
  GraphView view;
  ValueSizes sizes;
  std::optional<GraphSets> sets;
  KernelProblem problem;
  RooflineCosts costs;
};

class PlanBoundTest : public testing::Test {
protected:
  PlanBoundTest() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// Nothing where no op of the graph is left.
  std::unique_ptr<Known> make(uint64_t seed, RandomProgramOptions shape,
                              std::optional<double> launchPs) {
    auto known = std::make_unique<Known>();
    shape.percentWrite = 0;
    shape.size = 2 + static_cast<int64_t>(seed % 4);
    known->module = RandomProgram(seed, shape, context).build();
    if (!known->module)
      return nullptr;
    known->graph = *known->module->getOps<joint::GraphOp>().begin();
    PhaseSeconds seconds;
    PartitionOptions options;
    if (failed(preparePartition(known->graph, options, seconds)))
      return nullptr;
    std::string error;
    EXPECT_TRUE(Device::load("h100", known->device, error)) << error;
    known->device.launchPs = launchPs.value_or(known->device.launchPs);
    known->view = GraphView::build(known->graph);
    known->sizes = *ValueSizes::compute(known->view, {});
    known->sets = *GraphSets::compute(known->view);
    known->problem = KernelProblem::build(known->view, known->sizes);
    known->costs = RooflineCosts::compute(known->view, *known->sets,
                                          known->sizes, known->device);
    refineByKernels(known->costs, known->problem, known->view, *known->sets,
                    known->sizes, known->device);
    return known;
  }

  MLIRContext context;
};

/// Of all terms, those that the plan with these halves pays.
int64_t termsOf(const Known &known, const LowerTerms &lower,
                const Halves &halves) {
  const GraphView &view = known.view;
  int64_t ps = lower.everyPlanPs;
  std::vector<uint8_t> runs(view.numOps(), 0), isCounted(view.numValues(), 0);
  for (auto *list : {&halves.savedTensors, &halves.savedSizes})
    for (uint32_t value : *list) {
      while (lower.costs.savePs[value] == RooflineCosts::kNever &&
             !view.isArg(value) && view.traits[view.definer[value]].view)
        value = view.baseOf(view.definer[value]);
      if (!isCounted[value] && lower.costs.savePs[value] > 0)
        ps += lower.costs.savePs[value];
      isCounted[value] = 1;
    }
  for (uint32_t op : halves.backwardOps) {
    // What a saved view is of is saved, though an op may run for another
    // reader.
    auto results = llvm::seq(view.resultBegin[op], view.resultBegin[op + 1]);
    runs[op] = results.empty() ||
               llvm::any_of(results, [&](uint32_t r) { return !isCounted[r]; });
    if (runs[op] && known.sets->ops[op] != GraphSet::Backward)
      ps += std::max<int64_t>(0, lower.costs.recomputePs[op]);
  }
  for (const Relaxation::SharedCost &cost : lower.relaxation.shared)
    if (llvm::any_of(cost.ops, [&](uint32_t op) { return runs[op]; }) &&
        (cost.value == GraphView::kNone || !runs[view.definer[cost.value]]))
      ps += cost.ps;
  return ps;
}

TEST_F(PlanBoundTest, TermsAreNoMoreThanKernelsTake) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 100);
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
  uint64_t plans = 0, above = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgramOptions shape;
    shape.numForward = 8 + seed % 20;
    shape.numBackward = 10 + seed % 25;
    // Launches of no time, of some bytes', and of more than all bytes'.
    constexpr double kLaunches[] = {0, 40, 4000};
    std::unique_ptr<Known> known = make(seed, shape, kLaunches[seed % 3]);
    if (!known)
      continue;
    const GraphView &view = known->view;
    LowerTerms lower = lowerTerms(known->costs, known->problem, view,
                                  *known->sets, known->sizes, known->device);
    KernelPlanner planner(known->problem, view, known->sizes, known->device,
                          known->costs.flopsPs);
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < 24; ++i) {
      Plan plan = i == 0   ? planEager(view, *known->sets, known->sizes, {})
                  : i == 1 ? planPrecompute(view, *known->sets)
                           : planRecomputeAll(view, *known->sets);
      for (uint32_t value = 0; value < view.numValues(); ++value)
        if (i > 2 && random() % 24 < i &&
            known->sets->values[value] != GraphSet::Backward)
          plan.saved[value] = 1;
      FailureOr<Halves> halves = splitGraph(view, *known->sets, plan);
      if (failed(halves))
        continue;
      if (i % 2)
        improveBackwardOrder(view, *halves, known->sizes.bytes,
                             known->sizes.storage);
      ++plans;
      double extra = planner.extraPs(*halves, planner.planApart(*halves));
      int64_t terms = termsOf(*known, lower, *halves);
      above += terms > std::max(0.0, extra) + 1;
    }
  }
  EXPECT_GT(plans, 10 * count);
  // Formation is greedy: what it makes of a plan's ops without saving and
  // running again, which is what extraPs starts from, is at times more than
  // what it makes of them with it.
  EXPECT_LE(above * 150, plans);
}

/// Planned peak and extra time of a plan.
struct Figures {
  int64_t peak, ps;
};

/// What may be saved, of values that lie in memory of their own.
std::vector<uint32_t> findChoices(const Known &known) {
  std::vector<uint32_t> choices;
  for (uint32_t v = known.view.numArgs; v < known.view.numValues(); ++v)
    if (known.sets->values[v] != GraphSet::Backward &&
        known.problem.root[v] == v && known.sizes.bytes[v] > 0 &&
        !known.sizes.isScalar(v))
      choices.push_back(v);
  return choices;
}

/// All plans there are, with kernels and arenas.
std::vector<Figures> findPlans(const Known &known,
                               const std::vector<uint32_t> &choices) {
  PartitionOptions options;
  options.decompose = false;
  std::vector<Figures> plans;
  for (uint32_t set = 0; set < (1u << choices.size()); ++set) {
    SmallVector<Value> saved;
    for (size_t i = 0; i < choices.size(); ++i)
      if (set >> i & 1)
        saved.push_back(known.view.values[choices[i]]);
    FailureOr<OtherFigures> figures = figureOther(known.graph, saved, options);
    if (succeeded(figures))
      plans.push_back({figures->peakBytes, figures->pricedPs});
  }
  return plans;
}

void checkBounds(const Known &known, const std::vector<Figures> &plans) {
  PlanBound bound(known.costs, known.problem, known.view, *known.sets,
                  known.sizes, known.device);
  std::optional<PeakBound> peak = bound.peak();
  ASSERT_TRUE(peak);
  int64_t least = INT64_MAX, most = 0;
  for (const Figures &plan : plans) {
    least = std::min(least, plan.peak);
    most = std::max(most, plan.peak);
  }
  EXPECT_LE(peak->bytes, least);
  for (int part = 0; part <= 4; ++part) {
    int64_t limit = least + (most - least) * part / 4;
    std::optional<TimeBound> time = bound.time(limit, MomentSearch());
    ASSERT_TRUE(time);
    EXPECT_EQ(*bound.timeOf(limit, time->prices), time->ps);
    int64_t optimum = INT64_MAX;
    for (const Figures &plan : plans)
      if (plan.peak <= limit)
        optimum = std::min(optimum, plan.ps);
    EXPECT_LE(time->ps, optimum) << "limit " << limit;
  }
}

TEST_F(PlanBoundTest, NoPlanIsBelowTheBounds) {
  uint64_t first = numberFrom("CUTBACK_RANDOM_SEED", 1);
  uint64_t count = numberFrom("CUTBACK_RANDOM_GRAPHS", 12);
  constexpr size_t kMostValues = 7;
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
  uint64_t graphs = 0;
  for (uint64_t seed = first; graphs < count && seed < first + 50 * count;
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgramOptions shape;
    shape.numForward = 3 + seed % 4;
    shape.numBackward = 3 + seed % 5;
    std::unique_ptr<Known> known = make(seed, shape, /*launchPs=*/std::nullopt);
    if (!known)
      continue;
    std::vector<uint32_t> choices = findChoices(*known);
    if (choices.empty() || choices.size() > kMostValues)
      continue;
    std::vector<Figures> plans = findPlans(*known, choices);
    if (plans.empty())
      continue;
    ++graphs;
    checkBounds(*known, plans);
  }
  EXPECT_EQ(graphs, count);
}

} // namespace
