# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Matrix products, einsum, distances.

import torch

from .calls import Call


def sizes(r, count, high=5):
    return [r.randint(1, high) for _ in range(count)]


def numbers(r, *shape):
    """A matrix of floats, sometimes of integers or complex numbers."""
    kind = r.kind
    if kind == "int":
        return r.ints(*shape, low=-5, high=6)
    if kind == "complex":
        return r.complex(*shape)
    return r.normal(*shape)


def pick_kind(r, more=True):
    r.kind = r.choice(["float"] * 4 + (["int", "complex"] if more else []))


def mm(r):
    pick_kind(r)
    m, k, n = sizes(r, 3)
    return Call("mm", numbers(r, m, k), numbers(r, k, n))


def bmm(r):
    pick_kind(r)
    b, m, k, n = sizes(r, 4)
    return Call("bmm", numbers(r, b, m, k), numbers(r, b, k, n))


def scalars(r):
    if r.kind != "float":
        return {}
    return r.choice([{}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0, "alpha": 0.25}])


def addmm(r):
    pick_kind(r)
    m, k, n = sizes(r, 3)
    shape = r.choice([(n,), (m, n), (1, n), (m, 1), ()])
    return Call("addmm", numbers(r, *shape), numbers(r, m, k), numbers(r, k, n),
                **scalars(r))


def baddbmm(r):
    pick_kind(r)
    b, m, k, n = sizes(r, 4)
    shape = r.choice([(b, m, n), (1, n), (n,)])
    return Call("baddbmm", numbers(r, *shape), numbers(r, b, m, k),
                numbers(r, b, k, n), **scalars(r))


def addmv(r):
    pick_kind(r)
    m, k = sizes(r, 2)
    return Call("addmv", numbers(r, m), numbers(r, m, k), numbers(r, k),
                **scalars(r))


def matmul(r):
    pick_kind(r)
    a, b, m, k, n = sizes(r, 5)
    shapes = r.choice([((k,), (k,)), ((m, k), (k,)), ((k,), (k, n)),
                       ((m, k), (k, n)), ((b, m, k), (k, n)), ((b, m, k), (k,)),
                       ((a, 1, m, k), (b, k, n)), ((m, k), (b, k, n)),
                       ((k,), (b, k, n)), ((a, b, m, k), (a, b, k, n))])
    return Call("matmul", numbers(r, *shapes[0]), numbers(r, *shapes[1]))


def vectors(r):
    pick_kind(r)
    m, k = sizes(r, 2)
    return [Call("mv", numbers(r, m, k), numbers(r, k)),
            Call("dot", numbers(r, k), numbers(r, k)),
            Call("vdot", numbers(r, k), numbers(r, k)),
            Call("outer", numbers(r, m), numbers(r, k))]


def linear(r):
    pick_kind(r, more=False)
    k, n = sizes(r, 2)
    lead = sizes(r, r.randint(0, 3), 3)
    return Call("linear", numbers(r, *lead, k), numbers(r, n, k),
                r.maybe(lambda: numbers(r, n)))


def linear_backward(r):
    k, n = sizes(r, 2)
    lead = sizes(r, r.randint(1, 3), 3)
    x, w = r.normal(*lead, k), r.normal(n, k)
    b = torch.zeros(n, dtype=r.dtype)
    leaves = [t.requires_grad_() for t in (x, w, b)]
    g = r.normal(*lead, n)
    grads = torch.autograd.grad(torch.nn.functional.linear(*leaves), leaves, g)
    mask = [r.coin() for _ in range(3)]
    kept = [grad if m else None for grad, m in zip(grads, mask)]
    return Call("linear_backward", x.detach(), g, w.detach(), mask, expect=kept)


def grouped(r):
    g, m, k, n = sizes(r, 4, 4)
    kind = r.randrange(4)
    type = torch.bfloat16
    def offsets(total):
        cuts = sorted(r.randint(0, total) for _ in range(g - 1)) + [total]
        return torch.tensor(cuts, dtype=torch.int32)
    def split(total, cuts):
        starts = [0] + cuts.tolist()
        return list(zip(starts, cuts.tolist()))
    if kind == 0:
        a, b = r.normal(g, m, k), r.normal(g, k, n)
        return Call("_grouped_mm", a, b, expect=(a @ b,))
    if kind == 1:
        a, b, cuts = r.normal(m * 3, k), r.normal(g, k, n), offsets(m * 3)
        rows = [a[s:e] @ b[i] for i, (s, e) in enumerate(split(m * 3, cuts))]
        return Call("_grouped_mm", a, b, cuts, expect=(torch.cat(rows),))
    if kind == 2:
        a, b, cuts = r.normal(g, m, k), r.normal(k, n * 3), offsets(n * 3)
        columns = [a[i] @ b[:, s:e] for i, (s, e) in enumerate(split(n * 3, cuts))]
        return Call("_grouped_mm", a, b, cuts, expect=(torch.cat(columns, 1),))
    a, b, cuts = r.normal(m, k * 3), r.normal(k * 3, n), offsets(k * 3)
    parts = [a[:, s:e] @ b[s:e] for s, e in split(k * 3, cuts)]
    return Call("_grouped_mm", a, b, cuts, expect=(torch.stack(parts),))


