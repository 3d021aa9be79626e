// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function goes into a module of its own; the link between the two halves
// is left out, because its symbols are in other files. The graph is written as
// it was prepared, so that the certificate can be asked again from the files
// alone. plan.json is the object of `report --json` without times.

#include "cutback/Report/PartitionFiles.h"

#include "cutback/Support/SafeFile.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cutback {

/// Prints a copy of `op` in a module of its own.
static std::string printAlone(Operation *op) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  module->push_back(op->clone());
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  module->print(os, flags);
  os << "\n";
  return text;
}

std::string writePartition(joint::GraphOp graph, const PartitionResult &result,
                           const ReportExtras &extras,
                           const std::string &folder) {
  std::string plan = reportJson(result, extras, /*withTimes=*/false);
  std::string forward = printAlone(result.partition.forward);
  std::string backward = printAlone(result.partition.backward);
  std::string joint = printAlone(graph);
  return writeFolderSafely(folder, {{"joint.mlir", joint},
                                    {"forward.mlir", forward},
                                    {"backward.mlir", backward},
                                    {"plan.json", plan}});
}

} // namespace cutback
