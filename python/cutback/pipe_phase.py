# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Phases of a stage on tensors of PyTorch, and the stage's parameters and
buffers as a module.
"""

import json

import torch

from ._library import input_error as _error
from ._step import Step
from .sized import DTYPES

_FILE_DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16,
    "F16": torch.float16, "I64": torch.int64, "I32": torch.int32,
    "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}


class Phase:
    """Machine code of a phase, opened when it first runs: a schedule that runs
    whole backwards has no memory for their parts."""

    def __init__(self, files, threads):
        self.files = files
        self._threads, self._step, self._fills = threads, None, {}

    def _open(self):
        self._step = Step(self.files.folder)
        if self._threads is not None:
            self._step.set_threads(self._threads)
        for number, one in enumerate(self._step.arguments):
            if not one.required and one.fill != "s":
                made = torch.zeros(one.sizes, dtype=DTYPES[one.dtype])
                self._fills[number] = made.fill_(1) if one.fill == "1" else made
        if sum(one.fill == "s" for one in self._step.arguments) > 1:
            raise _error("'%s' takes several seeds of random numbers, and a"
                         " micro-batch has one: report it" % self.files.folder)

    def set_threads(self, count):
        self._threads = count
        if self._step:
            self._step.set_threads(count)

    @property
    def is_random(self):
        if not self._step:
            self._open()
        return any(one.fill == "s" for one in self._step.arguments)

    def run(self, tensors, seed):
        """Results by name, of arguments by name. What it writes is changed in
        place; gradients that nothing gave are zero."""
        if not self._step:
            self._open()
        held, copies = [], []
        for number, one in enumerate(self._step.arguments):
            given = self._given(number, one, tensors, seed)
            taken = given
            if not given.is_contiguous() or given.data_ptr() % 16:
                taken = given.clone(memory_format=torch.contiguous_format)
                if one.written:
                    copies.append((given, taken))
            held.append(taken)
        pointers = [one.data_ptr() for one in held]
        for segment in self._step.segments:
            self._step.run(segment, pointers)
        for given, taken in copies:
            given.copy_(taken)
        for one, given in zip(self._step.arguments, held):
            if one.written:
                torch.autograd.graph.increment_version(given)
        made = {}
        for number, one in enumerate(self._step.results):
            if one.name:
                tensor = torch.empty(one.sizes, dtype=DTYPES[one.dtype])
                self._step.read(number, tensor.data_ptr())
                made[one.name] = tensor
        return made

    def _given(self, number, argument, tensors, seed):
        if not argument.required:
            return seed if argument.fill == "s" else self._fills[number]
        given = tensors.get(argument.name)
        dtype = DTYPES[argument.dtype]
        if given is None and argument.name.startswith("tangent."):
            return torch.zeros(argument.sizes, dtype=dtype)
        if given is None:
            raise _error("the phase '%s' takes '%s', which nothing before it"
                         " makes: report it" % (self.files.folder,
                                                argument.name))
        if given.dtype != dtype or tuple(given.shape) != argument.sizes:
            raise _error("'%s' is %s of %s, and the stage was split for %s of"
                         " %s: give it as it was, or split the model anew" % (
                             argument.name, given.dtype, list(given.shape),
                             dtype, list(argument.sizes)))
        return given.detach()


class StageModule(torch.nn.Module):
    """Parameters and buffers of a stage under the names that the model has. Its
    forward is the schedule's."""

    def __init__(self, training):
        super().__init__()
        self.training = training

    def hold(self, name, tensor):
        """Adds "param.NAME", or "buffer.NAME"."""
        kind, _, path = name.partition(".")
        *parents, own = path.split(".")
        module = self
        for parent in parents:
            if parent not in module._modules:
                module.add_module(parent, torch.nn.Module())
            module = module._modules[parent]
        if kind == "param":
            module.register_parameter(own, tensor)
        else:
            module.register_buffer(own, tensor)

    def train(self, mode=True):
        if mode != self.training:
            raise _error("the stages are those of the model after %s(), and do"
                         " not change: call %s() on the model and split it"
                         % (("train", "eval") if self.training
                            else ("eval", "train")))
        return self

    def forward(self, *_, **__):
        raise _error("a stage is run by a schedule, a micro-batch at a time:"
                     " give build_stage(...) to one of"
                     " torch.distributed.pipelining")


def read_weights(path):
    """Tensors of a safetensors file by name."""
    try:
        data = bytearray(path.read_bytes())
    except FileNotFoundError:
        return {}
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, one in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in one["data_offsets"])
        dtype = _FILE_DTYPES[one["dtype"]]
        # A copy, aligned as machine code wants it.
        found[name] = torch.frombuffer(
            data[begin:end], dtype=torch.uint8).clone().view(dtype).view(
                one["shape"]) if end > begin else torch.empty(
                    one["shape"], dtype=dtype)
    return found