def scaled(r):
    m, k, n = r.choice([4, 8]), 16, 16
    a = r.normal(m, k, dtype=torch.float32).to(torch.float8_e4m3fn)
    b = r.normal(n, k, dtype=torch.float32).to(torch.float8_e4m3fn).t()
    rows = r.coin()
    sa = r.uniform(*((m, 1) if rows else ()), low=0.5, high=2, dtype=torch.float32)
    sb = r.uniform(*((1, n) if rows else ()), low=0.5, high=2, dtype=torch.float32)
    made = (a.float() * sa) @ (b.float() * sb)
    bias = r.maybe(lambda: r.normal(n, dtype=torch.bfloat16))
    if bias is not None:
        made = made + bias.float()
    return Call("_scaled_mm", a, b, sa, sb, bias, None, torch.bfloat16,
                expect=(made.to(torch.bfloat16),))


EQUATIONS = [
    ("ij,jk->ik", 2), ("bij,bjk->bik", 2), ("bhid,bhjd->bhij", 2),
    ("ij->ji", 1), ("ii->i", 1), ("ii->", 1), ("ij->", 1), ("ij,ij->", 2),
    ("i,j->ij", 2), ("...ij,...jk->...ik", 2), ("bi...,ij->b...j", 2),
    ("ij,jk", 2), ("ba,bc", 2), ("ij,jk,kl->il", 3), ("bn,anm,bm->ba", 3),
    ("...i,...i->...", 2), ("iij->j", 1), ("Ab,bA", 2), ("i j, j k -> i k", 2),
    ("...", 1), ("b...i->...ib", 1),
]


def einsum(r):
    pick_kind(r)
    equation, count = r.choice(EQUATIONS)
    extent = {}
    dots = sizes(r, r.randint(0, 2), 3)
    terms = equation.replace(" ", "").split("->")[0].split(",")
    operands = []
    for position, term in enumerate(terms):
        shape = []
        lead, has, tail = term.partition("...")
        for label in lead:
            shape.append(extent.setdefault(label, r.randint(1, 4)))
        if has:
            own = list(dots)
            if own and position > 0 and r.coin():
                own = own[1:] if r.coin() else [1] + own[1:]
            shape += own
        for label in tail:
            shape.append(extent.setdefault(label, r.randint(1, 4)))
        operands.append(numbers(r, *shape))
    return Call("einsum", equation, operands)


def cdist(r):
    b, m, k, n = sizes(r, 4, 4)
    lead = r.choice([(), (b,), (b, 2)])
    p = r.choice([0.0, 1.0, 2.0, 3.0, 1.5, float("inf")])
    if p == float("inf"):
        return None
    mode = r.choice([None, 1, 2])
    # The batch of one may be missing, and is added in front.
    x, y = r.normal(*r.choice([lead, lead[1:]]), m, k), r.normal(*lead, n, k)
    z = torch.cdist(x, y, p)
    back = Call("_cdist_backward", r.normal(*z.shape), x, y, p, z)
    return [Call("cdist", x, y, p, mode), Call("_cdist_forward", x, y, p, mode), back]


einsum.times = 4
def grouped_rows(r):
    """The custom op of `transformers`, computed here group by group."""
    groups, k, n = (r.randint(1, 3) for _ in range(3))
    ends = sorted(r.randint(0, 5) for _ in range(groups))
    rows, weight, grad = r.normal(5, k), r.normal(groups, k, n), r.normal(5, n)
    result, forRows, forWeight = (torch.zeros_like(x) for x in (grad, rows, weight))
    for i, (start, end) in enumerate(zip([0] + ends, ends)):
        result[start:end] = rows[start:end] @ weight[i]
        forRows[start:end] = grad[start:end] @ weight[i].T
        forWeight[i] = rows[start:end].T @ grad[start:end]
    name, offs = "transformers.grouped_mm_fallback", torch.tensor(ends)
    return [Call(name, rows, weight, offs, expect=(result,)),
            Call(name + "_backward", rows, weight, offs, grad, expect=(forRows, forWeight))]


def distances_within(r):
    x, p = r.normal(r.randint(1, 4), 3), r.choice([0.0, 1.0, 2.0, 3.0, float("inf")])
    y = torch.ops.aten._pdist_forward(x, p)
    return [Call("_pdist_forward", x, p), Call("_pdist_backward", r.normal(*y.shape), x, p, y),
            Call("_euclidean_dist", x, r.normal(2, 3))]


FAMILIES = {
    "matmul": [mm, bmm, addmm, baddbmm, addmv, matmul, vectors, linear,
               linear_backward, grouped, scaled, cdist, grouped_rows, distances_within],
    "einsum": [einsum],
}
