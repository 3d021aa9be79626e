// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-plan`, `cutback-extract` and `cutback-verify-partition`: the
// pipeline of PartitionPipeline.cpp taken apart at its one joint, the saved
// set, which travels between the passes as attributes.
//
// Only `joint.save` decides what the halves are. `joint.recompute` and
// `joint.side` tell a reader what follows from it; a plan that is written by
// hand can leave them out. An older plan on a graph is cleared by a new one.
// Linear, but for the flow that the plan asks for.

#include "cutback/Planner/Passes.h"

#include "PlanPassOptions.h"
#include "cutback/Planner/Planner.h"

#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Partition/RandomStates.h"
#include "cutback/Transforms/ReorderBackward.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace cutback {
#define GEN_PASS_DEF_PLANPARTITION
#define GEN_PASS_DEF_EXPOSERANDOMSTATES
#define GEN_PASS_DEF_EXTRACTPARTITION
#define GEN_PASS_DEF_PARTITIONSTEP
#define GEN_PASS_DEF_VERIFYPARTITION
#include "cutback/Planner/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Writes the plan of `result` as attributes; clears an older one.
static void annotate(const PartitionResult &result) {
  const GraphView &view = result.view;
  MLIRContext *context =
      result.view.ops.empty() ? nullptr : result.view.ops.front()->getContext();
  if (!context)
    return;
  std::vector<uint8_t> inForward(view.numOps(), 0), saved(view.numValues(), 0);
  for (uint32_t op : result.halves.forwardOps)
    inForward[op] = 1;
  for (const auto *list :
       {&result.halves.savedSizes, &result.halves.savedTensors})
    for (uint32_t value : *list)
      saved[value] = 1;
  std::vector<uint8_t> recomputed(view.numOps(), 0);
  for (uint32_t op : result.halves.recomputed)
    recomputed[op] = 1;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    Operation *operation = view.ops[op];
    for (StringRef name :
         {JointDialect::kSave, JointDialect::kRecompute, JointDialect::kSide})
      operation->removeDiscardableAttr(name);
    SmallVector<bool> flags;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      flags.push_back(saved[r]);
    if (llvm::is_contained(flags, true))
      operation->setDiscardableAttr(JointDialect::kSave,
                                    DenseBoolArrayAttr::get(context, flags));
    if (recomputed[op])
      operation->setDiscardableAttr(JointDialect::kRecompute,
                                    UnitAttr::get(context));
    else if (result.sets->ops[op] == GraphSet::Unclaimed)
      operation->setDiscardableAttr(
          JointDialect::kSide,
          SideAttr::get(context,
                        inForward[op] ? Side::Forward : Side::Backward));
  }
}

LogicalResult cutback::readPlanWords(
    const std::vector<std::string> &words, PartitionOptions &options,
    function_ref<LogicalResult(const Twine &)> errorHandler) {
  CommandSpec spec;
  spec.options = planOptions();
  spec.minArguments = spec.maxArguments = 0;
  PartitionOptions parsed;
  std::string error;
  std::optional<CommandLine> line =
      parseCommandLine(spec, {words.begin(), words.end()}, error);
  if (!line || !readPlanOptions(*line, parsed, error))
    return errorHandler(error);
  options = std::move(parsed);
  return success();
}

