# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Norms, softmax, losses.

import torch

from .calls import Call

BF16 = torch.bfloat16


def weight_norm(r):
    shape = shape_of(r)
    dim = r.choice([0, 1])
    v = r.normal(*shape)
    norm = Call("norm_except_dim", v, 2, dim)
    g = r.uniform(*norm.run()[0].shape, low=0.5, high=2)
    return [norm, Call("norm_except_dim", v, 2, -1), Call("_weight_norm", v, g, dim)]


def shape_of(r, rank=None):
    return [r.randint(1, 4) for _ in range(rank or r.randint(2, 4))]


def reduced_or_full(r, shape):
    return r.choice([shape, [shape[-1]], [1] * len(shape)])


def layer_norm(r):
    shape = shape_of(r)
    shape[-1] = r.randint(4, 6)
    own = shape[-r.randint(1, 2):]
    w, b = r.maybe(lambda: r.normal(*own)), r.maybe(lambda: r.normal(*own))
    x = r.normal(*shape)
    native = Call("native_layer_norm", x, own, w, b, 1e-5)
    _, mean, rstd = native.run()
    mask = [r.coin(), w is not None, b is not None]
    back = Call("native_layer_norm_backward", r.normal(*shape), x, own, mean,
                rstd, w, b, mask)
    return [native, back, Call("layer_norm", x, own, w, b, 1e-3)]


def rms_norm(r):
    shape = shape_of(r)
    shape[-1] = r.randint(3, 6)
    own = shape[-r.randint(1, 2):]
    w = r.maybe(lambda: r.normal(*own))
    eps = r.choice([None, 1e-5])
    x = r.normal(*shape)
    fused = Call("_fused_rms_norm", x, own, w, eps)
    leaves = [x] + ([w] if w is not None else [])
    g = r.normal(*shape)
    for leaf in leaves:
        leaf.requires_grad_()
    grads = torch.autograd.grad(torch.rms_norm(x, own, w, eps), leaves, g)
    x.requires_grad_(False)
    if w is not None:
        w.requires_grad_(False)
    rstd = fused.run()[1]
    back = Call("_fused_rms_norm_backward", g, x, own, rstd, w,
                [True, w is not None],
                expect=(grads[0], grads[1] if w is not None else None))
    return [fused, back, Call("rms_norm", x, own, w, eps)]


def half_norms(r):
    x, w = r.normal(3, 8, dtype=BF16), r.normal(8, dtype=BF16)
    return [Call("rms_norm", x, [8], w), Call("layer_norm", x, [8], w)]


def affine(r, c):
    return r.maybe(lambda: r.normal(c)), r.maybe(lambda: r.normal(c))


def batch_norm(r):
    c = r.randint(1, 4)
    shape = [r.randint(4, 6), c] + [r.randint(1, 3) for _ in range(r.randint(0, 3))]
    w, b = affine(r, c)
    x, g = r.normal(*shape), r.normal(*shape)
    rm, rv = r.normal(c), r.uniform(c, low=0.5, high=2.0)
    training = r.coin()
    made = [Call("_native_batch_norm_legit_no_training", x, w, b, rm, rv, 0.1, 1e-5),
            Call("_native_batch_norm_legit_functional", x, w, b, rm, rv, training, 0.2, 1e-5),
            Call("_native_batch_norm_legit.no_stats", x, w, b, True, 0.1, 1e-5)]
    for name, extra in (("batch_norm", [False]), ("native_batch_norm", []),
                        ("_native_batch_norm_legit", [])):
        copies = [rm.clone(), rv.clone()]
        result = Call(name, x, w, b, *copies, training, 0.1, 1e-5, *extra).run()
        made.append(Call(name, x, w, b, rm, rv, training, 0.1, 1e-5, *extra,
                         expect=result))
    _, mean, rstd = torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5)
    mask = [r.coin(), w is not None, b is not None]
    made.append(Call("native_batch_norm_backward", g, x, w, rm, rv, mean, rstd,
                     training, 1e-5, mask))
    return made


