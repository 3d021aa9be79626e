# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More modules as people write them: embeddings and masks, graphs, statistics
that follow the data, and losses. Shapes as in blocks.py; labels are integers."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


def constrained(layer, kind):
    """A layer whose weight is computed."""
    if kind == "weight":
        return parametrizations.weight_norm(layer)
    if kind == "weight1":
        return parametrizations.weight_norm(layer, dim=1)
    if kind == "spectral":
        return parametrizations.spectral_norm(layer, n_power_iterations=2)
    if kind == "orthogonal":
        return parametrizations.orthogonal(layer)
    if kind == "old":
        return nn.utils.weight_norm(layer)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return layer


class Tokens(nn.Module):
    """Embedded tokens with positions."""

    def __init__(self, width, positions="learned", **options):
        super().__init__()
        self.tokens = nn.Embedding(10, width, **options)
        self.positions = positions
        if positions == "learned":
            self.place = nn.Parameter(torch.randn(1, 16, width) * 0.1)
        elif positions == "table":
            self.place = nn.Embedding(16, width)
            self.register_buffer("ids", torch.arange(16).expand(1, -1))
        elif positions == "waves":
            table = torch.zeros(16, width)
            t = torch.arange(16).unsqueeze(1)
            speed = torch.exp(torch.arange(0, width, 2) * -(
                math.log(100.0) / width))
            table[:, 0::2] = torch.sin(t * speed)
            table[:, 1::2] = torch.cos(t * speed)
            self.register_buffer("table", table.unsqueeze(0))

    def forward(self, x):
        h = self.tokens(x)
        length = x.size(1)
        if self.positions == "learned":
            return h + self.place[:, :length]
        if self.positions == "table":
            return h + self.place(self.ids[:, :length])
        if self.positions == "waves":
            return h * math.sqrt(h.shape[-1]) + self.table[:, :length].detach()
        return h


class Bags(nn.Module):
    def __init__(self, width, mode):
        super().__init__()
        self.net = nn.EmbeddingBag(10, width, mode=mode)
        self.back = nn.Linear(width, width)

    def forward(self, x):
        return self.back(self.net(x)).unsqueeze(1) + self.net.weight[x]


class Masked(nn.Module):
    """Tokens of a sequence replaced, in the ways people do it."""

    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.token = nn.Parameter(torch.randn(width))

    def forward(self, x):
        mask = x.detach().sum(-1) > 0
        if self.kind == "index":
            x = x.clone()
            x[mask] = self.token
            return x
        if self.kind == "where":
            return torch.where(mask.unsqueeze(-1), self.token, x)
        if self.kind == "fill":
            return x.masked_fill(~mask[..., None], 0.0)
        if self.kind == "scatter":
            new = self.token.expand_as(x) * 0.5
            return x.masked_scatter(mask.unsqueeze(-1).expand_as(x), new)
        if self.kind == "rows":
            rows = torch.arange(x.shape[0])
            last = mask.long().argmax(1)
            out = x.clone()
            out[rows, last] += self.token
            return out
        if self.kind == "put":
            rows = torch.arange(x.shape[0]).flip(0)
            out = x * 1.0
            out.index_put_((rows, torch.zeros_like(rows)),
                           self.token.expand(x.shape[0], -1), accumulate=True)
            return out
        if self.kind == "first":
            y = x * 2
            y[:, 0] = self.token
            y[:, -1].mul_(0.5)
            y[:, 1:, ::2] += x[:, :-1, ::2]
            return y
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, True).clamp(min=1)
        return x - mean[:, None]


class Shift(nn.Module):
    """Mixing with the token before (RWKV), a copy with a write."""

    def __init__(self, width, kind="pad"):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(width))
        self.kind = kind

    def forward(self, x):
        if self.kind == "pad":
            old = F.pad(x, (0, 0, 1, -1))
        elif self.kind == "write":
            old = torch.zeros_like(x)
            old[:, 1:] = x[:, :-1]
        else:
            old = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        return x * self.mix + old * (1 - self.mix)


