# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times forward and backward of single ops and small models against PyTorch's.

    python modules.py [--threads N] [--rounds N] [NAME...]

Run it under a Python that has torch 2.13.0 (CPU), with CUTBACK_PROGRAM and
CUTBACK_LIBRARY as for the package. `cutback.compile` makes a step of each
module; then it and PyTorch's eager one run by turns in this process: speed that
comes and goes meets both. Times are wall milliseconds, the least of all rounds;
`ratio` is ours by PyTorch's, `differ` the largest difference of a gradient,
relative to the largest number in all of them (dropout draws others). The mean at
the end is geometric.
"""

import argparse
import copy
import math
import pathlib
import sys
import time

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
import cutback

MODULES = {}


def module(make):
    """Registers a function that gives a module and its inputs."""
    MODULES[make.__name__] = make
    return make


class Loss(nn.Module):
    """The mean of squares of what a function makes of inputs and `parts`."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs).float().square().mean()


def scaled(function, *shape, **types):
    """Of an op without parameters, on `shape` times a parameter."""
    weight = nn.Parameter(torch.ones(shape[1:]))
    return (Loss(lambda m, x, *more: function(x * m.weight, *more),
                 weight=weight), torch.randn(shape, **types))


def layer(one, *shape, dtype=torch.float32):
    return Loss(lambda m, x: m.one(x), one=one.to(dtype)), (
        torch.randn(shape).to(dtype),)


# Windows and planes.

for NAME, OP in {
        "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
        "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
        "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 7),
        "upsample_bilinear2d": lambda x: F.interpolate(
            x, scale_factor=2, mode="bilinear"),
        "reflection_pad2d": lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"),
        "unfold": lambda x: F.unfold(x, 3, padding=1),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2)}.items():
    MODULES[NAME] = lambda op=OP: (lambda m, x: (m, (x,)))(
        *scaled(op, 8, 16, 112, 112))

for NAME, LAYER, SHAPE in [
        ("conv2d", lambda: nn.Conv2d(64, 64, 3, 1, 1), (8, 64, 56, 56)),
        ("conv2d_groups", lambda: nn.Conv2d(128, 128, 3, 1, 1, groups=8),
         (8, 128, 28, 28)),
        ("conv2d_depthwise3", lambda: nn.Conv2d(64, 64, 3, 1, 1, groups=64),
         (8, 64, 56, 56)),
        ("conv2d_depthwise7", lambda: nn.Conv2d(96, 96, 7, 1, 3, groups=96),
         (8, 96, 28, 28)),
        ("conv_transpose2d", lambda: nn.ConvTranspose2d(64, 32, 4, 2, 1),
         (8, 64, 28, 28)),
        ("conv3d", lambda: nn.Conv3d(16, 32, 3, 1, 1), (2, 16, 16, 32, 32)),
        ("conv1d_dilated", lambda: nn.Conv1d(128, 128, 5, 1, 4, dilation=2),
         (16, 128, 512)),
        ("conv1d_depthwise", lambda: nn.Conv1d(512, 512, 4, 1, 3, groups=512),
         (8, 512, 512)),
        ("group_norm", lambda: nn.GroupNorm(8, 64), (8, 64, 64, 64)),
        ("batch_norm", lambda: nn.BatchNorm2d(64), (8, 64, 64, 64)),
        ("linear", lambda: nn.Linear(1024, 1024), (1024, 1024)),
        ("lstm", lambda: Last(nn.LSTM(256, 256, batch_first=True)),
         (32, 64, 256)),
        ("gru", lambda: Last(nn.GRU(256, 256, batch_first=True)),
         (32, 64, 256))]:
    MODULES[NAME] = lambda one=LAYER, shape=SHAPE: layer(one(), *shape)
for NAME in ("conv2d", "linear"):
    MODULES[NAME + "_bf16"] = lambda make=MODULES[NAME]: tuple(
        (m.bfloat16(), (x.bfloat16(),)) for m, (x,) in [make()])[0]


class Last(nn.Module):
    """The sequence that a recurrent layer gives."""

    def __init__(self, one):
        super().__init__()
        self.one = one

    def forward(self, x):
        return self.one(x)[0]


@module
def layer_norm_channels():
    return Loss(lambda m, x: m.mix(m.norm(x.permute(0, 2, 3, 1)).permute(
        0, 3, 1, 2)), norm=nn.LayerNorm(96), mix=nn.Conv2d(96, 96, 1)), (
            torch.randn(8, 96, 56, 56),)


