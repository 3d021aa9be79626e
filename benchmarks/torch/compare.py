# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times PyTorch's min-cut partitioner and ours on the same joint graphs.

    python compare.py --golden FOLDER --bench build/release/bin/bench-partition

FOLDER holds the unpacked reference data (partition/, small/, plan/, bench/,
corpus/). Run it under a Python that has torch 2.13.0 (CPU), numpy and networkx.
Both sides: CPU seconds, the graph in memory, one run before, median of five
rounds. A round is one run of PyTorch's and one process of ours, on the same
processor: speed that comes and goes meets both. PyTorch's plan is compared with
the recorded one, so that what is timed is the real thing.

Columns: `solve` is PyTorch's solve_min_cut (network and flow) against our
network and solve; `plan` is all until it is known what is saved, dead code and
CSE too, against our prepare, network and solve; `whole` is dead code to finished
halves against prepare to verified.
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

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import torch
from torch import fx
from torch._functorch import partitioners
from torch._guards import TracingContext, tracing

from joint_text import read_joint_text


PARTS = ("solve", "plan", "whole")


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
    """CPU seconds of PyTorch's solve_min_cut, and when the plan was there."""

    def __init__(self):
        self.seconds, self.planned = 0.0, 0.0
        self.solve = partitioners.solve_min_cut
        self.choose = partitioners.choose_saved_values_set
        partitioners.solve_min_cut = self.timed_solve
        partitioners.choose_saved_values_set = self.timed_choose

    def timed_solve(self, *args, **kwargs):
        start = time.process_time()
        try:
            return self.solve(*args, **kwargs)
        finally:
            self.seconds += time.process_time() - start

    def timed_choose(self, *args, **kwargs):
        saved = self.choose(*args, **kwargs)
        self.planned = time.process_time()
        return saved


def run_torch(root, graph, mode, outputs, clock):
    """Seconds of solve, plan and whole; names that are saved."""
    module = fx.GraphModule(root, copy.deepcopy(graph))
    with tracing(TracingContext(mode)):
        clock.seconds = 0.0
        start = time.process_time()
        forward, _ = partitioners.min_cut_rematerialization_partition(
            module, None, num_fwd_outputs=outputs)
        whole = time.process_time() - start
    handed = next(iter(forward.graph.find_nodes(op="output"))).args[0]
    seconds = {"whole": whole, "solve": clock.seconds,
               "plan": clock.planned - start}
    return seconds, {n.name for n in handed[outputs:]}


class TorchSide:
    """PyTorch's partitioner on one text, warmed by one run."""

    def __init__(self, path, reference, clock):
        with open(path) as file:
            text = file.read()
        device = "cpu"
        if "_cuda/" in path or "_training_cuda" in path:
            device = "cuda:0"
        self.parts = read_joint_text(text, reference["symbols"], device)
        self.outputs = reference["forward_outputs"]
        self.clock = clock
        _, saved = run_torch(*self.parts, self.outputs, clock)
        expected = reference["rules"]["torch-2.13"]
        names = set(expected["saved"] + expected["saved_sizes"])
        # States of the random generator are handed over besides.
        self.as_recorded = names <= saved and \
            len(saved) - len(names) == expected.get("rng_states", 0)

    def seconds(self):
        return run_torch(*self.parts, self.outputs, self.clock)[0]


class RecordedSide:
    """In place of a run: what the reference data says it took."""

    def __init__(self, reference):
        rules = reference["rules"]["torch-2.13"]
        seconds = rules.get("cpu_seconds", rules.get("seconds"))
        plan = seconds["build"] + seconds["solve"]
        self.recorded = {"whole": seconds["total"], "plan": plan, "solve": plan}

    def seconds(self):
        return self.recorded


def measure_ours(bench, path, reference):
    """The figures of bench-partition by cost model: median of three runs."""
    command = [bench, "--json", "--free-parameters=none", "--runs=3"]
    command += [f"--sym={k}={v}" for k, v in reference["symbols"].items()]
    out = subprocess.run(command + [path], check=True, capture_output=True,
                         text=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    return {line["costModel"]: line for line in lines}


def measure(args, name, reference, clock):
    path = find_text(args.golden, name)
    try:
        torch_side = TorchSide(path, reference, clock)
        how = "" if torch_side.as_recorded else "other plan than recorded"
    except Exception as error:  # a text that PyTorch cannot take back
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        torch_side = RecordedSide(reference)
        how = "recorded"
    rounds = [(torch_side.seconds(), measure_ours(args.bench, path, reference))
              for _ in range(args.runs)]

    def median(pick):
        return statistics.median(pick(*sides) for sides in rounds)

    return {"name": name, "ops": rounds[0][1]["pytorch"]["ops"], "note": how,
            **{f"torch_{what}": median(lambda theirs, _: theirs[what])
               for what in PARTS},
            **{f"{model}_{what}": median(lambda _, ours: ours[model][what])
               for model in ("pytorch", "roofline") for what in PARTS}}


def write_table(rows, out):
    """Ours under PyTorch's rules, and under the roofline model (`r.`)."""
    print("| graph | ops | solve: PyTorch ms | × | × r. | plan: PyTorch ms "
          "| × | × r. | whole: PyTorch ms | × | × r. | ours ms | r. ms | |\n"
          "|---|" + "--:|" * 12 + "---|", file=out)
    ratios = {}
    for row in rows:
        cells = []
        for what in PARTS:
            theirs = row[f"torch_{what}"]
            cells.append(f"{theirs * 1e3:,.1f}")
            for model in ("pytorch", "roofline"):
                ratio = theirs / row[f"{model}_{what}"]
                cells.append(f"{ratio:,.0f}")
                if row["note"] != "recorded":
                    ratios.setdefault((what, model), []).append(ratio)
        cells += [f"{row[f'{model}_whole'] * 1e3:.3f}"
                  for model in ("pytorch", "roofline")]
        print(f"| {row['name']} | {row['ops']} | {' | '.join(cells)} | "
              f"{row['note']} |", file=out)
    print("\n| ratio, without recorded | median | least | largest | graphs |\n"
          "|---|--:|--:|--:|--:|", file=out)
    for (what, model), values in ratios.items():
        print(f"| {what}, {model} | {statistics.median(values):,.0f} | "
              f"{min(values):,.0f} | {max(values):,.0f} | {len(values)} |",
              file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--golden", required=True)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--runs", type=int, default=5, help="rounds (5)")
    parser.add_argument("--only", nargs="*", help="names of graphs")
    parser.add_argument("--json", help="write the figures here too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):  # not on every system
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
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
          f"{args.runs} rounds\n")
    write_table(rows, sys.stdout)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
