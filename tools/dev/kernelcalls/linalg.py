# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linear algebra, special functions, alignments of labels.

import math

import torch

from .calls import Call


def batch(r):
    return r.choice([[], [2], [2, 1]])


def regular(r, *shape):
    """Matrices far from singular: rounding of single precision stays small."""
    size = shape[-1]
    return r.normal(*shape, size) + (size + 1) * torch.eye(size, dtype=r.dtype)


def symmetric(r, *shape):
    x = r.normal(*shape, shape[-1])
    return x + x.mT


def positive(r, *shape):
    x = r.normal(*shape, shape[-1], dtype=torch.float64)
    x = x @ x.mT + shape[-1] * torch.eye(shape[-1], dtype=torch.float64)
    return x.to(r.dtype)


def inverse(r):
    return Call("linalg_inv_ex", regular(r, *batch(r), r.randint(1, 4)))


def solve(r):
    n, k = r.randint(1, 4), r.randint(1, 3)
    a, left = regular(r, *batch(r), n), r.coin()
    b = r.normal(*([n, k] if left else [k, n]))
    if a.dim() == 2 and left and r.coin():
        b = r.normal(n)
    if not left and b.shape == a.shape[:-1]:
        return None  # a batch of vectors, which there are none of on this side
    return Call("_linalg_solve_ex", a, b, left=left)


def determinants(r):
    a = regular(r, *batch(r), r.randint(1, 4))
    a = a * r.choice([1, -1])
    # PyTorch factorizes the transpose where that is contiguous for LAPACK.
    return [Call("_linalg_det", a, skip=(1, 2)),
            Call("_linalg_slogdet", a, skip=(2, 3))]


def cholesky(r):
    return Call("linalg_cholesky_ex", positive(r, *batch(r), r.randint(1, 4)),
                upper=r.coin())


def solve_triangular(r):
    n, k = r.randint(1, 4), r.randint(1, 3)
    upper, left = r.coin(), r.coin()
    a = regular(r, *batch(r), n)
    b = r.normal(*([n, k] if left else [k, n]))
    return Call("linalg_solve_triangular", a.triu() if upper else a.tril(), b,
                upper=upper, left=left)


def qr(r):
    x = r.normal(*batch(r), r.randint(1, 4), r.randint(1, 4))
    return [Call("linalg_qr", x), Call("linalg_qr", x, "complete"),
            Call("linalg_qr", x, "r")]


def spectra(r):
    x = r.normal(*batch(r), r.randint(1, 4), r.randint(1, 4))
    n = r.randint(1, 4)
    return [Call("_linalg_svd", x, skip=(0, 2)),
            Call("_linalg_svd", x, False, False),
            Call("_linalg_eigh", symmetric(r, n), r.choice(["L", "U"]), skip=(1,)),
            Call("_linalg_eigh", symmetric(r, n), "L", False)]


def exponential(r):
    return Call("linalg_matrix_exp", r.normal(*batch(r), *[r.randint(1, 4)] * 2))


def lu(r):
    # In double: single precision may choose another pivot.
    x = r.normal(*batch(r), r.randint(1, 4), r.randint(1, 4), dtype=torch.float64)
    factors, pivots, _ = torch.linalg.lu_factor_ex(x)
    return [Call("linalg_lu_factor_ex", x), Call("lu_unpack", factors, pivots),
            Call("lu_unpack", factors, pivots, False), Call("lu_unpack", factors, pivots, True, False)]


def pseudo_inverses(r):
    m, n, rows = r.randint(1, 4), r.randint(1, 4), batch(r)
    x = r.normal(*rows, m, n)
    low = x[..., :1] * r.normal(*rows, 1, n)
    return [Call("linalg_pinv.atol_rtol_tensor", x),
            Call("linalg_pinv.atol_rtol_tensor", low, rtol=torch.tensor(0.01)),
            Call("linalg_pinv.atol_rtol_tensor", symmetric(r, 2, n),
                 atol=torch.tensor([0.1, 0.5]), hermitian=True)]


def reflections(r):
    # Of a square or wide matrix LAPACK leaves the last row alone, as we do.
    return Call("geqrf", r.normal(*batch(r), r.randint(1, 4), r.randint(1, 4)))


