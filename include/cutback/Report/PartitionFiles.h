// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partition as files, and whether files are one.
#ifndef CUTBACK_REPORT_PARTITIONFILES_H
#define CUTBACK_REPORT_PARTITIONFILES_H

#include "cutback/Report/Report.h"
#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/SafeFile.h"

#include <array>

namespace cutback {

/// The files of a stored partition, the plan last.
inline constexpr std::array<const char *, 4> kPartitionFiles = {
    "joint.mlir", "forward.mlir", "backward.mlir", "plan.json"};

/// The graph before its ops were split into parts, where they were.
inline constexpr const char *kWholeFile = "whole.mlir";

/// The graph of a stage or of a phase as MLIR bytecode, in place of the first.
inline constexpr const char *kBytecodeFile = "joint.mlirbc";

/// The text of a module as it is stored, with its locations.
std::string printModule(mlir::ModuleOp module);
/// The same as bytecode. Equal modules give equal bytes. Linear.
std::string encodeModule(mlir::ModuleOp module);

/// The graph in `folder`: its joint.mlir or joint.mlirbc. Empty, with `error`
/// and `next` set, if there is none, or there are both.
std::string findGraphFile(const std::string &folder, std::string &error,
                          std::string &next);

/// Writes joint.mlir (the prepared graph, with a record of the plan),
/// forward.mlir, backward.mlir and plan.json into `folder`, and `more` behind
/// them: all of them or none. Two runs on equal
/// inputs write equal bytes. Returns an empty string, or what failed and why.
std::string writePartition(joint::GraphOp graph, const PartitionResult &result,
                           const ReportExtras &extras,
                           const std::string &folder,
                           const std::vector<NamedFile> &more = {});

/// What plan.json holds: the report without strategies, other partitions and
/// times, with the memory plan, the options, and checksums of the other three
/// files, whose contents are `files`.
std::string planJson(const PartitionResult &result, const ReportExtras &extras,
                     llvm::ArrayRef<llvm::StringRef> files);

/// A part of a stored partition that is not what the others say.
struct PartMismatch {
  std::string file;          ///< "plan.json"
  std::string message;       ///< which field, what is stored, what was computed
  bool isUnreadable = false; ///< the file is no JSON at all
};

/// Compares the text of a plan.json, value by value, with the one that was made
/// again of the other files. White space and the order of an object's members
/// do not matter; everything else does, but for an update that only the stored
/// one has where `hasUpdate` is false. The first difference, or nothing.
/// Linear.
std::optional<PartMismatch> comparePlans(llvm::StringRef stored,
                                         llvm::StringRef computed,
                                         bool hasUpdate = true);
/// The options of the optimizer whose update a plan.json has; empty if it has
/// none, or is no plan.
std::vector<std::string> storedOptimizer(llvm::StringRef plan);

/// The first line in which two texts of `file` differ, the stored and the
/// computed one.
PartMismatch differentLine(const char *file, llvm::StringRef stored,
                           llvm::StringRef computed);

/// Compares the whole of a stored partition with `result`, the plan that was
/// made again of its graph: checksums, plan.json, and both halves as they were
/// read. `files` are the texts in the order of `kPartitionFiles`. An update is
/// compared if `result` has one. The first difference, or nothing.
std::optional<PartMismatch>
comparePartition(PartitionResult &result, mlir::func::FuncOp forward,
                 mlir::func::FuncOp backward,
                 llvm::ArrayRef<llvm::StringRef> files);

} // namespace cutback

#endif // CUTBACK_REPORT_PARTITIONFILES_H
