# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reading and writing at computed places; embeddings.

import torch

from .calls import Call

INT_TYPES = [torch.int64, torch.int64, torch.int32]


def element(r, *shape):
    kind = r.choice(["float", "float", "int", "bool", "complex"])
    if kind == "int":
        return r.ints(*shape, low=-(2 ** 60), high=2 ** 60)
    if kind == "bool":
        return r.mask(*shape)
    if kind == "complex":
        return r.complex(*shape)
    return r.normal(*shape)


def shape_of(r, rank=None):
    return [r.randint(1, 4) for _ in range(rank or r.randint(1, 4))]


def index_list(r, shape):
    """Index tensors, None and masks for a tensor of `shape`."""
    picked = [r.randint(1, 3) for _ in range(r.randint(0, 2))]
    indices, dim = [], 0
    while dim < len(shape):
        kind = r.choice(["none", "ints", "ints", "mask"])
        if kind == "none":
            indices.append(None)
        elif kind == "mask" and not picked:
            mask = torch.zeros(shape[dim], dtype=torch.bool)
            mask[r.randrange(shape[dim])] = True
            indices.append(mask)
        else:
            own = list(picked)
            if own and r.coin():
                own = own[1:] if r.coin() else [1] + own[1:]
            indices.append(r.ints(*own, low=-shape[dim], high=shape[dim]))
        dim += 1
    while indices and indices[-1] is None:
        indices.pop()
    if not indices:
        indices = [r.ints(2, high=shape[0])]
    return indices


def index(r):
    shape = shape_of(r)
    x, indices = element(r, *shape), index_list(r, shape)
    made = [Call("index.Tensor", x, indices)]
    if not any(i is not None and i.dtype == torch.bool for i in indices):
        made.append(Call("_unsafe_index.Tensor", x, indices))
    return made


def index_mask(r):
    shape = shape_of(r, 3)
    x = element(r, *shape)
    return [Call("index.Tensor", x, [r.mask(*shape)]),
            Call("index.Tensor", x, [r.mask(*shape[:2])]),
            Call("index.Tensor", x, [None, r.mask(*shape[1:])])]


def index_put(r):
    shape = shape_of(r)
    indices = index_list(r, shape)
    accumulate = r.coin()
    x = r.normal(*shape) if accumulate else element(r, *shape)
    hole = x[tuple(slice(None) if i is None else i for i in indices)].shape
    values = r.choice([list(hole), list(hole)[1:], []])
    v = r.normal(*values) if accumulate else element_like(r, x, values)
    if not accumulate and not distinct(x, indices):
        return None
    return [Call(name, x, indices, v, accumulate)
            for name in ("index_put", "_unsafe_index_put")]


def element_like(r, x, shape):
    if x.dtype == torch.bool:
        return r.mask(*shape)
    if x.dtype == torch.int64:
        return r.ints(*shape, low=-(2 ** 60), high=2 ** 60)
    if x.is_complex():
        return r.complex(*shape)
    return r.normal(*shape)


def distinct(x, indices):
    places = torch.arange(x.numel()).reshape(x.shape)
    hit = places[tuple(slice(None) if i is None else i for i in indices)].reshape(-1)
    return len(set(hit.tolist())) == hit.numel()


def masked_index(r):
    shape = shape_of(r, 3)
    i, j = r.ints(2, 3, low=0, high=shape[0] + 2), r.ints(3, high=shape[2])
    mask = (i < shape[0])
    x = r.normal(*shape)
    m = mask.unsqueeze(-1).expand(2, 3, shape[1]).contiguous()
    values = r.normal(2, 3, shape[1])
    return [Call("_unsafe_masked_index", x, m, [i, None, j], 0.5),
            Call("_unsafe_masked_index_put_accumulate", x, m, [i, None, j], values)]


def gather(r):
    shape = shape_of(r)
    dim = r.randrange(-len(shape), len(shape))
    own = [r.randint(1, s) for s in shape]
    own[dim] = r.randint(1, 5)
    i = r.ints(*own, high=shape[dim])
    x = element(r, *shape)
    wide = list(shape)
    wide[dim] = r.randint(1, 3)
    j = r.ints(*wide, high=shape[dim])
    return [Call("gather", x, dim, i), Call("take_along_dim", x, j, dim),
            Call("take_along_dim", x, r.ints(3, high=x.numel())),
            Call("gather", r.normal(), 0, torch.zeros((), dtype=torch.int64))]