def eigenvalues(r):
    # A triangle has its eigenvalues on the diagonal, in this order; of others
    # they come as the iteration finds them. In double: single precision may
    # find them otherwise.
    def draw(n):
        return r.normal(n, n, dtype=torch.float64)
    n = r.randint(2, 7)
    made = [r.normal(*batch(r), *[r.randint(1, 4)] * 2).triu(), draw(n), draw(9),
            draw(n).triu(-1), torch.complex(draw(n), draw(n)),
            draw(n) * r.mask(n, n), draw(n) - draw(n).mT]
    return [Call("linalg_eig", x, skip=(1,)) for x in made] + [
        Call("linalg_eig", draw(3)), Call("linalg_eig", 1e-160 * draw(n), skip=(1,)),
        Call("linalg_eig", 1e200 * draw(n), skip=(1,)),
        Call("linalg_eig", draw(3) * torch.tensor([1, 1e6, 1e-6], dtype=torch.float64)),
        Call("linalg_eig", torch.complex(draw(4), draw(4)))]


def complex_matrices(r):
    m, n, rows = r.randint(1, 4), r.randint(1, 4), batch(r)
    r.dtype = torch.float64
    x, a = r.complex(*rows, m, n), r.complex(*rows, n, n)
    b, eye = r.complex(*rows, n, 2), (n + 1) * torch.eye(n)
    factors, pivots, _ = torch.linalg.lu_factor_ex(x)
    low = x[..., :1] * r.complex(*rows, 1, n)
    upper = r.coin()
    return [
        Call("linalg_inv_ex", a + eye),
        # PyTorch may factorize the transpose.
        Call("_linalg_solve_ex", a + eye, b, skip=(1, 2)),
        Call("_linalg_solve_ex", a + eye, b.mT, left=False, skip=(1, 2)),
        Call("_linalg_det", a, skip=(1, 2)), Call("_linalg_slogdet", a, skip=(2, 3)),
        Call("linalg_cholesky_ex", a @ a.mH + eye, upper=upper),
        Call("linalg_solve_triangular", (a + eye).triu(), b, upper=True),
        Call("linalg_solve_triangular", a.tril(), b.mT, upper=False, left=False, unitriangular=True),
        Call("linalg_qr", x), Call("linalg_qr", x, "complete"), Call("geqrf", x),
        Call("_linalg_svd", x, skip=(0, 2)), Call("_linalg_eigh", a + a.mH, skip=(1,)),
        Call("_linalg_eigh", a, "U", skip=(1,)), Call("linalg_matrix_exp", a),
        Call("linalg_lu_factor_ex", x), Call("lu_unpack", factors, pivots),
        Call("linalg_pinv.atol_rtol_tensor", x),
        Call("linalg_pinv.atol_rtol_tensor", low, rtol=torch.tensor(0.01)),
        Call("linalg_pinv.atol_rtol_tensor", a + a.mH, hermitian=True)]


