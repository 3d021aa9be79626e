// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How reports call ops, places and types.
#ifndef CUTBACK_ANALYSIS_NAMES_H
#define CUTBACK_ANALYSIS_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace cutback {

/// Where a model says something.
struct SourcePlace {
  llvm::StringRef file; ///< as the source graph has it
  unsigned line = 0;
  llvm::StringRef function; ///< empty if it is not known
};

/// The first file and line in `location`, looking into names, calls and fused
/// places.
std::optional<SourcePlace> findSourcePlace(mlir::Location location);

/// "models.py:117 in forward"; the last component of the path; empty if the
/// place is not known.
std::string placeText(mlir::Location location);
/// The same with the whole path, as the source graph has it.
std::string wholePlaceText(mlir::Location location);
/// Without path and function: "models.py:117".
std::string lineText(mlir::Location location);

/// "mul" for `aten.mul.Tensor`, "iota" for `aten.prims.iota`, the callee of an
/// opaque op.
std::string shortOpName(mlir::Operation *op);

/// "bf16[8x1024x768]"; MLIR's spelling for anything but a tensor.
std::string typeText(mlir::Type type);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_NAMES_H