@module
def grid_sample():
    loss, x = scaled(lambda x, grid: F.grid_sample(
        x, grid.tanh(), align_corners=False), 4, 16, 96, 96)
    return loss, (x, torch.randn(4, 96, 96, 2))


# Rows, orders and indices.

for NAME, OP in {
        "softmax": lambda x: x.softmax(1) * x,
        "cumsum": lambda x: x.cumsum(1),
        "cumsum_columns": lambda x: x.cumsum(0),
        "sort": lambda x: x.sort(1)[0],
        "topk": lambda x: x.topk(32, 1)[0],
        "dropout": lambda x: F.dropout(x, 0.1),
        "fft": lambda x: torch.fft.irfft(torch.fft.rfft(x))}.items():
    MODULES[NAME] = lambda op=OP: (lambda m, x: (m, (x,)))(
        *scaled(op, 1024, 1024))


@module
def gather():
    loss, x = scaled(lambda x, at: x.gather(1, at), 1024, 1024)
    return loss, (x, torch.randint(1024, (1024, 1024)))


@module
def index_add():
    return Loss(lambda m, x, source, target: torch.zeros_like(x).index_add(
        0, target, m.mix(x)[source]), mix=nn.Linear(64, 64)), (
            torch.randn(20000, 64), *torch.randint(20000, (2, 200000)))


@module
def scatter_reduce():
    loss, x = scaled(lambda x, at: torch.full((20000, 64), -9.0).scatter_reduce(
        0, at[:, None].expand(-1, 64), x, "amax"), 100000, 64)
    return loss, (x, torch.randint(20000, (100000,)))


@module
def embedding():
    return Loss(lambda m, at: m.table(at), table=nn.Embedding(30000, 256)), (
        torch.randint(30000, (8, 2048)),)


@module
def cdist():
    return Loss(lambda m, x: torch.cdist(x, m.points),
                points=nn.Parameter(torch.randn(512, 64))), (
                    torch.randn(2048, 64),)


# Small models.

class Block(nn.Module):
    def __init__(self, width, heads, causal=False, drop=0.0):
        super().__init__()
        self.heads, self.causal, self.drop = heads, causal, drop
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Dropout(drop), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(
            batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal,
                                           dropout_p=self.drop)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, words, width, causal, drop=0.0):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, 4, causal, drop)
                                      for _ in range(4)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens, targets):
        x = self.head(self.norm(self.blocks(self.words(tokens))))
        return F.cross_entropy(x.flatten(0, 1).float(), targets.flatten())


def tokens():
    return tuple(torch.randint(8000, (2, 4, 256)))


@module
def gpt():
    return LanguageModel(8000, 256, causal=True), tokens()


@module
def gpt_bf16():
    return LanguageModel(8000, 256, causal=True).bfloat16(), tokens()


@module
def bert_dropout():
    return LanguageModel(8000, 256, causal=False, drop=0.1), tokens()


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.body(x)


class ToChannelsLast(nn.Module):
    def forward(self, x):
        return x.permute(0, 2, 3, 1)


class ToChannelsFirst(nn.Module):
    def forward(self, x):
        return x.permute(0, 3, 1, 2)


class Classifier(nn.Module):
    def __init__(self, width, *layers):
        super().__init__()
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                  nn.Linear(width, 100))

    def forward(self, x, targets):
        return F.cross_entropy(self.body(x).float(), targets)


def images(dtype=torch.float32):
    return torch.randn(8, 3, 128, 128).to(dtype), torch.randint(100, (8,))


def conv_norm(come, go, size, stride=1, groups=1):
    return [nn.Conv2d(come, go, size, stride, size // 2, groups=groups,
                      bias=False), nn.BatchNorm2d(go)]


@module
def mobilenet():
    def inverted(come, go, stride):
        wide = 6 * come
        layers = [*conv_norm(come, wide, 1), nn.ReLU6(),
                  *conv_norm(wide, wide, 3, stride, wide), nn.ReLU6(),
                  *conv_norm(wide, go, 1)]
        whole = stride == 1 and come == go
        return [Residual(*layers)] if whole else layers

    return Classifier(64, *conv_norm(3, 16, 3, 2), nn.ReLU6(),
                      *inverted(16, 24, 2), *inverted(24, 24, 1),
                      *inverted(24, 32, 2), *inverted(32, 32, 1),
                      *inverted(32, 64, 2), *inverted(64, 64, 1)), images()


