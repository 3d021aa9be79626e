// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of ops that decompose into others, of linear algebra, and of
// Inductor's random ops: what Infer.h is for the rest.
#ifndef CUTBACK_DIALECT_ATEN_INFERCOMPOSITE_H
#define CUTBACK_DIALECT_ATEN_INFERCOMPOSITE_H

#include "cutback/Dialect/Aten/Infer.h"

namespace cutback::aten::infer {

//===-- Views, losses, products (Composite*.cpp) --------------------------===//
/// trace: a scalar; ints become i64.
Function trace;
/// dist(self, other, p): a real scalar.
Function dist;
/// diff(self, n, dim, prepend, append).
Function diff;
/// trapezoid.* trapz.* cumulative_trapezoid.*.
Function trapezoid;
/// cosine_similarity(x1, x2, dim).
Function cosineSimilarity;
/// pairwise_distance(x1, x2, p, eps, keepdim).
Function pairwiseDistance;
/// margin_ranking_loss poisson_nll_loss hinge_embedding_loss: `reduction`.
Function broadcastLoss;
Function tripletMarginLoss;
Function cosineEmbeddingLoss;
/// _cdist_backward: shape of x1, for each batch of x2.
Function cdistBackward;
Function addbmm;
Function addr;
/// chain_matmul, linalg_multi_dot.
Function chainMatmul;
Function kron;
Function tensordot;
Function inner;
Function bilinear;
/// cross, linalg_cross: broadcast.
Function cross;
/// linalg_vecdot.
Function vecdot;
Function rot90;
/// atleast_1d atleast_2d atleast_3d, of one tensor or of several.
Function atLeast;
/// hstack vstack row_stack dstack column_stack.
Function stackAlong;
Function cartesianProd;
Function blockDiag;
/// tril_indices triu_indices: [2, N].
Function triIndices;
/// mT adjoint: the last two dimensions swapped.
Function matrixTranspose;
Function ravel;
Function sumToSize;
/// tensor_split.tensor_indices_or_sections: a piece more than indices.
Function tensorSplitAt;
/// tensor_split.* hsplit.* vsplit.* dsplit.*.
Function tensorSplit;
/// diag diagflat diag_embed.
Function diag;
/// float_power.*: f64.
Function floatPower;
/// _prelu_kernel_backward: (input, weight).
Function preluBackward;
/// grid_sampler_2d_backward grid_sampler_3d_backward: (input, grid).
Function gridSamplerBackward;
/// fft_fft fft_rfft fft_irfft and their inverses, over one, two or n dims.
Function fftComposite;
/// norm_except_dim(v, pow, dim): all sizes 1 but one.
Function normExceptDim;
/// affine_grid_generator(theta, size): [N, sizes.., 2 or 3].
Function affineGrid;
/// gru_cell rnn_tanh_cell rnn_relu_cell; lstm_cell: (hy, cy).
Function recurrentCell;
/// _int_mm: i32. _weight_int8pack_mm(self, mat2 transposed, scales).
Function integerMm;
Function int8packMm;
/// transformers.grouped_mm_fallback: [S, N] of [S, K] and [G, K, N]; backward:
/// shapes of both.
Function groupedRows;
Function groupedRowsBackward;
/// _weight_norm_interface(v, g, dim): (v, norms like g); backward: (v, g).
Function weightNorm;
Function weightNormBackward;
Function lstmCell;

//===-- Linear algebra (Linalg.cpp) ---------------------------------------===//
/// linalg_inv cholesky matrix_exp matrix_power: a square matrix of its type.
Function squareMatrix;
/// linalg_inv_ex linalg_cholesky_ex: (matrix, i32 info).
Function matrixAndInfo;
/// Determinants and condition numbers: one a matrix.
Function linalgDet;
Function linalgEigh;
/// linalg_eig: complex (values, vectors); linalg_eigvals: values.
Function linalgEig;
/// geqrf: (factors like self, a tau a reflection).
Function geqrf;
/// ormqr(reflections, tau, other): like other.
Function ormqr;
Function linalgQr;
Function linalgSvd;
Function pinv;
Function linalgSolve;
Function solveTriangular;
/// linalg_lu_factor: (LU, i32 pivots, and i32 info where the schema has it).
Function luFactor;
/// linalg_ldl_factor: (LD, i32 pivots, and i32 info where the schema has it).
Function ldlFactor;
/// linalg_ldl_solve: B, broadcast to the batch of factors.
Function ldlSolve;
/// lu_unpack linalg_lu: (P, L, U).
Function luUnpack;
Function luSolve;
/// linalg_tensorsolve(self, other, dims), linalg_tensorinv(self, ind).
Function tensorSolve;
Function tensorInverse;
/// linalg_matrix_rank.*: i64, one a matrix.
Function matrixRank;
Function lstsq;

//===-- Signals, statistics, losses of rows (Statistics.cpp) --------------===//
/// angle: real, ints become float.
Function angle;
/// hann_window .., fft_fftfreq: [window_length] or by `n`.
Function window;
Function stft;
Function istft;
/// quantized_decomposed.*: shape of input, `dtype` or `out_dtype`.
Function quantized;
/// _fused_moving_avg_obs_fq_helper_functional: (output, i1 mask), then what is
/// observed.
Function observedQuantize;
/// _fake_quantize_learnable_*_backward: gradients of self, scale, zero_point.
Function learnedQuantizeBackward;
/// ctc_loss.*; _ctc_loss.*: (loss, log_alpha); their backward.
Function ctcLoss;
Function ctcForward;
Function ctcBackward;
/// multi_margin_loss multilabel_margin_loss: one a row, `reduction`.
Function rowLoss;
/// quantile.*: the dimension of q comes first.
Function quantile;
/// pad_sequence: all sequences side by side, as long as the longest.
Function padSequence;
/// gradient.*: a list, each like self, one a dimension.
Function differences;
/// range.*: steps up to the end, which counts.
Function range;
/// _trilinear: three factors with dimensions of 1 put in, summed.
Function trilinear;
/// mm.dtype bmm.dtype: as without, of another type.
Function productAs;
/// conv_tbc: [steps, batch, channels]; its backward: like the operands.
Function stepConvolution;
/// frexp: (mantissa, i32 exponent).
Function frexp;
/// histogram.*: (histogram, edges), [bins] and [bins + 1].
Function histogram;
/// histogramdd.* _histogramdd_*: a histogram of as many dimensions as a row has
/// elements, and the edges along each.
Function histogramOfRows;
/// histc: [bins].
Function histc;
Function pdist;
Function maxUnpool;
/// cov corrcoef: [N, N].
Function covariance;
Function isin;
/// vander linalg_vander: a row of powers for each element.
Function vander;
/// chalf: complex<f16>.
Function halfComplex;
/// combinations: [?, r], or [n, r] where the elements are counted.
Function combinations;
/// _chunk_cat: [leading sizes.., num_chunks, elements].
Function chunkCat;
/// rrelu_with_noise_functional: (result, slopes), both like self.
Function rreluWithNoise;
/// masked_scatter_backward: `sizes`.
Function maskedScatterBackward;
/// segment_reduce: a segment in place of each length; backward: like data.
Function segmentReduce;
/// where(condition), nonzero_numpy: one [?] a dimension.
Function nonzeroByDim;
/// _convert_indices_from_coo_to_csr: [size + 1]; the other way: [2, entries].
Function rowStarts;
Function rowsOfEntries;
/// _unique* unique_*: (values, inverse, counts), along one dimension or of all
/// elements.
Function unique;

//===-- Seeds (Create.cpp) ------------------------------------------------===//
/// prims.inductor_seed prims.inductor_lookup_seed: []; inductor_seeds: [count].
Function seeds;

} // namespace cutback::aten::infer

#endif // CUTBACK_DIALECT_ATEN_INFERCOMPOSITE_H
