// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ties an op of the backward to its op of the forward.
#ifndef CUTBACK_DIALECT_JOINT_BACKWARDKEY_H
#define CUTBACK_DIALECT_JOINT_BACKWARDKEY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cutback {

/// The key of the name in the metadata of a backward op's location. Beside it
/// stand `sequence_nr` and, of an op in checkpoint regions, `region`.
inline constexpr llvm::StringLiteral kBackwardOf = "backward_of";

/// Names the forward op of a backward op, its number in the order of the
/// backward, and the checkpoint regions that it is in.
struct BackwardKey {
  llvm::StringRef of;             ///< the first result of the forward op
  uint64_t number = 0;            ///< its sequence number
  llvm::ArrayRef<int64_t> region; ///< outermost first; empty outside of all
  /// As it is read: where the forward op stands. That has a key itself if the
  /// op is of an earlier backward.
  std::optional<mlir::Location> forward = std::nullopt;

  /// Nothing if `location` is not that of a backward op.
  static std::optional<BackwardKey> read(mlir::Location location);
  /// The forward op's location with this key.
  mlir::Location attach(mlir::Location forward) const;
  /// "7", or "7 of region [0, 2]".
  std::string text() const;
};

} // namespace cutback

#endif // CUTBACK_DIALECT_JOINT_BACKWARDKEY_H
