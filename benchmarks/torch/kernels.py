#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise and row kernels against PyTorch's, results preallocated.

    kernels.py --bench-kernels build/release/bin/bench-kernels

The cases of bench-kernels (their names must be the same), one thread, float32,
processor time: the least of some rounds, which both take by turns. A case that
PyTorch has no one op for is as few as it has, each into memory that is there.
"""

import argparse
import re
import subprocess
import time

import torch


def uniform(*sizes):
    return torch.rand(*sizes) * 4 - 2


def pointwise(run):
    x, y, out = (uniform(4096, 3072) for _ in range(3))
    return lambda: run(x, y, out)


def rows(count, columns, run, *result):
    x, out = uniform(count, columns), torch.empty(*(result or (count, columns)))
    return lambda: run(x, out)


def gelu(x, y, out):
    torch._C._nn.gelu(x, out=out)
    torch.mul(out, y, out=out)


def dropout(x, y, out):
    out.bernoulli_(0.9).mul_(x).mul_(1 / 0.9).add_(y)


def add_norm(count, columns):
    x, y, total = (uniform(count, columns) for _ in range(3))
    weight, bias = uniform(columns), uniform(columns)
    out, mean, scale = total.clone(), torch.empty(count, 1), torch.empty(count, 1)

    def run():
        torch.add(x, y, out=total)
        torch.ops.aten.native_layer_norm.out(
            total, [columns], weight, bias, 1e-5, out0=out, out1=mean, out2=scale)
    return run


def softmax(x, out):
    torch.softmax(x, 1, out=out)


CASES = {
    "add": lambda: pointwise(lambda x, y, out: torch.add(x, y, out=out)),
    "gelu * y": lambda: pointwise(gelu),
    "dropout + y": lambda: pointwise(dropout),
    "add, layer norm 16384 x 768": lambda: add_norm(16384, 768),
    "add, layer norm 131072 x 96": lambda: add_norm(131072, 96),
    "softmax 12288 x 1024": lambda: rows(12288, 1024, softmax),
    "softmax 262144 x 48": lambda: rows(262144, 48, softmax),
    "softmax 250 x 50257": lambda: rows(250, 50257, softmax),
    "logsumexp 250 x 50257": lambda: rows(
        250, 50257, lambda x, out: torch.logsumexp(x, 1, out=out), 250),
    "column sum 16384 x 768": lambda: rows(
        16384, 768, lambda x, out: torch.sum(x, 0, out=out), 768),
    "transpose 4096 x 3072": lambda: rows(
        3072, 4096, lambda x, out: out.copy_(x.t()), 4096, 3072),
}


def seconds(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


def own_seconds(program, only):
    """Of each case: seconds, and its share of the speed of a copy."""
    text = subprocess.run([program, "--runs=3"] + (["--only=" + only] if only else []),
                          check=True, capture_output=True, text=True).stdout
    return {m[1].strip(): (float(m[2]) * 1e-3, float(m[3])) for m in re.finditer(
        r"^(.{30}) +[\d.]+ ms +([\d.]+) ms +[\d.]+ GB/s +([\d.]+) of memcpy$", text, re.M)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench-kernels", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose names have this")
    args = parser.parse_args()
    torch.set_num_threads(1)
    own, copies, peer = {}, {}, {}
    for _ in range(args.rounds):
        for name, (time_, copy) in own_seconds(args.bench_kernels, args.only).items():
            own[name] = min(own.get(name, 1e9), time_)
            copies[name] = max(copies.get(name, 0), copy)
        for name in own:
            run = CASES[name]()
            run()
            peer[name] = min([peer.get(name, 1e9)] + [seconds(run) for _ in range(3)])
    print("| kernel | Cutback | PyTorch | ratio | beside memcpy |\n|---|---:|---:|---:|---:|")
    for name, time_ in own.items():
        print("| %s | %.1f ms | %.1f ms | %.2f | %.2f |" % (
            name, time_ * 1e3, peer[name] * 1e3, time_ / peer[name], copies[name]))


if __name__ == "__main__":
    main()
