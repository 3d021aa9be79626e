// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merging of ops that compute the same value.
#ifndef CUTBACK_TRANSFORMS_COMMONSUBEXPRESSIONS_H
#define CUTBACK_TRANSFORMS_COMMONSUBEXPRESSIONS_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace cutback {

/// Replaces an op by an earlier one of equal name, operands, result types and
/// attributes (names of results aside), in one walk. Never merged are:
///   * ops with effects, ops that may not run twice, and random ops, seeded or
///     not;
///   * ops with different policies or plan attributes;
///   * readers of an argument (or of a view of it) with a write to that
///     argument between them;
///   * two ops that allocate storages which the function returns:
///     the caller would be given one buffer twice;
///   * ops with regions.
/// Returns the number of ops erased. Expected linear time.
uint64_t eliminateCommonSubexpressions(joint::GraphOp graph);

/// The same for the body of any function; among those ops only that `isAsked`
/// takes, if it is given.
uint64_t eliminateCommonSubexpressions(
    mlir::Block &block,
    llvm::function_ref<bool(mlir::Operation *)> isAsked = nullptr);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_COMMONSUBEXPRESSIONS_H
