// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removal of ops that nothing needs.
#ifndef CUTBACK_TRANSFORMS_DEADCODE_H
#define CUTBACK_TRANSFORMS_DEADCODE_H

#include "cutback/Dialect/Joint/Joint.h"

#include <cstdint>

namespace cutback {

struct DeadCode {
  uint64_t erased = 0, kept = 0; ///< ops, the terminator among the kept ones
  /// One that is kept has a region, or attributes that its kind does not ask
  /// for: tags, say.
  bool annotated = false;
};

/// Erases every op of the body whose results are unused and that has no
/// effects, from the last to the first, so that chains go in one walk. Writes,
/// checks and other effects stay; a random draw that nobody reads goes.
/// Linear.
DeadCode eliminateDeadCode(joint::GraphOp graph);

/// The same for the body of any function. `block` has a terminator, or is
/// empty.
DeadCode eliminateDeadCode(mlir::Block &block);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_DEADCODE_H
