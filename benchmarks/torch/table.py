#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models through torch.compile, partitioned by PyTorch and by Cutback.

    PYTHONPATH=test/Python benchmarks/torch/table.py FOLDER [NAME...]

with a Python that has PyTorch and the wheel. Each model of the folder
(model.pt2 and expected.safetensors) runs one step with Inductor's
decompositions and PyTorch's kernels. One row a model:

  nodes     of the joint graph that is partitioned
  kept      KiB that autograd keeps between the halves: what the hooks for saved
            tensors see, each storage once, parameters, buffers and inputs apart
  error     the worst difference of a gradient from eager PyTorch's, as a
            fraction of what is allowed (test/Python/models.py)
  partition milliseconds in the partitioner; the better of the given number of
            runs, which alternate between the two
"""

import argparse
import functools
import sys
import time
import warnings

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import torch
from functorch.compile import (make_boxed_func,
                               min_cut_rematerialization_partition)
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

import cutback
from models import Model, PackedBytes, all_models, step


class Timed:
    """A partitioner, its time, and the size of what it got."""

    def __init__(self, partition):
        self.partition, self.seconds, self.nodes = partition, 0.0, 0

    def __call__(self, module, inputs, **more):
        self.nodes += len(module.graph.nodes)
        start = time.perf_counter()
        halves = self.partition(module, inputs, **more)
        self.seconds += time.perf_counter() - start
        return halves


def boxed(module, _):
    return make_boxed_func(module.forward)


def run(model, partition):
    """(bytes kept, worst share of the tolerance, seconds, nodes) of a step."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    timed, module, inputs = Timed(partition), model.module(), model.inputs()
    compiled = torch.compile(module, backend=aot_autograd(
        fw_compiler=boxed, bw_compiler=boxed, partition_fn=timed,
        decompositions=select_decomp_table, keep_inference_input_mutations=True))
    known = [*module.parameters(), *module.buffers(), *inputs]
    with PackedBytes(known) as packed:
        results = step(compiled, module, inputs)
    return packed.bytes, worst(model, results), timed.seconds, timed.nodes


def worst(model, results):
    """The largest gradient error as a share of what is allowed."""
    shares = [0.0]
    model.join_tied(results)
    for name, wanted in model.expected.items():
        if not name.startswith("grad."):
            continue
        error = (results[name].double() - wanted.double()).abs().max().item()
        scale = wanted.double().abs().max().item()
        shares.append(error / model.tolerance(name, scale))
    return max(shares)


def best(model, partitions, rounds):
    rows = [[] for _ in partitions]
    for _ in range(rounds):
        for row, partition in zip(rows, partitions):
            row.append(run(model, partition))
    return [(row[0][0], max(one[1] for one in row), min(one[2] for one in row),
             row[0][3]) for row in rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cost-model", default="roofline")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("error", cutback.FallbackWarning)
    models = [Model(given.folder + "/" + name) for name in given.names]
    ours = functools.partial(cutback.partition_fn,
                             options={"cost_model": given.cost_model})
    sums = [0, 0, 0.0, 0.0]
    print("| model | nodes | kept, PyTorch | kept, Cutback | ratio | error"
          " | partition, PyTorch | partition, Cutback |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for model in models or all_models(given.folder):
        theirs, mine = best(model, (min_cut_rematerialization_partition, ours),
                            given.rounds)
        for index, value in enumerate((theirs[0], mine[0], theirs[2],
                                       mine[2])):
            sums[index] += value
        print("| %s | %d | %.1f | %.1f | %.3f | %.2f | %.0f | %.0f |" % (
            model.name, mine[3], theirs[0] / 1024, mine[0] / 1024,
            mine[0] / theirs[0] if theirs[0] else 1, mine[1],
            1e3 * theirs[2], 1e3 * mine[2]), flush=True)
    print("| all | | %.1f | %.1f | %.3f | | %.0f | %.0f |" % (
        sums[0] / 1024, sums[1] / 1024, sums[1] / sums[0], 1e3 * sums[2],
        1e3 * sums[3]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
