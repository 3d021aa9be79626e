// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types that are not a function of the call: element types that are a
// choice of the kernel that PyTorch runs, and results of other releases.
#ifndef CUTBACK_DIALECT_ATEN_KERNELTYPES_H
#define CUTBACK_DIALECT_ATEN_KERNELTYPES_H

#include "cutback/Dialect/Aten/Schema.h"

namespace cutback::aten {

/// What result `i` of a call is, given what is inferred and what a graph
/// declares. Of a normalization's statistics, those of 16-bit floats are f32 on
/// a GPU and where the weight is f32, else of the input's type: there the
/// result is `inferred` with the element type of `declared`, if one of the two
/// has 16 bits and the other is f32. What the op gives in another release
/// (Schema::otherReleases), it gives if that is declared. Everywhere else the
/// result is `inferred`.
mlir::Type resultAs(const Schema &schema, unsigned i, mlir::Type inferred,
                    mlir::Type declared);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_KERNELTYPES_H
