// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear algebra: factorizations, equations, determinants, spectra.
//
// The units, which have a kernel and a gradient, are the ops that PyTorch
// differentiates itself (`linalg_inv_ex`, `_linalg_det`, `_linalg_svd`, ...);
// what models call decomposes into them.
#ifndef CUTBACK_DIALECT_ATEN_LINALG_TD
#define CUTBACK_DIALECT_ATEN_LINALG_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Factorization<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Factors, inverts or solves; a batch of matrices at once.";
  let infer = rule;
  let flops = "perOutput";
  let weight = 32;
  let flags = ["kComputeIntensive"];
}

class Aten_LinalgComposite<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Another way to write a factorization; decomposition replaces "
               "it.";
  let infer = rule;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

def Aten_LinalgInvExOp : Aten_Factorization<"linalg_inv_ex",
    "(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    "matrixAndInfo">, Vjp<"inverse">, Kernel<"linalgInvEx">;
def Aten_InternalLinalgSolveExOp : Aten_Factorization<"_linalg_solve_ex",
    "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor LU, Tensor pivots, Tensor info)", "linalgSolve">,
    Vjp<"solveEquations">, Kernel<"linalgSolveEx">;
def Aten_InternalLinalgDetOp : Aten_Factorization<"_linalg_det",
    "(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", "linalgDet">,
    Vjp<"determinant">, Kernel<"linalgDet">;
def Aten_InternalLinalgSlogdetOp : Aten_Factorization<"_linalg_slogdet",
    "(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    "linalgDet">, Vjp<"logDeterminant">, Kernel<"linalgSlogdet">;
def Aten_LinalgCholeskyExOp : Aten_Factorization<"linalg_cholesky_ex",
    "(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, "
    "Tensor info)", "matrixAndInfo">, Vjp<"cholesky">,
    Kernel<"linalgCholeskyEx">;
def Aten_LinalgSolveTriangularOp : Aten_Factorization<"linalg_solve_triangular",
    "(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
    "unitriangular=False) -> Tensor", "solveTriangular">,
    Vjp<"solveTriangular">, Kernel<"linalgSolveTriangular">;
def Aten_LinalgQrOp : Aten_Factorization<"linalg_qr",
    "(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", "linalgQr">,
    Vjp<"qr">, Kernel<"linalgQr">;
def Aten_InternalLinalgSvdOp : Aten_Factorization<"_linalg_svd",
    "(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
    "driver=None) -> (Tensor U, Tensor S, Tensor Vh)", "linalgSvd">, Vjp<"svd">,
    Kernel<"linalgSvd">;
def Aten_InternalLinalgEighOp : Aten_Factorization<"_linalg_eigh",
    "(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, "
    "Tensor eigenvectors)", "linalgEigh">, Vjp<"eigh">, Kernel<"linalgEigh">;
def Aten_LinalgEigOp : Aten_Factorization<"linalg_eig",
    "(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", "linalgEig">,
    Vjp<"eigenvectors">, Kernel<"eig">;
def Aten_GeqrfOp : Aten_Factorization<"geqrf",
    "(Tensor self) -> (Tensor a, Tensor tau)", "geqrf">, Kernel<"geqrf"> {
  let flags = ["kComputeIntensive", "kNotDifferentiable"];
}
def Aten_LinalgMatrixExpOp : Aten_Factorization<"linalg_matrix_exp",
    "(Tensor self) -> Tensor", "squareMatrix">, Vjp<"exponential">,
    Kernel<"linalgMatrixExp">;

def Aten_LinalgPinvAtolRtolTensorOp : Aten_Factorization<
    "linalg_pinv.atol_rtol_tensor",
    "(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor", "pinv">, Vjp<"pseudoInverse">,
    Kernel<"linalgPinv">, CoreUnit<"pseudoInverse">;

def Aten_LinalgLuFactorExOp : Aten_Factorization<"linalg_lu_factor_ex",
    "(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, "
    "Tensor pivots, Tensor info)", "luFactor">, Vjp<"luFactor">,
    Kernel<"luFactor">;
def Aten_LuUnpackOp : Aten_Factorization<"lu_unpack",
    "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
    "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)", "luUnpack">,
    Vjp<"luUnpack">, Kernel<"luUnpack">;

def Aten_LinalgLdlFactorExOp : Aten_Factorization<"linalg_ldl_factor_ex",
    "(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor "
    "LD, Tensor pivots, Tensor info)", "ldlFactor">, Kernel<"ldlFactor">;
def Aten_LinalgLdlSolveOp : Aten_Factorization<"linalg_ldl_solve",
    "(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    "ldlSolve">, Kernel<"ldlSolve">;

//===----------------------------------------------------------------------===//
// What models call
//===----------------------------------------------------------------------===//

def Aten_LinalgInvOp : Aten_LinalgComposite<"linalg_inv",
    "(Tensor A) -> Tensor", "squareMatrix">, Decomposition<"inverse">;
def Aten_InverseOp : Aten_LinalgComposite<"inverse",
    "(Tensor self) -> Tensor", "squareMatrix">, Decomposition<"inverse">;