def large(r):
    """Beyond the blocks that libraries factorize at a time; empty ones."""
    n = 18
    x = r.normal(n, n, dtype=torch.float64)
    calls = []
    for y in (x, x[:, :n // 2].contiguous(), x[:n // 2].contiguous()):
        calls += [Call("linalg_lu_factor_ex", y), Call("linalg_qr", y, "r"),
                  Call("_linalg_svd", y, skip=(0, 2))]
    empty = [x[:0, :0], x[:0, :3], x[:3, :0], x.new_zeros(0, 2, 2)]
    for y in empty:
        calls += [Call("linalg_lu_factor_ex", y), Call("linalg_qr", y), Call("geqrf", y),
                  Call("_linalg_svd", y), Call("_linalg_svd", y, True)]
    for y in (empty[0], empty[3]):
        calls += [Call("linalg_inv_ex", y), Call("_linalg_det", y), Call("_linalg_eigh", y),
                  Call("linalg_eig", y), Call("linalg_cholesky_ex", y),
                  Call("linalg_matrix_exp", y), Call("linalg_solve_triangular", y, y, upper=True)]
    return calls + [Call("_linalg_eigh", x + x.mT, skip=(1,)),
                    Call("_linalg_det", x / 4, skip=(1, 2)),
                    Call("linalg_cholesky_ex", x @ x.mT + torch.eye(n)),
                    Call("linalg_inv_ex", x + n * torch.eye(n))]


large.times = 1 / 3


def special(r):
    x = r.uniform(2, 3, low=0.2, high=6.0)
    a = r.uniform(3, low=0.2, high=4.0)
    return [Call("polygamma", r.randint(1, 3), x), Call("special_zeta", x + 1.2, a),
            Call("igamma", a, x), Call("igammac", a, x),
            Call("special_i1e", r.normal(5)), Call("angle", r.normal(4)),
            Call("angle", r.complex(4)), Call("_conj_physical", r.complex(3)),
            Call("conj_physical", r.normal(2))]


def edges(r):
    """Special functions far out, at their poles, beyond their domains; in single
    precision too, whose results PyTorch rounds on the way."""
    inf, nan = math.inf, math.nan
    def numbers(*values, dtype=torch.float64):
        return torch.tensor(values, dtype=dtype)
    whole = numbers(0.0, -0.0, -1, -2, -30, inf, -inf, nan)
    far = numbers(1e-300, -1e-300, 1e300, 1e-10, -1e-10, 170.5, 1e5, 3e8)
    near = r.uniform(6, low=-8, high=8, dtype=torch.float64)
    small = r.uniform(6, low=-1, high=1, dtype=torch.float64)
    at = torch.cat([whole, far, near])
    over = torch.cat([r.uniform(4, low=-700, high=700, dtype=torch.float64), near])
    positive = torch.cat([r.uniform(3, low=0, high=700, dtype=torch.float64), near.abs()])
    made = [(name, x) for name, xs in {
        "lgamma": [whole, far, near], "digamma": [at[at < 1e8]],
        "erfinv": [small, numbers(0, 1, -1, 2, nan, 1 - 1e-12, 1e-300)],
        "special_erfcx": [far[2:3], near, numbers(inf, nan, 30, 1e5), numbers(-28, -inf)],
        "special_ndtri": [small.abs(), numbers(0, 1, -1, 2, nan, 1e-300, 0.5)],
        "special_log_ndtr": [near, -positive],
        "i0": [near, numbers(0, 800, inf, -inf, nan)], "special_i1": [near, numbers(-800, inf)],
        "special_i0e": [over, numbers(1e300, 0, nan)], "special_i1e": [over, numbers(-1e300, 0)],
        "special_bessel_j0": [near, numbers(0, inf, nan)],
        "special_bessel_j1": [near, numbers(0, -inf, nan)],
        "special_bessel_y0": [near, numbers(0, -1, inf, 1e-30, nan)],
        "special_bessel_y1": [near, numbers(0, -1, nan), numbers(1e-30)],
        "special_modified_bessel_k0": [positive, numbers(0, -1, inf, nan)],
        "special_modified_bessel_k1": [positive, numbers(0, -1, inf, nan)],
        "special_scaled_modified_bessel_k0": [positive, numbers(1e300, 0, -1, inf, nan)],
        "special_scaled_modified_bessel_k1": [positive, numbers(1e5, 0, -1, nan)],
        "special_airy_ai": [near, numbers(0, 1e-300, 200, inf, -inf, nan)],
    }.items() for x in xs]
    # PyTorch's J, Y and Ai have nine digits.
    rough = ("special_bessel_", "special_airy")
    one = [Call(name, x.float() if name.startswith(rough) else x) for name, x in made]
    one += [Call(name, x.float()) for name, x in made
            if name in ("special_i0e", "special_ndtri", "special_erfcx", "special_log_ndtr")]
    zetas = numbers(1, 0.5, 2, 2, 3, 2.5, 2, 3, nan, 30, 30), numbers(
        2, 2, -2, 0, -2.5, -2.5, 1e-5, -9.3, 1, 100, 0.5)
    parts = (torch.cat([numbers(0, 0, inf, 1, 1, 1, -1, 5, 1e-5, 1e3, 1e3, 2), near.abs()]),
             torch.cat([numbers(0, 1, 1, inf, 0, -1, 1, 1e4, 1e-5, 1e3, 1.2e3, nan),
                        near.abs().flip(0)]))
    return one + [Call("special_zeta", *zetas), Call("igamma", *parts),
                  Call("igammac", *parts)] + [
        Call("polygamma", n, x.float() if n == 1 else x) for n in (0, 1, 2, 5)
        for x in (torch.cat([near, numbers(0, 1e-3, nan)]), numbers(-0.7, -3.2, 40.5))]


POLYNOMIALS = [f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_")
               for kind in "tuvw"] + [
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p"]


def airy(r):
    return [Call("special_airy_ai", r.uniform(6, low=-40.0, high=12.0)),
            Call("special_airy_ai", r.normal(5))]


def bessel(r):
    x = r.uniform(5, low=0.05, high=12.0)
    made = [Call(f"special_{name}", x) for name in (
        "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0",
        "modified_bessel_k1", "scaled_modified_bessel_k0",
        "scaled_modified_bessel_k1", "spherical_bessel_j0")]
    made.append(Call("special_bessel_j1", -x))
    # PyTorch's closed forms round away digits near -1 and 1.
    x = r.uniform(4, low=-0.9, high=1.6, dtype=torch.float64)
    n = r.ints(4, low=-1, high=9)
    return made + [Call(f"special_{name}", x, n) for name in POLYNOMIALS]


def ctc(r):
    steps, count, classes, most = r.randint(4, 6), 2, 4, 2
    logs = r.normal(steps, count, classes).log_softmax(-1)
    labels = r.ints(count, most, low=1, high=classes)
    lengths = [[steps, steps - 1], [most, r.randint(0, most)]]
    forward = Call("_ctc_loss", logs, labels, *lengths)
    loss, alpha = forward.run()
    grad = r.normal(count)
    flat = torch.cat([row[:n] for row, n in zip(labels, lengths[1])])
    # Of log_alpha, places that no path takes are not set by PyTorch.
    return [Call("_ctc_loss", logs, labels, *lengths, skip=(1,)),
            Call("_ctc_loss", logs, flat, *lengths, skip=(1,)),
            Call("_ctc_loss_backward", grad, logs, labels, *lengths, loss, alpha, 0)]


def unique(r):
    x = r.ints(r.randint(1, 6), low=0, high=4)
    return [Call("_unique2", x, True, True, True), Call("_unique2", x)]


def bits(r):
    x = r.normal(3, 4)
    return [Call("hash_tensor", x), Call("hash_tensor", x, [1]),
            Call("hash_tensor", r.ints(2, 3), [0], keepdim=True),
            Call("hash_tensor", r.mask(5)),
            Call("_to_copy", torch.tensor([5, 2**64 - 1, 2**63], dtype=torch.uint64),
                 dtype=torch.float64),
            Call("_to_copy", torch.tensor([5.5, 2.0**63], dtype=torch.float64),
                 dtype=torch.uint64),
            Call("_to_copy", r.ints(4, low=-5), dtype=torch.uint32),
            Call("_to_copy", r.normal(4), dtype=torch.complex32),
            Call("_to_copy", r.complex(3).to(torch.complex32), dtype=torch.complex64),
            Call("view_as_real", r.complex(3).to(torch.complex32))]


def indefinite(r):
    # In double: single precision may choose another pivot.
    r.dtype = torch.float64
    n = r.randint(1, 6)
    x, z = symmetric(r, *batch(r), n), r.complex(n, n)
    x.diagonal(dim1=-2, dim2=-1)[..., ::2] *= 0.01
    made = [(x, r.normal(n, 2), False), (z + z.mT, r.complex(2, n, 3), False),
            (z + z.mH, r.complex(n, 1), True)]
    calls = []
    for matrix, right, hermitian in made:
        factors, pivots, _ = torch.linalg.ldl_factor_ex(matrix, hermitian=hermitian)
        calls += [Call("linalg_ldl_factor_ex", matrix, hermitian=hermitian),
                  Call("linalg_ldl_solve", factors, pivots, right, hermitian=hermitian)]
    return calls + [Call("linalg_ldl_factor_ex", torch.zeros(2, 2))]


def nothing(r):
    x, y = r.normal(4, 3), r.normal(2, 0, 3)
    z = torch.cdist(x, y)
    return [Call("cdist", x, y), Call("cdist", y, x), Call("gather", r.normal(5), 0, r.ints(0, 3)), Call("_cdist_backward", z, x, y, 2.0, z),
            Call("_cdist_backward", r.normal(0, 4, 2), x, r.normal(0, 2, 3), 2.0, r.normal(0, 4, 2)),
            Call("_cdist_forward", x[:, :0], x[:2, :0], 2.0, None),
            Call("linalg_matrix_exp", torch.full((2, 2), float("inf"))),
            Call("_fft_c2c", r.complex(2, 3), [0], 0, True),
            Call("_fft_c2c", r.complex(1, 7), [0, 1], 1, False), Call("_fft_r2c", r.normal(11), [0], 2, True),
            Call("_fft_c2r", r.complex(5), [0], 2, 9), Call("_fft_c2r", r.complex(3, 5), [1], 0, 8)]


FAMILIES = {
    "rare": [bits, indefinite, nothing],
    "linalg": [inverse, solve, determinants, cholesky, solve_triangular, qr,
               spectra, exponential, lu, pseudo_inverses, reflections, eigenvalues,
               complex_matrices, large],
    "special": [special, bessel, ctc, unique, airy, edges],
}
