# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as people write them, small: what random models are composed of.

Sequences are (batch, time, width), images (batch, channels, height, width). The
ways of writing the same thing differ on purpose: views, writes in place, masks
and casts are where a compiler goes wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


def rotate_half(x):
    one, two = x.chunk(2, dim=-1)
    return torch.cat((-two, one), dim=-1)


class Rotary(nn.Module):
    """Positions as angles, in four ways of writing them."""

    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.register_buffer("frequencies", 1.0 / 100 ** (
            torch.arange(0, width, 2).float() / width), persistent=False)

    def forward(self, x):  # (batch, heads, time, width)
        times = torch.arange(x.shape[-2], device=x.device).to(
            self.frequencies.dtype)
        angles = torch.outer(times, self.frequencies)
        if self.kind == "complex":
            turns = torch.polar(torch.ones_like(angles).double(),
                                angles.double())
            pairs = torch.view_as_complex(
                x.double().reshape(*x.shape[:-1], -1, 2))
            return torch.view_as_real(pairs * turns).flatten(-2).type_as(x)
        if self.kind == "stack":
            cos, sin = angles.cos().to(x), angles.sin().to(x)
            even, odd = x[..., ::2], x[..., 1::2]
            return torch.stack((even * cos - odd * sin,
                                even * sin + odd * cos), -1).flatten(-2)
        if self.kind == "write":
            cos, sin = angles.cos().to(x), angles.sin().to(x)
            out = torch.empty_like(x)
            out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
            out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
            return out
        both = torch.cat((angles, angles), dim=-1)
        return (x * both.cos().to(x.dtype)) + (
            rotate_half(x) * both.sin().to(x.dtype))


