// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A remark for every decision, category `cutback-partition`: what is saved and
// why, what is recomputed and what that costs, and the peak.
//
//   Passed    `saved`, `recomputed`: at the op, or at the graph for an argument
//   Analysis  `peak`: at the graph
//
// Costs nothing without a remark engine. Linear.

#include "Internal.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cutback;

static remark::RemarkOpts named(StringRef name, StringRef function) {
  return remark::RemarkOpts::name(name)
      .category("cutback-partition")
      .function(function);
}

void cutback::emitRemarks(const PartitionResult &result) {
  joint::GraphOp graph = result.view.graph;
  if (!graph.getContext()->getRemarkEngine())
    return;
  for (const SavedValue &saved : result.saved)
    remark::passed(result.view.values[saved.value].getLoc(),
                   named("saved", result.graph))
        << llvm::formatv("'{0}' is saved, {1} bytes: {2}", saved.name,
                         saved.bytes, saved.reason)
               .str();
  for (uint32_t op : result.halves.recomputed) {
    std::string name =
        result.view.numResults(op)
            ? result.view.name(result.view.resultBegin[op])
            : result.view.ops[op]->getName().getStringRef().str();
    remark::passed(result.view.ops[op]->getLoc(),
                   named("recomputed", result.graph))
        << llvm::formatv("'{0}' is recomputed in the backward: {1} ps", name,
                         result.recomputeCost[op])
               .str();
  }
  remark::analysis(graph.getLoc(), named("peak", result.graph))
      << llvm::formatv("peak {0} bytes at '{1}' in the {2}", result.peak.bytes,
                       result.peak.at,
                       result.peak.inBackward ? "backward" : "forward")
             .str();
}
