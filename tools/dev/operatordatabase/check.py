# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operator through `cutback run`, against eager PyTorch."""

import dataclasses
import pathlib
import re
import subprocess

import torch

from . import references, samples, tensors, ways

# In the order of how bad they are.
KINDS = ("agrees", "random", "unexported", "PyTorch", "refused", "wrong",
         "crash", "hang")
RTOL = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4,
        torch.complex64: 1e-4, torch.bfloat16: 4e-2, torch.float16: 1e-2}


@dataclasses.dataclass
class Finding:
    op: str
    sample: int
    way: str
    kind: str
    text: str = ""


class Failed(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def cutback_run(cutback, folder, program):
    """What a step gives, by name."""
    out = folder / "out"
    out.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [cutback, "run", folder / program, "--reference",
             "--inputs=%s" % (folder / "inputs"), "--outputs=%s" % out],
            capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise Failed("hang", "more than 120 s") from None
    if done.returncode == 1:
        raise Failed("refused", refusal(done.stderr))
    if done.returncode:
        raise Failed("crash", "exit code %d: %s" % (
            done.returncode, done.stderr.strip()[:300]))
    return tensors.load(out)


def refusal(text):
    """Error and note, without paths of this run. A message that lacks one of
    what a reader needs says so: where, and what to do."""
    text = re.sub(r"\S*/(\w+\.pt2)", r"\1", text.strip())
    lines = [line for line in text.splitlines()
             if " error: " in line or line.startswith("error: ")
             or "note: " in line]
    lacks = [what for what, is_there in (
        ("the op", re.search(r"(aten|prims|operator|higher_order)\.\w+", text)),
        ("a place", re.search(r":\d+: error: ", text)),
        ("a next step", "note: " in text)) if not is_there]
    return " | ".join(lines or [text])[:500] + (
        " (lacks %s)" % " and ".join(lacks) if lacks else "")


def differences(ours, theirs, rtol):
    """What differs, in words, by name."""
    largest = max([finite(comparable(one)).abs().max().item() for one in theirs.values()
                   if one is not None and finite(one).numel()], default=0)
    found = {}
    for name, wanted in theirs.items():
        got, wanted = comparable(ours.get(name)), comparable(wanted)
        if wanted is None or got is None:
            some = got if wanted is None else wanted
            if some is not None and some.any():
                found[name] = ("is missing" if got is None
                               else "is a gradient that PyTorch has not")
        elif got.shape != wanted.shape or got.dtype != wanted.dtype:
            found[name] = "is %s%s, not %s%s" % (
                got.dtype, list(got.shape), wanted.dtype, list(wanted.shape))
        elif not wanted.dtype.is_floating_point and not wanted.is_complex():
            if not torch.equal(got, wanted):
                found[name] = "differs"
        else:
            scale = (finite(wanted).abs().max().item()
                     if finite(wanted).numel() else 0)
            allowed = 1e-12 + rtol * max(scale, largest / 100)
            if not torch.allclose(got, wanted, rtol=0, atol=allowed,
                                  equal_nan=True):
                alike = (got == wanted) | (got.isnan() & wanted.isnan())
                off = (got - wanted).abs().nan_to_num(
                    float("inf"), float("inf"))[~alike]
                found[name] = "differs by %.2g of %.2g" % (
                    off.max().item(), scale)
    return found


def comparable(tensor):
    """PyTorch computes nothing in complex32."""
    if tensor is not None and tensor.dtype == torch.complex32:
        return tensor.to(torch.complex64)
    return tensor


def finite(tensor):
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return torch.empty(0)
    return tensor[tensor.isfinite()]


class Checker:
    def __init__(self, cutback, folder, dtype, wanted_ways):
        self.cutback = cutback
        self.folder = pathlib.Path(folder)
        self.dtype = dtype
        self.ways = wanted_ways

    def check(self, op, count):
        """Findings, one a sample and way."""
        name = samples.name_of(op)
        try:
            taken = samples.samples(op, self.dtype, count)
        except Exception as error:
            return [Finding(name, 0, way, "unexported",
                            "no samples: " + ways.first_line(error))
                    for way in self.ways]
        results = {number: {} for number, _ in taken}
        steps = {}
        for number, sample in taken:
            try:
                step = samples.Step(op, sample)
                samples.run(step, step, step.inputs())
                steps[number] = step
            except Exception as error:
                text = "eager: " + ways.first_line(error)
                results[number] = {way: ("unexported", text)
                                   for way in self.ways}
        # Mostly all is well: one program for all samples.
        whole = (self.check_step(samples.Batch(steps.values()), self.ways)
                 if len(steps) > 1 else {})
        for number, step in steps.items():
            done = {way: outcome for way, outcome in whole.items()
                    if outcome[0] == "agrees"}
            others = [way for way in self.ways if way not in done]
            results[number] = {**done, **(self.check_step(step, others)
                                          if others else {})}
        return [Finding(name, number, way, *results[number][way])
                for number, _ in taken for way in self.ways]

    def check_step(self, step, wanted_ways):
        """Kind and text by way."""
        try:
            theirs = samples.run(step, step, step.inputs())
            exported = ways.export(step, step.inputs())
        except ways.Unexported as error:
            return {way: ("unexported", str(error)) for way in wanted_ways}
        tensors.save({"input.%d" % i: one for i, one
                      in enumerate(step.inputs())}, self.folder / "inputs")
        return {way: self.check_way(way, step, exported, theirs)
                for way in wanted_ways}

    def check_way(self, way, step, exported, theirs):
        try:
            program = ways.make(way, exported)
            ways.save(program, self.folder / (way + ".pt2"))
            ours = cutback_run(self.cutback, self.folder, way + ".pt2")
        except ways.Unexported as error:
            return "unexported", str(error)
        except Failed as error:
            # What a program asserts of its own numbers may be wrong.
            if "check failed" in str(error) and not self.runs(
                    way, step, program):
                return "PyTorch", "the program fails: %s" % error
            return error.kind, str(error)
        found = differences(ours, theirs, RTOL[self.dtype])
        if not found:
            return "agrees", ""
        if ways.is_random(exported):
            return "random", ""
        text = "; ".join("%s %s" % pair for pair in found.items())[:300]
        reason = self.fault_of_torch(way, step, program, ours, theirs)
        return ("PyTorch", "%s: %s" % (reason, text)) if reason \
            else ("wrong", text)

    def runs(self, way, step, program):
        try:
            ways.run(way, program, step)
            return True
        except Exception:
            return False

    def fault_of_torch(self, way, step, program, ours, theirs):
        """Why the difference is PyTorch's own, or nothing: its program gives
        what ours does, or the function to thirty digits, or central
        differences do."""
        rtol = RTOL[self.dtype]
        exact = references.exact(step)
        if exact and not differences(
                ours, samples.run(step, exact, step.inputs()), rtol):
            return "its values are not those of thirty digits"
        try:
            again = ways.run(way, program, step)
            if not differences(ours, again, rtol):
                return "the program is not the step"
        except Exception:
            pass
        if self.dtype != torch.float64 or differences(
                {name: one for name, one in ours.items()
                 if not name.startswith("grad.")},
                {name: one for name, one in theirs.items()
                 if not name.startswith("grad.")}, rtol):
            return ""
        slope, (own, other) = samples.directional(
            step, step.inputs(), (ours, theirs))
        if abs(slope - own) < 0.1 * abs(slope - other):
            return "its gradient is not that of central differences"
        return ""
