// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function goes into a module of its own; the link between the two halves
// is left out, because its symbols are in other files. The graph is written as
// it was prepared, with the options of its plan, so that the certificate can be
// asked again, and the plan be made again, from the files alone. plan.json is
// the object of `report --json` without times.
//
// Nothing in a stored folder is believed. The plan is made again of joint.mlir
// (Planner/PlanRecord.h); then plan.json must say of it what a new plan.json
// would, and the stored halves must be those that it has. Halves are compared
// as they print, so that layout and comments of the files do not matter.

#include "cutback/Report/PartitionFiles.h"

#include "cutback/Planner/PlanRecord.h"
#include "cutback/Support/SafeFile.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cutback {

std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  module.print(os, flags);
  os << "\n";
  return text;
}

std::string encodeModule(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  // Without a version that is asked for it does not fail.
  (void)writeBytecodeToFile(module, os);
  return bytes;
}

std::string findGraphFile(const std::string &folder, std::string &error,
                          std::string &next) {
  std::string text = folder + "/" + kPartitionFiles[0];
  std::string bytecode = folder + "/" + kBytecodeFile;
  bool isText = llvm::sys::fs::exists(text);
  bool isBytecode = llvm::sys::fs::exists(bytecode);
  if (isText != isBytecode)
    return isText ? text : bytecode;
  if (isText) {
    error = "the folder '" + folder + "' has " + kPartitionFiles[0] + " and " +
            kBytecodeFile;
    next = "name one of them, or split the model again";
  } else {
    error = "no joint.mlir in the folder '" + folder + "'";
    next = "a folder is what `cutback compile` wrote; other inputs are files";
  }
  return "";
}

/// Prints `op`, of which the module takes possession, in a module of its own.
static std::string printInModule(Operation *op) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  module->push_back(op);
  return printModule(*module);
}

static std::string printAlone(Operation *op) {
  return printInModule(op->clone());
}

std::string writePartition(joint::GraphOp graph, const PartitionResult &result,
                           const ReportExtras &extras,
                           const std::string &folder,
                           const std::vector<NamedFile> &more) {
  auto stored = cast<joint::GraphOp>(graph->clone());
  recordPlan(stored, result);
  std::string joint = printInModule(stored);
  std::string forward = printAlone(result.partition.forward);
  std::string backward = printAlone(result.partition.backward);
  std::string plan = planJson(result, extras, {joint, forward, backward});
  std::vector<NamedFile> files = {{kPartitionFiles[0], joint},
                                  {kPartitionFiles[1], forward},
                                  {kPartitionFiles[2], backward},
                                  {kPartitionFiles[3], plan}};
  std::string whole = result.whole ? printAlone(**result.whole) : "";
  if (result.whole)
    files.push_back({kWholeFile, whole});
  files.insert(files.end(), more.begin(), more.end());
  return writeFolderSafely(folder, files);
}

/// The first line in which two texts differ.
PartMismatch differentLine(const char *file, StringRef stored,
                           StringRef computed) {
  unsigned line = 1;
  while (true) {
    auto [first, rest] = stored.split('\n');
    auto [second, other] = computed.split('\n');
    if (first != second || rest.empty() || other.empty()) {
      auto shorten = [](StringRef text) {
        text = text.trim();
        return text.size() > 160 ? text.take_front(160).str() + " ..."
                                 : text.str();
      };
      return {file, "line " + std::to_string(line) + " is '" + shorten(first) +
                        "', where the plan that joint.mlir records has '" +
                        shorten(second) + "'"};
    }
    stored = rest;
    computed = other;
    ++line;
  }
}

std::optional<PartMismatch> comparePartition(PartitionResult &result,
                                             func::FuncOp forward,
                                             func::FuncOp backward,
                                             ArrayRef<StringRef> files) {
  std::string plan =
      planJson(result, collectExtras(result), files.take_front(3));
  if (auto mismatch = comparePlans(files[3], plan, result.update.has_value()))
    return mismatch;
  std::pair<func::FuncOp, func::FuncOp> halves[] = {
      {forward, result.partition.forward},
      {backward, result.partition.backward}};
  for (auto [i, half] : llvm::enumerate(halves)) {
    std::string computed = printAlone(half.second);
    if (files[i + 1] == computed)
      continue;
    if (std::string stored = printAlone(half.first); stored != computed)
      return differentLine(kPartitionFiles[i + 1], stored, computed);
  }
  return std::nullopt;
}

} // namespace cutback
