# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code for one set of sizes, as one node of autograd's graph.

A step has the memory of its last forward, for one backward of it. All steps of
one `CompiledStep` run in turn: a `Turn` is what a thread holds while it runs
one. A hook runs within its step's turn, so it cannot have another.
"""

import os
import threading

import torch

from ._library import input_error as _error

DTYPES = {
    "complex<f64>": torch.complex128, "complex<f32>": torch.complex64,
    "f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16,
    "f16": torch.float16, "i64": torch.int64, "i32": torch.int32,
    "i16": torch.int16, "i8": torch.int8, "ui8": torch.uint8,
    "i1": torch.bool,
}


class Turn:
    """`with turn:` one thread at a time, of the process that made it."""

    def __init__(self):
        self._lock, self._owner = threading.Lock(), None
        self._process = os.getpid()

    def __enter__(self):
        if self._process != os.getpid():
            raise _error("the step was opened by another process, whose threads"
                         " this one does not have: compile or load it here")
        if self._owner == threading.get_ident():
            raise _error("the step runs, and a hook of it runs it again: its"
                         " memory is that of one run; compile a second one for"
                         " the hook")
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_):
        self._owner = None
        self._lock.release()


class SizedStep:
    """Machine code for one set of sizes, and what it holds of its last
    forward."""

    def __init__(self, step, outputs, place, turn, unreached, groups, update):
        self.step, self._place, self._turn = step, place, turn
        self._update = update
        self._unreached = unreached  # names of what the loss does not reach
        self.runs = 0  # forwards so far: the arena is of the last one
        self._waits = False  # and whether its backward may come
        self._own = {}  # by number, tensors of arguments that no call gives
        self._groups = groups  # of arguments that are one tensor
        self._writes = any(one.written for one in step.arguments)
        self._apart = None  # pointers that were seen not to overlap
        self._seeds = []
        self._tangent = None
        self._states = {}  # names of the optimizer's arguments, by number
        for number, argument in enumerate(step.arguments):
            if argument.name.startswith("optimizer."):
                if update:
                    self._states[number] = argument.name
                    self._own[number] = None
                    continue
                if argument.required:
                    raise _error(
                        "the backward of this step updates parameters, and"
                        " nothing here gives it '%s': compile it with"
                        " --update=after, or by cutback.compile(...,"
                        " optimizer=...)" % argument.name)
            if argument.required:
                continue
            self._own[number] = _make(argument, place.device)
            if argument.fill == "s":
                self._seeds.append(number)
            elif argument.fill == "1" and not argument.name:
                self._tangent = number
        self.given = [one for number, one in enumerate(step.arguments)
                      if number not in self._own]
        # The backward changes these, and gives no gradient of them.
        self._updated = {one.name for one in self.given
                         if update and one.written
                         and one.name.startswith("param.")}
        self._results = {one.name: number
                         for number, one in enumerate(step.results)}
        self._outputs = [number for name, number in self._results.items()
                         if name == "loss" or name.startswith("output.")]
        if len(self._outputs) != outputs:
            raise _error("the step computes %d of the %d tensors that the model"
                         " returns: return each tensor once, the loss first"
                         % (len(self._outputs), outputs))

    def _run(self, segment, given):
        """Runs a segment on tensors, one an argument that is not our own."""
        tensors, copies, written = [], [], []
        if self._update:
            self._find_states(given)
        given = iter(given)
        self._copies = []  # an output may be in one
        for number, argument in enumerate(self.step.arguments):
            tensor = self._own.get(number)
            if number not in self._own:
                original = next(given).detach()
                tensor = original
                if not original.is_contiguous() or original.data_ptr() % 16:
                    tensor = original.clone(
                        memory_format=torch.contiguous_format)
                    self._copies.append(tensor)
                    if self._writes_in(segment, argument):
                        copies.append((original, tensor))
                elif self._writes_in(segment, argument):
                    written.append(original)
            tensors.append(tensor)
        stream = self._place.stream()
        if stream is not None:
            self.step.set_stream(stream)
        self.step.run(segment, [one.data_ptr() for one in tensors])
        for original, tensor in copies:
            original.copy_(tensor)
        for original in written:
            torch.autograd.graph.increment_version(original)

    def writes_in_forward(self, given):
        """Of an argument that is given, by its number."""
        return self._writes_in("forward", self.given[given])

    def _writes_in(self, segment, argument):
        """The forward changes no parameter that the update changes."""
        return argument.written and (
            segment != "forward" or argument.name not in self._updated)

    def _find_states(self, given):
        """The tensors of the optimizer, which may have taken others."""
        by_name = {argument.name: one
                   for argument, one in zip(self.given, given)}
        for number, name in self._states.items():
            argument = self.step.arguments[number]
            tensor = self._update.find(name, by_name)
            if tensor is not None:
                self._own[number] = tensor
            elif self._own[number] is None:
                self._own[number] = _make(argument, self._place.device)

    def _update_by(self, tangent, given):
        """The backward of a step with an optimizer."""
        if float(tangent) != 1:
            raise _error(
                "the gradient of the loss is %r, not 1: an update in the backward"
                " takes gradients as they are; for a scaled loss, or several"
                " micro-batches, compile without an optimizer"
                % float(tangent))
        updated = self._check_updated(given)
        numbers = dict(zip(("optimizer.lr", "optimizer.step"),
                           self._update.begin(updated)))
        self._find_states(given)
        for number, name in self._states.items():
            if name in numbers:
                self._own[number].fill_(numbers[name])
        self._own[self._tangent].copy_(tangent)
        for segment in self.step.segments[1:]:
            self._run(segment, given)
        self._update.end(updated)

    def _check_updated(self, given):
        """The parameters that the backward updates: of each the gradient is
        used up, so that nobody else may wait for it or have left one."""
        updated = []
        for argument, one in zip(self.given, given):
            if argument.name not in self._updated:
                continue
            name = argument.name.removeprefix("param.")
            if getattr(one, "_backward_hooks", None) or \
                    getattr(one, "_post_accumulate_grad_hooks", None):
                raise _error(
                    "parameter '%s' has a hook, and its gradient is used up by"
                    " the update in the backward: remove the hook, or compile"
                    " without an optimizer" % name)
            if one.grad is not None:
                raise _error(
                    "parameter '%s' has a gradient of before in .grad, by which"
                    " optimizer.step() would update it again: call"
                    " zero_grad(set_to_none=True) first" % name)
            updated.append(one)
        return updated

    def _check_apart(self, given):
        """What the step changes is not also another argument: one that is read
        later would have the change, as by the model, or not."""
        pointers = [one.data_ptr() for one in given]
        if pointers == self._apart:
            return
        places = sorted(
            (pointer, pointer + _extent(one), argument.written, argument.name,
             group) for pointer, one, argument, group in zip(
                 pointers, given, self.given, self._groups) if one.numel())
        end, last = 0, None
        for place in places:
            if (place[0] < end and (place[2] or last[2])
                    and place[4] != last[4]):
                raise _error(
                    "'%s' and '%s' share memory, and the step changes it: give"
                    " each a memory of its own, or call the module itself"
                    % (last[3], place[3]))
            if place[1] > end:
                end, last = place[1], place
        self._apart = pointers

    def _read(self, number):
        result = self.step.results[number]
        tensor = torch.empty_strided(
            result.sizes, self.step.strides[number],
            dtype=DTYPES[result.dtype], device=self._place.device)
        self.step.read_lying(number, tensor.data_ptr())
        return tensor.contiguous()

    def forward(self, given):
        """The model's outputs, and which run they are of."""
        with self._turn:
            if self._writes:
                self._check_apart(given)
            for number in self._seeds:
                self._own[number].random_()
            self.runs += 1
            self._waits = True
            self._run("forward", given)
            return tuple(map(self._read, self._outputs)), self.runs

    def backward(self, run, given, tangent, wanted):
        """Gradients of the arguments of these names, None for None."""
        with self._turn:
            if run != self.runs or not self._waits:
                raise _error(
                    "the memory that this backward reads is gone: a step has"
                    " that of its last forward, for one backward; compile a"
                    " second one for steps that overlap")
            self._waits = False
            if self._update:
                self._update_by(tangent, given)
            elif self._tangent is not None:
                self._own[self._tangent].copy_(tangent)
                self._run("backward", given)
            return [name and self._gradient(name) for name in wanted]

    def _gradient(self, argument):
        """Of "param.fc.weight" or "input.0"; None, as autograd has it, of what
        the loss does not reach. One that is missing otherwise is an error."""
        if argument in self._updated:
            return None
        kind, _, name = argument.partition(".")
        number = self._results.get(
            "grad." + (argument if kind == "input" else name))
        if number is not None:
            return self._read(number)
        if argument in self._unreached:
            return None
        raise _error("the step has no gradient of '%s', which the loss depends"
                     " on: compile it with requires_grad set there" % argument)