class Messages(nn.Module):
    """A graph network; tokens are nodes, edges are fixed."""

    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.net = nn.Linear(width, width)
        self.score = nn.Linear(2 * width, 1)
        self.register_buffer("edges", torch.tensor(
            [[0, 1, 1, 2, 3, 3, 0], [1, 0, 2, 3, 3, 1, 2]]))

    def forward(self, x):
        source, target = self.edges
        y = self.net(x)
        sent = y[:, source]
        if self.kind == "attention":
            score = F.leaky_relu(self.score(torch.cat(
                [sent, y[:, target]], -1)).squeeze(-1), 0.2)
            index = target.expand_as(score)
            top = torch.full_like(y[..., 0], -1e4).scatter_reduce(
                1, index, score, "amax", include_self=False).detach()
            score = (score - top.gather(1, index)).exp()
            total = torch.zeros_like(y[..., 0]).scatter_add_(1, index, score)
            sent = sent * (score / total.gather(1, index)).unsqueeze(-1)
        if self.kind in ("mean", "amax"):
            index = target[None, :, None].expand_as(sent)
            return x + torch.zeros_like(x).scatter_reduce(
                1, index, sent, self.kind, include_self=False)
        if self.kind == "degree":
            degree = torch.bincount(target, minlength=x.shape[1]).to(x.dtype)
            sent = sent * degree.clamp(min=1).rsqrt()[source, None]
        out = torch.zeros_like(x)
        out.index_add_(1, target, sent)
        return x + out


class Statistics(nn.Module):
    """Buffers that follow the data."""

    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("ring", torch.zeros(3, width))

    def forward(self, x):
        now = x.detach().flatten(0, -2).mean(0).to(self.mean.dtype)
        if self.kind == "lerp":
            self.mean.lerp_(now, 0.1)
        elif self.kind == "assign":
            self.mean = 0.9 * self.mean + 0.1 * now
        elif self.kind == "ring":
            self.ring = torch.roll(self.ring, 1, 0)
            self.ring[0] = now
            x = x - self.ring.mean(0)
        elif self.kind == "pointer":
            self.ring[self.steps % 3] = now
        elif self.kind == "copy":
            with torch.no_grad():
                self.mean.copy_(self.mean * 0.9 + now * 0.1)
                self.ring[1:].copy_(self.ring[:-1].clone())
        else:
            self.mean.data = self.mean.data * 0.5 + now
        self.steps += 1
        return x - self.mean.to(x.dtype) * 0.5


