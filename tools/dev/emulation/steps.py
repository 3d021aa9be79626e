# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles a model for the emulated device with a sanitizer, runs its step, and
# says what was seen. The library of a sanitizer is loaded in front of the
# program, which has none.

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

from artifacts.manifest import name_again

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "build/release/bin/cutback"
# As lib/Target/CUDA/Toolchain.cpp has them, but what is for GCC alone.
HOST_FLAGS = ["-std=c++17", "-O2", "-march=native", "-ffp-contract=off",
              "-fwrapv", "-fno-strict-aliasing", "-fPIC", "-shared", "-w"]


def find_clang():
    """clang++, which knows fibers; 22 is what bootstrap installs."""
    for name in ("clang++-22", "clang++"):
        if shutil.which(name):
            return name
    sys.exit("error: there is no clang++\n  tools/dev/bootstrap")


def runtime(name):
    """The path of clang's shared runtime library of a sanitizer."""
    file = "libclang_rt.%s-%s.so" % (name, platform.machine())
    path = subprocess.run([find_clang(), "-print-file-name=" + file],
                          capture_output=True, text=True, check=True)
    found = pathlib.Path(path.stdout.strip())
    if not found.is_absolute():  # clang's answer where it has none
        places = sorted(pathlib.Path("/usr/lib").glob(
            "llvm-*/lib/clang/*/lib/linux/" + file))
        if not places:
            sys.exit("error: there is no %s\n  tools/dev/bootstrap" % file)
        found = places[-1]
    return str(found)


class Sanitizer:
    """How kernels are built, and what the program that runs them needs."""

    def __init__(self, flags, library=None, environment=None):
        self.flags = flags
        self.environment = dict(environment or {})
        if library:
            self.environment["LD_PRELOAD"] = runtime(library)


# A register that nothing was put into is a NaN.
UNSET = "-ftrivial-auto-var-init=pattern"


def watched():
    """Each access a call, of which watch.h takes care; none is wider than 16
    bytes."""
    flags = [UNSET, "-fsanitize=thread", "-g1", "-fno-vectorize", "-fno-slp-vectorize",
             "-I.", "-include", str(ROOT / "tools/dev/emulation/watch.h")]
    for option in ("instrument-func-entry-exit=0", "instrument-atomics=0",
                   "instrument-read-before-write=1"):
        flags += ["-mllvm", "-tsan-" + option]
    return Sanitizer(flags)


def addresses(undefined=False):
    """`undefined`: what the language leaves undefined is an error, too."""
    flags = [UNSET, "-fsanitize=address", "-shared-libsan", "-g1"]
    if undefined:
        flags += ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
    return Sanitizer(
        flags, "asan",
        {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:"
                         "exitcode=67"})


class Model:
    """A folder with model.pt2, of which are the weights, and
    expected.safetensors."""

    def __init__(self, folder, graph="model.pt2"):
        """`graph`: the file of the folder that is compiled."""
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.graph = self.folder / graph
        self.weights = self.folder / "model.pt2"
        self.tensors = self.folder / "expected.safetensors"
        for path in (self.graph, self.weights, self.tensors):
            if not path.exists():
                sys.exit("error: there is no '%s'\n  give folders with model.pt2 "
                         "and expected.safetensors, as in test/corpus" % path)


class Failed(Exception):
    """A compilation or a run that says why it ends."""


def first_error(text):
    found = re.search(r"(?:error|emulated kernel|wrong):.*", text)
    return found.group(0)[:200] if found else text.strip()[-200:]


def compile_step(program, model, folder, target="cuda-host", options=(),
                 debug=True):
    """The text, and a library of it; `debug`: one that `rebuild` is to replace."""
    environment = dict(os.environ)
    if debug:
        environment.update(CXX=find_clang(), CXXFLAGS="-O0")
    done = subprocess.run(
        [str(program), "compile", str(model.graph), "-o", str(folder),
         "--target=" + target, *options], capture_output=True, text=True,
        env=environment)
    if done.returncode:
        raise Failed(first_error(done.stderr))


class Outcome:
    """What one run of a step did."""

    def __init__(self, code, text, outputs):
        """`outputs`: the bytes of all results, or None."""
        self.code, self.text, self.outputs = code, text, outputs
        self.is_wrong = code == 3 and "wrong: " in text


