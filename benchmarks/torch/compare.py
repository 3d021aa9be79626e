# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times PyTorch's min-cut partitioner and ours on the same joint graphs.

    python compare.py --golden FOLDER --bench build/release/bin/bench-partition

FOLDER holds the unpacked reference data (partition/, small/, plan/, bench/,
corpus/). Run it under a Python that has torch 2.13.0 (CPU), numpy and networkx.
Both sides: process CPU seconds, the graph in memory, one run before, median of
five. The two are measured one after the other, graph by graph. PyTorch's plan
is compared with the recorded one, so that what is timed is the real thing.

Columns: `solve` is PyTorch's solve_min_cut (network and flow) against our
network and solve; `whole` is dead code to finished halves against prepare to
verified.
"""

import argparse
import copy
import glob
import json
import os
import statistics
import subprocess
import sys
import time

import torch
from torch import fx
from torch._functorch import partitioners
from torch._guards import TracingContext, tracing

from joint_text import read_joint_text


def find_text(root, name):
    for part in ("small", "plan", "bench"):
        path = os.path.join(root, part, name, "joint.txt")
        if os.path.exists(path):
            return path
    suite, rest = name.split(".", 1)
    model, first, second = rest.rsplit(".", 2)
    base, device = model.rsplit("_", 1)
    return os.path.join(root, "corpus/sub", suite,
                        f"{base}_training_{device}",
                        f"__compiled_fn_{first} Joint graph {second}.py")


class SolveClock:
    """Adds up the CPU seconds of PyTorch's solve_min_cut."""

    def __init__(self):
        self.seconds = 0.0
        self.inner = partitioners.solve_min_cut
        partitioners.solve_min_cut = self

    def __call__(self, *args, **kwargs):
        start = time.process_time()
        try:
            return self.inner(*args, **kwargs)
        finally:
            self.seconds += time.process_time() - start


def run_torch(root, graph, mode, outputs, clock):
    """Seconds of the whole and of network + flow; names that are saved."""
    module = fx.GraphModule(root, copy.deepcopy(graph))
    with tracing(TracingContext(mode)):
        clock.seconds = 0.0
        start = time.process_time()
        forward, _ = partitioners.min_cut_rematerialization_partition(
            module, None, num_fwd_outputs=outputs)
        whole = time.process_time() - start
    handed = next(iter(forward.graph.find_nodes(op="output"))).args[0]
    return whole, clock.seconds, {n.name for n in handed[outputs:]}


def measure_torch(path, reference, runs, clock):
    with open(path) as file:
        text = file.read()
    device = "cuda:0" if "_cuda/" in path else "cpu"
    if "_training_cuda" in path:
        device = "cuda:0"
    root, graph, mode = read_joint_text(text, reference["symbols"], device)
    outputs = reference["forward_outputs"]
    _, _, saved = run_torch(root, graph, mode, outputs, clock)
    expected = reference["rules"]["torch-2.13"]
    names = set(expected["saved"] + expected["saved_sizes"])
    # States of the random generator are handed over besides.
    same = names <= saved and \
        len(saved) - len(names) == expected.get("rng_states", 0)
    times = [run_torch(root, graph, mode, outputs, clock)[:2] for _ in range(runs)]
    whole = statistics.median(t[0] for t in times)
    solve = statistics.median(t[1] for t in times)
    return whole, solve, same


def recorded_seconds(reference):
    rules = reference["rules"]["torch-2.13"]
    seconds = rules.get("cpu_seconds", rules.get("seconds"))
    return seconds["total"], seconds["build"] + seconds["solve"], True


def measure_ours(bench, path, reference, runs):
    command = [bench, "--json", "--cost-model=pytorch",
               "--free-parameters=none", f"--runs={runs}"]
    command += [f"--sym={k}={v}" for k, v in reference["symbols"].items()]
    out = subprocess.run(command + [path], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out)


def measure(args, name, reference, clock):
    path = find_text(args.golden, name)
    try:
        whole, solve, same = measure_torch(path, reference, args.runs, clock)
        how = "" if same else "other plan than recorded"
    except Exception as error:  # a text that PyTorch cannot take back
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        whole, solve, same = recorded_seconds(reference)
        how = "recorded"
    ours = measure_ours(args.bench, path, reference, args.runs)
    return {"name": name, "ops": ours["ops"], "torch_whole": whole,
            "torch_solve": solve, "whole": ours["whole"],
            "solve": ours["solve"], "note": how}


def write_table(rows, out):
    print("| graph | ops | PyTorch solve, s | ours, ms | ratio | "
          "PyTorch whole, s | ours, ms | ratio | |", file=out)
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|", file=out)
    for row in rows:
        row["solve_ratio"] = row["torch_solve"] / row["solve"]
        row["whole_ratio"] = row["torch_whole"] / row["whole"]
        print("| {name} | {ops} | {torch_solve:.3f} | {0:.3f} | "
              "{solve_ratio:,.0f} | {torch_whole:.3f} | {1:.3f} | "
              "{whole_ratio:,.0f} | {note} |".format(
                  row["solve"] * 1e3, row["whole"] * 1e3, **row), file=out)
    for what in ("solve_ratio", "whole_ratio"):
        values = [row[what] for row in rows]
        print(f"\n{what.replace('_', ' ')}: median "
              f"{statistics.median(values):,.0f}, least {min(values):,.0f}, "
              f"largest {max(values):,.0f}, on {len(rows)} graphs", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--golden", required=True)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="names of graphs")
    parser.add_argument("--json", help="write the figures here too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    clock = SolveClock()
    rows = []
    for path in sorted(glob.glob(os.path.join(args.golden, "partition/*.json"))):
        name = os.path.basename(path)[:-len(".json")]
        if name.endswith(".net") or (args.only and name not in args.only):
            continue
        with open(path) as file:
            reference = json.load(file)
        rows.append(measure(args, name, reference, clock))
        print(rows[-1], file=sys.stderr, flush=True)
    load = os.getloadavg()
    print(f"torch {torch.__version__}, {time.strftime('%Y-%m-%d')}, load "
          f"average {load[0]:.1f} on {os.cpu_count()} processors, median of "
          f"{args.runs}\n")
    write_table(rows, sys.stdout)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
