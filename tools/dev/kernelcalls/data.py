# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Views, copies, and ops that move or make data.

import torch

from .calls import Call
from .values import element, floating, shape, tried

KINDS = "ffibc"
PLAIN = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64,
         torch.int32, torch.int16, torch.int8, torch.bool]


def dim_of(r, rank):
    return r.randrange(-rank, rank) if rank else 0


def split_of(r, count):
    """Sizes whose product is `count`."""
    sizes = []
    for p in (2, 3, 2, 3):
        if count % p == 0 and r.coin():
            sizes.append(p)
            count //= p
    return sizes + [count] if r.coin() else [count] + sizes


def shaped(r):
    x = element(r, shape(r), KINDS)
    sizes = split_of(r, x.numel())
    open_sizes = list(sizes)
    open_sizes[r.randrange(len(sizes))] = -1
    like = torch.zeros(sizes)
    rank = x.dim()
    made = [Call("view", x, sizes), Call("view", x, open_sizes), Call("reshape", x, sizes),
            Call("_unsafe_view", x, sizes), Call("view_as", x, like),
            Call("reshape_as", x, like), Call("contiguous", x), Call("alias", x),
            Call("detach", x), Call("lift_fresh", x), Call("positive", floating(r, [2, 2])),
            Call("unsqueeze", x, r.randrange(-rank - 1, rank + 1)),
            Call("ravel", x), Call("resolve_conj", floating(r, [2])),
            Call("resolve_neg", x), Call("squeeze", x), Call("squeeze.dim", x, dim_of(r, rank)),
            Call("flatten.using_ints", x), Call("numpy_T", element(r, [2, 3], KINDS))]
    if rank > 0:
        d = dim_of(r, rank)
        made += [Call("unflatten.int", x, d, split_of(r, x.shape[d])),
                 Call("flatten.using_ints", x, r.randrange(rank), -1),
                 Call("squeeze.dims", x, [d, 0] if d % rank else [d])]
    return [tried(call) for call in made]


def ordered(r):
    x = element(r, shape(r), KINDS)
    rank = x.dim()
    order = r.sample(range(rank), rank)
    made = [Call("permute", x, [d - rank if r.coin() else d for d in order]),
            Call("transpose.int", x, dim_of(r, rank), dim_of(r, rank)),
            Call("t", element(r, shape(r, rank=r.randint(0, 2)), KINDS)),
            Call("movedim.int", x, dim_of(r, rank), dim_of(r, rank)),
            Call("flip", x, r.sample(range(rank), r.randint(0, rank)))]
    if rank > 1:
        made += [Call("movedim.intlist", x, [0, -1], [-1, 0]), Call("mT", x),
                 Call("moveaxis.intlist", x, [0], [1]), Call("moveaxis.int", x, 0, -1),
                 Call("swapaxes", x, 0, -1), Call("swapdims", x, -1, 0), Call("adjoint", x)]
    return [tried(call) for call in made]


def expanded(r):
    x = element(r, [r.choice([1, 3]), 1, r.choice([1, 2])], KINDS)
    target = [2] * r.randint(0, 2) + [3, 4, 2]
    y = element(r, [4, 1], KINDS)
    made = [Call("expand", x, target), Call("expand", x, [-1, 4, -1]),
            Call("expand_as", x, torch.zeros(target)), Call("broadcast_to", x, target),
            Call("broadcast_tensors", [x, y]), Call("repeat", x, [2, 1, 3]),
            Call("repeat", x, [2, 1, 1, 2]), Call("tile", x, [2]),
            Call("meshgrid", [element(r, [2]), element(r, [3]), element(r, [])]),
            Call("meshgrid.indexing", [r.normal(2), r.normal(3)],
                 indexing=r.choice(["ij", "xy"]))]
    return [tried(call) for call in made]


def parts(r):
    x = element(r, shape(r, rank=r.randint(1, 3), high=6), KINDS)
    d = dim_of(r, x.dim())
    n = x.shape[d]
    start, end, step = r.randint(-n - 1, n), r.choice([None, n, -1, 2, 99]), r.randint(1, 3)
    width = r.randint(0, n)
    sizes = [width, n - width]
    made = [Call("slice.Tensor", x, d, start, end, step), Call("slice.Tensor", x, d),
            Call("select.int", x, d, r.randrange(-n, n)),
            Call("narrow", x, d, n - width, width), Call("split_with_sizes", x, sizes, d),
            Call("split.sizes", x, sizes, d), Call("split.Tensor", x, r.randint(1, n), d),
            Call("chunk", x, r.randint(1, 4), d), Call("unsafe_chunk", x, 2, d),
            Call("unsafe_split.Tensor", x, 2, d), Call("unsafe_split_with_sizes", x, sizes, d),
            Call("tensor_split.sections", x, r.randint(1, 4), d),
            Call("tensor_split.indices", x, [1, n - 1], d), Call("vsplit.array", r.normal(4, 2), [1]),
            Call("hsplit.int", r.normal(2, 4), 2), Call("dsplit.int", r.normal(1, 2, 4), 2),
            Call("hsplit.array", r.normal(5), [2, 3]), Call("vsplit.int", r.normal(4, 2), 2),
            Call("dsplit.array", r.normal(1, 2, 4), [1, -1]), Call("unbind.int", x, d),
            Call("unfold", x, d, r.randint(1, n), r.randint(1, 3))]
    y = element(r, shape(r, rank=r.randint(2, 3)), KINDS)
    made.append(Call("diagonal", y, r.randint(-2, 2), 0, -1))
    made.append(Call("as_strided", r.normal(4, 3), [2, 3], [1, 3], r.randint(0, 3)))
    made.append(Call("as_strided_copy", r.normal(4, 3), [2, 2], [4, 0], 1))
    return [tried(call) for call in made]


