# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ops that PyTorch writes in terms of others.

import torch

from .calls import Call


def shape_of(r, rank=None):
    return [r.randint(1, 4) for _ in range(rank or r.randint(1, 3))]


def aliases(r):
    shape = shape_of(r)
    x, y = r.normal(*shape), r.uniform(*shape, low=0.1, high=0.9)
    unary = ["negative", "fix", "absolute", "arccos", "arcsin", "arcsinh", "arctan",
             "arctanh", "special_exp2", "special_expit", "special_expm1", "special_erf",
             "special_erfc", "special_log1p", "special_sinc", "special_logit",
             "special_digamma", "special_psi", "special_gammaln"]
    made = [Call(name, y) for name in unary]
    made += [Call("arccosh", y + 1), Call("special_round", x, decimals=1),
             Call("special_round", x)]
    for name in ("subtract", "multiply", "divide", "greater", "greater_equal", "less",
                 "less_equal", "not_equal"):
        made += [Call(name + ".Tensor", x, y), Call(name + ".Scalar", x, 0.5)]
    made += [Call("divide.Tensor_mode", x, y, rounding_mode="floor"),
             Call("divide.Scalar_mode", x, 0.7, rounding_mode="trunc"),
             Call("clip", x, -0.5, 0.5), Call("clip.Tensor", x, y), Call("arctan2", x, y),
             Call("special_xlogy", x, y), Call("special_xlog1py", x, y),
             Call("ldexp.Tensor", x, r.ints(*shape, low=-3, high=4)),
             Call("special_softmax", x, -1), Call("special_log_softmax", x, 0),
             Call("special_logsumexp", x, [-1]),
             Call("concat", [x, y], -1), Call("concatenate", [x, y])]
    return made


def powers(r):
    shape = shape_of(r)
    x, y = r.uniform(*shape, low=0.1, high=3), r.normal(*shape)
    n = r.ints(*shape, low=1, high=4)
    z = torch.complex(x, y)
    return [Call("float_power.Tensor_Tensor", x, y), Call("float_power.Tensor_Tensor", n, n),
            Call("float_power.Scalar", 2.5, y), Call("float_power.Tensor_Scalar", x, 3),
            Call("float_power.Tensor_Tensor", z, y)]


def mantissas(r):
    x = r.normal(6)
    x[:2] = torch.tensor([0.0, float("-inf")])
    return Call("frexp.Tensor", x)


def slopes(r):
    x, noise = r.normal(5), r.uniform(5)
    made = [Call("rrelu_with_noise_functional", x, noise, 0.1, 0.3, False)]
    for training in (False, True):
        made.append(Call("rrelu_with_noise_backward", r.normal(5), x, noise, 0.1, 0.3,
                         training, False))
    return made


def prelu(r):
    shape = shape_of(r, r.randint(2, 4))
    one = r.coin()
    return Call("prelu", r.normal(*shape), r.normal(1 if one else shape[1]))


def differences(r):
    shape = shape_of(r)
    dim = r.randrange(-len(shape), len(shape))
    shape[dim] += 2
    def part():
        own = list(shape)
        own[dim] = r.randint(1, 2)
        return r.normal(*own)
    x, places = r.normal(*shape), r.normal(*shape)
    line = r.normal(shape[dim])
    made = [Call("diff", x, r.randint(1, 2), dim, r.maybe(part), r.maybe(part)),
            Call("diff", r.ints(*shape), 1, dim), Call("diff", x, 0, dim, x)]
    for name in ("trapezoid", "trapz", "cumulative_trapezoid"):
        made += [Call(name + ".x", x, places, dim=dim), Call(name + ".x", x, line, dim=dim),
                 Call(name + ".dx", x, dx=0.5, dim=dim), Call(name + ".dx", x)]
    return made


def distances(r):
    n, d = r.randint(1, 4), r.randint(3, 6)
    a, b, c = r.normal(n, d), r.normal(n, d), r.normal(n, d)
    p = r.choice([1.0, 2.0, 3.0])
    mode = r.randrange(3)
    t = torch.sign(r.normal(n))
    x, y = r.normal(2, 1, d), r.normal(3, d)
    s, u = r.normal(n, d), torch.sign(r.normal(n, d))
    k = r.uniform(n, d, low=0.1, high=4)
    return [Call("pairwise_distance", a, b, p, 1e-6, r.coin()),
            Call("pairwise_distance", x, y), Call("cosine_similarity", a, b),
            Call("cosine_similarity", x, y, r.choice([0, 1, 2, -1])),
            Call("triplet_margin_loss", a, b, c, 1.0, p, 1e-6, r.coin(), mode),
            Call("cosine_embedding_loss", a, b, t, 0.2, mode),
            Call("margin_ranking_loss", s, c, u, 0.3, mode),
            Call("hinge_embedding_loss", s, u, 0.8, mode),
            Call("poisson_nll_loss", s, k, True, r.coin(), 1e-8, mode),
            Call("poisson_nll_loss", k, k, False, r.coin(), 1e-8, mode)]


