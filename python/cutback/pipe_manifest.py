# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `cutback split` wrote, as data: stages, and what passes each boundary.

A schedule of PyTorch moves tensors from a stage to the next one and gradients
back. What a later stage takes is therefore passed on by the stages between, and
so are inputs of the model, which the first stage is given, and outputs, which
the last one returns. Needs no PyTorch.
"""

import dataclasses
import json
import pathlib
import struct

from ._library import input_error as _error

_VERSION = 1
_PHASES = ("forward", "backward", "input", "weight")  # others update
_AGAIN = "split the model again: cutback split MODEL -o DIR --stages=N"


@dataclasses.dataclass(frozen=True)
class Passed:
    """A value that passes a boundary, in micro-batch sizes.

    `gradient`: whether its gradient comes back, from the stages after it.
    """

    name: str  # "value.V", "input.N", "output.N" or "loss"
    dtype: str
    sizes: tuple
    maker: int
    users: tuple  # stages, ascending
    gradient: bool


@dataclasses.dataclass(frozen=True)
class Output:
    """An output of the model. `tangent`: the argument that its gradient is;
    None where no stage takes one."""

    name: str
    dtype: str
    sizes: tuple
    maker: int
    tangent: str | None


class PhaseFiles:
    """A phase as a folder: what it takes and makes, before it is opened."""

    def __init__(self, folder, checksum):
        self.folder = folder
        try:
            read = json.loads((folder / "manifest.json").read_bytes())
        except (OSError, ValueError) as error:
            raise _error("the phase '%s' cannot be read (%s): copy all of the"
                         " folder that `cutback split` wrote"
                         % (folder, error)) from None
        if read.get("checksum") != checksum:
            raise _error("'%s' is of another split than its pipeline.json: copy"
                         " all of the folder that `cutback split` wrote"
                         % folder)
        self.arguments = {one["name"]: one for one in read["arguments"]
                          if one.get("name")}
        self.results = {one["name"]: one for one in read["results"]
                        if one.get("name")}


class Manifest:
    """pipeline.json of a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        path = self.folder / "pipeline.json"
        try:
            text = path.read_bytes()
        except OSError as error:
            raise _error("'%s' cannot be read (%s): %s" % (
                path, error.strerror, _AGAIN)) from None
        read = _parsed(path, text)
        self.model, self.target = read["model"], read["target"]
        self.checksum = read["checksum"]
        self.stages = read["stages"]
        self._check_target(path)
        self.loss = read.get("loss")
        self.outputs = sorted(self._find_outputs(),
                              key=lambda one: number_of(one.name))
        self.inputs = {}  # by name; those of several stages are alike
        for stage in self.stages:
            for one in stage["inputs"]:
                if not one["name"].startswith("tangent."):
                    self.inputs.setdefault(one["name"], one)

    def _check_target(self, path):
        if self.target == "reference":
            raise _error("'%s' was split without machine code, for the"
                         " interpreter: split the model with --target=cpu"
                         % path)
        if self.target != "cpu":
            raise _error("'%s' was split for the target %s, and stages run on a"
                         " CPU here: split the model with --target=cpu"
                         % (path, self.target))
        if any("smaller" in stage for stage in self.stages):
            raise _error("'%s' is for micro-batches of two sizes, and stages"
                         " under PyTorch's schedules have one: split the model"
                         " with a --batch that --micro-batches divides, or run"
                         " it with cutback-run" % path)

    @property
    def num_stages(self):
        return len(self.stages)

    @property
    def has_gradients(self):
        return any(one["phase"] in _PHASES[1:] for stage in self.stages
                   for one in stage["phases"])

    def phases(self, stage):
        """Of a stage, by name."""
        return {one["phase"]: PhaseFiles(self.folder / one["folder"],
                                         one["checksum"])
                for one in self.stages[stage]["phases"]
                if one["phase"] in _PHASES}

    def replicated(self):
        """Parameters of several stages: names, with all stages that have it and
        those of them that make a gradient."""
        found = {}
        for number, stage in enumerate(self.stages):
            for one in stage["parameters"]:
                if one.get("replicated"):
                    every, making = found.setdefault(one["name"], ([], []))
                    every.append(number)
                    if one.get("gradient"):
                        making.append(number)
        return found

    def _find_outputs(self):
        tangents = {one["name"] for stage in self.stages
                    for one in stage["inputs"]
                    if one["name"].startswith("tangent.")}
        found = []
        for number, stage in enumerate(self.stages):
            for one in stage["outputs"]:
                if one["name"].startswith("output."):
                    tangent = "tangent." + one["name"].partition(".")[2]
                    found.append(Output(
                        one["name"], one["dtype"], tuple(one["sizes"]), number,
                        tangent if tangent in tangents else None))
        if self.loss:
            maker = self.loss["stage"]
            phases = self.phases(maker)
            made = phases["forward"].results[self.loss["name"]]
            found.append(Output(
                "loss", made["dtype"], tuple(made["sizes"]), maker,
                "tangent.loss" if len(phases) > 1 else None))
        return found

    def boundary(self, stage, given):
        """What passes from `stage` to the next one, in an order that is the
        same at both ends. `given`: names of inputs that the first stage is
        given for all; the others come to where they are taken."""
        return [one for one in self._passed(given)
                if one.maker <= stage < one.users[-1]]

    def _passed(self, given):
        for number, stage in enumerate(self.stages):
            for one in stage["sends"]:
                yield Passed(one["name"], one["dtype"], tuple(one["sizes"]),
                             number, tuple(one["to"]),
                             one.get("gradient", False))
        for name in given:
            users = tuple(number for number, stage in enumerate(self.stages)
                          if any(one["name"] == name
                                 for one in stage["inputs"]))
            if users and users[-1] > 0:
                one = self.inputs[name]
                yield Passed(name, one["dtype"], tuple(one["sizes"]), 0, users,
                             False)
        last = self.num_stages - 1
        for one in self.outputs:
            if one.maker < last:
                yield Passed(one.name, one.dtype, one.sizes, one.maker, (last,),
                             one.tangent is not None)