def bits(r):
    z = element(r, shape(r), "c")
    made = [Call("view_as_real", z), Call("view_as_complex", r.normal(3, 2)),
            Call("real", z), Call("imag", z),
            Call("view.dtype", r.normal(2, 4, dtype=torch.float32), torch.int32),
            Call("view.dtype", r.normal(2, 4, dtype=torch.float32),
                 r.choice([torch.uint8, torch.int16, torch.float64])),
            Call("view.dtype", r.ints(2, 4, dtype=torch.int8), torch.int32)]
    return [tried(call) for call in made]


def view_copies(r):
    x, z = element(r, [3, 1, 4], KINDS), element(r, [2, 3], "c")
    made = [Call("view_copy", x, [2, -1]), Call("expand_copy", x, [2, 3, 5, 4]),
            Call("permute_copy", x, [2, 0, 1]), Call("t_copy", z),
            Call("transpose_copy.int", x, 0, -1), Call("unsqueeze_copy", x, 1),
            Call("squeeze_copy", x), Call("squeeze_copy.dim", x, 1),
            Call("squeeze_copy.dims", x, [0, 1]), Call("select_copy.int", x, 2, -1),
            Call("slice_copy.Tensor", x, 2, 1, 9, 2), Call("narrow_copy", x, 2, 1, 2),
            Call("split_copy.Tensor", x, 2, 0), Call("split_with_sizes_copy", x, [1, 3], 2),
            Call("unbind_copy.int", x, 0), Call("unfold_copy", x, 2, 2, 1),
            Call("diagonal_copy", x, 1, 0, 2), Call("detach_copy", x), Call("alias_copy", x),
            Call("view_as_real_copy", z), Call("view_as_complex_copy", r.normal(3, 2)),
            Call("view_copy.dtype", r.normal(2, 4, dtype=torch.float32), torch.int32)]
    return [tried(call) for call in made]


def copies(r):
    x = element(r, shape(r), KINDS, special=False)
    to = r.choice(PLAIN)
    if to == torch.uint8 or x.is_complex():
        to = torch.complex64
    y = element(r, [2, 3], "ffib", special=False)
    return [tried(call) for call in [
        Call("clone", x), Call("_to_copy", x, dtype=to), Call("to.dtype", x, to),
        Call("to.other", x, torch.zeros(1, dtype=to)), Call("to.dtype", x, x.dtype), Call("to.dtype", x, x.dtype, False, True),
        Call("type_as", x, torch.zeros(1, dtype=to)), Call("lift_fresh_copy", x),
        Call("copy", y, element(r, [3], "ffib", special=False)),
        Call("copy", y, element(r, [], "ffib", special=False)),
        Call("zeros_like", x), Call("ones_like", x, dtype=to), Call("full_like", y, 2),
        Call("new_zeros", x, [2]), Call("new_ones", x, [2, 1], dtype=to),
        Call("new_full", y, [3], 1),
    ]]


def joined(r):
    sizes = shape(r, rank=r.randint(1, 3))
    d = dim_of(r, len(sizes))
    pieces = []
    for _ in range(r.randint(1, 4)):
        own = list(sizes)
        own[d] = r.randint(0, 3)
        pieces.append(element(r, own, "ffi"))
    if r.coin():
        pieces.append(torch.zeros(0))
    same = [element(r, sizes, "fib") for _ in range(3)]
    return [tried(Call("cat", pieces, d)),
            tried(Call("stack", same, r.randrange(-len(sizes) - 1, len(sizes) + 1)))]


def padded(r):
    x, y, z = r.normal(2, 4), r.normal(2, 4, 3), r.normal(1, 2, 4, 3, 3)
    one, two, three = ([r.randint(0, 2) for _ in range(n)] for n in (2, 4, 6))
    k = element(r, [3, 4], KINDS)
    pads = [r.randint(-1, 2) for _ in range(r.choice([2, 4]))]
    made = [Call("constant_pad_nd", k, pads), Call("constant_pad_nd", r.normal(3, 4), pads, 1.5),
            Call("pad", r.normal(3, 4), pads, "constant", 2.0),
            Call("pad", x, one, r.choice(["reflect", "replicate", "circular"]))]
    for name in ("reflection_pad", "replication_pad"):
        made += [Call(name + "1d", x, one), Call(name + "2d", y, two),
                 Call(name + "3d", z, three)]
        for rank, input, pads in ((1, x, one), (2, y, two), (3, z, three)):
            out = tried(Call(f"{name}{rank}d", input, pads))
            if out is not None:
                made.append(Call(f"{name}{rank}d_backward", r.normal(*out.expect[0].shape,
                                 dtype=input.dtype), input, pads))
    return [tried(call) for call in made]


