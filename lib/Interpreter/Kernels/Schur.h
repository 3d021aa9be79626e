// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schur forms, with the eigenvalues in LAPACK's order.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_SCHUR_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_SCHUR_H

#include "EigenCore.h"

#include <cstdint>

namespace cutback::interpreter {

/// A = Z T Z^H. T of a real matrix is real, with a block [a b; c a], bc < 0, on
/// its diagonal for each pair of conjugate eigenvalues; of a complex one it is
/// a triangle.
template <typename S> struct Schur {
  MatrixOf<S> t, z;
  bool converged = false;
};

/// The form of `a`, which is a triangle already outside of its rows and columns
/// from `low` to `high`.
Schur<double> schurOf(MatrixOf<double> a, int64_t low, int64_t high);
Schur<std::complex<double>> schurOf(MatrixOf<std::complex<double>> a,
                                    int64_t low, int64_t high);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_SCHUR_H
