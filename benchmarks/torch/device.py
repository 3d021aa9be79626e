# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of exported models on a GPU beside PyTorch's, as Markdown.

    python device.py --bench FOLDER --cutback build/release/bin/cutback \\
        --library build/release/lib/libcutback-step.so [MODEL...]

FOLDER has a folder a model with its `model.pt2`; without names all of them are
run. A Python with PyTorch 2.11 or newer, for CUDA. A model is moved to the
device with random parameters, `cutback.compile` makes a step of it, and PyTorch
runs the same program; products of f32 are not rounded to tf32. A step is forward
and backward, of a batch that does not change.

Columns: `loss`, `gradients`: how far ours are from PyTorch's in double precision
(where a graph has ops of f32 alone: in single precision without cuDNN), by the
largest of these; beside it how far PyTorch's eager ones are; `wrong` behind it from
--tolerance and four times that on. Milliseconds of a step,
least and median of --rounds, by turns, between two events on PyTorch's stream.
MiB: `arena`, ours but for parameters and gradients, and with those that PyTorch
gets (`ours`); the most that PyTorch's allocator had given out in a step, above
what it had before (`eager`, `compiled`).

--compile runs torch.compile too. Where there is no compiler, take one machine's
steps to another:

    python device.py --prepare DIR ...      compiles, for --arch; needs no GPU
    python device.py --prepared DIR ...     runs what that wrote

--device=cpu tries the script where no GPU is. Exit status 1 if a model fails or
is wrong; the failure goes to standard error, and the next model is run.
"""

import copy
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
import traceback

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import torch
from torch.export.passes import move_to_device_pass

from steps import cutback, common_options, load_program, randomize, read_options

MIB = 1 << 20


def prepare(name, args):
    """Compiles a model for a machine that has no compiler."""
    subprocess.run(
        [args.cutback, "compile", os.path.join(args.bench, name, "model.pt2"),
         "-o", os.path.join(args.prepare, name), "--target=cuda",
         "--arch=" + args.arch], check=True)


def open_step(program, name, args):
    if not args.prepared:
        return cutback.compile(program, folder=args.keep and os.path.join(
            args.keep, name))
    return cutback.load(pathlib.Path(args.prepared, name), program)


class Candidate:
    """A step that can be timed: `run` gives the loss."""

    def __init__(self, call, parameters, inputs, device):
        self.call, self.parameters = call, parameters
        self.inputs, self.device = inputs, device
        self.times, self.grown = [], 0

    def run(self):
        result = self.call(*self.inputs)
        loss = result[0] if isinstance(result, (tuple, list)) else result
        loss.backward()
        return loss

    def clear(self):
        for value in self.parameters.values():
            value.grad = None

    def time(self):
        self.clear()
        if self.device.type == "cpu":
            begin = time.perf_counter()
            self.run()
            self.times.append(1e3 * (time.perf_counter() - begin))
            return
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        self.run()
        end.record()
        end.synchronize()
        self.times.append(begin.elapsed_time(end))

    def grow(self):
        """Bytes that PyTorch's allocator gives out in a step."""
        self.clear()
        if self.device.type == "cpu":
            return
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        self.run()
        torch.cuda.synchronize()
        self.grown = torch.cuda.max_memory_allocated() - before
        self.clear()

    def text(self):
        return "%.3f / %.3f" % (min(self.times),
                                statistics.median(self.times))


def results(candidate, buffers, before):
    """Loss and gradients of a step that begins with buffers as `before`."""
    with torch.no_grad():
        for name, value in buffers.items():
            if name in before:
                value.copy_(before[name])
    candidate.clear()
    loss = candidate.run().detach().double()
    return loss, {name: None if one.grad is None else one.grad.double()
                  for name, one in candidate.parameters.items()}


def precise_results(program, inputs, before, device):
    """Of the same step in double precision; None where an op refuses it."""
    program = copy.deepcopy(program)
    for node in program.graph.nodes:
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            program.graph.erase_node(node)
    program.graph_module.recompile()
    module = program.module().double()
    module.zero_grad()
    candidate = Candidate(
        module, dict(module.named_parameters()),
        [one.double() if one.is_floating_point() else one for one in inputs],
        device)
    try:
        return results(candidate, dict(module.named_buffers()), before)
    except RuntimeError:
        return None