def circles(r):
    pads = r.choice([[2, -1], [-2, 1]])
    return Call("pad", r.normal(2, 4), pads, "circular")


def moved(r):
    x = element(r, shape(r), KINDS)
    rank = x.dim()
    counts = r.ints(3, high=4)
    y = element(r, shape(r, rank=r.randint(2, 3)), KINDS)
    made = [Call("roll", x, [r.randint(-5, 5)]),
            Call("repeat_interleave.self_int", x, r.randint(0, 3)),
            Call("repeat_interleave.self_Tensor", element(r, [3, 2], KINDS), counts, 0),
            Call("repeat_interleave.self_Tensor", element(r, [3], KINDS), torch.tensor([2])),
            Call("repeat_interleave.Tensor", counts),
            Call("tril", y, r.randint(-2, 2)), Call("triu", y, r.randint(-2, 2)),
            Call("one_hot", r.ints(2, 3, high=4), 5)]
    if rank > 0:
        made += [Call("roll", x, [r.randint(-5, 5), 1], [dim_of(r, rank), 0]),
                 Call("repeat_interleave.self_int", x, 2, dim_of(r, rank))]
    return [tried(call) for call in made]


def scattered(r):
    x = r.normal(4, 5)
    d, step = r.choice([0, 1, -1]), r.randint(1, 2)
    start, end = r.randint(0, 2), r.choice([None, 4])
    hole = list(torch.ops.aten.slice(x, d, start, end, step).shape)
    made = [Call("slice_scatter", x, r.normal(*hole), d, start, end, step),
            Call("select_scatter", x, r.normal(5), 0, r.randint(-4, 3)),
            Call("diagonal_scatter", x, r.normal(*x.diagonal(1).shape), 1),
            Call("as_strided_scatter", x, r.normal(2, 2), [2, 2], [5, 2], 1)]
    if end is not None:
        made.append(Call("slice_backward", r.normal(*hole), [4, 5], d, start, end, step))
    made += [Call("select_backward", r.normal(5), [4, 5], 0, r.randint(-4, 3)),
             Call("diagonal_backward", r.normal(3), [4, 3], r.choice([0, -1]), 0, 1),
             Call("unfold_backward", r.normal(4, 2, 3), [4, 5], 1, 3, 2)]
    return [tried(call) for call in made]


def created(r):
    to = r.choice(PLAIN)
    start, end = r.randint(-5, 5), r.randint(6, 12)
    made = [Call("full", [2, 3], r.choice([2, 0.5, True])), Call("full", [2], 3, dtype=to),
            Call("zeros", [2, 0]), Call("ones", [3], dtype=to), Call("scalar_tensor", 2.5),
            Call("scalar_tensor", 3, dtype=to), Call("eye", 3), Call("eye.m", 2, 3, dtype=to),
            Call("arange", end), Call("arange.start", start, end),
            Call("arange.start_step", start, end, 3), Call("arange.start_step", end, start, -2),
            Call("arange.start_step", 0.5, 3.0, 0.25), Call("arange", 4.5),
            Call("arange", 7, dtype=torch.float64), Call("arange.start", 1, 4, dtype=torch.int32),
            Call("tril_indices", 3, 4, r.randint(-2, 2)),
            Call("triu_indices", 3, 2, r.randint(-2, 2), dtype=torch.int32),
            Call("linspace", -1.0, 2.0, r.randint(1, 7)), Call("linspace", 0, 9, 4),
            Call("linspace", 0, 3, 4, dtype=torch.float64)]
    made += [Call("prims.iota", 5, start=start, step=2, dtype=torch.int64, device="cpu",
                  requires_grad=False, expect=(torch.arange(5) * 2 + start,))]
    return [tried(call) for call in made]


def pools(r):
    x = r.normal(2, 3, 7, 6)
    kernel, stride, padding = [3, 2], [2, 2], [1, 0]
    ceil = r.coin()
    out, indices = torch.ops.aten.max_pool2d_with_indices(x, kernel, stride, padding, [1, 1], ceil)
    # Indices in the plane to offsets in the window.
    h, w = indices // 6, indices % 6
    oh = torch.arange(out.shape[2]).view(-1, 1) * 2 - 1
    ow = torch.arange(out.shape[3]) * 2
    offsets = ((h - oh) * 2 + (w - ow)).to(torch.int8)
    return [Call("prims._low_memory_max_pool_with_offsets", x, kernel, stride, padding, [1, 1],
                 ceil, expect=(out, offsets)),
            Call("prims._low_memory_max_pool_offsets_to_indices", offsets, kernel, [7, 6], stride,
                 padding, [1, 1], expect=(indices,))]


FAMILIES = {"view": [shaped, ordered, expanded, parts, bits, view_copies],
            "data": [copies, joined, padded, circles, moved, scattered, created, pools]}
