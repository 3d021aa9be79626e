// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removal of views that cancel each other.
#ifndef CUTBACK_TRANSFORMS_FOLDVIEWS_H
#define CUTBACK_TRANSFORMS_FOLDVIEWS_H

#include "mlir/IR/Block.h"

#include <cstdint>

namespace cutback {

/// Lets users of a view read its base, or the base of that and so on, where the
/// views between them show it as it is: a permute of the inverse permute. Types
/// and sizes are those of before; the views stay, unused. Where a base is an
/// argument that is written, its views keep their users. Returns the number of
/// views that lost theirs. Linear.
uint64_t foldViews(mlir::Block &block);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_FOLDVIEWS_H
