// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

namespace {

/// x plus a multiple of the identity.
Value regular(VjpCheck &c, ArrayRef<int64_t> sizes) {
  Value one = c.constant({3, 3}, {4, 0, 0, 0, 4, 0, 0, 0, 4});
  return c.b.call("aten.add.Tensor", {c.input(sizes), one});
}

Value timesTransposed(VjpCheck &c, Value x) {
  const char *product =
      cutback::aten::rankOf(x) == 2 ? "aten.mm.default" : "aten.bmm.default";
  return c.b.call(product, {x, c.b.call("aten.transpose.int", {x, -2, -1})});
}

VjpCheckOptions fixedSizes() {
  VjpCheckOptions options;
  options.dynamic = false;
  return options;
}

} // namespace

TEST(LinalgVjp, Inverse) {
  checkVjp([](VjpCheck &c) {
    c.output(
        c.b.callMany("aten.linalg_inv_ex.default", {regular(c, {2, 3, 3})})[0]);
  });
}

TEST(LinalgVjp, Equations) {
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.callMany("aten._linalg_solve_ex.default",
                              {regular(c, {3, 3}), c.input({3, 2})})[0]);
        c.output(c.b.callMany("aten._linalg_solve_ex.default",
                              {regular(c, {2, 3, 3}), c.input({4, 3})},
                              {{"left", false}})[0]);
      },
      fixedSizes());
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.callMany("aten._linalg_solve_ex.default",
                              {regular(c, {2, 3, 3}), c.input({3})})[0]);
        c.output(c.b.callMany("aten._linalg_solve_ex.default",
                              {regular(c, {3, 3}), c.input({2, 3, 2})})[0]);
      },
      fixedSizes());
}

TEST(LinalgVjp, Determinants) {
  checkVjp([](VjpCheck &c) {
    Value x = regular(c, {2, 3, 3});
    c.output(c.b.callMany("aten._linalg_det.default", {x})[0]);
    c.output(c.b.callMany("aten._linalg_slogdet.default", {x})[1]);
  });
}

TEST(LinalgVjp, Cholesky) {
  for (bool upper : {false, true})
    checkVjp([upper](VjpCheck &c) {
      Value x = timesTransposed(c, regular(c, {2, 3, 3}));
      c.output(c.b.callMany("aten.linalg_cholesky_ex.default", {x},
                            {{"upper", upper}})[0]);
    });
}

TEST(LinalgVjp, TriangularEquations) {
  for (bool upper : {false, true})
    for (bool unit : {false, true})
      checkVjp(
          [=](VjpCheck &c) {
            Value x = regular(c, {3, 3});
            c.output(c.b.call("aten.linalg_solve_triangular.default",
                              {x, c.input({2, 3, 2})},
                              {{"upper", upper}, {"unitriangular", unit}}));
            c.output(c.b.call(
                "aten.linalg_solve_triangular.default", {x, c.input({2, 3})},
                {{"upper", upper}, {"unitriangular", unit}, {"left", false}}));
          },
          fixedSizes());
}

TEST(LinalgVjp, OrthogonalFactors) {
  for (auto [rows, columns] :
       {std::pair(4, 2), std::pair(3, 3), std::pair(2, 4)})
    checkVjp(
        [rows = rows, columns = columns](VjpCheck &c) {
          Value x = c.input({rows, columns});
          auto factors = c.b.callMany("aten.linalg_qr.default", {x});
          c.output(factors[0]);
          c.output(factors[1]);
        },
        fixedSizes());
}

// The signs of singular vectors are free: their outer products are not.
TEST(LinalgVjp, SingularValues) {
  for (auto [rows, columns] :
       {std::pair(4, 2), std::pair(3, 3), std::pair(2, 4)})
    checkVjp(
        [rows = rows, columns = columns](VjpCheck &c) {
          Value x = c.input({rows, columns});
          auto parts = c.b.callMany("aten._linalg_svd.default", {x});
          c.output(parts[1]);
          c.output(timesTransposed(
              c, c.b.call("aten.slice.Tensor", {parts[0], 1, 0, 1})));
          Value v = c.b.call("aten.transpose.int", {parts[2], 0, 1});
          c.output(
              timesTransposed(c, c.b.call("aten.slice.Tensor", {v, 1, 0, 1})));
          auto full = c.b.callMany("aten._linalg_svd.default", {x, true});
          c.output(timesTransposed(
              c, c.b.call("aten.slice.Tensor", {full[0], 1, 1, 2})));
          c.output(full[1]);
        },
        fixedSizes());
}