class Fourier(nn.Module):
    def __init__(self, width, kind="mix"):
        super().__init__()
        self.kind = kind
        self.weight = nn.Parameter(torch.randn(width // 2 + 1, 2) * 0.5)

    def forward(self, x):
        kind = x.dtype
        x = x if kind == torch.float64 else x.float()
        if self.kind == "mix":
            y = torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real
        elif self.kind == "mark":
            spectrum = torch.fft.fft(x, dim=-1)
            spectrum.conj()[..., 1:].mul_(0.5j)
            spectrum.imag[..., 0] += 1
            y = torch.view_as_real(spectrum.mH.conj()).mean(-1).mT
        else:
            y = torch.fft.rfft(x, dim=-1, norm="ortho")
            y = torch.fft.irfft(
                y * torch.view_as_complex(self.weight.to(x.dtype)),
                n=x.shape[-1], dim=-1, norm="ortho")
        return y.to(kind)


class Backward(nn.Module):
    """Tricks with detach: reversed gradients, rounding, straight through."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.step = nn.Parameter(torch.tensor(0.25))

    def forward(self, x):
        if self.kind == "reverse":
            return x.detach() * 1.5 - x * 0.5
        if self.kind == "round":
            y = x / self.step
            return ((y.round() - y).detach() + y).clamp(-4, 4) * self.step
        if self.kind == "hard":
            soft = x.softmax(-1)
            index = soft.max(-1, keepdim=True)[1]
            hard = torch.zeros_like(x).scatter_(-1, index, 1.0)
            return hard - soft.detach() + soft
        if self.kind == "sign":
            return x.sign().detach() + x.tanh() - x.tanh().detach()
        with torch.no_grad():
            scale = x.abs().amax(-1, keepdim=True).clamp_(min=1e-3)
        return x / scale * self.step


class Pool(nn.Module):
    """A sequence to one vector."""

    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        self.query = nn.Parameter(torch.randn(1, 1, width))
        self.net = nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x):
        if self.kind == "query":
            return self.net(self.query.expand(x.shape[0], -1, -1), x, x)[0][
                :, 0]
        if self.kind == "class":
            x = torch.cat([self.query.repeat(x.shape[0], 1, 1), x], dim=1)
            return self.net(x, x, x, need_weights=False)[0][:, 0]
        if self.kind == "max":
            return x.max(dim=1).values
        if self.kind == "power":
            return x.clamp(min=1e-2).pow(3).mean(1).pow(1 / 3)
        if self.kind == "last":
            return x[torch.arange(x.size(0)), -1]
        if self.kind == "statistics":
            return x.mean(1) + x.std(1)
        if self.kind == "topk":
            return x.topk(2, dim=1)[0].mean(1)
        if self.kind == "sorted":
            return x.sort(dim=1, descending=True)[0][:, 0]
        return x.mean(dim=1)


def focal(logits, labels):
    logp = F.log_softmax(logits, -1)
    pt = logp.gather(1, labels[:, None]).squeeze(1)
    return (-(1 - pt.exp()) ** 2 * pt).mean()


def contrast(x):
    """Both halves of the channels are two views of one thing (SimCLR)."""
    z = F.normalize(torch.cat(x.chunk(2, -1)), dim=1)
    n = z.shape[0] // 2
    scores = z @ z.t() / 0.5
    scores.fill_diagonal_(-1e4)
    labels = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(scores, labels)


def pairs(x, scale):
    """Of texts and images (CLIP)."""
    a, b = x.chunk(2, -1)
    a = a / a.norm(dim=-1, keepdim=True)
    b = b / b.norm(dim=-1, keepdim=True)
    scores = scale.exp() * a @ b.t()
    labels = torch.arange(x.shape[0])
    return (F.cross_entropy(scores, labels)
            + F.cross_entropy(scores.t(), labels)) / 2


def sigmoid_pairs(x, scale):
    a, b = F.normalize(x).chunk(2, -1)
    scores = a @ b.t() * scale
    signs = 2 * torch.eye(x.shape[0], dtype=x.dtype) - 1
    return -F.logsigmoid(signs * scores).sum() / x.shape[0]


def preference(x, labels):
    """Of two answers one is better (DPO)."""
    logp = x.log_softmax(-1).gather(1, labels[:, None])[:, 0]
    with torch.no_grad():
        old = (x * 0.5).log_softmax(-1).gather(1, labels[:, None])[:, 0]
    return -F.logsigmoid(0.5 * (logp - old)).mean()


def clipped(x, labels):
    """Policy gradient with a clip and an entropy (PPO)."""
    d = torch.distributions.Categorical(logits=x)
    logp = d.log_prob(labels)
    ratio = (logp - logp.detach() * 0.9).exp()
    gain = (labels.to(x.dtype) - 1.5)
    gain = (gain - gain.mean()) / (gain.std() + 1e-5)
    return -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() \
        - 0.01 * d.entropy().mean()


def bounded(x):
    """Reconstruction and divergence of a variational autoencoder."""
    mean, logvar = x.chunk(2, -1)
    return F.mse_loss(mean, logvar.detach(), reduction="sum") \
        - 0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())


def next_token(logits, tokens, **options):
    logits, labels = logits[..., :-1, :].contiguous(), tokens[..., 1:]
    return F.cross_entropy(logits.view(-1, logits.size(-1)),
                           labels.reshape(-1), **options)


def masked_token(logits, tokens):
    """A language model's loss over the tokens that a mask keeps."""
    labels = tokens.clone()
    labels[tokens < 3] = -100
    loss = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    keep = (labels != -100).to(loss.dtype)
    return (loss * keep).sum() / keep.sum().clamp(min=1)


def overlap(logits, labels):
    """Dice over a picture of classes."""
    p = logits.softmax(1)
    hot = F.one_hot(labels, logits.shape[1]).permute(0, 3, 1, 2).to(p)
    inter = (p * hot).sum(dim=(0, 2, 3))
    return 1 - ((2 * inter + 1) / (
        p.sum((0, 2, 3)) + hot.sum((0, 2, 3)) + 1)).mean()


def balanced(logits, steps=3):
    """Sinkhorn's iterations, then a distance."""
    p = (logits / 0.5).exp()
    for _ in range(steps):
        p = p / p.sum(0, keepdim=True)
        p /= p.sum(1, keepdim=True)
    return -(p * F.log_softmax(logits, 1)).sum(1).mean()


def chain(scores, transitions):
    """The normalizer of a conditional random field."""
    alpha = scores[:, 0]
    for t in range(1, scores.shape[1]):
        alpha = torch.logsumexp(
            alpha.unsqueeze(2) + transitions + scores[:, t].unsqueeze(1), 1)
    return alpha.logsumexp(1).mean()