@module
def convnext():
    def block(width):
        return Residual(
            nn.Conv2d(width, width, 7, 1, 3, groups=width), ToChannelsLast(),
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
            nn.Linear(4 * width, width), ToChannelsFirst())

    return Classifier(96, nn.Conv2d(3, 48, 4, 4), block(48), block(48),
                      nn.Conv2d(48, 96, 2, 2), block(96), block(96)), images()


def resnet(dtype=torch.float32):
    def block(width):
        return [Residual(*conv_norm(width, width, 3), nn.ReLU(),
                         *conv_norm(width, width, 3)), nn.ReLU()]

    return Classifier(128, *conv_norm(3, 32, 3, 2), *block(32),
                      *conv_norm(32, 64, 3, 2), *block(64),
                      *conv_norm(64, 128, 3, 2), *block(128)).to(dtype), images(
                          dtype)


MODULES["resnet"] = resnet
MODULES["resnet_bf16"] = lambda: resnet(torch.bfloat16)


@module
def dlrm():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList(nn.EmbeddingBag(20000, 64, mode="sum")
                                      for _ in range(6))
            self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(),
                                        nn.Linear(256, 64), nn.ReLU())
            self.top = nn.Sequential(nn.Linear(64 + 21, 256), nn.ReLU(),
                                     nn.Linear(256, 1))

        def forward(self, dense, chosen, clicks):
            parts = [self.bottom(dense)] + [
                bag(chosen[:, i]) for i, bag in enumerate(self.bags)]
            all_parts = torch.stack(parts, 1)
            pairs = all_parts @ all_parts.transpose(1, 2)
            rows, columns = torch.tril_indices(7, 7, -1)
            x = torch.cat([parts[0], pairs[:, rows, columns]], 1)
            return F.binary_cross_entropy_with_logits(
                self.top(x).squeeze(1), clicks)

    return Model(), (torch.randn(1024, 13), torch.randint(20000, (1024, 6, 4)),
                     torch.rand(1024))


@module
def graph_convolution():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 16)

        def forward(self, x, source, target, weights, classes):
            def spread(h):
                return torch.zeros_like(h).index_add(
                    0, target, h[source] * weights[:, None])

            return F.cross_entropy(spread(self.second(F.relu(
                spread(self.first(x))))), classes)

    return Model(), (torch.randn(10000, 64),
                     *torch.randint(10000, (2, 100000)), torch.rand(100000),
                     torch.randint(16, (10000,)))


def least(run, rounds):
    seconds = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds


def measure(make, threads, rounds):
    torch.manual_seed(0)
    model, inputs = make()
    own = copy.deepcopy(model)
    step = cutback.compile(own, inputs, threads=threads)

    def run(one, parameters):
        for parameter in parameters:
            parameter.grad = None
        one(*inputs).backward()

    theirs, ours = list(model.parameters()), list(own.parameters())
    run(model, theirs)
    run(step, ours)
    differ = (max(float((a.grad - b.grad).abs().max())
                  for a, b in zip(theirs, ours)) /
              max(float(a.grad.abs().max()) for a in theirs))
    eager = compiled = math.inf
    times = max(2, min(30, int(0.1 / least(lambda: run(model, theirs), 1))))
    for _ in range(rounds):
        eager = min(eager, least(lambda: run(model, theirs), times))
        compiled = min(compiled, least(lambda: run(step, ours), times))
    return eager, compiled, differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    for name in given.names:
        if name not in MODULES:
            parser.error("there is no '%s', but %s" % (name, ", ".join(MODULES)))
    torch.set_num_threads(given.threads)
    print("%-22s %9s %9s %6s %8s" % ("", "PyTorch", "Cutback", "ratio", "differ"))
    ratios = []
    for name in given.names or MODULES:
        eager, compiled, differ = measure(MODULES[name], given.threads,
                                          given.rounds)
        ratios.append(compiled / eager)
        print("%-22s %6.2f ms %6.2f ms %6.2f %8.0e"
              % (name, eager * 1e3, compiled * 1e3, ratios[-1], differ),
              flush=True)
    print("mean %37.2f" % math.exp(sum(map(math.log, ratios)) / len(ratios)))


if __name__ == "__main__":
    main()