class Attention(nn.Module):
    def __init__(self, width, heads=2, groups=1, rotary="", mask="none",
                 norm=False, fused=True):
        super().__init__()
        self.heads, self.groups, self.mask = heads, groups, mask
        self.size = width // heads
        few = heads // groups
        self.qkv = nn.Linear(width, (heads + 2 * few) * self.size,
                             bias=not norm)
        self.out = nn.Linear(width, width)
        self.rotary = Rotary(self.size, rotary) if rotary else None
        self.norm = nn.LayerNorm(self.size) if norm else None
        self.fused = fused
        if mask == "slopes":
            self.register_buffer("slopes", torch.tensor(
                [2.0 ** -i for i in range(heads)]).view(1, heads, 1, 1))
        if mask == "table":
            self.table = nn.Embedding(8, heads)

    def bias(self, q, k):
        rows, columns = q.shape[-2], k.shape[-2]
        if self.mask == "slopes":
            far = torch.arange(columns)[None] - torch.arange(rows)[:, None]
            return (self.slopes * far.to(q.dtype)).to(q.dtype)
        if self.mask == "table":
            far = torch.arange(columns)[None] - torch.arange(rows)[:, None]
            return self.table(far.clamp(-4, 3) + 4).permute(2, 0, 1)[None]
        if self.mask == "inf":
            mask = torch.full((rows, columns), float("-inf"), dtype=q.dtype)
            return torch.triu(mask, diagonal=1)
        if self.mask == "window":
            i = torch.arange(rows)[:, None]
            j = torch.arange(columns)[None, :]
            return (j <= i) & (i - j < 2)
        return None

    def attend(self, q, k, v):
        bias = self.bias(q, k)
        if self.fused:
            return F.scaled_dot_product_attention(
                q, k, v, attn_mask=bias, is_causal=self.mask == "causal")
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.size)
        if self.mask == "causal":
            keep = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            scores = scores.masked_fill(~keep, torch.finfo(scores.dtype).min)
        elif bias is not None and bias.dtype == torch.bool:
            scores.masked_fill_(bias.logical_not(), -1e4)
        elif bias is not None:
            scores += bias
        return torch.softmax(scores, -1, dtype=torch.float32).to(q.dtype) @ v \
            if q.dtype != torch.float64 else scores.softmax(-1) @ v

    def forward(self, x):
        few = self.heads // self.groups
        q, k, v = self.qkv(x).split(
            [self.heads * self.size, few * self.size, few * self.size], dim=-1)
        q = q.unflatten(-1, (self.heads, self.size)).transpose(1, 2)
        k = k.unflatten(-1, (few, self.size)).transpose(1, 2)
        v = v.unflatten(-1, (few, self.size)).transpose(1, 2)
        if self.norm:
            q, k = self.norm(q), self.norm(k)
        if self.rotary:
            q, k = self.rotary(q), self.rotary(k)
        if self.groups > 1:
            k = k[:, :, None].expand(-1, -1, self.groups, -1, -1).flatten(1, 2)
            v = v.repeat_interleave(self.groups, dim=1)
        mixed = self.attend(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class Experts(nn.Module):
    """Routing: each token to the best of several networks."""

    def __init__(self, width, count=4, best=2, kind="dense"):
        super().__init__()
        self.kind, self.best, self.count = kind, best, count
        # With a bias no two are equally good for a token of zeros.
        self.gate = nn.Linear(width, count)
        self.up = nn.Parameter(torch.randn(count, width, 2 * width) * 0.3)
        self.down = nn.Parameter(torch.randn(count, width, width) * 0.3)
        self.register_buffer("load", torch.zeros(count))

    def expert(self, x, index):
        a, b = (x @ self.up[index]).chunk(2, dim=-1)
        return (F.silu(a) * b) @ self.down[index]

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        logits = self.gate(flat)
        weights, chosen = torch.topk(logits.softmax(-1), self.best, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        with torch.no_grad():
            self.load.mul_(0.9).add_(F.one_hot(
                chosen, self.count).sum((0, 1)).to(self.load), alpha=0.1)
        if self.kind == "gather":
            a, b = torch.einsum("td,tkdf->tkf", flat, self.up[chosen]).chunk(
                2, -1)
            out = torch.einsum("tkf,tkfd,tk->td", F.silu(a) * b,
                               self.down[chosen], weights)
        elif self.kind == "index_add":
            out = torch.zeros_like(flat)
            order = chosen.flatten().argsort(stable=True)
            token = order // self.best
            every = torch.stack([self.expert(flat, i)
                                 for i in range(self.count)])
            rows = every[chosen.flatten()[order], token]
            out.index_add_(0, token, rows * weights.flatten()[order, None])
        elif self.kind == "scatter":
            full = torch.zeros_like(logits).scatter_(-1, chosen, weights)
            out = sum(full[:, i, None] * self.expert(flat, i)
                      for i in range(self.count))
        else:
            out = torch.zeros_like(flat)
            for i in range(self.count):
                share = (weights * (chosen == i)).sum(-1, keepdim=True)
                out += share * self.expert(flat, i)
        return out.view_as(x)


class GatedMLP(nn.Module):
    def __init__(self, width, kind="silu"):
        super().__init__()
        self.gate = nn.Linear(width, 12, bias=False)
        self.up = nn.Linear(width, 12, bias=False)
        self.down = nn.Linear(12, width)
        self.act = {"silu": F.silu, "gelu": F.gelu,
                    "tanh": lambda x: F.gelu(x, approximate="tanh"),
                    "relu2": lambda x: F.relu(x).square()}[kind]

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class RMSNorm(nn.Module):
    def __init__(self, width, plus_one=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.plus_one = plus_one

    def forward(self, x):
        kind = x.dtype
        x = x.float() if kind != torch.float64 else x
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        if self.plus_one:
            return (x * (1.0 + self.weight)).to(kind)
        return self.weight * x.to(kind)


class Residual(nn.Module):
    """x + f(norm(x)); the sum in several ways."""

    def __init__(self, inner, norm, kind="plus"):
        super().__init__()
        self.inner, self.norm, self.kind = inner, norm, kind
        self.scale = nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        y = self.inner(self.norm(x))
        if self.kind == "add_":
            return y.add_(x)
        if self.kind == "iadd":
            y = y * self.scale
            y += x
            return y
        if self.kind == "scaled":
            return torch.add(x, y * self.scale)
        if self.kind == "lerp":
            return torch.lerp(x, y, self.scale.sigmoid())
        return x + y


class ConvBlock(nn.Module):
    def __init__(self, channels, norm, act="relu", groups=1, inplace=True):
        super().__init__()
        self.one = nn.Conv2d(channels, channels, 3, padding=1, groups=groups,
                             bias=False)
        self.two = nn.Conv2d(channels, channels, 1)
        self.norms = nn.ModuleList(
            {"batch": nn.BatchNorm2d, "instance": lambda c: nn.InstanceNorm2d(
                c, affine=True, track_running_stats=True),
             "group": lambda c: nn.GroupNorm(2, c),
             "plain": lambda c: nn.BatchNorm2d(c, affine=False),
             "average": lambda c: nn.BatchNorm2d(c, momentum=None),
             "none": lambda c: nn.Identity()}[norm](channels)
            for _ in range(2))
        self.act = {"relu": nn.ReLU, "silu": nn.SiLU, "leaky": nn.LeakyReLU,
                    "hard": nn.Hardswish, "elu": nn.ELU}[act](inplace=inplace)

    def forward(self, x):
        y = self.act(self.norms[0](self.one(x)))
        y = self.norms[1](self.two(y))
        y += x
        return self.act(y)


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.inner = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 2),
            nn.ReLU(inplace=True), nn.Linear(2, channels), nn.Sigmoid())

    def forward(self, x):
        return x * self.inner(x)[:, :, None, None]


class ConvNext(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.depth = nn.Conv2d(channels, channels, 3, padding=1,
                               groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.up = nn.Linear(channels, 2 * channels)
        self.down = nn.Linear(2 * channels, channels)
        self.gamma = nn.Parameter(0.5 * torch.ones(channels))

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = F.gelu(self.up(y))
        # Global response normalization.
        size = torch.norm(y, p=2, dim=(1, 2), keepdim=True)
        y = y * (size / (size.mean(dim=-1, keepdim=True) + 1e-6)) + y
        return x + (self.gamma * self.down(y)).permute(0, 3, 1, 2)


class UNet(nn.Module):
    def __init__(self, channels, up="nearest"):
        super().__init__()
        self.enter = nn.Conv2d(channels, channels, 3, padding=1)
        self.deep = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(2, 2 * channels)
        self.back = nn.ConvTranspose2d(2 * channels, channels, 2, stride=2) \
            if up == "transpose" else nn.Conv2d(2 * channels, channels, 1)
        self.leave = nn.Conv2d(2 * channels, channels, 3, padding=1,
                               padding_mode="reflect")
        self.up = up

    def forward(self, x):
        skip = F.silu(self.enter(x), inplace=True)
        low = F.silu(self.norm(self.deep(skip)))
        if self.up == "transpose":
            high = self.back(low)
        elif self.up == "shuffle":
            high = F.pixel_shuffle(self.back(low).repeat(1, 4, 1, 1), 2)
        else:
            high = F.interpolate(self.back(low), scale_factor=2, mode=self.up)
        high = high[..., :x.shape[-2], :x.shape[-1]]
        return self.leave(torch.cat([high, skip], dim=1))


class Transformer2d(nn.Module):
    """A grid where a network says (spatial transformer)."""

    def __init__(self, channels):
        super().__init__()
        self.where = nn.Linear(channels, 6)

    def forward(self, x):
        theta = self.where(x.mean((2, 3))).tanh().view(-1, 2, 3)
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return F.grid_sample(x, grid, align_corners=False,
                             padding_mode="border")


class Windows(nn.Module):
    """Attention in shifted windows of an image."""

    def __init__(self, channels, window=2, shift=1):
        super().__init__()
        self.window, self.shift = window, shift
        self.attention = Attention(channels, mask="table")

    def forward(self, x):
        n, c, height, width = x.shape
        w = self.window
        y = x.permute(0, 2, 3, 1).roll((-self.shift,) * 2, dims=(1, 2))
        y = y.view(n, height // w, w, width // w, w, c)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, c)
        y = self.attention(y)
        y = y.view(n, height // w, width // w, w, w, c)
        y = y.permute(0, 1, 3, 2, 4, 5).contiguous().view(n, height, width, c)
        return x + y.roll((self.shift,) * 2, dims=(1, 2)).permute(0, 3, 1, 2)


class Codebook(nn.Module):
    """Vectors replaced by the nearest of a book, which follows them."""

    def __init__(self, width, size=5, kind="loss", decay=0.9):
        super().__init__()
        self.kind, self.decay = kind, decay
        self.book = nn.Embedding(size, width)
        if kind == "average":
            self.book.weight.requires_grad_(False)
            self.register_buffer("count", torch.ones(size))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        far = (flat.pow(2).sum(1, keepdim=True)
               - 2 * flat @ self.book.weight.t()
               + self.book.weight.pow(2).sum(1))
        index = far.argmin(1)
        found = self.book(index).view_as(x)
        if self.kind == "average":
            with torch.no_grad():
                hot = F.one_hot(index, self.book.num_embeddings).to(flat)
                self.count.mul_(self.decay).add_(hot.sum(0),
                                                 alpha=1 - self.decay)
                self.book.weight.data.mul_(self.decay).add_(
                    (hot.t() @ flat).to(self.book.weight) * (1 - self.decay))
        return x + (found - x).detach() + 0.1 * (found - x.detach())


class Recurrent(nn.Module):
    def __init__(self, width, kind="lstm", layers=1, both=False):
        super().__init__()
        make = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[kind]
        self.net = make(width, width // 2 if both else width, layers,
                        batch_first=True, bidirectional=both)

    def forward(self, x):
        out, last = self.net(x)
        last = last[0] if isinstance(last, tuple) else last
        return out + last.sum() * 0.1


class Cells(nn.Module):
    """A loop over time with a cell, the results written into a tensor."""

    def __init__(self, width, kind="lstm", collect="stack"):
        super().__init__()
        self.kind, self.collect = kind, collect
        self.cell = {"lstm": nn.LSTMCell, "gru": nn.GRUCell,
                     "rnn": nn.RNNCell}[kind](width, width)

    def forward(self, x):
        h = torch.zeros_like(x[:, 0])
        c = torch.zeros_like(h)
        out = torch.empty_like(x) if self.collect == "write" else []
        for t in range(x.shape[1]):
            if self.kind == "lstm":
                h, c = self.cell(x[:, t], (h, c))
            else:
                h = self.cell(x[:, t], h)
            if self.collect == "write":
                out[:, t] = h
            else:
                out.append(h)
        if self.collect == "cat":
            return torch.cat([h.unsqueeze(1) for h in out], 1)
        return out if self.collect == "write" else torch.stack(out, 1)


class Scan(nn.Module):
    """A selective state space, one step at a time."""

    def __init__(self, width, state=3, kind="loop"):
        super().__init__()
        self.kind = kind
        self.A = nn.Parameter(torch.randn(width, state) * 0.3)
        self.bc = nn.Linear(width, 2 * state + 1)
        self.D = nn.Parameter(torch.ones(width))
        self.conv = nn.Conv1d(width, width, 3, padding=2, groups=width)

    def forward(self, x):
        u = self.conv(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        u = F.silu(u)
        dt, b, c = self.bc(u).split([1, self.A.shape[1], self.A.shape[1]], -1)
        dt = F.softplus(dt)
        decay = torch.exp(-dt.unsqueeze(-1) * self.A.exp())
        if self.kind == "cumsum":
            total = decay.clamp(min=0.1).log().cumsum(1)
            inner = (u.unsqueeze(-1) * b.unsqueeze(2)) * torch.exp(-total)
            states = inner.cumsum(1) * torch.exp(total)
            y = (states * c.unsqueeze(2)).sum(-1)
        else:
            state = x.new_zeros(x.shape[0], x.shape[2], self.A.shape[1])
            y = torch.zeros_like(x)
            for t in range(x.shape[1]):
                state = decay[:, t] * state + u[:, t, :, None] * b[:, t, None]
                y[:, t] += torch.einsum("bds,bs->bd", state, c[:, t])
        return y + u * self.D


class LinearAttention(nn.Module):
    def __init__(self, width, causal=True):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.causal = causal

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        if self.causal:
            kv = torch.einsum("btd,bte->btde", k, v).cumsum(1)
            z = 1 / torch.einsum("btd,btd->bt", q, k.cumsum(1))
            return torch.einsum("btd,btde,bt->bte", q, kv, z)
        kv = k.transpose(1, 2) @ v
        z = 1 / (q * k.sum(1, keepdim=True)).sum(-1, keepdim=True)
        return q @ kv * z


class Low(nn.Module):
    """A frozen layer with a small one beside it (LoRA, DoRA)."""

    def __init__(self, width, rank=2, norm=False):
        super().__init__()
        self.base = nn.Linear(width, width)
        self.base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, width) * 0.3)
        self.b = nn.Parameter(torch.randn(width, rank) * 0.3)
        self.m = nn.Parameter(torch.ones(width)) if norm else None

    def forward(self, x):
        if self.m is None:
            return self.base(x) + (x @ self.a.T) @ self.b.T * 0.5
        weight = self.base.weight + self.b @ self.a
        weight = self.m[:, None] * weight / weight.norm(
            dim=1, keepdim=True).detach()
        return F.linear(x, weight, self.base.bias)


class Modulate(nn.Module):
    """Adaptive norm of a diffusion transformer, with a timestep."""

    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.SiLU(), nn.Linear(width, 3 * width))
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.inner = GatedMLP(width, "tanh")

    def forward(self, x):
        half = x.shape[-1] // 2
        steps = torch.arange(x.shape[0], dtype=x.dtype)
        freqs = torch.exp(-math.log(100) * torch.arange(half).to(x) / half)
        args = steps[:, None] * freqs[None]
        embedding = torch.cat([args.cos(), args.sin()], dim=-1).to(x.dtype)
        shift, scale, gate = self.net(embedding).chunk(3, dim=1)
        y = self.norm(x) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
        return x + gate.unsqueeze(1) * self.inner(y)
