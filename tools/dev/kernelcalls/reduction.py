# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reductions, scans, and ops that order elements.

import torch

from .calls import Call
from .values import element, floating, integral, shape, tried


def dims_of(r, rank):
    """None, nothing, one or some dimensions, from either end."""
    kind = r.choice(["none", "empty", "some", "some", "some"])
    if kind == "none":
        return None
    if kind == "empty" or rank == 0:
        return []
    return [d - rank if r.coin() else d for d in r.sample(range(rank), r.randint(1, rank))]


def dim_of(r, rank):
    return r.randrange(-rank, rank) if rank else r.choice([0, -1])


def strided(r, x):
    """The same kind of data, seen through other strides."""
    return x.transpose(0, 1) if x.dim() > 1 and r.coin() else x


def sums(r):
    x = element(r, shape(r), "ffficb")
    # Products in half precision overflow on the way.
    x = x.float() if x.dtype == torch.float16 else x
    dims, keep = dims_of(r, x.dim()), r.coin()
    to = r.choice([None, None, torch.float64, torch.int64, torch.float32])
    kwargs = {} if to is None or x.is_complex() else {"dtype": to}
    made = [Call("sum", x, **kwargs), Call("sum.dim_IntList", x, dims, keep, **kwargs),
            Call("prod", x, **kwargs), Call("prod.dim_int", x, dim_of(r, x.dim()), keep, **kwargs),
            Call("nansum", x, dims, keep)]
    if not x.is_floating_point() or to != torch.int64:
        return [tried(call) for call in made]
    return [tried(call) for call in made if not bool(torch.isnan(x).any() | torch.isinf(x).any())]


def means(r):
    x = element(r, shape(r), "fffc")
    dims, keep = dims_of(r, x.dim()), r.coin()
    made = [Call("mean", x), Call("mean.dim", x, dims, keep),
            Call("mean.dim", integral(r, [3, 2]), [0], dtype=torch.float32)]
    y = element(r, shape(r), "fffc", special=False)
    dims = dims_of(r, y.dim())
    n = r.choice([0, 1, 2, 0.5])
    made += [Call("var.correction", y, dims, correction=n, keepdim=keep),
             Call("std.correction", y, dims, correction=n, keepdim=keep),
             Call("var_mean.correction", y, dims, correction=n, keepdim=keep),
             Call("std_mean.correction", y, dims, correction=n, keepdim=keep),
             Call("var.correction", y, dims), Call("var.dim", y, dims, r.coin(), keep),
             Call("std.dim", y, dims, r.coin(), keep), Call("var", y, r.coin()),
             Call("std", y), Call("var_mean.dim", y, dims, False, keep),
             Call("var_mean", y, r.coin()), Call("std_mean", y), Call("nanmean", x, dims, keep),
             Call("std_mean.dim", y, dims, r.coin(), keep)]
    return [tried(call) for call in made]


def norms(r):
    x = element(r, shape(r), "fffc", special=r.coin())
    dims, keep = dims_of(r, x.dim()), r.coin()
    order = r.choice([0, 1, 2, 3, 0.5, float("inf"), float("-inf"), -1])
    made = [Call("linalg_vector_norm", x, order, dims, keep), Call("linalg_vector_norm", x),
            Call("norm.Scalar", x), Call("norm.Scalar", x, 1),
            Call("norm.ScalarOpt_dim", x, r.choice([None, 2, 1]), dims or [], keep)]
    z = element(r, [2, 3, 4], "fc", special=False)
    made += [Call("frobenius_norm.dim", z, [0, 2], keep),
             Call("norm.ScalarOpt_dtype", r.normal(4), 2, dtype=torch.float64),
             Call("norm.ScalarOpt_dim_dtype", r.normal(4, 2), 1, [0], keep, dtype=torch.float64),
             Call("linalg_matrix_norm", z, r.choice([1, -1, float("inf"), float("-inf")]),
                  r.choice([[-2, -1], [0, 1], [2, 0]]), keep),
             Call("dist", r.normal(3, 2), r.normal(2), r.choice([1, 2, 0.5])),
             Call("trace", element(r, [3, 4], "fi")),
             Call("sum_to_size", r.normal(2, 3, 4, dtype=torch.float64), r.choice([[3, 1], [2, 1, 4], [1], []]))]
    y = floating(r, shape(r))
    made.append(Call("logsumexp", y, dims_of(r, y.dim()) or [], keep))
    return [tried(call) for call in made]


