// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through all sets of values that may be saved, on a graph that is
// prepared once, and drafts each as the planner does: halves, kernels, order,
// arena. Sets whose halves are the same, or that would run an op twice that
// must not, are passed over. 2^values drafts of some hundred microseconds.

#include "AllPlans.h"

#include "../../../lib/Planner/Internal.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Support/MLIR/Silence.h"

#include "mlir/IR/BuiltinOps.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

static std::vector<uint32_t> savableValues(const GraphView &view,
                                           const GraphSets &sets) {
  std::vector<uint8_t> isBackward = sets.findBackwardOps(view);
  std::vector<uint32_t> values;
  for (uint32_t value = view.numArgs; value < view.numValues(); ++value) {
    uint32_t op = view.definer[value];
    // A view is its operand.
    if (!isBackward[op] && !view.traits[op].literal && !view.traits[op].view)
      values.push_back(value);
  }
  return values;
}

std::vector<std::string> test::savedStorages(const PartitionResult &result) {
  std::set<uint32_t> bases;
  for (uint32_t value : result.halves.savedTensors)
    bases.insert(result.sizes->storage[value]);
  std::vector<std::string> names;
  for (uint32_t base : bases)
    if (!result.view.isArg(base))
      names.push_back(result.view.name(base));
  return names;
}

static std::optional<EvaluatedPlan> evaluate(DraftPlan &draft) {
  draft.formKernels();
  if (failed(draft.layOut()) || !draft.result().memory)
    return std::nullopt;
  const PartitionResult &result = draft.result();
  EvaluatedPlan plan;
  plan.saved = savedStorages(result);
  plan.peakBytes = result.memory->arenaBytes();
  plan.stepPs = result.kernelPlan->ps();
  return plan;
}

std::optional<std::vector<EvaluatedPlan>>
test::allPlans(joint::GraphOp given, const PartitionOptions &asked,
               unsigned most) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(given.getLoc());
  joint::GraphOp graph = given.clone();
  module->push_back(graph);
  PartitionOptions options = asked;
  PhaseSeconds seconds;
  Silence silence(*graph.getContext());
  FailureOr<PreparedGraph> prepared = preparePartition(graph, options, seconds);
  if (failed(prepared))
    return std::nullopt;
  // What is prepared is in core ops.
  options.decompose = options.figures = options.verify = false;
  options.emit = true;
  if (!options.memory)
    options.memory.emplace();
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  if (failed(sets))
    return std::nullopt;
  std::vector<uint32_t> values = savableValues(view, *sets);
  if (values.size() >= 32 || (1u << values.size()) > most)
    return std::nullopt;
  std::vector<EvaluatedPlan> plans;
  std::set<std::vector<uint32_t>> seen;
  for (uint32_t set = 0; set < (1u << values.size()); ++set) {
    Plan plan;
    plan.saved.assign(view.numValues(), 0);
    for (size_t i = 0; i < values.size(); ++i)
      plan.saved[values[i]] = (set >> i) & 1;
    plan.bound.assign(view.numValues(), 0);
    PreparedGraph nothing;
    FailureOr<DraftPlan> draft = DraftPlan::make(
        graph, options, PlanChoice::of(options), nothing, &plan);
    if (failed(draft))
      continue;
    if (seen.insert(draft->result().halves.savedTensors).second)
      if (std::optional<EvaluatedPlan> found = evaluate(*draft))
        plans.push_back(std::move(*found));
    (void)draft->discard();
  }
  return plans;
}

const EvaluatedPlan &test::leastPeak(const std::vector<EvaluatedPlan> &plans) {
  return *std::min_element(plans.begin(), plans.end(),
                           [](const EvaluatedPlan &a, const EvaluatedPlan &b) {
                             return a.peakBytes < b.peakBytes;
                           });
}

const EvaluatedPlan *
test::fastestWithin(const std::vector<EvaluatedPlan> &plans,
                    int64_t limitBytes) {
  const EvaluatedPlan *best = nullptr;
  for (const EvaluatedPlan &plan : plans)
    if (plan.peakBytes <= limitBytes && (!best || plan.stepPs < best->stepPs))
      best = &plan;
  return best;
}
