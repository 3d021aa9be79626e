// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that need no solver, and what the user asks for single ops.
#ifndef CUTBACK_PARTITION_STRATEGIES_H
#define CUTBACK_PARTITION_STRATEGIES_H

#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Partition/RooflineProblem.h"

#include "llvm/ADT/StringMap.h"

namespace cutback {

/// As AOTAutograd's default partitioner (eager PyTorch: AutogradSaves.h): the
/// forward runs F, the backward runs X and B; saved is every value of F that
/// they use. Sizes of X are computed in the forward, so that a tensor of
/// which only a size is needed is not saved. Where `policies`, by op, ask for
/// something to be recomputed, the backward runs that again, and what it reads
/// from outside of its checkpoint region is saved, as the default partitioner
/// of 2.13 does it (that of 2.3 goes over to the minimum cut).
Plan planEager(const GraphView &view, const GraphSets &sets,
               const ValueSizes &sizes, llvm::ArrayRef<OpPolicy> policies = {});

/// X runs in the forward too, but for effects that stand behind it; every value
/// that the backward reads is saved.
Plan planPrecompute(const GraphView &view, const GraphSets &sets);

/// Saved are arguments, and what may not run twice.
Plan planRecomputeAll(const GraphView &view, const GraphSets &sets);

/// By op: the policy from `joint.policy`, overridden by `byName`, whose keys
/// are value names (`VALUE`, or `VALUE#i` for one of several results) and
/// whose values are spelled as on the command line ("must-save"). An unknown
/// name or policy is an error at the graph with the nearest names.
mlir::FailureOr<std::vector<OpPolicy>>
collectPolicies(const GraphView &view,
                const llvm::StringMap<std::string> &byName);

} // namespace cutback

#endif // CUTBACK_PARTITION_STRATEGIES_H