def number_of(name):
    """Of "output.N" or "input.N"; that of the loss is 0."""
    return 0 if name == "loss" else int(name.rpartition(".")[2])


def _parsed(path, text):
    try:
        read = json.loads(text)
        version = read.get("cutback_pipeline")
    except (ValueError, AttributeError):
        raise _error("'%s' is no manifest of a pipeline: %s" % (
            path, _AGAIN)) from None
    if version != _VERSION:
        raise _error("'%s' is of version %r, and this package reads version %d:"
                     " %s" % (path, version, _VERSION, _AGAIN))
    body, _, tail = text.rpartition(b',\n  "checksum": "')
    if tail != b'%016x"\n}\n' % checksum_of(body):
        raise _error("'%s' is not as it was written: its checksum is of another"
                     " text: %s" % (path, _AGAIN))
    return read


_MASK = (1 << 64) - 1
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
    0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def _left(value, bits):
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(lane, value):
    return _left(lane + value * _P2 & _MASK, 31) * _P1 & _MASK


def checksum_of(data):
    """XXH64 with seed 0, as manifests have it."""
    whole = len(data) & ~31
    if whole:
        lanes = [_P1 + _P2 & _MASK, _P2, 0, -_P1 & _MASK]
        for values in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [_round(*pair) for pair in zip(lanes, values)]
        hashed = sum(map(_left, lanes, (1, 7, 12, 18))) & _MASK
        for lane in lanes:
            hashed = ((hashed ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        hashed = _P5
    hashed = hashed + len(data) & _MASK
    rest = data[whole:]
    while len(rest) >= 8:
        hashed ^= _round(0, int.from_bytes(rest[:8], "little"))
        hashed, rest = (_left(hashed, 27) * _P1 + _P4) & _MASK, rest[8:]
    if len(rest) >= 4:
        hashed ^= int.from_bytes(rest[:4], "little") * _P1 & _MASK
        hashed, rest = (_left(hashed, 23) * _P2 + _P3) & _MASK, rest[4:]
    for byte in rest:
        hashed = _left(hashed ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    hashed = (hashed ^ hashed >> 33) * _P2 & _MASK
    hashed = (hashed ^ hashed >> 29) * _P3 & _MASK
    return hashed ^ hashed >> 32