def Aten_LinalgSolveOp : Aten_LinalgComposite<"linalg_solve",
    "(Tensor A, Tensor B, *, bool left=True) -> Tensor", "linalgSolve">,
    Decomposition<"solve">;
def Aten_LinalgSolveExOp : Aten_LinalgComposite<"linalg_solve_ex",
    "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor info)", "linalgSolve">, Decomposition<"solve">;
def Aten_LinalgDetOp : Aten_LinalgComposite<"linalg_det",
    "(Tensor A) -> Tensor", "linalgDet">, Decomposition<"determinant">;
def Aten_DetOp : Aten_LinalgComposite<"det",
    "(Tensor self) -> Tensor", "linalgDet">, Decomposition<"determinant">;
def Aten_LogdetOp : Aten_LinalgComposite<"logdet",
    "(Tensor self) -> Tensor", "linalgDet">, Decomposition<"logdet">;
def Aten_LinalgSlogdetOp : Aten_LinalgComposite<"linalg_slogdet",
    "(Tensor A) -> (Tensor sign, Tensor logabsdet)", "linalgDet">,
    Decomposition<"signAndLogarithm">;
def Aten_SlogdetOp : Aten_LinalgComposite<"slogdet",
    "(Tensor self) -> (Tensor sign, Tensor logabsdet)", "linalgDet">,
    Decomposition<"signAndLogarithm">;
def Aten_LinalgCholeskyOp : Aten_LinalgComposite<"linalg_cholesky",
    "(Tensor self, *, bool upper=False) -> Tensor", "squareMatrix">,
    Decomposition<"cholesky">;
def Aten_CholeskyOp : Aten_LinalgComposite<"cholesky",
    "(Tensor self, bool upper=False) -> Tensor", "squareMatrix">,
    Decomposition<"cholesky">;
def Aten_CholeskySolveOp : Aten_LinalgComposite<"cholesky_solve",
    "(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    "solveTriangular">, Decomposition<"choleskySolve">;
def Aten_CholeskyInverseOp : Aten_LinalgComposite<"cholesky_inverse",
    "(Tensor self, bool upper=False) -> Tensor", "squareMatrix">,
    Decomposition<"choleskyInverse">;
def Aten_TriangularSolveOp : Aten_LinalgComposite<"triangular_solve",
    "(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
    "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    "solveTriangular">, Decomposition<"triangularSolve">;
def Aten_QrOp : Aten_LinalgComposite<"qr",
    "(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", "linalgQr">,
    Decomposition<"orthogonal">;
def Aten_LinalgSvdOp : Aten_LinalgComposite<"linalg_svd",
    "(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
    "Tensor S, Tensor Vh)", "linalgSvd">, Decomposition<"svd">;
def Aten_LinalgSvdvalsOp : Aten_LinalgComposite<"linalg_svdvals",
    "(Tensor A, *, str? driver=None) -> Tensor", "linalgSvd">,
    Decomposition<"svdvals">;
def Aten_SvdOp : Aten_LinalgComposite<"svd",
    "(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor "
    "S, Tensor V)", "linalgSvd">, Decomposition<"svd">;
def Aten_LinalgEighOp : Aten_LinalgComposite<"linalg_eigh",
    "(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    "linalgEigh">, Decomposition<"eigh">;
def Aten_LinalgEigvalshOp : Aten_LinalgComposite<"linalg_eigvalsh",
    "(Tensor self, str UPLO='L') -> Tensor", "linalgEigh">,
    Decomposition<"eigh">;
def Aten_MatrixExpOp : Aten_LinalgComposite<"matrix_exp",
    "(Tensor self) -> Tensor", "squareMatrix">, Decomposition<"exponential">;
def Aten_MatrixPowerOp : Aten_LinalgComposite<"matrix_power",
    "(Tensor self, int n) -> Tensor", "squareMatrix">, Decomposition<"power">;
def Aten_LinalgMatrixPowerOp : Aten_LinalgComposite<"linalg_matrix_power",
    "(Tensor self, int n) -> Tensor", "squareMatrix">, Decomposition<"power">;
def Aten_LinalgPinvOp : Aten_LinalgComposite<"linalg_pinv",
    "(Tensor self, float rcond, bool hermitian=False) -> Tensor", "pinv">,
    Decomposition<"pinv">;
def Aten_LinalgPinvAtolRtolFloatOp : Aten_LinalgComposite<
    "linalg_pinv.atol_rtol_float",
    "(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor", "pinv">, Decomposition<"pinv">;
def Aten_LinalgPinvRcondTensorOp : Aten_LinalgComposite<
    "linalg_pinv.rcond_tensor",
    "(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor", "pinv">,
    Decomposition<"pinv">;
def Aten_PinverseOp : Aten_LinalgComposite<"pinverse",
    "(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor", "pinv">,
    Decomposition<"pinv">;
def Aten_LinalgLstsqOp : Aten_LinalgComposite<"linalg_lstsq",
    "(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    "lstsq">, Decomposition<"lstsq">;
def Aten_LinalgHouseholderProductOp : Aten_LinalgComposite<
    "linalg_householder_product",
    "(Tensor input, Tensor tau) -> Tensor", "sameAsInput">,
    Decomposition<"householderProduct">;
