# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of layers, each with something that Inductor may rewrite."""
import math

from .making import attention, f, model, of, t, unary, weights


@model
def mlp():
    nn = t().nn
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), [
        t().randn(6, 8)]


@model
def mlp_gelu_loss():
    nn = t().nn
    return of([t().randn(6, 8), t().randint(0, 4, (6,))],
              lambda m, x, y: f().cross_entropy(m.b(f().gelu(m.a(x))), y),
              a=nn.Linear(8, 16), b=nn.Linear(16, 4))


@model
def mlp_three_d():
    nn = t().nn
    return nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8)), [
        t().randn(2, 5, 8)]


@model
def attention_plain():
    return attention(lambda q, k, v: (
        q @ k.transpose(-2, -1) / math.sqrt(4)).softmax(-1) @ v)


@model
def attention_mul():
    return attention(lambda q, k, v: (
        (q @ k.transpose(-2, -1)) * 0.5).softmax(-1) @ v)


@model
def attention_scaled_first():
    return attention(lambda q, k, v: (
        (q * 0.5) @ k.transpose(-2, -1)).softmax(-1) @ v)


@model
def attention_additive():
    return attention(lambda q, k, v, m: (
        q @ k.transpose(-2, -1) / 2.0 + m).softmax(-1) @ v, t().randn(6, 6))


@model
def attention_bool_mask():
    return attention(lambda q, k, v, m: (
        q @ k.transpose(-2, -1) / 2.0).masked_fill(
            m, float("-inf")).softmax(-1) @ v, t().rand(6, 6) > 0.9)


@model
def attention_where():
    return attention(lambda q, k, v, m: t().where(
        m, q @ k.transpose(-2, -1) / 2.0,
        t().finfo(q.dtype).min).softmax(-1) @ v, t().rand(6, 6) > 0.1)


@model
def attention_causal():
    return attention(lambda q, k, v: (
        q @ k.transpose(-2, -1) / 2.0 + t().full(
            (6, 6), float("-inf")).triu(1)).softmax(-1) @ v)


@model
def attention_dropout():
    return attention(lambda q, k, v: f().dropout(
        (q @ k.transpose(-2, -1) / 2.0).softmax(-1), 0.1) @ v)


@model
def sdpa():
    return attention(f().scaled_dot_product_attention)


@model
def sdpa_causal():
    return attention(lambda q, k, v: f().scaled_dot_product_attention(
        q, k, v, is_causal=True))


@model
def sdpa_mask():
    return attention(lambda q, k, v, m: f().scaled_dot_product_attention(
        q, k, v, attn_mask=m), t().randn(6, 6))


@model
def sdpa_grad_mask():
    nn = t().nn
    return of([t().randn(2, 2, 6, 4)],
              lambda m, x: f().scaled_dot_product_attention(
                  x * m.a, x * m.b, x, attn_mask=m.mask),
              a=weights(4), b=weights(4), mask=weights(6, 6))


@model
def attention_one_head():
    return attention(lambda q, k, v: (
        q @ k.transpose(-2, -1)).div(2.0).softmax(-1).matmul(v), heads=1)


@model
def attention_batch_one():
    return attention(lambda q, k, v: (
        q @ k.transpose(-2, -1)).div(2.0).softmax(-1).matmul(v), batch=1)


@model
def attention_half():
    return attention(lambda q, k, v: (
        q.bfloat16() @ k.bfloat16().transpose(-2, -1) / 2.0).float().softmax(
            -1).bfloat16().matmul(v.bfloat16()).float())


@model
def transformer_layer():
    nn = t().nn
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True,
                                      dropout=0.0), [t().randn(2, 5, 8)]


@model
def transformer_layer_dropout():
    nn = t().nn
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), [
        t().randn(2, 5, 8)]


@model
def multihead():
    nn = t().nn
    return of([t().randn(2, 5, 8)],
              lambda m, x: m.a(x, x, x, need_weights=False)[0],
              a=nn.MultiheadAttention(8, 2, batch_first=True))


@model
def multihead_weights():
    nn = t().nn
    return of([t().randn(2, 5, 8)], lambda m, x: m.a(x, x, x),
              a=nn.MultiheadAttention(8, 2, batch_first=True))


@model
def conv_bn():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), [
        t().randn(2, 3, 8, 8)]