def run_step(program, model, folder, sanitizer, reverse=False, options=(),
             timeout=600, name=""):
    """`name`: of this run, where several are under way in one folder."""
    outputs = pathlib.Path("%s.%s%s" % (folder, name,
                                        "backwards" if reverse else "out"))
    outputs.unlink(missing_ok=True)
    environment = dict(os.environ, **sanitizer.environment)
    if reverse:
        environment["CUTBACK_CUDA_HOST_ORDER"] = "reverse"
    command = [str(program), "run", str(folder), "--weights=%s" % model.weights,
               "--inputs=%s" % model.tensors, "--check=%s" % model.tensors,
               "--outputs=%s" % outputs, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              env=environment, timeout=timeout)
    except subprocess.TimeoutExpired:
        return Outcome(-1, "error: no end after %d s" % timeout, None)
    made = outputs.read_bytes() if outputs.exists() else None
    outputs.unlink(missing_ok=True)
    return Outcome(done.returncode, done.stdout + done.stderr, made)


def rebuild(folder, sanitizer):
    """Compiles the text in a folder again, as it now is. The manifest names what
    is there then. Compiler's words where it refuses the text."""
    done = subprocess.run(
        [find_clang(), *HOST_FLAGS, *sanitizer.flags, "-o", "libstep.so",
         "host.cpp"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Failed(first_error(done.stderr))
    name_again(folder)


def launches_of(folder):
    """Those of the manifest, segment by segment."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest, [launch for segment in manifest["segments"]
                      for launch in segment["launches"]]


def nests_of(folder):
    """By kernel the first block of each nest behind the first."""
    text = "".join((folder / name).read_text()
                   for name in ("forward.cu", "backward.cu"))
    return {name: re.findall(r"if \([^\n]*blockIdx\.x < (\d+)\)+ \{", body)[:-1]
            for name, body in re.findall(
                r"__global__[^\n]*\n(\w+)\((.*?)\n\}", text, re.S)}


class Watched:
    """What watch.h saw of a run."""

    def __init__(self, folder, text):
        self.launches, places = [], set()
        for line in text.splitlines():
            kind, *words = line.split()
            if kind == "launch":
                self.launches.append([int(word) for word in words])
            else:
                places.add((words[1], words[0], len(self.launches)))
        self.races = sorted({"%s at %s" % (what, line_at(folder, place))
                             for place, what, _ in places})


def line_at(folder, place):
    """file:line of an address in the kernels."""
    tool = shutil.which("llvm-symbolizer-22") or shutil.which("llvm-symbolizer")
    if not tool:
        return "0x" + place
    done = subprocess.run(
        [tool, "--obj=%s" % (folder / "libstep.so"), "--output-style=GNU",
         "--basenames", "--functions=none", "0x" + place],
        capture_output=True, text=True)
    return done.stdout.split("\n")[0].split(" ")[0]


def watch_step(program, model, folder, **how):
    """Runs a step that was rebuilt with `watched()`."""
    _, launches = launches_of(folder)
    nests = nests_of(folder)
    operands = folder / "operands.txt"
    if not operands.exists():
        operands.write_text("".join("%s - %s\n" % (
            " ".join(nests[launch["kernel"]]),
            " ".join(str(one["bytes"]) for one in launch["operands"]))
            for launch in launches))
    seen = folder / ("watched%s%s" % (how.get("name", ""),
                                      ".backwards" if how.get("reverse") else ""))
    seen.unlink(missing_ok=True)
    sanitizer = Sanitizer([], environment=dict(
        how.pop("environment", {}), CUTBACK_WATCH_OPERANDS=str(operands),
        CUTBACK_WATCH=str(seen)))
    run = run_step(program, model, folder, sanitizer, **how)
    run.watched = Watched(folder, seen.read_text() if seen.exists() else "")
    return run


def take_share(models, share):
    """Every n-th from the k-th on, of --share=K/N."""
    if not share:
        return models
    number, count = (int(part) for part in share.split("/"))
    return [one for i, one in enumerate(models) if i % count == number % count]
