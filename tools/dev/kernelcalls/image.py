# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutions, pooling, resampling.

import torch

from .calls import Call


def convolution_parts(r, n=None, transposed=None):
    n = n or r.randint(1, 3)
    transposed = r.coin() if transposed is None else transposed
    groups = r.randint(1, 2)
    cin, cout = groups * r.randint(1, 2), groups * r.randint(1, 2)
    kernel = [r.randint(1, 3) for _ in range(n)]
    stride = [r.randint(1, 2) for _ in range(n)]
    dilation = [r.randint(1, 2) for _ in range(n)]
    padding = [r.randint(0, 1) for _ in range(n)]
    extra = [r.randint(0, max(s, d) - 1) if transposed else 0
             for s, d in zip(stride, dilation)]
    sizes = [(k - 1) * d + r.randint(1, 3) for k, d in zip(kernel, dilation)]
    w = [cin, cout // groups] if transposed else [cout, cin // groups]
    return (r.normal(r.randint(1, 2), cin, *sizes), r.normal(*w, *kernel),
            r.maybe(lambda: r.normal(cout)), stride, padding, dilation, transposed,
            extra, groups)


def long_strides(r):
    """Strides that multiply to more than 8: patches, and what puts them back."""
    n = r.randint(1, 3)
    transposed = r.coin()
    groups = r.randint(1, 2)
    cin, cout = groups * r.randint(1, 2), groups * r.randint(1, 2)
    stride = [r.randint(9, 16)] if n == 1 else [r.randint(3, 4) for _ in range(n)]
    kernel = [r.choice([1, s, s + 1]) for s in stride]
    dilation = [r.randint(1, 2) for _ in range(n)]
    padding = [r.randint(0, k // 2) for k in kernel]
    extra = [r.randint(0, s - 1) if transposed else 0 for s in stride]
    sizes = [r.randint(1, 2) if transposed else
             (k - 1) * d + 1 + r.randint(0, 1) * s + r.randint(0, 2)
             for k, d, s in zip(kernel, dilation, stride)]
    w = [cin, cout // groups] if transposed else [cout, cin // groups]
    return convolution(r, (r.normal(2, cin, *sizes), r.normal(*w, *kernel),
                           r.maybe(lambda: r.normal(cout)), stride, padding, dilation,
                           transposed, extra, groups))


def convolution(r, parts=None):
    parts = parts or convolution_parts(r)
    x, w, b, stride, padding, dilation, transposed, extra, groups = parts
    try:
        y = torch.ops.aten.convolution(*parts)
    except RuntimeError:
        return None
    mask = [r.coin(), r.coin(), r.coin()]
    back = Call("convolution_backward", r.normal(*y.shape), x, w, [y.shape[1]],
                stride, padding, dilation, transposed, extra, groups, mask)
    # Some kernels of PyTorch compute what nobody asked for.
    back.expect = [g if m else None for g, m in zip(back.run(), mask)]
    return [Call("convolution", *parts),
            Call("_convolution", *parts, False, False, True, True), back]


def surface_convolution(r):
    n = r.randint(1, 3)
    x, w, b, stride, padding, dilation, _, _, groups = convolution_parts(r, n, False)
    if r.coin():
        x = x[0]
    same = Call(f"conv{n}d.padding", x, w, b, [1] * n, r.choice(["same", "valid"]),
                dilation, groups)
    return [Call(f"conv{n}d", x, w, b, stride, padding, dilation, groups), same]


def surface_transposed(r):
    n = r.randint(1, 3)
    x, w, b, stride, padding, dilation, _, extra, groups = convolution_parts(r, n, True)
    name = ["conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"][n - 1]
    if r.coin():
        x = x[0]
    try:
        return keep(Call(name, x, w, b, stride, padding, extra, groups, dilation))
    except RuntimeError:
        return None


def keep(call):
    call.expect = call.run()
    return call


def pool_parts(r, n):
    kernel = [r.randint(1, 3) for _ in range(n)]
    stride = r.choice([[], [r.randint(1, 3) for _ in range(n)]])
    padding = [r.randint(0, k // 2) for k in kernel]
    sizes = [k + r.randint(0, 3) for k in kernel]
    lead = r.choice([[2, 2], [1, 3], [2]])
    return r.normal(*lead, *sizes), kernel, stride, padding, r.coin()


def avg_pool(r):
    n = r.randint(1, 3)
    x, kernel, stride, padding, ceil = pool_parts(r, n)
    include = r.coin()
    more = [] if n == 1 else [r.maybe(lambda: r.randint(1, 5))]
    call = keep(Call(f"avg_pool{n}d", x, kernel, stride, padding, ceil, include, *more))
    if n == 1:
        return call
    g = r.normal(*call.expect[0].shape)
    return [call, Call(f"avg_pool{n}d_backward", g, x, kernel, stride or kernel, padding,
                       ceil, include, *more)]


def max_pool(r):
    n = r.randint(1, 3)
    x, kernel, stride, padding, ceil = pool_parts(r, n)
    dilation = [1] * n
    if r.coin():
        dilation = [r.randint(1, 2) for _ in range(n)]
        x = torch.nn.functional.pad(x, [0, 3] * n)
    made = [Call(f"max_pool{n}d", x, kernel, stride, padding, dilation, ceil)]
    if n > 1:
        call = Call(f"max_pool{n}d_with_indices", x, kernel, stride, padding, dilation, ceil)
        y, i = call.run()
        g = r.normal(*y.shape)
        made += [call, Call(f"max_pool{n}d_with_indices_backward", g, x, kernel,
                            stride or kernel, padding, dilation, ceil, i)]
    return made


def adaptive(r):
    n = r.randint(1, 3)
    lead = r.choice([[2, 2], [3]])
    x = r.normal(*lead, *[r.randint(1, 5) for _ in range(n)])
    size = [r.randint(1, 6) for _ in range(n)]
    made = []
    if n < 3:
        made.append(Call(f"adaptive_avg_pool{n}d", x, size))
        maximum = keep(Call(f"adaptive_max_pool{n}d", x, size))
        made.append(maximum)
    if n > 1:
        average = keep(Call(f"_adaptive_avg_pool{n}d", x, size))
        g = r.normal(*average.expect[0].shape)
        made += [average, Call(f"_adaptive_avg_pool{n}d_backward", g, x)]
    if n == 2:
        y, i = maximum.expect
        made.append(Call("adaptive_max_pool2d_backward", r.normal(*y.shape), x, i))
    if n == 3:
        maximum = keep(Call("adaptive_max_pool3d", x, size))
        y, i = maximum.expect
        made += [maximum, Call("adaptive_avg_pool3d", x, size),
                 Call("adaptive_max_pool3d_backward", r.normal(*y.shape), x, i)]
    return made


def fractional(r):
    n = r.randint(2, 3)
    lead = r.choice([[2, 2], [3]])
    kernel = [r.randint(1, 3) for _ in range(n)]
    output = [r.randint(1, 3) for _ in range(n)]
    sizes = [k + o - 1 + r.randint(0, 4) for k, o in zip(kernel, output)]
    x = r.normal(*lead, *sizes)
    samples = r.uniform(*([1] * (2 - len(lead))), *lead, n, dtype=x.dtype)
    call = keep(Call(f"fractional_max_pool{n}d", x, kernel, output, samples))
    y, i = call.expect
    return [call, Call(f"fractional_max_pool{n}d_backward", r.normal(*y.shape), x,
                       kernel, output, i)]


def fractional_below(r):
    # Numbers that are none of those PyTorch draws.
    samples = -9 * r.uniform(1, 1, 2, dtype=torch.float64)
    x = r.normal(1, 1, 9, 9, dtype=torch.float64)
    return keep(Call("fractional_max_pool2d", x, [1, 2], [4, 5], samples))


def upsample(r):
    n = r.randint(1, 3)
    x = r.normal(r.randint(1, 2), 2, *[r.randint(1, 4) for _ in range(n)])
    modes = {1: ["nearest", "linear"], 2: ["nearest", "bilinear", "bicubic"],
             3: ["nearest", "trilinear"]}[n]
    mode = r.choice(modes)
    name = f"upsample_{mode}{n}d"
    align = [] if mode == "nearest" else [r.coin()]
    factors = [r.choice([0.5, 1.5, 2.0, 2.5, 3.0]) for _ in range(n)]
    size = [max(1, int(s * f)) for s, f in zip(x.shape[2:], factors)]
    if any(int(s * f) < 1 for s, f in zip(x.shape[2:], factors)):
        factors = [None] * n
    given = factors if r.coin() else [None] * n
    made = [Call(name, x, size, *align, *given)]
    if given[0] is not None:
        made.append(Call(name + ".vec", x, None, *align, given))
    made.append(Call(name + ".vec", x, size, *align, None))
    g = r.normal(*x.shape[:2], *size)
    made.append(Call(name + "_backward", g, size, list(x.shape), *align, *given))
    return made


def exact_and_smooth(r):
    made = []
    factors = [r.choice([0.4, 0.7, 1.5, 2.0, 2.5]) for _ in range(3)]
    for n, mode in ((1, "nearest_exact"), (2, "nearest_exact"), (3, "nearest_exact"),
                    (2, "bilinear"), (2, "bicubic")):
        # PyTorch's smooth modes are wrong for results of width 1.
        x = r.normal(1, 2, *[r.randint(5, 7) for _ in range(n)])
        aa = "" if mode == "nearest_exact" else "_aa"
        align = [r.coin()] if aa else []
        size = [int(s * f) for s, f in zip(x.shape[2:], factors)]
        name = f"_upsample_{mode}{n}d{aa}"
        given = r.choice([factors[:n], [None] * n])
        g = r.normal(1, 2, *size)
        made += [Call(name, x, size, *align, *given),
                 Call(name + ".vec", x, None, *align, factors[:n]),
                 Call(name + "_backward", g, size, list(x.shape), *align, *given)]
    return made


def grid_sampler(r):
    n = r.choice([2, 3])
    x = r.normal(2, 2, *[r.randint(2, 4) for _ in range(n)])
    out = [r.randint(1, 3) for _ in range(n)]
    grid = r.uniform(2, *out, n, low=-1.4, high=1.4)
    mode = r.choice([0, 1, 2] if n == 2 else [0, 1])
    rest = [x, grid, mode, r.randrange(3), r.coin()]
    g = r.normal(2, 2, *out)
    wants = [True, r.coin()]
    back = Call(f"grid_sampler_{n}d_backward", g, *rest, wants)
    back.expect = [t if w else None for t, w in zip(back.run(), wants)]
    affine = Call("affine_grid_generator", r.normal(2, n, n + 1), [2, 1] + out, r.coin())
    return [Call(f"grid_sampler_{n}d", *rest), back, affine]


def unfold(r):
    kernel = [r.randint(1, 3) for _ in range(2)]
    dilation = [r.randint(1, 2) for _ in range(2)]
    padding = [r.randint(0, 1) for _ in range(2)]
    stride = [r.randint(1, 2) for _ in range(2)]
    sizes = [(k - 1) * d + r.randint(1, 3) for k, d in zip(kernel, dilation)]
    lead = r.choice([[2, 2], [3]])
    x = r.normal(*lead, *sizes)
    call = keep(Call("im2col", x, kernel, dilation, padding, stride))
    g = r.normal(*call.expect[0].shape)
    return [call, Call("col2im", g, sizes, kernel, dilation, padding, stride)]


def shuffle(r):
    f, c = r.randint(1, 3), r.randint(1, 2)
    lead = r.choice([[], [2]])
    h, w = r.randint(1, 3), r.randint(1, 3)
    return [Call("pixel_shuffle", r.normal(*lead, c * f * f, h, w), f),
            Call("pixel_unshuffle", r.normal(*lead, c, h * f, w * f), f),
            Call("channel_shuffle", r.normal(2, c * f, h, w), f),
            Call("native_channel_shuffle", r.normal(2, c * f, h), f)]


long_strides.times = convolution.times = upsample.times = avg_pool.times = max_pool.times = 2
FAMILIES = {
    "convolution": [convolution, surface_convolution, surface_transposed],
    "convolution_strides": [long_strides],
    "pool": [avg_pool, max_pool, adaptive, fractional,
             fractional_below],
    "upsample": [upsample, exact_and_smooth, grid_sampler, unfold, shuffle],
}
