// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code of a step whose sizes are symbols.
#ifndef CUTBACK_TOOLS_CUTBACK_SIZEDSTEP_H
#define CUTBACK_TOOLS_CUTBACK_SIZEDSTEP_H

#include "TargetFiles.h"

#include "cutback/Lowering/SymbolicKernels.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace cutback {

/// The values of symbols that a plan took: those of --sym, else the hints.
llvm::StringMap<int64_t> plannedSizes(const PartitionResult &plan);

/// Writes into the manifest of a step of `graph`, whose machine code is for
/// `sizes`, what of it is for all sizes, as the launches `kernels` are.
void addSymbols(Artifact &artifact, joint::GraphOp graph,
                const KernelModule &kernels,
                const llvm::StringMap<int64_t> &sizes);

/// The step of launches of a folder, proved to be one of `graph`. Returns an
/// exit code.
int loadKernels(Session &session, const std::string &folder,
                joint::GraphOp graph, std::optional<KernelModule> &kernels);

/// The files of the step of `kernels`, of a folder with the manifest
/// `artifact`, for these sizes, and in `sized` the manifest. `planned` is the
/// graph of the plan, `graph` the one that is stored. Returns an exit code.
int emitForSizes(Session &session, joint::GraphOp graph, joint::GraphOp planned,
                 const KernelModule &kernels, const Artifact &artifact,
                 const std::vector<int64_t> &values, const TargetChoice &choice,
                 Artifact &sized, std::vector<TextFile> &files);

/// Compiles the step in `folder`, whose manifest is `artifact`, for other
/// sizes, into sizedFolder(). All of its files or none. Returns an exit code.
int compileForSizes(Session &session, const std::string &folder,
                    const Artifact &artifact,
                    const std::vector<int64_t> &values);

/// `cutback compile DIR --sym=...`: machine code for one more set of sizes.
/// Symbols that are not given have the values of the manifest. Returns an exit
/// code.
int addSizes(Session &session, const std::string &folder);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_SIZEDSTEP_H