TEST(LinalgVjp, Eigenvalues) {
  checkVjp([](VjpCheck &c) {
    Value x = timesTransposed(c, c.input({2, 3, 3}));
    auto parts = c.b.callMany("aten._linalg_eigh.default", {x});
    c.output(parts[0]);
    c.output(
        timesTransposed(c, c.b.call("aten.slice.Tensor", {parts[1], 2, 0, 1})));
  });
}

// Differences of a symmetric matrix see the symmetric part of its gradient
// alone; PyTorch's is symmetric, as recorded here.
TEST(LinalgVjp, EigenvectorsHaveSymmetricGradients) {
  auto gradientOf = [](const char *half, int64_t k) {
    return gradientsOf([=](VjpCheck &c) {
      Value x = c.input({3, 3}, {2, 0.5, -1, 0.5, -1, 0.3, -1, 0.3, 1.2});
      Value w = c.constant({3, 3}, {1, 2, -1, 0, 0.5, 3, 0.25, -2, 1});
      auto parts = c.b.callMany("aten._linalg_eigh.default", {x, half});
      Value own = c.b.call("aten.slice.Tensor", {parts[1], 1, k, k + 1});
      c.output(c.b.call("aten.mul.Tensor", {timesTransposed(c, own), w}));
    })[0];
  };
  const double lower[] = {0.13355022328,   -0.267198959349, 0.119346583999,
                          -0.267198959349, -0.239301131382, -0.21235090053,
                          0.119346583999,  -0.21235090053,  0.105750908102};
  const double upper[] = {-0.114907399613, 0.156249446185, -0.125243545689,
                          0.156249446185,  0.220904042213, 0.285297124994,
                          -0.125243545689, 0.285297124994, -0.105996642600};
  std::vector<double> first = gradientOf("L", 0), second = gradientOf("U", 1);
  ASSERT_EQ(first.size(), 9u);
  for (int i = 0; i < 9; ++i) {
    EXPECT_NEAR(first[i], lower[i], 1e-11);
    EXPECT_NEAR(second[i], upper[i], 1e-11);
  }
}

TEST(LinalgVjp, Exponential) {
  checkVjp([](VjpCheck &c) {
    c.output(c.b.call("aten.linalg_matrix_exp.default", {c.input({2, 3, 3})}));
  });
}

TEST(LinalgVjp, WhatHasNoGradientSaysSo) {
  auto qr = [](const char *mode) {
    return errorOf([mode](VjpCheck &c) {
      c.output(
          c.b.callMany("aten.linalg_qr.default", {c.input({3, 2}), mode})[1]);
    });
  };
  EXPECT_NE(qr("complete")
                .find("the gradient of a QR factorization needs its "
                      "reduced factors: mode='reduced'"),
            std::string::npos);
  std::string open = errorOf([](VjpCheck &c) {
    Value x = c.b.call("aten.index.Tensor",
                       {c.input({3, 2}), {c.mask({3}, {1, 1, 1})}});
    c.output(c.b.callMany("aten.linalg_qr.default", {x})[1]);
  });
  EXPECT_NE(open.find("the gradient of a QR factorization needs sizes that are "
                      "numbers"),
            std::string::npos)
      << open;
  std::string values = errorOf([](VjpCheck &c) {
    c.output(c.b.callMany("aten._linalg_svd.default",
                          {c.input({3, 2}), false, false})[1]);
  });
  EXPECT_NE(values.find("the gradient of singular values needs the vectors: "
                        "compute_uv=True"),
            std::string::npos);
  std::string eigenvalues = errorOf([](VjpCheck &c) {
    c.output(c.b.callMany("aten._linalg_eigh.default",
                          {c.input({3, 3}), "L", false})[0]);
  });
  EXPECT_NE(eigenvalues.find("the gradient of eigenvalues needs the "
                             "eigenvectors: compute_v=True"),
            std::string::npos);
  std::string factors = errorOf([](VjpCheck &c) {
    Value x = c.b.call("aten.index.Tensor",
                       {c.input({3, 2}), {c.mask({3}, {1, 1, 1})}});
    c.output(c.b.callMany("aten.linalg_lu_factor_ex.default", {x})[0]);
  });
  EXPECT_NE(factors.find("the gradient of LU factors needs sizes that are "
                         "numbers"),
            std::string::npos);
  std::string norm = errorOf([](VjpCheck &c) {
    c.output(c.b.call("aten.linalg_vector_norm.default",
                      {c.complexInput({3}), 3.0}));
  });
  EXPECT_NE(norm.find("the gradient of a norm of complex numbers is known for "
                      "p = 2; take the norm of their absolute values"),
            std::string::npos);
}