namespace {

struct PlanPartitionPass
    : WithPlanOptions<cutback::impl::PlanPartitionBase<PlanPartitionPass>,
                      /*IsStep=*/false> {
  void runOnOperation() override {
    PartitionOptions options = given;
    options.emit = options.decompose = false;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      FailureOr<std::unique_ptr<PartitionResult>> result =
          partitionGraph(graph, options);
      if (failed(result))
        return signalPassFailure();
      annotate(**result);
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

/// The halves of an earlier run would have the names of ours.
static LogicalResult checkNames(GraphOp graph) {
  for (StringRef suffix : {StringRef("_forward"), StringRef("_backward"),
                           StringRef(kPartitionSuffix)}) {
    std::string name = (graph.getSymName() + suffix).str();
    Operation *other = SymbolTable::lookupSymbolIn(graph->getParentOp(), name);
    if (!other)
      continue;
    InFlightDiagnostic diag = graph.emitOpError("is partitioned already, or "
                                                "there is another '@")
                              << name << "'";
    diag.attachNote(other->getLoc())
        << "the halves would have the same names; erase or rename it";
    return diag;
  }
  return success();
}

namespace {

struct PartitionStepPass
    : WithPlanOptions<cutback::impl::PartitionStepBase<PartitionStepPass>,
                      /*IsStep=*/true> {
  using WithPlanOptions::WithPlanOptions;

  /// With the rules by which composite ops are decomposed in front of a plan.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect, func::FuncDialect>();
    registerAtenDecompositions(registry);
  }

  void runOnOperation() override {
    SmallVector<GraphOp> graphs(getOperation().getOps<GraphOp>());
    for (GraphOp graph : graphs) {
      if (failed(checkNames(graph)))
        return signalPassFailure();
      PartitionOptions options = given;
      options.memory.emplace();
      auto result = planStep(graph, options);
      if (failed(result))
        return signalPassFailure();
      // The module keeps the graph that its halves are of.
      if (const auto &given = (*result)->given)
        graph->getRegion(0).takeBody((*given->core)->getRegion(0));
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Extract
//===----------------------------------------------------------------------===//

namespace {

struct ExtractPartitionPass
    : public cutback::impl::ExtractPartitionBase<ExtractPartitionPass> {
  using ExtractPartitionBase::ExtractPartitionBase;

  void runOnOperation() override {
    SmallVector<GraphOp> graphs(getOperation().getOps<GraphOp>());
    for (GraphOp graph : graphs) {
      if (failed(extract(graph)))
        return signalPassFailure();
      if (!keepJoint)
        eraseGraph(graph);
    }
  }

  LogicalResult extract(GraphOp graph) {
    if (failed(checkNames(graph)))
      return failure();
    GraphView view = GraphView::build(graph);
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    if (failed(sets))
      return failure();
    Plan plan;
    plan.saved.assign(view.numValues(), 0);
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (auto flags = view.ops[op]->getAttrOfType<DenseBoolArrayAttr>(
              JointDialect::kSave))
        for (auto [i, flag] : llvm::enumerate(flags.asArrayRef()))
          plan.saved[view.resultBegin[op] + i] = flag;
    FailureOr<Halves> halves = splitGraph(view, *sets, plan);
    if (failed(halves))
      return failure();
    if (reorder) {
      FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
      if (failed(sizes))
        return failure();
      improveBackwardOrder(view, *halves, sizes->bytes, sizes->storage);
    }
    emitHalves(view, *halves);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

struct VerifyPartitionPass
    : public cutback::impl::VerifyPartitionBase<VerifyPartitionPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto link : module.getOps<joint::PartitionOp>()) {
      GraphOp graph = graphOf(link);
      if (!graph) {
        auto diag = link.emitOpError("does not say of which joint graph it is");
        diag.attachNote() << "keep the joint graph (keep-joint) to verify its "
                             "halves";
        return signalPassFailure();
      }
      if (failed(verifyHalves(
              graph, symbols.lookup<func::FuncOp>(link.getForward()),
              symbols.lookup<func::FuncOp>(link.getBackward()), link)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};

//===----------------------------------------------------------------------===//
// Random states
//===----------------------------------------------------------------------===//

struct ExposeRandomStatesPass
    : public cutback::impl::ExposeRandomStatesBase<ExposeRandomStatesPass> {
  void runOnOperation() override {
    for (auto link : getOperation().getOps<joint::PartitionOp>())
      exposeRandomStates(link);
  }
};

} // namespace

std::unique_ptr<Pass> cutback::createPartitionStep(PartitionOptions options) {
  return std::make_unique<PartitionStepPass>(std::move(options));
}