def selects(r):
    shape = shape_of(r)
    dim = r.randrange(-len(shape), len(shape))
    x = element(r, *shape)
    i = r.ints(*r.choice([(), (r.randint(1, 4),)]), high=shape[dim], dtype=r.choice(INT_TYPES))
    t = r.ints(2, 2, low=-x.numel(), high=x.numel())
    return [Call("index_select", x, dim, i), Call("take", x, t),
            Call("index_select", r.normal(), 0, torch.zeros(1, dtype=torch.int64))]


def searches(r):
    shape = shape_of(r)
    x = r.ints(*shape, low=-1, high=2)
    m = r.mask(*r.choice([shape, shape[1:] or [1], [1]]))
    return [Call("nonzero", x), Call("argwhere", x.bool()),
            Call("nonzero_static", x, size=3), Call("nonzero_static", x, size=9, fill_value=7),
            Call("masked_select", element(r, *shape), m)]


def scatter(r):
    shape = shape_of(r)
    dim = r.randrange(-len(shape), len(shape))
    own = [r.randint(1, s) for s in shape]
    i = r.ints(*own, high=shape[dim])
    wide = [r.randint(o, o + 1) for o in own]
    x, s = r.normal(*shape), r.normal(*wide)
    n, t = r.ints(*shape, low=-9, high=9), r.ints(*wide, low=-9, high=9)
    own_self = r.coin()
    mode = r.choice(["sum", "prod", "mean", "amax", "amin"])
    made = [Call("scatter_add", x, dim, i, s), Call("scatter_add", n, dim, i, t),
            Call("scatter.value", x, dim, i, 1.5),
            Call("scatter.src", x, dim, i, s),
            Call("scatter_reduce.two", x, dim, i, s, mode, include_self=own_self),
            Call("scatter.reduce", x, dim, i, s, reduce=r.choice(["add", "multiply"])),
            Call("scatter_reduce.two", n, dim, i, t, mode, include_self=own_self)]
    return made


def slices(r):
    shape = shape_of(r)
    dim = r.randrange(-len(shape), len(shape))
    count = r.randint(1, 4)
    i = r.ints(count, high=shape[dim])
    once = torch.tensor(r.sample(range(shape[dim]), r.randint(1, shape[dim])))
    def source(n, like=None):
        own = list(shape)
        own[dim] = n
        return element_like(r, like, own) if like is not None else r.normal(*own)
    x, e = r.normal(*shape), element(r, *shape)
    n = r.ints(*shape)
    own = list(shape)
    own[dim] = count
    return [Call("index_add", x, dim, i, source(count), alpha=r.choice([1, 0.5])),
            Call("index_add", n, dim, i, r.ints(*own), alpha=2),
            Call("index_copy", e, dim, once, source(len(once), e)),
            Call("index_fill.int_Scalar", x, dim, i, 2.5),
            Call("index_reduce", x, dim, i, source(count), r.choice(["prod", "mean", "amax", "amin"]),
                 include_self=r.coin()),
            Call("index_fill.int_Tensor", x, dim, i, r.normal())]


def puts(r):
    shape = shape_of(r)
    x, m = r.normal(*shape), r.mask(*shape)
    count = r.randint(1, x.numel())
    once = torch.tensor(r.sample(range(-x.numel(), 0), count))
    i = r.ints(3, low=-x.numel(), high=x.numel())
    return [Call("put", x, i, r.normal(3), True), Call("put", x, once, r.normal(count)),
            Call("masked_scatter", x, m, r.normal(x.numel() + 1))]


def embedding(r):
    rows, width = r.randint(2, 5), r.randint(1, 4)
    i = r.ints(*shape_of(r, r.randint(1, 2)), high=rows, dtype=r.choice(INT_TYPES))
    g = r.normal(*i.shape, width)
    padding = r.choice([-1, 0, rows - 1])
    return [Call("embedding", r.normal(rows, width), i, padding),
            Call("embedding_dense_backward", g, i, rows, padding, r.coin())]


