// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-split-backward`, which is partitionThreeWay with options as text,
// and `cutback-print-parameter-groups`, which prints what findParameterGroups
// finds. Names and options are checked here: three functions of other names, a
// rule that there is, prices that are numbers. The figures of the phases are a
// remark of category `cutback-phases`, which costs nothing without a remark
// engine. Linear, beside the cuts.

#include "cutback/Planner/Passes.h"

#include "cutback/Analysis/ParameterGroups.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Planner/ThreeWay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace cutback {
#define GEN_PASS_DEF_SPLITBACKWARD
#define GEN_PASS_DEF_PRINTPARAMETERGROUPS
#include "cutback/Planner/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static LogicalResult checkPhaseNames(GraphOp graph) {
  for (StringRef suffix : {"_forward", "_input", "_weight"}) {
    std::string name = (graph.getSymName() + suffix).str();
    Operation *other = SymbolTable::lookupSymbolIn(graph->getParentOp(), name);
    if (!other)
      continue;
    InFlightDiagnostic diag = graph.emitOpError("is split into phases already, "
                                                "or there is another '@")
                              << name << "'";
    diag.attachNote(other->getLoc())
        << "the phases would have the same names; erase or rename it";
    return diag;
  }
  return success();
}

static void emitPhaseRemark(GraphOp graph, const ThreeWayFigures &figures) {
  if (!graph.getContext()->getRemarkEngine())
    return;
  remark::analysis(graph.getLoc(), remark::RemarkOpts::name("phases")
                                       .category("cutback-phases")
                                       .function(graph.getSymName()))
      << llvm::formatv(
             "input phase {0} ops, {1} ps, is handed {2} bytes; weight phase "
             "{3} ops, {4} ps, is handed {5} bytes; again in the input phase "
             "{6} ps, in the weight phase {7} ps; moved to the input phase {8} "
             "ps; cost {9}, bound {10}",
             figures.inputOps, figures.inputPs, figures.toInputBytes,
             figures.weightOps, figures.weightPs, figures.toWeightBytes,
             figures.againInInputPs, figures.againInWeightPs,
             figures.movedToInputPs, figures.cost, figures.bound)
             .str();
}

namespace {

struct SplitBackwardPass
    : public cutback::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;

  /// With the rules by which composite ops are decomposed before a plan.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<aten::AtenDialect, func::FuncDialect>();
    registerAtenDecompositions(registry);
  }

  void runOnOperation() override {
    SmallVector<GraphOp> graphs(getOperation().getOps<GraphOp>());
    for (GraphOp graph : graphs) {
      ThreeWayOptions options;
      if (failed(checkPhaseNames(graph)) || failed(readOptions(graph, options)))
        return signalPassFailure();
      FailureOr<ThreeWayPartition> phases = partitionThreeWay(graph, options);
      if (failed(phases))
        return signalPassFailure();
      emitPhaseRemark(graph, phases->figures);
    }
  }

  LogicalResult readOptions(GraphOp graph, ThreeWayOptions &options) {
    std::string error;
    if (!parseSymbols(symbols, options.partition.symbols, error))
      return graph.emitError(error);
    if (rule != "cuts" && rule != "closure")
      return graph.emitError("unknown rule '")
             << rule.getValue() << "': cuts or closure";
    // Written so that it is no number that is refused too.
    if (!(criticalPrice >= 0 && criticalPrice <= 1e6))
      return graph.emitError("critical-price is ")
             << criticalPrice.getValue() << ", not a number from 0 to 1e6";
    options.rule = rule == "cuts" ? ThreeWayRule::Cuts : ThreeWayRule::Closure;
    options.criticalPrice = criticalPrice;
    if (inputBytePricePs >= 0)
      options.toInputPrice = inputBytePricePs.getValue();
    if (weightBytePricePs >= 0)
      options.toWeightPrice = weightBytePricePs.getValue();
    options.partition.device = device;
    return success();
  }
};

struct PrintParameterGroupsPass
    : public cutback::impl::PrintParameterGroupsBase<PrintParameterGroupsPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      if (failed(print(graph)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  static LogicalResult print(GraphOp graph) {
    GraphView view = GraphView::build(graph);
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    if (failed(sets))
      return failure();
    llvm::raw_ostream &os = llvm::outs();
    for (const ParameterGroup &group : findParameterGroups(view, *sets)) {
      os << "@" << graph.getSymName() << ": parameters ";
      llvm::interleaveComma(group.parameters, os,
                            [&](uint32_t value) { os << view.name(value); });
      os << "; intermediates ";
      llvm::interleaveComma(group.intermediates, os, [&](uint32_t op) {
        os << view.name(view.resultBegin[op]);
      });
      os << (group.intermediates.empty() ? "none\n" : "\n");
    }
    return success();
  }
};

} // namespace
