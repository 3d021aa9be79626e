// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch keeps for the backward where nothing compiles the model.
#ifndef CUTBACK_PLANNER_AUTOGRADSAVES_H
#define CUTBACK_PLANNER_AUTOGRADSAVES_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace cutback {

/// The step of a program that runs op by op, each op as its author wrote it:
/// eager PyTorch.
struct AutogradSaves {
  /// Storages that autograd keeps for the backward, without those of arguments,
  /// and their bytes.
  uint64_t storages = 0;
  int64_t savedBytes = 0;
  /// The largest sum of live storages, without those of arguments. Absent where
  /// checkpoint regions run parts again.
  std::optional<int64_t> peakBytes;
};

/// The values that ops under `no_grad` compute, by name: functionalization
/// takes the marks away.
llvm::StringSet<> findUntracked(joint::GraphOp program);

/// Counts what autograd keeps of a forward program, functional and of ops that
/// have derivatives in PyTorch; `untracked` as findUntracked found it in the
/// program as it was read. `symbols` are sizes, as for ValueSizes. The graph is
/// not changed. Fails with an error where sizes are too large. Linear.
mlir::FailureOr<AutogradSaves>
countAutogradSaves(joint::GraphOp program,
                   const llvm::StringMap<int64_t> &symbols,
                   const llvm::StringSet<> &untracked);

/// Sets `saves.peakBytes`, of the differentiated graph in which composite ops
/// are whole: its first `forwardOps` ops are the program. Linear.
mlir::LogicalResult countAutogradPeak(joint::GraphOp graph, unsigned forwardOps,
                                      const llvm::StringMap<int64_t> &symbols,
                                      AutogradSaves &saves);

/// Both counts, of a graph on its way to a training graph. Sizes that are too
/// large leave nothing: the plan itself says so.
struct EagerCount {
  llvm::StringMap<int64_t> symbols;
  std::optional<AutogradSaves> saves;

  void countSaves(joint::GraphOp program, const llvm::StringSet<> &untracked);
  void countPeak(joint::GraphOp graph, unsigned forwardOps);
};

} // namespace cutback

#endif // CUTBACK_PLANNER_AUTOGRADSAVES_H
