// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigen, so that results do not depend on the machine, and under a name of its
// own: a program that links our static libraries may use Eigen itself, compiled
// in another way, and the linker keeps one function of each name. Include this
// before any other header of Eigen.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_EIGENCORE_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_EIGENCORE_H

#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_VECTORIZE // sums in one order for all alignments
#define EIGEN_NO_CPUID       // blocks of one size for all caches
#define Eigen cutbackEigen

#include <Eigen/Core>

#include <complex>

namespace cutback::interpreter {
template <typename S>
using MatrixOf = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_EIGENCORE_H