/// Complex, far from singular, and its conjugate transpose.
static Value complexRegular(VjpCheck &c) {
  Value one = c.constant({3, 3}, {5, 0, 0, 0, 5, 0, 0, 0, 5});
  return c.b.call("aten.add.Tensor", {c.complexInput({3, 3}), one});
}

static Value adjoint(VjpCheck &c, Value x) {
  return c.b.call("aten.transpose.int",
                  {c.b.call("aten._conj_physical.default", {x}), -2, -1});
}

/// What of unit vectors does not depend on their phases: column k times its
/// conjugate transpose.
static Value projection(VjpCheck &c, Value vectors, int64_t k) {
  Value own = c.b.call("aten.slice.Tensor", {vectors, 1, k, k + 1});
  return c.b.call("aten.mm.default", {own, adjoint(c, own)});
}

TEST(LinalgVjp, ComplexInversesAndDeterminants) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = complexRegular(c), right = c.complexInput({3, 2});
        c.output(c.b.callMany("aten.linalg_inv_ex.default", {x})[0]);
        c.output(c.b.callMany("aten._linalg_solve_ex.default", {x, right})[0]);
        c.output(c.b.callMany("aten._linalg_solve_ex.default",
                              {x, adjoint(c, right)}, {{"left", false}})[0]);
        c.output(c.b.callMany("aten._linalg_det.default", {x})[0]);
        auto parts = c.b.callMany("aten._linalg_slogdet.default", {x});
        c.output(parts[0]);
        c.output(parts[1]);
        c.output(c.b.call("aten.linalg_matrix_exp.default",
                          {c.complexInput({2, 2})}));
        c.output(c.b.call("aten.linalg_solve_triangular.default", {x, right},
                          {{"upper", true}}));
      },
      fixedSizes());
}

TEST(LinalgVjp, ComplexFactors) {
  for (bool upper : {false, true})
    checkVjp(
        [=](VjpCheck &c) {
          Value x = complexRegular(c);
          Value square = c.b.call("aten.mm.default", {x, adjoint(c, x)});
          c.output(c.b.callMany("aten.linalg_cholesky_ex.default", {square},
                                {{"upper", upper}})[0]);
          auto own = c.b.callMany("aten._linalg_eigh.default",
                                  {square, upper ? "U" : "L"});
          c.output(own[0]);
          c.output(projection(c, own[1], 1));
        },
        fixedSizes());
  for (auto [rows, columns] :
       {std::pair(4, 2), std::pair(3, 3), std::pair(2, 4)})
    checkVjp(
        [rows = rows, columns = columns](VjpCheck &c) {
          Value x = c.complexInput({rows, columns});
          for (Value part : c.b.callMany("aten.linalg_qr.default", {x}))
            c.output(part);
          c.output(c.b.callMany("aten.linalg_lu_factor_ex.default", {x})[0]);
          auto svd = c.b.callMany("aten._linalg_svd.default", {x});
          c.output(svd[1]);
          c.output(projection(c, svd[0], 0));
          // Both vectors of a pair.
          Value left = c.b.call("aten.slice.Tensor", {svd[0], 1, 1, 2});
          Value right = c.b.call("aten.slice.Tensor", {svd[2], 0, 1, 2});
          c.output(c.b.call("aten.mm.default", {left, right}));
        },
        fixedSizes());
}