def extremes(r):
    x = element(r, shape(r), "ffib")
    dims, keep, dim = dims_of(r, x.dim()) or [], r.coin(), dim_of(r, x.dim())
    return [tried(call) for call in [
        Call("amax", x, dims, keep), Call("amin", x, dims, keep), Call("max", x),
        Call("min", x), Call("aminmax", x, dim=dim, keepdim=keep), Call("aminmax", x),
        Call("max.dim", x, dim, keep), Call("min.dim", x, dim, keep),
        Call("argmax", x, dim, keep), Call("argmin", x, dim, keep), Call("argmax", x),
        Call("argmin", x, None, keep),
        Call("any", x), Call("any.dim", x, dim, keep), Call("all", x),
        Call("all.dim", x, dim, keep), Call("any.dims", x, dims or None, keep),
        Call("all.dims", x, dims or None, keep), Call("count_nonzero", x),
        Call("count_nonzero", x, dim), Call("count_nonzero.dim_IntList", x, dims),
        Call("median", floating(r, shape(r))), Call("nanmedian", floating(r, shape(r))),
    ]]


def picks(r):
    """Distinct values, so that indices are defined."""
    sizes = shape(r, rank=r.randint(1, 3))
    count = torch.Size(sizes).numel()
    x = torch.tensor(r.sample(range(100), count)).reshape(sizes)
    x = x.to(r.choice([torch.float32, torch.float64, torch.int64, torch.int32]))
    dim, keep = dim_of(r, len(sizes)), r.coin()
    k = r.randint(1, sizes[dim])
    return [tried(call) for call in [
        Call("median.dim", x, dim, keep), Call("kthvalue", x, k, dim, keep),
        Call("topk", x, k, dim, r.coin()), Call("mode", x, dim, keep),
        Call("sort", strided(r, x), 0, r.coin()), Call("argsort", x, dim, r.coin()),
    ]]


def orders(r):
    x = element(r, shape(r), "ffib")
    dim, down = dim_of(r, x.dim()), r.coin()
    y = r.ints(3, 5, high=3)
    return [tried(call) for call in [
        Call("sort.stable", x, stable=True, dim=dim, descending=down),
        Call("argsort.stable", x, stable=True, dim=dim, descending=down),
        Call("sort", x, dim, down, skip=(1,)), Call("median.dim", x, dim, skip=(1,)),
        Call("nanmedian.dim", x, dim, skip=(1,)), Call("msort", x),
        Call("mode", y, -1, skip=(1,)), Call("topk", x, 1, dim, skip=(1,)),
    ]]


def scans(r):
    x = element(r, shape(r), "ffficb", special=r.coin())
    dim = dim_of(r, x.dim())
    y = element(r, shape(r), "ffib")
    e = dim_of(r, y.dim())
    z = floating(r, shape(r, rank=2))
    return [tried(call) for call in [
        Call("cumsum", x, dim), Call("cumprod", x, dim), Call("cummax", y, e),
        Call("cumsum", r.ints(2, 3), 1, dtype=torch.float32),
        Call("cummin", y, e), Call("logcumsumexp", z, dim_of(r, 2)),
        Call("logcumsumexp", torch.tensor([float("-inf"), float("-inf"), 1.0]), 0),
    ]]


def places(r):
    row = torch.sort(r.normal(6)).values
    rows = torch.sort(r.normal(2, 5), 1).values
    x, unsorted = r.normal(2, 3), r.normal(5)
    kwargs = {"right": r.coin(), "out_int32": r.coin()}
    return [tried(call) for call in [
        Call("searchsorted.Tensor", row, torch.cat([x.reshape(-1), row[:2]]), **kwargs),
        Call("searchsorted.Tensor", rows, x, **kwargs),
        Call("searchsorted.Tensor", rows, x, side="right"),
        Call("searchsorted.Tensor", unsorted, x, sorter=torch.argsort(unsorted)),
        Call("bucketize.Tensor", x, row, **kwargs),
        Call("bincount", r.ints(7, high=4), minlength=5,
             expect=None),
    ] if call.op != "bincount"]


def unsigned(r):
    """Bytes above 127 among others: as signed numbers they are the least."""
    x = torch.tensor(r.sample(range(256), 24)).reshape(4, 6).to(torch.uint8)
    dim, down = dim_of(r, 2), r.coin()
    indices = r.ints(4, 6, high=4)
    row = torch.sort(x.reshape(-1)).values
    made = [
        Call("sort.stable", x, stable=True, dim=dim, descending=down),
        Call("argsort", x, dim, down), Call("topk", x, 2, dim, r.coin()),
        Call("kthvalue", x, 2, dim), Call("median.dim", x, dim), Call("mode", x, dim),
        Call("cummax", x, dim), Call("cummin", x, dim), Call("cumsum", x, dim),
        Call("cumprod", x, dim), Call("amax", x, [dim]), Call("amin", x, [dim]),
        Call("max.dim", x, dim), Call("min.dim", x, dim), Call("argmax", x, dim),
        Call("sum.dim_IntList", x, [dim]), Call("searchsorted.Tensor", row, x),
        Call("scatter_reduce.two", x, 0, indices, x, r.choice(["amax", "amin", "sum", "prod"])),
    ]
    return [tried(call) for call in made]


FAMILIES = {"reduction": [sums, means, norms, extremes],
            "order": [picks, orders, scans, places], "unsigned": [unsigned]}
