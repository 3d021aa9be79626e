// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-check-phase`: the gates between the phases of the pipelines. What a
// phase takes away is asked of the same functions that take it away, so a gate
// and its pass cannot disagree; a graph that is prepared is one that
// preparation leaves as it is, which a copy shows.
//
// Whatever builds ops later (a rule, a pass of somebody else) meets the gate
// and not an error far behind it. Linear, but for the memory plan of `placed`.

#include "cutback/Planner/Passes.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Decompose/Functionalize.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/MemoryPlan/MemoryPlan.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Transforms/CommonSubexpressions.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/IR/SymbolTable.h"

namespace cutback {
#define GEN_PASS_DEF_CHECKPHASE
#include "cutback/Planner/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

static LogicalResult refuse(Operation *op, const Twine &what,
                            const Twine &advice) {
  InFlightDiagnostic diag = op->emitError(what);
  diag.attachNote() << advice;
  return diag;
}

static LogicalResult checkFunctional(joint::GraphOp graph) {
  Operation *inPlace = nullptr;
  graph->walk([&](Operation *op) {
    if (!inPlace && isInPlace(op))
      inPlace = op;
  });
  if (!inPlace)
    return success();
  return refuse(inPlace,
                "'" + inPlace->getName().getStringRef() +
                    "' writes in place, behind phase functional",
                "--cutback-functionalize makes values of it");
}

static LogicalResult checkGone(Operation *op, StringRef phase, StringRef kind,
                               StringRef pass) {
  if (!op)
    return success();
  return refuse(op,
                "'" + op->getName().getStringRef() + "' is " + kind +
                    ", behind phase " + phase,
                "--" + pass + " decomposes it");
}

/// The first op of `graph` that preparing takes away; null if none.
static Operation *findUnprepared(joint::GraphOp graph) {
  OwningOpRef<joint::GraphOp> copy(cast<joint::GraphOp>(graph->clone()));
  eliminateDeadCode(*copy);
  eliminateCommonSubexpressions(*copy);
  // What is left stands in its old order.
  auto left = copy->getBody().front().begin();
  auto end = copy->getBody().front().end();
  for (Operation &op : graph.getBody().front()) {
    bool isLeft = left != end && left->getName() == op.getName() &&
                  left->getLoc() == op.getLoc() &&
                  left->getAttrDictionary() == op.getAttrDictionary() &&
                  left->getResultTypes() == op.getResultTypes();
    if (!isLeft)
      return &op;
    ++left;
  }
  return nullptr;
}

static LogicalResult checkPrepared(joint::GraphOp graph) {
  for (auto region : graph.getBody().front().getOps<joint::CheckpointOp>())
    return refuse(region, "a checkpoint region, behind phase prepared",
                  "--cutback-flatten-checkpoints makes tags of it");
  Operation *op = findUnprepared(graph);
  if (!op)
    return success();
  return refuse(op,
                "'" + op->getName().getStringRef() +
                    "' is dead or computed twice, behind phase prepared",
                "--cutback-eliminate-dead-code and "
                "--cutback-eliminate-common-subexpressions take it away");
}

static LogicalResult checkPlaced(joint::PartitionOp partition,
                                 const llvm::StringMap<int64_t> &sizes) {
  for (StringRef name : {partition.getForward(), partition.getBackward()}) {
    Operation *half = SymbolTable::lookupNearestSymbolFrom(
        partition, StringAttr::get(partition.getContext(), name));
    if (!half || !half->hasAttr(kLaunches))
      return refuse(half ? half : partition,
                    "does not say which of its ops run as one (" + kLaunches +
                        "), behind phase placed",
                    "--cutback-partition forms kernels");
  }
  std::string problem;
  std::optional<StepView> step =
      sizedStep(partition, graphOf(partition), sizes, problem);
  if (!step)
    return refuse(partition, "has no places, behind phase placed: " + problem,
                  "give the sizes of symbols: sym=s0=24");
  MemoryPlanOptions options;
  options.symbols = sizes;
  return success(succeeded(planMemory(std::move(*step), options)));
}

namespace {

struct CheckPhasePass : public cutback::impl::CheckPhaseBase<CheckPhasePass> {
  using CheckPhaseBase::CheckPhaseBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect>();
    registerAtenDecompositions(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(check()))
      signalPassFailure();
  }

  LogicalResult check() {
    ModuleOp module = getOperation();
    llvm::StringMap<int64_t> sizes;
    std::string error;
    if (!parseSymbols(symbols, sizes, error))
      return module.emitError(error);
    if (phase == "placed") {
      for (auto partition : module.getOps<joint::PartitionOp>())
        if (failed(checkPlaced(partition, sizes)))
          return failure();
      return success();
    }
    for (auto graph : module.getOps<joint::GraphOp>())
      if (failed(checkGraph(graph)))
        return failure();
    return success();
  }

  LogicalResult checkGraph(joint::GraphOp graph) {
    if (phase == "functional")
      return checkFunctional(graph);
    if (phase == "units")
      return checkGone(findComposite(graph), phase, "composite",
                       "cutback-decompose-composites");
    if (phase == "core")
      return checkGone(findNotCore(graph), phase, "no core op",
                       "cutback-decompose-to-core");
    if (phase == "prepared")
      return checkPrepared(graph);
    return graph.emitError("unknown phase '")
           << phase.getValue()
           << "'; there are functional, units, core, prepared, placed";
  }
};

} // namespace
