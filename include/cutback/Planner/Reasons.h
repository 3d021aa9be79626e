// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a value is saved, in the words of whoever trains the model.
#ifndef CUTBACK_PLANNER_REASONS_H
#define CUTBACK_PLANNER_REASONS_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/TorchRules/TorchRules.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace cutback {

/// A reason is "LABEL" or "LABEL: what it means". Labels have at most 24
/// characters, so that tables have room for them.
namespace reasons {
inline constexpr llvm::StringLiteral kSize = "a size: no tensor is kept";
inline constexpr llvm::StringLiteral kPolicy = "asked for by a policy";
inline constexpr llvm::StringLiteral kRandom =
    "random: a second run gives other numbers";
inline constexpr llvm::StringLiteral kOnce =
    "must not run twice: unknown, or with effects";
inline constexpr llvm::StringLiteral kExpensive = "expensive to recompute";
inline constexpr llvm::StringLiteral kCheaper =
    "cheaper to save: recomputing takes longer";
inline constexpr llvm::StringLiteral kTorchCheaper =
    "cheaper to save: by PyTorch's estimate";
inline constexpr llvm::StringLiteral kResult =
    "a forward result: in memory anyway";
} // namespace reasons

/// Of an argument with this role.
llvm::StringRef reasonOfArgument(joint::RoleKind role);

/// Of a value that PyTorch's rules never recompute.
llvm::StringRef reasonOfBan(BanReason ban);

/// What stands before the colon, for tables.
llvm::StringRef labelOfReason(llvm::StringRef reason);

/// "LABEL (what it means)", for sentences.
std::string phraseOfReason(llvm::StringRef reason);

} // namespace cutback

#endif // CUTBACK_PLANNER_REASONS_H