def Aten_OrgqrOp : Aten_LinalgComposite<"orgqr",
    "(Tensor self, Tensor input2) -> Tensor", "sameAsSelf">,
    Decomposition<"householderProduct">;
def Aten_OrmqrOp : Aten_LinalgComposite<"ormqr",
    "(Tensor self, Tensor input2, Tensor input3, bool left=True, "
    "bool transpose=False) -> Tensor", "ormqr">,
    Decomposition<"timesHouseholder">;
def Aten_LinalgEigvalsOp : Aten_LinalgComposite<"linalg_eigvals",
    "(Tensor self) -> Tensor", "linalgEig">, Decomposition<"eigenvalues">;
def Aten_InternalLinalgEigvalsOp : Aten_LinalgComposite<"_linalg_eigvals",
    "(Tensor self) -> Tensor", "linalgEig">, Decomposition<"eigenvalues">;
def Aten_NuclearNormOp : Aten_LinalgComposite<"nuclear_norm",
    "(Tensor self, bool keepdim=False) -> Tensor", "vectorNorm">,
    Decomposition<"namedNorm">;
def Aten_NuclearNormDimOp : Aten_LinalgComposite<"nuclear_norm.dim",
    "(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", "vectorNorm">,
    Decomposition<"namedNorm">;
def Aten_LinalgMatrixNormStrOrdOp : Aten_LinalgComposite<
    "linalg_matrix_norm.str_ord",
    "(Tensor self, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "vectorNorm">,
    Decomposition<"namedNorm">;
def Aten_LinalgNormOrdStrOp : Aten_LinalgComposite<"linalg_norm.ord_str",
    "(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor", "vectorNorm">,
    Decomposition<"namedNorm">;
def Aten_LinalgCondOp : Aten_LinalgComposite<"linalg_cond",
    "(Tensor self, Scalar? p=None) -> Tensor", "linalgDet">,
    Decomposition<"condition">;
def Aten_LinalgCondPStrOp : Aten_LinalgComposite<"linalg_cond.p_str",
    "(Tensor self, str p) -> Tensor", "linalgDet">,
    Decomposition<"conditionByNorm">;
def Aten_LinalgLdlFactorOp : Aten_LinalgComposite<"linalg_ldl_factor",
    "(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    "ldlFactor">, Decomposition<"ldlFactor">;
def Aten_LinalgLuFactorOp : Aten_LinalgComposite<"linalg_lu_factor",
    "(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    "luFactor">, Decomposition<"luFactor">;
def Aten_InternalLuWithInfoOp : Aten_LinalgComposite<"_lu_with_info",
    "(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, "
    "Tensor pivots, Tensor info)", "luFactor">, Decomposition<"luFactor">;
def Aten_LinalgLuOp : Aten_LinalgComposite<"linalg_lu",
    "(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    "luUnpack">, Decomposition<"luParts">;
def Aten_LinalgLuSolveOp : Aten_LinalgComposite<"linalg_lu_solve",
    "(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
    "adjoint=False) -> Tensor", "luSolve">, Decomposition<"luSolve">;
def Aten_LuSolveOp : Aten_LinalgComposite<"lu_solve",
    "(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", "luSolve">,
    Decomposition<"luSolve">;
def Aten_LinalgTensorsolveOp : Aten_LinalgComposite<"linalg_tensorsolve",
    "(Tensor self, Tensor other, int[]? dims=None) -> Tensor", "tensorSolve">,
    Decomposition<"tensorSolve">;
def Aten_LinalgTensorinvOp : Aten_LinalgComposite<"linalg_tensorinv",
    "(Tensor self, int ind=2) -> Tensor", "tensorInverse">,
    Decomposition<"tensorInverse">;
def Aten_LinalgMatrixRankOp : Aten_LinalgComposite<"linalg_matrix_rank",
    "(Tensor self, float tol, bool hermitian=False) -> Tensor", "matrixRank">,
    Decomposition<"matrixRank">;
def Aten_LinalgMatrixRankTolTensorOp : Aten_LinalgComposite<
    "linalg_matrix_rank.tol_tensor",
    "(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    "matrixRank">, Decomposition<"matrixRank">;
def Aten_LinalgMatrixRankAtolRtolFloatOp : Aten_LinalgComposite<
    "linalg_matrix_rank.atol_rtol_float",
    "(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor", "matrixRank">, Decomposition<"matrixRank">;
def Aten_LinalgMatrixRankAtolRtolTensorOp : Aten_LinalgComposite<
    "linalg_matrix_rank.atol_rtol_tensor",
    "(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor", "matrixRank">, Decomposition<"matrixRank">;
def Aten_MatrixHOp : Aten_LinalgComposite<"matrix_H",
    "(Tensor self) -> Tensor", "matrixTranspose">,
    Decomposition<"conjugateTransposed">;
def Aten_MHOp : Aten_LinalgComposite<"mH",
    "(Tensor self) -> Tensor", "matrixTranspose">,
    Decomposition<"conjugateTransposed">;

#endif // CUTBACK_DIALECT_ATEN_LINALG_TD
