# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains models with `torch.compile(backend="cutback")` on a GPU, beside PyTorch.

    CUTBACK_LIBRARY=build/release/lib/libcutback.so \\
        python backend.py [--rounds N] [MODEL...]

MODELS: gpt, gpt_bf16, gpt_dropout, convnet; all without names. For each: PyTorch's
eager step (forward and backward), torch.compile's, and Cutback's with Inductor, as
it is and for the least peak. `peak` is what a step has allocated at most above
parameters and gradients, by PyTorch's allocator; `apart` the largest difference of
a parameter's gradient from eager's, relative to its largest element, in the same
precision. Times are of the device, by turns, the
median of --rounds. Numbers that dropout draws differ between compilers: its
`apart` is left out.
"""

import argparse
import sys

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import copy
import gc
import statistics
import time
import traceback
import warnings

import torch
from torch import nn
from torch.nn import functional as F

from device import Candidate  # which finds the package, too


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (one.view(batch, length, self.heads, -1).transpose(1, 2)
                   for one in self.attention(self.first(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.out(y.transpose(1, 2).reshape(batch, length, width))
        x = x + F.dropout(y, self.dropout, self.training)
        y = self.narrow(F.gelu(self.widen(self.second(x))))
        return x + F.dropout(y, self.dropout, self.training)


class Gpt(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, words=50304, length=1024,
                 dropout=0.0):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens, targets):
        x = self.words(tokens) + self.places.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.words.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(*(one for _ in range(2) for one in (
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels), nn.ReLU())))

    def forward(self, x):
        return x + self.body(x)


class Convnet(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU()]
        for channels in (64, 128, 256):
            layers += [Residual(channels) for _ in range(3)]
            layers.append(nn.Conv2d(channels, 2 * channels, 3, 2, 1))
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(512, 1000)

    def forward(self, images, targets):
        return F.cross_entropy(self.head(self.body(images).mean((2, 3))), targets)


def tokens(batch, length=1024, words=50304):
    return tuple(torch.randint(0, words, (batch, length), device="cuda")
                 for _ in range(2))


# Model, inputs, and whether it runs under autocast.
MODELS = {
    "gpt": lambda: (Gpt(), tokens(4), False),
    "gpt_bf16": lambda: (Gpt(), tokens(16), True),
    "gpt_dropout": lambda: (Gpt(dropout=0.1), tokens(16), True),
    "convnet": lambda: (Convnet(), (
        torch.randn(64, 3, 224, 224, device="cuda"),
        torch.randint(0, 1000, (64,), device="cuda")), False),
}
PLANS = {
    "torch.compile": None,
    "cutback": {},
    "cutback, least peak": {"minimize": "peak"},
}


class Step(Candidate):
    def __init__(self, model, inputs, autocast, compiled):
        run_model = compiled(model)

        def call(*given):
            with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
                return run_model(*given)

        super().__init__(call, dict(model.named_parameters()), inputs,
                         inputs[0].device)
        self.model = model

    def peak(self):
        """Bytes above what is there when the step has run."""
        self.clear()
        self.run()
        gc.collect()
        torch.cuda.synchronize()
        resting = torch.cuda.memory_allocated()
        self.clear()
        torch.cuda.reset_peak_memory_stats()
        self.run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - resting


def apart(model, expected):
    largest = 0.0
    for name, parameter in model.named_parameters():
        want = expected[name]
        difference = (parameter.grad - want).abs().max().item()
        largest = max(largest, difference / max(want.abs().max().item(), 1e-30))
    return largest


def measure(name, rounds):
    from cutback.backend import compile_graph

    torch.manual_seed(0)
    model, inputs, autocast = MODELS[name]()
    model = model.cuda().train()
    steps = {"eager": Step(model, inputs, autocast, lambda one: one)}
    rows, seconds = {}, {}
    for plan, options in PLANS.items():
        copied = copy.deepcopy(model)
        if options is None:
            compiled = torch.compile
        else:
            def compiled(one, options=options):
                return torch.compile(one, backend=compile_graph,
                                     options=options)
        try:
            step = Step(copied, inputs, autocast, compiled)
            begin = time.perf_counter()
            step.run()
            torch.cuda.synchronize()
            seconds[plan] = time.perf_counter() - begin
            steps[plan] = step
        except Exception:  # the next plan may work
            print("%s: %s failed" % (name, plan))
            traceback.print_exc()
    expected = None
    for plan, step in steps.items():
        step.clear()
        step.run()
        if expected is None:
            expected = {one: parameter.grad.clone()
                        for one, parameter in model.named_parameters()}
        rows[plan] = ("-" if "dropout" in name
                      else "%.1e" % apart(step.model, expected))
    for _ in range(rounds):
        for step in steps.values():
            step.time()
    for plan, step in steps.items():
        print("| %s | %s | %.2f | %.0f | %s | %s |" % (
            name, plan, statistics.median(step.times), step.peak() / 2**20, rows[plan],
            "%.0f" % seconds[plan] if plan in seconds else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    import cutback

    for name in given.models:
        if name not in MODELS:
            parser.error("no model '%s'; there are %s" % (name,
                                                          ", ".join(MODELS)))
    warnings.simplefilter("ignore", cutback.ReleaseWarning)
    print("%s, torch %s\n" % (torch.cuda.get_device_name(), torch.__version__))
    print("| model | step | ms | peak MiB | apart | compiling s |")
    print("|---|---|---:|---:|---:|---:|")
    for name in given.models or MODELS:
        try:
            measure(name, given.rounds)
        except Exception:  # the next model may work
            traceback.print_exc()
        torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