TEST(LinalgVjp, ComplexPseudoInverses) {
  for (auto sizes : {std::pair(2, 3), std::pair(3, 2)})
    checkVjp([&](VjpCheck &c) {
      Value x = c.complexInput({sizes.first, sizes.second});
      c.output(c.b.call("aten.linalg_pinv.atol_rtol_tensor", {x}));
    });
}

TEST(LinalgVjp, LuFactors) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = regular(c, {2, 3, 3});
        auto factors = c.b.callMany("aten.linalg_lu_factor_ex.default", {x});
        c.output(factors[0]);
        auto parts =
            c.b.callMany("aten.lu_unpack.default", {factors[0], factors[1]});
        c.output(parts[1]);
        c.output(parts[2]);
      },
      fixedSizes());
  for (auto [rows, columns] : {std::pair(4, 2), std::pair(2, 4)})
    checkVjp(
        [rows = rows, columns = columns](VjpCheck &c) {
          Value x = c.input({2, rows, columns});
          auto factors = c.b.callMany("aten.linalg_lu_factor_ex.default", {x});
          c.output(factors[0]);
          auto parts =
              c.b.callMany("aten.lu_unpack.default", {factors[0], factors[1]});
          c.output(parts[1]);
          c.output(parts[2]);
        },
        fixedSizes());
}

static void pseudoInverse(VjpCheck &c, Value x, Value rtol = {}) {
  c.output(c.b.call("aten.linalg_pinv.atol_rtol_tensor", {x},
                    {{"rtol", rtol ? Arg(rtol) : Arg()}}));
}

TEST(LinalgVjp, PseudoInverse) {
  for (auto [rows, columns] :
       {std::pair(4, 2), std::pair(3, 3), std::pair(2, 4)})
    checkVjp([rows = rows, columns = columns](VjpCheck &c) {
      pseudoInverse(c, c.input({2, rows, columns}));
    });
}

// Gradients of singular vectors divide by differences of singular values.
TEST(LinalgVjp, PseudoInverseWithEqualSingularValues) {
  checkVjp([](VjpCheck &c) {
    pseudoInverse(c, c.input({3, 3}, {2, 0, 0, 0, 0, -2, 0, 2, 0}));
    pseudoInverse(c, c.input({4, 2}, {1, 1, 1, -1, 1, 1, 1, -1}));
    pseudoInverse(c, c.input({2, 3}, {0, 3, 0, 3, 0, 0}));
  });
}

// A tolerance keeps the rank what it is beside the matrix.
TEST(LinalgVjp, PseudoInverseOfLowRank) {
  checkVjp([](VjpCheck &c) {
    Value rtol = c.constant({}, {0.01});
    pseudoInverse(c, c.input({3, 3}, {1, 2, 0, 2, 4, 0, 1, 2, 1}), rtol);
    pseudoInverse(c, c.input({4, 2}, {1, -2, 2, -4, 3, -6, 1, -2}), rtol);
    pseudoInverse(c, c.input({2, 3}, {1, 2, 1, 1, 2, 1}), rtol);
  });
}

/// Of eigenvectors the sizes, which no choice of their phases changes.
TEST(LinalgVjp, EigenvaluesOfAnyMatrix) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 3}, {1.0, 0.4, -0.7, 2.0, -1.1, 0.3, 0.6, 0.8, 0.2});
    auto all = c.b.callMany("aten.linalg_eig.default", {x});
    c.output(all[0]);
    c.output(c.b.call("aten.abs.default", {all[1]}));
  });
  checkVjp([](VjpCheck &c) {
    Value x = c.complexInput({2, 2, 2});
    c.output(c.b.callMany("aten.linalg_eig.default", {x})[0]);
  });
}