def difference(one, other):
    return ((one - other).abs().max() / other.abs().max().clamp_min(1e-30)
            ).item() if one.numel() else 0.0


def compare(ours, theirs):
    """Largest differences of loss and gradients, and which gradient it is."""
    (loss, found), (wanted, expected) = ours, theirs
    worst, of = 0.0, ""
    for name, value in expected.items():
        if value is None or found.get(name) is None:
            if value is not None and value.any():
                raise RuntimeError("there is no gradient of " + name)
            continue
        one = difference(found[name], value)
        if not one <= worst:
            worst, of = one, name
        if math.isnan(worst):
            break
    return difference(loss, wanted), worst, of


def measure(name, args):
    """A row, and whether the step is right."""
    device = torch.device(args.device)
    torch.manual_seed(0)
    program = load_program(os.path.join(args.bench, name, "model.pt2"))
    state, inputs = randomize(program)
    program = move_to_device_pass(program, args.device)
    inputs = [one.to(device) for one in inputs]
    state = program.state_dict
    step = open_step(program, name, args)
    module = program.module()
    own = {one: value for one, value in state.items()
           if isinstance(value, torch.nn.Parameter)}
    theirs = dict(module.named_parameters())
    ours = Candidate(step, own, inputs, device)
    eager = Candidate(module, theirs, inputs, device)
    candidates = [ours, eager]
    before = {one: value.detach().clone() for one, value in state.items()
              if one not in own}
    buffers = dict(module.named_buffers())
    reference = precise_results(program, inputs, before, device)
    if reference is None:
        with torch.backends.cudnn.flags(enabled=False):
            reference = results(eager, buffers, before)
    loss, worst, of = compare(results(ours, state, before), reference)
    _, eagers, _ = compare(results(eager, buffers, before), reference)
    if args.compile:
        candidates.append(Candidate(torch.compile(module), theirs, inputs,
                                    device))
    for one in candidates:
        for _ in range(3):
            one.run()
        one.grow()
    for _ in range(args.rounds):
        for one in candidates:
            one.time()
    is_right = loss <= args.tolerance and worst <= max(args.tolerance,
                                                       4 * eagers)
    if not is_right:
        print("%s: the gradient of %s differs by %.1e, the loss by %.1e"
              % (name, of, worst, loss), file=sys.stderr)
    columns = [name, "%.1e" % loss,
               "%.1e%s" % (worst, "" if is_right else " wrong"),
               "%.1e" % eagers,
               *(one.text() for one in candidates),
               "%.1f" % (step.arena_bytes / MIB),
               "%.1f" % ((step.arena_bytes + ours.grown) / MIB),
               *("%.1f" % (one.grown / MIB) for one in candidates[1:])]
    return columns, is_right


def header(args):
    peers = ["eager", "compiled"][:1 + args.compile]
    columns = ["model", "loss", "gradients", "eager's", "ours, ms",
               *(one + ", ms" for one in peers), "arena, MiB", "ours, MiB",
               *(one + ", MiB" for one in peers)]
    where = (torch.cuda.get_device_name(0) if args.device != "cpu"
             else "this machine's CPU")
    print("%s, PyTorch %s, %d rounds, least / median\n"
          % (where, torch.__version__, args.rounds))
    print("| %s |\n|%s" % (" | ".join(columns), "---|" * len(columns)))


def main():
    parser = common_options()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--keep", help="folder for what is compiled")
    parser.add_argument("--prepare")
    parser.add_argument("--prepared")
    parser.add_argument("--arch", default="sm_90")
    args, names = read_options(parser)
    os.environ["CUTBACK_PROGRAM"] = args.cutback
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    failed = 0
    if not args.prepare:
        header(args)
    for name in names:
        try:
            if args.prepare:
                prepare(name, args)
                continue
            columns, is_right = measure(name, args)
            failed += not is_right
        except Exception as error:  # goes on with the next model
            traceback.print_exc()
            first = str(error).strip().splitlines()
            columns = [name, "error: " + (first[0] if first
                                          else type(error).__name__)]
            failed += 1
            if args.prepare:
                continue
        print("| %s |" % " | ".join(columns), flush=True)
        if args.device != "cpu":
            torch.cuda.empty_cache()
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
