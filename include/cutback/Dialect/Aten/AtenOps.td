// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of dialect `aten`, by family.
#ifndef CUTBACK_DIALECT_ATEN_ATENOPS_TD
#define CUTBACK_DIALECT_ATEN_ATENOPS_TD

include "cutback/Dialect/Aten/Attention.td"
include "cutback/Dialect/Aten/Collective.td"
include "cutback/Dialect/Aten/Composite.td"
include "cutback/Dialect/Aten/Convolution.td"
include "cutback/Dialect/Aten/Data.td"
include "cutback/Dialect/Aten/Indexing.td"
include "cutback/Dialect/Aten/InPlace.td"
include "cutback/Dialect/Aten/Linalg.td"
include "cutback/Dialect/Aten/Matmul.td"
include "cutback/Dialect/Aten/Normalization.td"
include "cutback/Dialect/Aten/Pointwise.td"
include "cutback/Dialect/Aten/Prims.td"
include "cutback/Dialect/Aten/Quantization.td"
include "cutback/Dialect/Aten/Random.td"
include "cutback/Dialect/Aten/Reduction.td"
include "cutback/Dialect/Aten/Signal.td"
include "cutback/Dialect/Aten/Special.td"
include "cutback/Dialect/Aten/Surface.td"
include "cutback/Dialect/Aten/Symbolic.td"
include "cutback/Dialect/Aten/View.td"

#endif // CUTBACK_DIALECT_ATEN_ATENOPS_TD
