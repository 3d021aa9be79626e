# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program through `cutback`, against eager PyTorch.

What is compared: loss, outputs, each gradient, each buffer. Float64 must agree
to 1e-9 of the largest magnitude, unless smaller types occur in the program. The
results of every way to plan must be the same bytes.
"""

import contextlib
import io
import pathlib
import random
import re
import shutil
import subprocess

import torch
from safetensors.torch import load_file, save_file

from . import program

PLANS = [
    ["--strategy=eager"], ["--strategy=precompute"],
    ["--strategy=recompute-all"], ["--minimize=peak"],
    ["--cost-model=pytorch"], ["--cost-model=pytorch", "--rules=torch-2.3"],
    ["--byte-price=0.5"], ["--byte-price=50"], ["--whole"],
    ["--cost-model=pytorch", "--strategy=recompute-all"],
    ["--solver=push-relabel", "--device=cpu"],
]


class Finding(Exception):
    """What is wrong, in a word that stays the same while a program shrinks, and
    in a sentence."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind
        self.text = text


class Refused(Exception):
    """PyTorch does not export or run the program."""


def export(space, path, strict=False):
    module = space["Step"]()
    inputs = space["inputs"](5)
    dynamic = None
    if space["DYNAMIC"]:
        dynamic = tuple({0: torch.export.Dim.AUTO} if x.dim() else None
                        for x in inputs)
    try:
        # It prints the graph that it could not finish.
        with contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            exported = torch.export.export(module, tuple(inputs), strict=strict,
                                           dynamic_shapes=dynamic)
            torch.export.save(exported, path)
    except Exception as error:
        raise Refused("export: %s: %s" % (type(error).__name__,
                                          str(error)[:300])) from None
    return exported


def tolerance(source, results):
    """Of a program: by the least precise type in it."""
    text = source + " ".join(str(v.dtype) for v in results.values()
                             if v is not None)
    for wide in ("torch.float64", "double", "is_float",
                 "set_default_dtype(torch.float32)"):
        text = text.replace(wide, "")
    if "bfloat16" in text or "float16" in text or "half" in text:
        # One zero of a ReLU that rounding moves is a large part of a gradient.
        return 0.3 if "blocks import" in source else 4e-2
    return 1e-4 if "float" in text else 1e-9


def exact(source):
    """The program in float64 throughout; what it gives says how far rounding
    moves results."""
    new = re.sub(r"^DTYPE = torch\.\w+", "DTYPE = torch.float64", source,
                 flags=re.M).replace("'cpu', torch.bfloat16",
                                     "'cpu', enabled=False")
    return new if new != source else None


def differences(ours, theirs, rtol, written=(), exact=None):
    """`exact`: results of the same in float64; four times what rounding moves
    theirs is allowed too."""
    found = []
    # Sums of numbers that cancel are noise of their size, not of the sum's.
    largest = max([float(x.double().abs().max()) for x in theirs.values()
                   if x is not None and x.dtype.is_floating_point
                   and x.numel() and bool(x.isfinite().all())], default=0)
    for name, wanted in theirs.items():
        got = ours.get(name)
        if wanted is None:
            if got is not None and got.any():
                found.append("%s: a gradient where PyTorch has none" % name)
            continue
        if got is None:
            if name.startswith("grad.") and not wanted.any():
                continue
            if name.startswith("buffer.") and name not in written:
                continue
            found.append("%s is missing" % name)
        elif got.shape != wanted.shape or got.dtype != wanted.dtype:
            found.append("%s: %s %s, not %s %s" % (
                name, got.dtype, tuple(got.shape), wanted.dtype,
                tuple(wanted.shape)))
        elif wanted.dtype.is_floating_point:
            one, other = got.double(), wanted.double()
            finite = other[other.isfinite()].abs()
            scale = finite.max().item() if finite.numel() else 0
            moved = 0
            if exact and exact.get(name) is not None and other.numel():
                moved = (exact[name].double() - other).nan_to_num(
                    0, 0, 0).abs().max().item()
            if not torch.allclose(one, other, rtol=0, equal_nan=True,
                                  atol=1e-7 * (rtol > 1e-8) + 1e-12
                                  + rtol * max(scale, largest / 100)
                                  + 4 * moved):
                found.append("%s differs by %g of %g" % (
                    name, (one - other).abs().max().item(), scale))
        elif not torch.equal(got, wanted):
            found.append("%s differs" % name)
    return found