class Run(torch.autograd.Function):
    """One step, of one graph of autograd."""

    @staticmethod
    def forward(ctx, step, twice, *given):
        outputs, ctx.run = step.forward(given)
        ctx.set_materialize_grads(False)
        ctx.step, ctx.twice = step, twice
        # Autograd tells whether somebody changes what the backward reads; what
        # the step changes itself is not that.
        ctx.written = {i: one for i, one in enumerate(given)
                       if step.writes_in_forward(i)}
        ctx.save_for_backward(*(one for i, one in enumerate(given)
                                if i not in ctx.written))
        ctx.mark_non_differentiable(*(one for one in outputs if not (
            one.is_floating_point() or one.is_complex())))
        return outputs

    @staticmethod
    def backward(ctx, loss, *others):
        if torch.is_grad_enabled():
            raise _error(
                "create_graph=True asks for gradients of the step's gradients,"
                " which a compiled step does not have: call the module itself"
                " (`cutback train --grad-penalty` has a penalty on them)")
        for i, one in enumerate(others, 1):
            if one is not None:
                raise _error(
                    "a gradient comes to output %d of the step, which has those"
                    " of its first output alone: add it to the loss inside of"
                    " the model" % i)
        saved = iter(ctx.saved_tensors)
        step = ctx.step
        given = [ctx.written[i] if i in ctx.written else next(saved)
                 for i in range(len(step.given))]
        wanted = [argument.name if wanted and i not in ctx.twice else None
                  for i, (argument, wanted) in enumerate(zip(
                      step.given, ctx.needs_input_grad[2:]))]
        return None, None, *step.backward(ctx.run, given, loss, wanted)


def _extent(tensor):
    """Bytes from its first element to the end of its last one."""
    return tensor.element_size() * (1 + sum(
        (size - 1) * stride
        for size, stride in zip(tensor.shape, tensor.stride())))


def _make(argument, device):
    tensor = torch.zeros(argument.sizes, dtype=DTYPES[argument.dtype],
                         device=device)
    return tensor.fill_(1) if argument.fill == "1" else tensor