def products(r):
    b, m, k, n = (r.randint(1, 4) for _ in range(4))
    scalars = r.choice([{}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0}])
    i, j = r.ints(2, 3, low=-5, high=5), r.ints(3, 2, low=-5, high=5)
    ends = [r.coin(), r.coin()]
    chain = [r.normal(*([k] if ends[0] else [m, k])), r.normal(k, n), r.normal(n, b)]
    chain.append(r.normal(*([b] if ends[1] else [b, m])))
    lead = shape_of(r, r.randint(0, 2) or 1)
    made = [Call("addbmm", r.normal(m, n), r.normal(b, m, k), r.normal(b, k, n), **scalars),
            Call("addr", r.normal(m, n), r.normal(m), r.normal(n), **scalars),
            Call("chain_matmul", [r.normal(m, k), r.normal(k, n), r.normal(n, b)]),
            Call("linalg_multi_dot", chain), Call("ger", r.normal(m), r.normal(n)),
            Call("linalg_matmul", i, j),
            Call("kron", r.normal(*shape_of(r)), r.normal(*shape_of(r))), Call("kron", i, j),
            Call("tensordot", r.normal(m, k, n), r.normal(n, b, k), [1, 2], [2, 0]),
            Call("tensordot", r.normal(m, 1), r.normal(k, n), [1], [0]),
            Call("tensordot", i, j, [], []), Call("inner", i, i),
            Call("inner", r.normal(m, k), r.normal(*lead, k)), Call("inner", r.normal(), r.normal(m)),
            Call("bilinear", r.normal(*lead, m), r.normal(*lead, k), r.normal(n, m, k),
                 r.maybe(lambda: r.normal(n)))]
    return made


def vector_products(r):
    shape = shape_of(r, 2)
    dim = r.randrange(3)
    wide = list(shape)
    wide.insert(dim, 3)
    narrow = [1 if r.coin() and i != dim else s for i, s in enumerate(wide)]
    x, y = r.normal(*wide), r.normal(*narrow)
    z = torch.complex(x, r.normal(*wide))
    return [Call("linalg_cross", x, y, dim=dim), Call("cross", x, r.normal(*wide)),
            Call("cross", x, x.flip(dim).contiguous(), dim),
            Call("linalg_vecdot", x, y, dim=dim), Call("linalg_vecdot", z, z.conj().resolve_conj())]


def arrangements(r):
    shape = shape_of(r, r.randint(2, 3))
    x = r.choice([r.normal(*shape), r.ints(*shape), r.mask(*shape)])
    dims = r.sample(range(-len(shape), 0), 2)
    v, w, s = r.normal(3), r.normal(2), r.normal()
    a, b = r.normal(2, 3), r.normal(2, 1)
    made = [Call("flipud", x), Call("fliplr", x), Call("rot90", x, r.randint(-2, 5), dims),
            Call("hstack", [v, w]), Call("hstack", [a, b]), Call("hstack", [s, v]),
            Call("vstack", [v, a]), Call("row_stack", [a, v]), Call("dstack", [v, v]),
            Call("dstack", [a, a]), Call("column_stack", [w, a, b]), Call("column_stack", [s, s]),
            Call("block_diag", [a, w, s, b]), Call("cartesian_prod", [v, w, v]),
            Call("cartesian_prod", [v])]
    for rank in (1, 2, 3):
        made += [Call(f"atleast_{rank}d", t) for t in (s, v, a)]
        made.append(Call(f"atleast_{rank}d.Sequence", [s, v, a]))
    return made


def diagonals(r):
    m, n = r.randint(2, 4), r.randint(2, 4)
    offset = r.randint(-1, 1)
    x, v = r.normal(m, n), r.normal(m)
    cube = r.normal(2, m, n)
    dims = r.sample(range(3), 2)
    return [Call("diag", x, offset), Call("diag", v, offset), Call("diagflat", x, offset),
            Call("diag_embed", x, offset), Call("diag_embed", x, offset, *dims),
            Call("linalg_diagonal", cube, offset=offset),
            Call("linalg_diagonal", cube, offset=offset, dim1=dims[0], dim2=dims[1])]


FAMILIES = {
    "composite": [aliases, powers, prelu, differences, distances, mantissas,
                  slopes],
    "products": [products, vector_products],
    "stack": [arrangements, diagonals],
}