def instance_norm(r):
    c = r.randint(1, 4)
    shape = [r.randint(1, 3), c, r.randint(4, 6), r.randint(1, 3)]
    w, b = affine(r, c)
    x = r.normal(*shape)
    rm, rv = r.normal(c), r.uniform(c, low=0.5, high=2.0)
    own = r.coin()
    if own:
        return Call("instance_norm", x, w, b, None, None, True, 0.1, 1e-5, False)
    return Call("instance_norm", x, w, b, rm, rv, False, 0.1, 1e-5, False)


def group_norm(r):
    groups = r.randint(1, 3)
    c = groups * r.randint(1, 3)
    shape = [r.randint(1, 3), c] + [r.randint(1, 3) for _ in range(r.randint(1, 3))]
    shape[2] += 3
    w, b = affine(r, c)
    x, g = r.normal(*shape), r.normal(*shape)
    plane = x[0, 0].numel()
    native = Call("native_group_norm", x, w, b, shape[0], c, plane, groups, 1e-5)
    _, mean, rstd = native.run()
    mask = [r.coin(), w is not None, w is not None]
    back = Call("native_group_norm_backward", g, x, mean, rstd, w, shape[0], c,
                plane, groups, mask)
    return [native, back, Call("group_norm", x, groups, w, b, 1e-5)]


def softmax(r):
    shape = shape_of(r, r.randint(1, 4))
    dim = r.randrange(-len(shape), len(shape))
    x, g = r.normal(*shape), r.normal(*shape)
    s, l = torch.softmax(x, dim), torch.log_softmax(x, dim)
    return [Call("_softmax", x, dim, False), Call("_log_softmax", x, dim, False),
            Call("softmax.int", x, dim), Call("log_softmax.int", x, dim),
            Call("softmax.int", x, dim, torch.float64),
            Call("log_softmax.int", x.to(BF16), dim, torch.float32),
            Call("_softmax_backward_data", g, s, dim, x.dtype),
            Call("_log_softmax_backward_data", g, l, dim, x.dtype)]


def masked_softmax(r):
    x = r.normal(3, 4)
    x[1] = float("-inf")
    x[2, r.randrange(4)] = float("-inf")
    zero = r.normal()
    return [Call("_safe_softmax", x, -1), Call("_softmax", x, -1, False),
            Call("_softmax", zero, 0, False)]


REDUCTIONS = [0, 1, 2]


def pointwise_losses(r):
    shape = shape_of(r)
    x, t, mode = r.normal(*shape), r.normal(*shape), r.choice(REDUCTIONS)
    beta = r.choice([0.0, 0.5, 1.0])
    delta = r.choice([0.5, 1.0, 2.0])
    g = r.normal(*(shape if mode == 0 else []))
    y = torch.sign(t)
    return [Call("mse_loss", x, t, mode), Call("l1_loss", x, t, mode),
            Call("smooth_l1_loss", x, t, mode, beta),
            Call("huber_loss", x, t, mode, delta),
            Call("soft_margin_loss", x, y, mode),
            Call("soft_margin_loss_backward", g, x, y, mode),
            Call("mse_loss_backward", g, x, t, mode),
            Call("smooth_l1_loss_backward", g, x, t, mode, beta),
            Call("huber_loss_backward", g, x, t, mode, delta)]


def broadcast_losses(r):
    x, t = r.normal(3, 1, 2), r.normal(4, 1)
    return [Call("mse_loss", x, t, 0), Call("l1_loss", x, t, 2)]


def kl_div(r):
    shape, mode = shape_of(r), r.choice(REDUCTIONS)
    x, t = r.normal(*shape), r.uniform(*shape)
    t.reshape(-1)[0] = 0
    return [Call("kl_div", x, t, mode),
            Call("kl_div", x, t.log().clamp(-5, 5), mode, log_target=True)]