class Checker:
    """`target`: None for the interpreter, else what is compiled and run: then
    plans are compared by their bits alone, and sizes are those of the example; if
    `dynamic`, a folder is compiled for these, and runs at others too."""

    def __init__(self, cutback, folder, seed=0, plans=3, target=None,
                 dynamic=False):
        self.cutback = cutback
        self.target = target
        self.dynamic = dynamic
        self.folder = pathlib.Path(folder)
        self.random = random.Random(seed)
        self.plans = plans

    def call(self, *options, output="out"):
        path = self.folder / output
        path.unlink(missing_ok=True)
        model = str(self.folder / "model.pt2")
        data = ["--inputs=%s" % (self.folder / "inputs"),
                "--outputs=%s" % path]
        if self.target != "cuda-host" and not (self.target and self.dynamic):
            how = "--target=%s" % self.target if self.target else "--reference"
            self.execute(options, "run", model, how, *data, *options)
            return path
        compiled = str(self.folder / "compiled")
        shutil.rmtree(compiled, ignore_errors=True)
        self.execute(options, "compile", model, "-o", compiled,
                     "--target=%s" % self.target, *options)
        self.execute(options, "run", compiled, "--weights=%s" % model, *data)
        return path

    def execute(self, options, *arguments):
        """A command of the program, which must succeed."""
        try:
            done = subprocess.run([self.cutback, *arguments],
                                  capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            raise Finding("hang", "hang with %s" % " ".join(options)) from None
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            errors = [line for line in lines if "error:" in line] or lines[:1]
            text = "; ".join(errors)[:400]
            kind = "refused" if done.returncode == 1 else "crash"
            # A name for all such: the text without names and numbers.
            name = re.sub(r"'[^']*'|\d+", "_", text.split("error:")[-1])
            raise Finding(kind + name[:60], "exit code %d %s: %s" % (
                done.returncode, " ".join(options), text))

    def check(self, source, strict=False):
        space = program.load(source)
        if self.target and not self.dynamic:
            space["DYNAMIC"] = False
        try:
            wanted = {5: program.eager(space)}
            if space["DYNAMIC"]:
                wanted[7] = program.eager(space, 7)
                wanted[2] = program.eager(space, 2)
        except Exception as error:
            raise Refused("eager: %s" % error) from None
        if all(x is None for name, x in wanted[5].items()
               if name.startswith("grad.")):
            raise Refused("eager: no gradient")
        exported = export(space, self.folder / "model.pt2", strict)
        for batch in wanted:
            self.check_size(space, source, exported, batch, wanted[batch])

    def check_size(self, space, source, exported, batch, theirs):
        inputs = space["inputs"](batch)
        other = exact(source)
        rounding = program.eager(program.load(other), batch) if other else None
        if batch != 5:
            try:
                exported.module()(*space["inputs"](batch))
            except Exception:
                return  # specialized
        save_file({"input.%d" % i: x.detach().contiguous()
                   for i, x in enumerate(inputs)}, self.folder / "inputs")
        path = self.call()
        ours = load_file(path)
        written = {"buffer." + name
                   for name, value in space["Step"]().named_buffers()
                   if not torch.equal(theirs["buffer." + name], value)}
        found = differences(ours, theirs, tolerance(source, theirs), written,
                            rounding)
        if found:
            step = exported.module()
            try:
                again = program.eager(space, batch, step=step)
            except Exception as error:
                raise Refused("exported: %s" % error) from None
            if differences(again, theirs, tolerance(source, theirs), (),
                           rounding):
                wrong = differences(ours, again, tolerance(source, theirs), (),
                                    rounding)
                if not wrong:
                    raise Refused("export: changes the program")
                raise Finding("export-differs", "of the export too: "
                              + "; ".join(wrong))
            raise Finding("wrong", "; ".join(found))
        bytes_of = path.read_bytes()
        plans = [plan for plan in PLANS
                 if not self.target or plan != ["--whole"]]
        for plan in self.random.sample(plans, self.plans):
            has_arena = not self.target and plan != ["--whole"]
            checks = ["--check-memory"] if has_arena else []
            try:
                other = self.call(*checks, *plan, output="other")
            except Finding as finding:
                if "has no memory plan to check" not in finding.text:
                    raise
                other = self.call(*plan, output="other")
            if other.read_bytes() != bytes_of:
                raise Finding("plans", "other bits with %s" % " ".join(plan))
        if not self.target:
            self.check_policies(bytes_of)

    def check_policies(self, bytes_of):
        """Wishes for a few values may have no plan, or be of values that are
        gone; never do they change results."""
        imported = subprocess.run(
            [self.cutback, "import", str(self.folder / "model.pt2")],
            capture_output=True, text=True, timeout=300)
        names = re.findall(r"^ *%(\w+)", imported.stdout, flags=re.M)
        if not names or not self.plans:
            return
        policies = ["must-save", "must-recompute", "prefer-save",
                    "prefer-recompute"]
        # One a value: two are an error of the command line.
        names = sorted(set(names))
        options = ["--policy=%s=%s" % (name, self.random.choice(policies))
                   for name in self.random.sample(
                       names, min(len(names), self.random.randint(1, 4)))]
        options += self.random.choice(
            [plan for plan in PLANS if plan != ["--whole"]])
        try:
            other = self.call(*options, output="other")
        except Finding as finding:
            if finding.kind.startswith("refused"):
                return
            raise
        if other.read_bytes() != bytes_of:
            raise Finding("plans", "other bits with %s" % " ".join(options))

