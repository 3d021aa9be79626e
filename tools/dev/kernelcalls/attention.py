# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Scaled dot-product attention: forward and backward of all kernels.

import torch

from .calls import Call


def operands(r, grouped=False):
    b, h, l, s, e = (r.randint(1, 3) for _ in range(5))
    e *= 2
    g = 1
    if grouped:
        g, h = h, h * 2
    else:
        g = h
    return r.normal(b, h, l, e), r.normal(b, g, s, e), r.normal(b, g, s, e)


def mask_of(r, q, k, truth=None):
    b, h, l, _ = q.shape
    s = k.shape[2]
    shape = r.choice([(l, s), (b, 1, l, s), (b, h, l, s), (1, 1, 1, s)])
    if truth if truth is not None else r.coin():
        m = r.mask(*shape)
        m[..., 0] = True
        return m
    return r.normal(*shape)


def surface(r):
    grouped = r.coin()
    q, k, v = operands(r, grouped)
    causal = r.coin()
    mask = None if causal else r.maybe(lambda: mask_of(r, q, k))
    kwargs = {}
    if r.coin():
        kwargs["scale"] = 0.3
    if grouped:
        kwargs["enable_gqa"] = True
    return [Call("scaled_dot_product_attention", q, k, v, mask, 0.0, causal, **kwargs),
            Call("_scaled_dot_product_attention_math", q, k, v, mask, 0.0, causal, None,
                 **kwargs)]


def ranks(r):
    lead = r.choice([(), (3,), (2, 1, 3)])
    q, k = r.normal(*lead, 2, 4), r.normal(*lead, 3, 4)
    return Call("scaled_dot_product_attention", q, k, r.normal(*lead, 3, 5))


def empty_rows(r):
    q, k, v = operands(r)
    mask = r.mask(q.shape[2], k.shape[2])
    mask[0] = False
    return Call("scaled_dot_product_attention", q, k, v, mask)


def dropped(r):
    q, k, v = operands(r)
    keep = r.mask(*q.shape[:3], k.shape[2])
    return Call("_scaled_dot_product_attention_math", q, k, v, None, 0.25, False, keep)


def gradients(q, k, v, mask, causal, scale, g):
    """By autograd through the formula."""
    leaves = [q, k, v] + ([mask] if mask is not None else [])
    leaves = [t.clone().double().requires_grad_() for t in leaves]
    l, s = q.shape[2], k.shape[2]
    scale = scale if scale is not None else q.shape[3] ** -0.5
    scores = leaves[0] @ leaves[1].transpose(2, 3) * scale
    if mask is not None:
        scores = scores + leaves[3]
    if causal:
        scores = scores.masked_fill(~torch.ones(l, s, dtype=torch.bool).tril(), float("-inf"))
    out = torch.softmax(scores, -1) @ leaves[2]
    grads = torch.autograd.grad(out, leaves, g.double())
    lse = torch.logsumexp(scores, -1)
    return out.detach(), lse.detach(), [x.to(q.dtype) for x in grads]


def flash_cpu(r):
    q, k, v = operands(r)
    causal = r.coin()
    mask = None if causal else r.maybe(lambda: mask_of(r, q, k, truth=False))
    scale = r.maybe(lambda: 0.3)
    kwargs = {"attn_mask": mask, "scale": scale}
    forward = Call("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.0, causal, **kwargs)
    out, lse = forward.run()
    g = r.normal(*out.shape)
    expect = gradients(q, k, v, mask, causal, scale, g)[2][:3]
    back = Call("_scaled_dot_product_flash_attention_for_cpu_backward", g, q, k, v,
                out, lse, 0.0, causal, **kwargs, expect=expect)
    return [forward, back]


def efficient(r):
    q, k, v = operands(r)
    r_dtype = torch.float32
    q, k, v = (t.to(r_dtype) for t in (q, k, v))
    causal = r.coin()
    bias = None
    if not causal and r.coin():
        shape = r.choice([tuple(q.shape[:3]) + (k.shape[2],), (1, 1, q.shape[2], k.shape[2])])
        bias = r.normal(*shape, dtype=r_dtype)
    g = r.normal(*q.shape[:3], v.shape[3], dtype=r_dtype)
    out, lse, grads = gradients(q, k, v, bias, causal, None, g)
    out, lse = out.to(r_dtype), lse.to(r_dtype)
    rows = (q.shape[2] + 31) // 32 * 32
    padded = torch.zeros(*lse.shape[:2], rows)
    padded[..., :q.shape[2]] = lse
    state = torch.zeros((), dtype=torch.int64)
    forward = Call("_scaled_dot_product_efficient_attention", q, k, v, bias, True, 0.0,
                   causal, expect=(out, padded, state, state), skip=(2, 3))
    wants = bias is not None
    back = Call("_scaled_dot_product_efficient_attention_backward", g, q, k, v, bias,
                out, padded, state, state, 0.0, [True, True, True, wants], causal,
                expect=tuple(grads[:3]) + ((grads[3],) if wants else (None,)))
    return [forward, back]


def cudnn(r):
    q, k, v = (t.to(torch.bfloat16) for t in operands(r))
    causal = r.coin()
    g = r.normal(*q.shape[:3], v.shape[3], dtype=torch.bfloat16)
    out, lse, grads = gradients(q, k, v, None, causal, None, g)
    out, lse = out.to(torch.bfloat16), lse.float().unsqueeze(-1)
    state = torch.zeros((), dtype=torch.int64)
    forward = Call("_scaled_dot_product_cudnn_attention", q, k, v, None, True, 0.0, causal,
                   False, expect=(out, lse, None, None, 1, 1, state, state, None), skip=(6, 7))
    return forward


FAMILIES = {"attention": [surface, ranks, empty_rows, dropped, flash_cpu, efficient, cudnn]}