def embedding_bag(r):
    rows, width, bags = r.randint(3, 6), r.randint(1, 3), r.randint(1, 4)
    total = r.randint(1, 8)
    i = r.ints(total, high=rows)
    offsets = torch.tensor([0] + sorted(r.randint(0, total) for _ in range(bags - 1)))
    last = r.coin()
    if last:
        offsets = torch.cat([offsets, torch.tensor([total])])
    mode = r.randrange(3)
    w = r.normal(rows, width)
    weights = r.maybe(lambda: r.normal(total)) if mode == 0 else None
    padding = r.choice([-1, 1])
    scaled = r.coin() and mode != 2
    forward = Call("_embedding_bag", w, i, offsets, scaled, mode, False, weights, last, padding)
    out, offset2bag, size, most = forward.run()
    made = []
    bag_of = torch.bucketize(torch.arange(total), offsets[1:bags], right=True)
    forward.expect = (out, bag_of if mode else offset2bag[:0], size,
                      most if mode == 2 else most[:0])
    # For sums the sizes of the bags are not always filled in.
    forward.skip = {0: (2, 3), 1: (3,), 2: ()}[mode]
    made.append(forward)
    surface = Call("embedding_bag.padding_idx", w, i, offsets, scaled, mode, False, weights, last,
                   r.choice([None, -1, 1]))
    plain = Call("embedding_bag", w, i, offsets, scaled, mode, False, weights, last)
    for call in (surface, plain):
        if call.args[-1] is None and call is surface:
            continue
        result = call.run()
        call.expect = (result[0], bag_of if mode else offset2bag[:0], *result[2:])
        call.expect = call.expect[:3] + (result[3] if mode == 2 else most[:0],)
        call.skip = forward.skip
        made.append(call)
    short = r.uniform(1, low=0.5, high=2.0, dtype=torch.float64).item()
    made.append(Call("embedding_renorm", w, i, short, r.choice([1.0, 2.0, 3.0])))
    g = r.normal(bags, width)
    if mode != 2 or padding == -1:
        made.append(Call("_embedding_bag_dense_backward", g, i, bag_of, size, most, rows,
                         False, mode, weights, padding))
    if mode == 0:
        made.append(Call("_embedding_bag_per_sample_weights_backward", g, w, i, offsets,
                         bag_of, mode, padding))
    return made


def segments(r):
    lead, length, inner = r.randint(1, 2), r.randint(2, 6), r.randint(1, 2)
    cuts = [sorted(r.randint(0, length) for _ in range(2)) for _ in range(lead)]
    offsets = torch.tensor([[0, *cut, length] for cut in cuts])
    lengths = offsets.diff()
    x = r.normal(lead, length, inner)
    ties = r.ints(lead, length, inner, low=-2, high=2).to(x.dtype)
    made = []
    for reduce in ("sum", "mean", "max", "min", "prod"):
        given = r.choice([{"lengths": lengths}, {"offsets": offsets}])
        more = dict(given, axis=1, **r.choice([{}, {"initial": 0.5}]))
        data = r.choice([x, ties])
        y = torch.ops.aten.segment_reduce(data, reduce, **more)
        # PyTorch does not share a negative gradient of an extreme.
        made += [Call("segment_reduce", data, reduce, **more),
                 Call("_segment_reduce_backward", r.uniform(*y.shape, dtype=x.dtype), y,
                      data, reduce, **more)]
    flat = torch.tensor([0, 2, length - 2])
    return made + [Call("segment_reduce", x[0], "sum", lengths=flat, unsafe=True)]


def unique_slices(r):
    x = r.ints(r.randint(2, 6), r.randint(1, 2), low=0, high=2)
    y = r.ints(r.randint(1, 7), low=0, high=3).to(r.dtype)
    return [Call("unique_dim", x, 0), Call("unique_dim", x.mT.contiguous(), -1, True, True, True),
            Call("unique_dim_consecutive", x, 0), Call("_unique", y, True, True),
            Call("unique_consecutive", y), Call("unique_consecutive", y, True, True),
            Call("unique_consecutive", x, False, False, 0)]


def sparse_rows(r):
    rows = r.ints(r.randint(1, 7), low=0, high=4).sort().values
    starts = torch.ops.aten._convert_indices_from_coo_to_csr(rows, 4)
    columns = r.ints(len(rows), low=0, high=5)
    return [Call("_convert_indices_from_coo_to_csr", rows, 4, out_int32=r.coin()),
            Call("_convert_indices_from_csr_to_coo", starts, columns, transpose=r.coin())]


def masked_gradients(r):
    mask = r.mask(2, 3)
    return Call("masked_scatter_backward", r.normal(2, 3), mask, [2, r.randint(3, 4)])


FAMILIES = {
    "index": [index, index_mask, index_put, masked_index, gather, selects, searches,
              unique_slices, sparse_rows, segments],
    "scatter": [scatter, slices, puts, masked_gradients],
    "embedding": [embedding, embedding_bag],
}