@model
def conv_bn_eval():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 3, bias=False),
                         nn.BatchNorm2d(4).eval(), nn.ReLU()), [
        t().randn(2, 3, 8, 8)]


@model
def conv_block():
    nn = t().nn
    return of([t().randn(2, 4, 8, 8)],
              lambda m, x: f().relu(m.b(f().relu(m.a(x))) + x),
              a=nn.Conv2d(4, 4, 3, padding=1), b=nn.Conv2d(4, 4, 3, padding=1))


@model
def conv_transposed():
    nn = t().nn
    return nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2), nn.Tanh()), [
        t().randn(2, 3, 5, 5)]


@model
def conv1d_groups():
    nn = t().nn
    return nn.Sequential(nn.Conv1d(4, 4, 3, groups=4, padding=1), nn.GELU(),
                         nn.Conv1d(4, 8, 1)), [t().randn(2, 4, 9)]


@model
def layer_norm():
    nn = t().nn
    return nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.LayerNorm(8)), [
        t().randn(4, 8)]


@model
def rms_norm():
    return of([t().randn(4, 8)],
              lambda m, x: m.w * x * t().rsqrt(
                  (x * x * m.v).pow(2).mean(-1, keepdim=True) + 1e-6),
              w=weights(8), v=weights(8))


@model
def group_norm():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 1), nn.GroupNorm(2, 4)), [
        t().randn(2, 3, 4, 4)]


@model
def embedding():
    nn = t().nn
    return nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 8)), [
        t().randint(0, 10, (3, 5))]


@model
def embedding_tied():
    nn = t().nn

    def forward(m, x):
        h = t().tanh(m.l(m.e(x)))
        return f().cross_entropy((h @ m.e.weight.t()).view(-1, 10), x.view(-1))
    return of([t().randint(0, 10, (3, 5))], forward, e=nn.Embedding(10, 8),
              l=nn.Linear(8, 8))


@model
def embedding_padding():
    nn = t().nn
    return nn.Embedding(10, 8, padding_idx=0), [t().randint(0, 10, (3, 5))]


@model
def dropout():
    nn = t().nn
    return nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 4)), [
        t().randn(4, 8)]


@model
def rotary():
    nn = t().nn

    def forward(m, x):
        q = m.l(x)
        at = t().arange(6).float()[:, None] * (
            1.0 / 10000 ** (t().arange(0, 8, 2).float() / 8))[None]
        at = t().cat([at, at], -1)
        a, b = q.chunk(2, -1)
        return q * at.cos() + t().cat([-b, a], -1) * at.sin()
    return of([t().randn(2, 6, 8)], forward, l=nn.Linear(8, 8))


@model
def gelu_tanh():
    return unary(lambda x: f().gelu(x, approximate="tanh"))


@model
def silu():
    return unary(lambda x: f().silu(x))


@model
def hard_functions():
    return unary(lambda x: f().hardswish(x) + f().hardtanh(x)
                 + f().leaky_relu(x) + f().elu(x))


@model
def clamps():
    return unary(lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0) + x.abs())


@model
def softplus():
    return unary(lambda x: f().softplus(x) + f().mish(x) + f().logsigmoid(x))


@model
def cross_entropy_smooth():
    nn = t().nn
    return of([t().randn(6, 8), t().randint(0, 4, (6,))],
              lambda m, x, y: f().cross_entropy(m.a(x), y, label_smoothing=0.1,
                                                ignore_index=2),
              a=nn.Linear(8, 4))


@model
def losses():
    nn = t().nn
    return of([t().randn(6, 8), t().randn(6, 4)],
              lambda m, x, y: f().mse_loss(m.a(x), y) + f().smooth_l1_loss(
                  m.a(x), y) + f().binary_cross_entropy_with_logits(
                      m.a(x), y.sigmoid()) + f().l1_loss(m.a(x), y),
              a=nn.Linear(8, 4))


@model
def max_pool():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(36, 5)), [t().randn(2, 3, 8, 8)]


@model
def average_pool():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AvgPool2d(2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten()), [
        t().randn(2, 3, 8, 8)]


@model
def upsample():
    nn = t().nn
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.Upsample(scale_factor=2)), [
        t().randn(2, 3, 5, 5)]
