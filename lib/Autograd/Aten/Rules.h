// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of VJP rules, one accessor a group of files. A new table is
// declared here and added to the list in ../AtenVjps.cpp.
#ifndef CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H
#define CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H

#include "cutback/Dialect/Aten/Rules.h"

namespace cutback::autograd {

using VjpTable = llvm::ArrayRef<aten::VjpRule>;

VjpTable pointwiseVjps();  ///< sums, products, minimum, where, powers
VjpTable unaryVjps();      ///< functions of one tensor
VjpTable activationVjps(); ///< relu to gelu, and the backwards of some
VjpTable reductionVjps();  ///< sum to logsumexp
VjpTable selectionVjps();  ///< amax, max.dim, median, mode
VjpTable viewVjps();       ///< and casts
VjpTable dataVjps();       ///< cat, pad, repeat, slice_scatter
VjpTable primsVjps();

VjpTable matmulVjps();
VjpTable convolutionVjps(); ///< im2col, pixel_shuffle
VjpTable normalizationVjps();
VjpTable attentionVjps();
VjpTable attentionBackwardVjps();
VjpTable softmaxVjps();
VjpTable lossVjps();
VjpTable poolVjps();
VjpTable upsampleVjps(); ///< grid_sampler
VjpTable embeddingVjps();
VjpTable indexVjps();   ///< gather, index, masked_select
VjpTable scatterVjps(); ///< index_put, scatter, masked_scatter
VjpTable scatterReduceVjps();
VjpTable sortVjps(); ///< topk, cummax
VjpTable scanVjps(); ///< cumsum, cumprod
VjpTable distanceVjps();
VjpTable fftVjps();
VjpTable linalgVjps();      ///< inverses, determinants, spectra
VjpTable padVjps();         ///< reflection, replication
VjpTable secondOrderVjps(); ///< backwards of heavy ops

} // namespace cutback::autograd

#endif // CUTBACK_LIB_AUTOGRAD_ATEN_RULES_H
