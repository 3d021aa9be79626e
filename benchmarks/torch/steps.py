# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times training steps of exported models against PyTorch's, on this machine.

    python steps.py --bench FOLDER --cutback build/release/bin/cutback \\
        --library build/release/lib/libcutback-step.so [MODEL...]

FOLDER has a folder a model with its `model.pt2`; without names all of them are
run. Run it under a Python that has torch 2.13.0 (CPU). For each model `cutback
compile --target=cpu` makes a step; then it and PyTorch's eager step (forward
and backward of the same program, the same random parameters and inputs) run by
turns in this process: speed that comes and goes meets both. Times are wall
seconds, the least of --rounds; `ratio` is ours by PyTorch's. `differ` is the
largest difference of the losses, relative.

--compile times torch.compile too.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import logging
import pathlib

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
import cutback

logging.disable(logging.WARNING)


class Step:
    """A compiled step and memory for its arguments."""

    def __init__(self, folder):
        self.step = cutback.Step(folder)
        self.memory = {}
        self.pointers = []
        for argument in self.step.arguments:
            memory = torch.zeros(argument.bytes // 8 + 8, dtype=torch.int64)
            if argument.fill == "1" and argument.dtype == "f32":
                memory.view(torch.float32).fill_(1)
            self.memory[argument.name] = memory
            self.pointers.append(memory.data_ptr() + -memory.data_ptr() % 16)

    def set(self, name, tensor):
        if name not in self.memory:
            return
        memory = self.memory[name]
        at = (-memory.data_ptr() % 16) // 8
        raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
        memory[at:].view(torch.uint8)[:raw.numel()].copy_(raw)

    def run(self):
        for segment in self.step.segments:
            self.step.run(segment, self.pointers)

    def loss(self):
        value = ctypes.c_float()
        self.step.read(0, ctypes.addressof(value))
        return value.value


def random_tensor(like, name):
    """As exported, which may be a tensor without contents."""
    size = [int(s) for s in like.shape]
    if not like.dtype.is_floating_point:
        return torch.randint(0, 8, size).to(like.dtype)
    value = torch.randn(size) * 0.05
    if "var" in name:
        value = value.abs() + 1
    return value.to(like.dtype)


def load_program(path):
    """Also one whose parameters were exported without their contents."""
    strided = torch.as_strided

    def or_zeros(input, size, stride, storage_offset=None):
        try:
            return strided(input, size, stride, storage_offset)
        except RuntimeError:
            return torch.zeros(size, dtype=input.dtype)

    torch.as_strided = or_zeros
    try:
        return torch.export.load(path)
    finally:
        torch.as_strided = strided


def randomize(program):
    """Random parameters and buffers, by name, and inputs."""
    state = {}
    for name, tensor in program.state_dict.items():
        value = random_tensor(tensor, name)
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        state[name] = torch.nn.Parameter(value) if is_parameter else value
    program._state_dict = state
    args = program.example_inputs[0] if program.example_inputs else ()
    return state, [random_tensor(one, "") for one in args]


def load(path):
    """The module with random parameters, and the inputs."""
    program = load_program(path)
    state, inputs = randomize(program)
    return program.module(), state, inputs


def least(run, rounds):
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best


def measure(name, args):
    path = os.path.join(args.bench, name, "model.pt2")
    torch.manual_seed(0)
    module, state, inputs = load(path)
    folder = tempfile.mkdtemp()
    begin = time.perf_counter()
    subprocess.run([args.cutback, "compile", path, "-o", folder + "/out",
                    "--target=cpu"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    compile_seconds = time.perf_counter() - begin
    step = Step(folder + "/out")
    losses = []

    def eager(function):
        for value in state.values():
            value.grad = None
        result = function(*inputs)
        result = result[0] if isinstance(result, (tuple, list)) else result
        losses.append(float(result.detach()))
        result.backward()

    compiled = torch.compile(module) if args.compile else None
    for threads in args.threads:
        torch.set_num_threads(threads)
        step.step.set_threads(threads)
        cutback, by_eager, by_compiled = [], [], []
        for _ in range(args.rounds + 1):
            # Statistics of batches are written: the same in front of each.
            for tensor_name, value in state.items():
                kind = "param." if value.requires_grad else "buffer."
                step.set(kind + tensor_name, value)
            for i, value in enumerate(inputs):
                step.set("input.%d" % i, value)
            cutback.append(least(step.run, 1))
            by_eager.append(least(lambda: eager(module), 1))
            if compiled is not None:
                by_compiled.append(least(lambda: eager(compiled), 1))
        own, peer = min(cutback[1:]), min(by_eager[1:])
        differ = abs(step.loss() - losses[-1]) / max(1e-9, abs(losses[-1]))
        text = "%-10s %7d %9.3f %9.3f" % (name, threads, own, peer)
        if compiled is not None:
            text += " %9.3f" % min(by_compiled[1:])
            peer = min(peer, min(by_compiled[1:]))
        print(text + " %7.2f %9.1e %9.1f" % (own / peer, differ,
                                             compile_seconds), flush=True)


def common_options():
    """What `read_options` needs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--cutback", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("models", nargs="*")
    return parser


def read_options(parser):
    """The options, and the names of models: those given, or all."""
    args = parser.parse_args()
    os.environ["CUTBACK_STEP_LIBRARY"] = args.library
    return args, args.models or sorted(
        one for one in os.listdir(args.bench)
        if os.path.exists(os.path.join(args.bench, one, "model.pt2")))


def main():
    parser = common_options()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--compile", action="store_true")
    args, names = read_options(parser)
    print("model      threads   cutback     eager%s   ratio    differ   compile"
          % ("  compiled" if args.compile else ""))
    for name in names:
        measure(name, args)


if __name__ == "__main__":
    main()
