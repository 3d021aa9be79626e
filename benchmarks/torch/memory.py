# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of training steps of exported models beside PyTorch's, on a CPU.

    python memory.py --bench FOLDER --cutback build/release/bin/cutback \\
        --library build/release/lib/libcutback-step.so [MODEL...]

As steps.py, but bytes (MiB) in place of times. `arena` is all that a step of ours
takes besides its arguments: saved values, temporaries and gradients. `resident` is
by how much the process grew while the step was opened and run, and its share of the
arena. `eager` and `compiled` are the most bytes that PyTorch's allocator had given
out at once in a step, by the events of its profiler: saved, temporary, gradients.
`ratio` is the arena by the compiled step.
"""

import os
import re
import subprocess
import sys
import tempfile

if "--help" in sys.argv:
    print(__doc__)
    sys.exit(0)

import torch

from steps import Step, common_options, load, read_options

MIB = 1 << 20


def resident(what):
    """VmRSS or VmHWM, bytes."""
    with open("/proc/self/status") as file:
        return int(re.search(what + r":\s+(\d+) kB", file.read()).group(1)) * 1024


def grown_by(folder, state, inputs):
    """Of the process, by a step that is opened and run twice."""
    step = Step(folder)
    for name, value in state.items():
        step.set(("param." if value.requires_grad else "buffer.") + name, value)
    for i, value in enumerate(inputs):
        step.set("input.%d" % i, value)
    step.step.set_threads(1)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the highest mark begins anew
    before = resident("VmRSS")
    step.run()
    step.run()
    return resident("VmHWM") - before, step.step.arena_bytes


def peak_of(run):
    """The most bytes that were given out at once, above those at the start."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities,
                                profile_memory=True) as profile:
        run()
    events = [one for one in profile.profiler.kineto_results.events()
              if one.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda one: one.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


def measure(name, args):
    path = os.path.join(args.bench, name, "model.pt2")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module, state, inputs = load(path)
    folder = tempfile.mkdtemp() + "/out"
    subprocess.run([args.cutback, "compile", path, "-o", folder, "--target=cpu",
                    *args.option], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    grown, arena = grown_by(folder, state, inputs)

    def step(function):
        def run():
            result = function(*inputs)
            result = result[0] if isinstance(result, (tuple, list)) else result
            result.backward()
        for _ in range(2):
            for value in state.values():
                value.grad = None
            peak = peak_of(run)
        return peak

    eager, compiled = step(module), step(torch.compile(module))
    print("%-10s %8.1f %8.1f %6.2f %8.1f %8.1f %6.2f" % (
        name, arena / MIB, grown / MIB, grown / arena, eager / MIB, compiled / MIB,
        arena / compiled), flush=True)


def main():
    parser = common_options()
    parser.add_argument("--option", action="append", default=[],
                        help="of `cutback compile`")
    args, names = read_options(parser)
    print("model         arena resident  share    eager compiled  ratio")
    for name in names:
        measure(name, args)


if __name__ == "__main__":
    main()