def binary(r):
    shape, mode = shape_of(r), r.choice(REDUCTIONS)
    x, t = r.normal(*shape), r.uniform(*shape)
    p = r.uniform(*shape, low=0.02, high=0.98)
    p.reshape(-1)[0] = r.choice([0.0, 1.0, 0.5])
    w = r.maybe(lambda: r.uniform(*reduced_or_full(r, shape)))
    pw = r.maybe(lambda: r.uniform(shape[-1], low=0.5, high=3.0))
    g = r.normal(*(shape if mode == 0 else []))
    wide = w.expand(shape).contiguous() if w is not None else None
    q = r.uniform(*shape, low=0.02, high=0.98)
    return [Call("binary_cross_entropy", p, t, wide, mode),
            Call("binary_cross_entropy_with_logits", x, t, w, pw, mode),
            Call("binary_cross_entropy_backward", g, q, t, wide, mode)]


def classes(r, shape, c, ignore):
    t = r.ints(*shape, high=c)
    if ignore is not None and t.numel():
        t.reshape(-1)[r.randrange(t.numel())] = ignore
    return t


def nll_loss(r):
    c, mode = r.randint(2, 5), r.choice(REDUCTIONS)
    ignore = r.choice([-100, 1])
    w = r.maybe(lambda: r.uniform(c, low=0.2, high=2.0))
    n = r.randint(2, 4)
    made = []
    for extra in ([], [r.randint(1, 3), r.randint(1, 3)]):
        x = r.normal(n, c, *extra)
        t = classes(r, [n] + extra, c, ignore if r.coin() else None)
        suffix = "2d" if extra else ""
        forward = Call(f"nll_loss{suffix}_forward", x, t, w, mode, ignore)
        _, total = forward.run()
        g = r.normal(*([n] + extra if mode == 0 else []))
        made += [forward,
                 Call(f"nll_loss{suffix}_backward", g, x, t, w, mode, ignore, total),
                 Call(f"nll_loss{suffix}", x, t, w, mode, ignore),
                 Call("nll_loss_nd", x, t, w, mode, ignore)]
    x = r.normal(c)
    made.append(Call("nll_loss_nd", x, r.ints(high=c), w, mode, ignore))
    made.append(Call("nll_loss_forward", x, r.ints(high=c), w, mode, ignore))
    return made


def cross_entropy(r):
    c, mode = r.randint(2, 5), r.choice(REDUCTIONS)
    ignore = r.choice([-100, 1])
    w = r.maybe(lambda: r.uniform(c, low=0.2, high=2.0))
    smoothing = r.choice([0.0, 0.1, 0.3])
    n = r.randint(2, 4)
    extra = [r.randint(1, 3) for _ in range(r.randint(0, 2))]
    x = r.normal(n, c, *extra)
    t = classes(r, [n] + extra, c, ignore if r.coin() else None)
    probabilities = torch.softmax(r.normal(n, c, *extra), 1)
    single = r.normal(c)
    return [Call("cross_entropy_loss", x, t, w, mode, ignore, smoothing),
            Call("cross_entropy_loss", x, probabilities, w, mode, -100, smoothing),
            Call("cross_entropy_loss", single, r.ints(high=c), w, mode, -100, smoothing)]


def weight_norm_units(r):
    # Of one element alone the gradient is nothing but rounding.
    v = r.normal(*[r.randint(2, 4) for _ in range(r.randint(2, 4))])
    dim = r.choice([0, v.dim() - 1])
    g = r.normal(*[n if i == dim else 1 for i, n in enumerate(v.shape)])
    forward = Call("_weight_norm_interface", v, g, dim)
    return [forward, Call("_weight_norm_interface_backward", r.normal(*v.shape), v, g,
                          forward.run()[1], dim)]


FAMILIES = {
    "norm": [layer_norm, rms_norm, half_norms, batch_norm, instance_norm, group_norm,
             weight_norm, weight_norm_units],
    "softmax": [softmax, masked_softmax],
    "loss": [pointwise_losses, broadcast_losses, kl_div, binary, nll_loss, cross_entropy],
}
