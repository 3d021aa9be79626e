// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ties an op of a backward to its op of the forward: metadata of its
// location.
#ifndef CUTBACK_DIALECT_JOINT_BACKWARDKEY_H
#define CUTBACK_DIALECT_JOINT_BACKWARDKEY_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace cutback {

/// Keys of the metadata in the location of a backward op: the name of the first
/// result of its forward op, that op's sequence number, and the region in which
/// that counts (0 if there is none).
inline constexpr llvm::StringLiteral kBackwardOf = "backward_of";
inline constexpr llvm::StringLiteral kSequenceKey = "sequence_nr";
inline constexpr llvm::StringLiteral kSequenceRegion = "region";

struct BackwardKey {
  llvm::StringRef of;
  int64_t number = 0, region = 0;
  /// Of the forward op. It has a key itself if that is of an earlier backward.
  mlir::Location forward;

  bool operator==(const BackwardKey &other) const {
    return of == other.of && number == other.number && region == other.region &&
           forward == other.forward;
  }
};

/// The key in `location`; nothing if it is not that of a backward op. Of places
/// that were fused, the first one that has a key.
std::optional<BackwardKey> findBackwardKey(mlir::Location location);

} // namespace cutback

#endif // CUTBACK_DIALECT_JOINT_BACKWARDKEY_H
