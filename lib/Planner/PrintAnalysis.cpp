// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-print-analysis`: one line a value with what the partitioner knows
// of it, in program order, on the standard output.
//
// Every column is one cell of an array that the planner itself reads; nothing
// is computed for printing. Sizes that are not known are marked with '?', costs
// that are infinite are called "never". Linear.

#include "cutback/Planner/Passes.h"

#include "Internal.h"

#include "cutback/Planner/OptionText.h"

#include "llvm/Support/raw_ostream.h"

namespace cutback {
#define GEN_PASS_DEF_PRINTANALYSIS
#include "cutback/Planner/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

/// What the lines are printed from.
struct Facts {
  GraphView view;
  GraphSets sets;
  ValueSizes sizes;
  RooflineCosts costs;
  std::vector<uint8_t> materialized;
};

constexpr StringRef kColumns[] = {"set",    "bytes",        "storage",
                                  "fusion", "materialized", "recompute-ps",
                                  "save-ps"};

std::string price(int64_t ps) {
  return ps == RooflineCosts::kNever ? "never" : std::to_string(ps);
}

std::string cell(const Facts &facts, StringRef column, uint32_t value) {
  uint32_t op = facts.view.definer[value];
  bool isArg = op == GraphView::kNone;
  if (column == "set") {
    GraphSet set = facts.sets.values[value];
    return set == GraphSet::Forward    ? "F"
           : set == GraphSet::Backward ? "B"
                                       : "X";
  }
  if (column == "bytes")
    return std::to_string(facts.sizes.bytes[value]) +
           (facts.sizes.unknown[value] ? "?" : "");
  if (column == "storage")
    return facts.view.name(facts.sizes.storage[value]);
  if (column == "fusion")
    return isArg
               ? "argument"
               : joint::stringifyFusionKind(facts.view.traits[op].fusion).str();
  if (column == "materialized")
    return facts.materialized[value] ? "yes" : "no";
  if (column == "recompute-ps")
    return isArg ? "-" : price(facts.costs.recomputePs[op]);
  return price(facts.costs.savePs[value]);
}

struct PrintAnalysisPass
    : public cutback::impl::PrintAnalysisBase<PrintAnalysisPass> {
  using PrintAnalysisBase::PrintAnalysisBase;

  void runOnOperation() override {
    for (auto graph : getOperation().getOps<joint::GraphOp>())
      if (failed(print(graph)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult print(joint::GraphOp graph) {
    llvm::StringMap<int64_t> hints;
    std::string error;
    Device described;
    for (StringRef column : columns)
      if (!llvm::is_contained(kColumns, column))
        error = "unknown column '" + column.str() + "'";
    if (!error.empty() || !parseSymbols(symbols, hints, error) ||
        !Device::load(device, described, error))
      return graph.emitError(error);
    Facts facts;
    facts.view = GraphView::build(graph);
    FailureOr<GraphSets> sets = GraphSets::compute(facts.view);
    FailureOr<ValueSizes> sizes = ValueSizes::compute(facts.view, hints);
    if (failed(sets) || failed(sizes))
      return failure();
    facts.sets = std::move(*sets);
    facts.sizes = std::move(*sizes);
    std::shared_ptr<const KernelProblem> kernels;
    facts.costs = networkCosts(facts.view, facts.sets, facts.sizes, described,
                               hints, kernels);
    facts.materialized = computeMaterialized(facts.view, facts.sets);
    for (uint32_t value = 0; value < facts.view.numValues(); ++value) {
      llvm::outs() << facts.view.name(value) << ":";
      for (StringRef column : kColumns)
        if (columns.empty() ||
            llvm::is_contained(llvm::ArrayRef<std::string>(columns),
                               column.str()))
          llvm::outs() << " " << column << "=" << cell(facts, column, value);
      llvm::outs() << "\n";
    }
    return success();
  }
};

} // namespace
