// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans for the C interface. Preparing changes a graph, and by other options it
// changes it otherwise; so a plan works on a copy, and a graph can be planned
// as often as one likes. The copy is linear and a small part of a plan's time.
//
// Texts are made when they are asked for, and kept: a program that wants the
// names of the saved values does not pay for a comparison of strategies.

#include "Guard.h"
#include "Options.h"
#include "Stored.h"

#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Report/Comparison.h"
#include "cutback/Report/OtherHalves.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Support/MLIR/Silence.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::capi;

CutbackPlan::CutbackPlan(CutbackGraph &from)
    : context(from.context),
      module(ModuleOp::create(from.imported.graph->getLoc())),
      graph(cast<joint::GraphOp>(from.imported.graph->clone())) {
  module->push_back(graph);
  asRead = copyToCompare(graph);
}

/// What eager PyTorch keeps at the sizes of a plan.
static std::optional<AutogradSaves>
countEager(CutbackGraph &graph, const PartitionOptions &options) {
  if (!graph.program || options.symbols.empty())
    return graph.eager;
  Silence silence(graph.context.mlir);
  OwningOpRef<ModuleOp> copy = graph.program->clone();
  EagerCount count;
  count.symbols = options.symbols;
  auto program = *copy->getOps<joint::GraphOp>().begin();
  return succeeded(makeTrainingGraph(program, graph.gradients, &count))
             ? count.saves
             : std::nullopt;
}

static CutbackStatus makePlan(CutbackGraph &graph, const CommandLine &line,
                              CutbackPlan **made) {
  CutbackContext &context = graph.context;
  PartitionOptions options;
  std::string error;
  if (!readPlanOptions(line, options, error))
    return wrongUsage(context, error,
                      "`cutback report --help` describes all options");
  if (line.has("remarks"))
    enablePlanRemarks(context.mlir);
  std::unique_ptr<CutbackPlan> plan = std::make_unique<CutbackPlan>(graph);
  plan->other = judgeOther(graph.imported, options);
  options.memory.emplace();
  auto result = planStep(plan->graph, options);
  if (failed(result))
    return inputAllowsPlan(plan->graph, options) ? CUTBACK_NO_PLAN
                                                 : CUTBACK_WRONG_INPUT;
  plan->result = std::move(*result);
  plan->result->seconds.import += graph.importSeconds;
  plan->extras = collectExtras(*plan->result);
  plan->extras.eager = countEager(graph, options);
  if (plan->other) {
    countOther(*plan->result, graph.imported.torchBackward, *plan->other);
    plan->extras.other = plan->other;
  }
  *made = plan.release();
  return CUTBACK_DONE;
}

static void compare(CutbackPlan &plan) {
  if (!plan.compared)
    compareStrategies(plan.asRead.get(), *plan.result, plan.extras,
                      plan.isStored ? PlannedGraph::Stored
                                    : PlannedGraph::AsRead);
  plan.compared = true;
}

extern "C" {

CutbackStatus cutbackPlanCreate(CutbackGraph *graph, size_t numOptions,
                                const char *const *options,
                                CutbackPlan **plan) {
  if (!graph || !plan)
    return CUTBACK_WRONG_USAGE;
  *plan = nullptr;
  return guarded(graph->context, [&] {
    auto line =
        parseOptions(graph->context, planOptions(), numOptions, options);
    if (!line)
      return CUTBACK_WRONG_USAGE;
    return graph->isStored ? takeStored(*graph, *line, plan)
                           : makePlan(*graph, *line, plan);
  });
}

void cutbackPlanDestroy(CutbackPlan *plan) {
  if (plan && !plan->context.broken)
    delete plan;
}

size_t cutbackPlanNumSaved(const CutbackPlan *plan) {
  return plan ? plan->result->saved.size() : 0;
}

CutbackSaved cutbackPlanSaved(const CutbackPlan *plan, size_t index) {
  if (index >= cutbackPlanNumSaved(plan))
    return CutbackSaved{nullptr, CUTBACK_TENSOR, 0, 0};
  const SavedValue &saved = plan->result->saved[index];
  CutbackSavedKind kind = saved.kind == SavedValue::Tensor ? CUTBACK_TENSOR
                          : saved.kind == SavedValue::Size ? CUTBACK_SIZE
                                                           : CUTBACK_SEED;
  return {saved.name.c_str(), kind, saved.bytes, saved.argument};
}

size_t cutbackPlanNumRecomputed(const CutbackPlan *plan) {
  return plan ? plan->result->recomputed.size() : 0;
}

const char *cutbackPlanRecomputed(const CutbackPlan *plan, size_t index) {
  return index < cutbackPlanNumRecomputed(plan)
             ? plan->result->recomputed[index].c_str()
             : nullptr;
}

CutbackStatus cutbackPlanJson(CutbackPlan *plan, int withComparison,
                              const char **text) {
  if (!plan || !text)
    return CUTBACK_WRONG_USAGE;
  *text = nullptr;
  return guarded(plan->context, [&] {
    std::string &json = withComparison ? plan->comparedJson : plan->json;
    if (withComparison)
      compare(*plan);
    if (json.empty()) {
      ReportExtras extras = plan->extras;
      if (!withComparison)
        extras.strategies.clear();
      json = reportJson(*plan->result, extras);
    }
    *text = json.c_str();
    return CUTBACK_DONE;
  });
}

CutbackStatus cutbackPlanReport(CutbackPlan *plan, const char **text) {
  if (!plan || !text)
    return CUTBACK_WRONG_USAGE;
  *text = nullptr;
  return guarded(plan->context, [&] {
    compare(*plan);
    if (plan->text.empty())
      plan->text = reportText(*plan->result, plan->extras);
    *text = plan->text.c_str();
    return CUTBACK_DONE;
  });
}

CutbackStatus cutbackPlanWrite(CutbackPlan *plan, const char *folder) {
  if (!plan)
    return CUTBACK_WRONG_USAGE;
  return guarded(plan->context, [&] {
    if (!folder)
      return wrongUsage(plan->context, "folder is a null pointer",
                        "give a folder");
    ReportExtras extras = plan->extras;
    extras.strategies.clear();
    std::string error =
        writePartition(plan->graph, *plan->result, extras, folder);
    if (error.empty())
      return CUTBACK_DONE;
    plan->context.report(CUTBACK_ERROR, error.c_str());
    return CUTBACK_WRONG_INPUT;
  });
}

} // extern "C"
