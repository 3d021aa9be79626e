# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's training step as machine code, called as the model is.

The model is exported and compiled by the program `cutback`; what comes back
runs its forward, and its backward when autograd asks for it. Parameters,
buffers and inputs are read where PyTorch has them; buffers are changed in
place, as by the model. A model on a GPU becomes a step for it.
"""

import json
import pathlib
import subprocess
import tempfile
import warnings

import torch
from torch.utils import _pytree as pytree

from ._library import CutbackError, Diagnostic
from ._library import input_error as _error
from ._step import Step, program_path
from .hooks import Hook
from .options import Options, python_names
from .places import place_of

_DTYPES = {
    "complex<f64>": torch.complex128, "complex<f32>": torch.complex64,
    "f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16,
    "f16": torch.float16, "i64": torch.int64, "i32": torch.int32,
    "i16": torch.int16, "i8": torch.int8, "ui8": torch.uint8,
    "i1": torch.bool,
}


def compile(model, args=(), kwargs=None, *, dynamic_shapes=None, options=None,
            folder=None, threads=None, hooks=(), strict=False):
    """A function that computes what `model(*args, **kwargs)` computes.

    `model` is a module, exported here for `args`, or an `ExportedProgram`,
    whose own parameters are used. Its first output is the loss: gradients are
    those of it; other outputs have none.

        step = cutback.compile(model, (x, y))
        step(x, y).backward()

    Sizes are those of `args`, but for those that `dynamic_shapes` (as of
    torch.export.export) or the program leave open: machine code for others is
    made when a call first has them, of the same plan, in an arena of its own.

    Tensors are read and written where they lie, on a CPU or on device 0 of
    CUDA: all of the model and its inputs on one. On a GPU the step comes behind
    what was issued to the current stream. Arguments of other libraries (arrays
    that have `__dlpack__`) are taken without a copy.

    `options` decide the plan (cutback.Options, or a dict of its fields).
    `folder` keeps what is compiled; without it, it goes with the function.

    `hooks` names points where functions may run on gradients, as the option
    --hook of the program does: "*.weight", "input.0", "retains-grad:tanh"; or
    it is a dict from these to functions, as of `CompiledStep.add_hook`.

    An op without machine code is run by the interpreter, slowly, and a
    `cutback.FallbackWarning` names it with its types and place; with `strict`
    it is an error.
    """
    program = model
    if isinstance(model, torch.nn.Module):
        args, kwargs = pytree.tree_map(_tensor_of, (tuple(args), kwargs))
        place = place_of([*model.parameters(), *model.buffers(),
                          *_tensors((args, kwargs))])
        program = torch.export.export(model, args, kwargs,
                                      dynamic_shapes=dynamic_shapes)
    elif dynamic_shapes is not None:
        raise _error("dynamic_shapes goes with a module; the program was"
                     " exported with its own")
    else:
        place = place_of([*program.state_dict.values(),
                          *_tensors(program.example_inputs)])
    keeper = None
    if folder is None:
        keeper = tempfile.TemporaryDirectory(prefix="cutback-")
        folder = keeper.name
    _write(program, pathlib.Path(folder), Options.of(options), hooks, place,
           strict)
    step = CompiledStep(program, model, pathlib.Path(folder), keeper, place)
    if threads is not None:
        step.set_threads(threads)
    if isinstance(hooks, dict):
        for point, function in hooks.items():
            step.add_hook(point, function)
    return step


def _tensor_of(argument):
    """What another library holds, as a tensor of the same memory."""
    if isinstance(argument, torch.Tensor) or not hasattr(argument,
                                                         "__dlpack__"):
        return argument
    return torch.from_dlpack(argument)


def _tensors(tree):
    return [one for one in pytree.tree_leaves(tree)
            if isinstance(one, torch.Tensor)]


def _write(program, folder, options, hooks, place, strict):
    with tempfile.TemporaryDirectory(prefix="cutback-") as work:
        given = pathlib.Path(work) / "model.pt2"
        torch.export.save(program, given)
        _run_program(str(given), "-o", str(folder),
                     *("--hook=" + point for point in hooks),
                     *(["--strict"] if strict and not place.on_device else []),
                     *place.arguments(program.graph, options))


def _run_program(*arguments):
    """`cutback compile` with these arguments."""
    cutback = program_path()
    if cutback is None:
        raise _error("the program cutback is not found: put it in PATH, or name"
                     " it in CUTBACK_PROGRAM")
    done = subprocess.run([cutback, "compile", *arguments],
                          capture_output=True, text=True, check=False)
    with python_names():
        if done.returncode != 0:
            raise CutbackError(done.returncode, [Diagnostic(
                "error", "", 0, 0, done.stderr.strip())])
    _warn(done.stderr)


def _warn(text):
    """Of ops that the interpreter runs: a warning each, with its notes."""
    from .partition import FallbackWarning
    for part in text.split("cutback compile: warning: ")[1:]:
        warnings.warn("cutback: " + part.strip().replace(
            "cutback compile: note: ", ""), FallbackWarning, stacklevel=5)


class CompiledStep:
    """What `cutback.compile` gives; see there."""

    def __init__(self, program, model, folder, keeper, place):
        self._folder, self._keeper = folder, keeper
        self._place = place
        self._in_spec = program.call_spec.in_spec
        self._out_spec = program.call_spec.out_spec
        self._state = _state_of(program, model, place.device)
        manifest = json.loads((folder / "manifest.json").read_text())
        self._symbols = {one["name"]: one["value"]
                         for one in manifest.get("symbols", [])}
        self._declared = {one["name"]: one["declared"]
                          for one in manifest["arguments"]
                          if "declared" in one}
        self._threads = None
        self._hooks = {}  # in their order
        self._first = self._open(folder)
        self._sized = {tuple(self._symbols.values()): self._first}

    def _open(self, folder):
        sized = _SizedStep(Step(folder, self._place.on_device), self._state,
                           self._out_spec, self._place)
        if self._threads is not None:
            sized.step.set_threads(self._threads)
        for hook in self._hooks.values():
            hook.add_to(sized.step, _DTYPES, self._place)
        return sized

    @property
    def device(self):
        """Where the step runs, and its tensors are."""
        return self._place.device

    @property
    def arena_bytes(self):
        """Memory of a step but parameters, buffers and inputs; of all sizes
        that there were."""
        return sum(one.step.arena_bytes for one in self._sized.values())

    def set_threads(self, count):
        """How many threads run a kernel; results have the same bits."""
        self._threads = count
        for sized in self._sized.values():
            sized.step.set_threads(count)

    @property
    def hook_points(self):
        """Where functions may run, in this order (cutback.HookPoint)."""
        return list(self._first.step.hook_points)

    def add_hook(self, point, function):
        """Runs `function` on a gradient when the backward has it.

        `point` is one that the step was compiled with, or a pattern:
        "fc.weight", "*.bias", "retains-grad:tanh". The function is given the
        gradient, a tensor of its own, and returns None, or what takes the
        gradient's place; so does what it writes into it. What it raises ends
        the backward. Behind those that were added before; the handle's
        `remove()` takes it away, while a step runs for the next one.
        """
        hook = Hook(point, function, self._hooks)
        if not sum(hook.add_to(sized.step, _DTYPES, self._place)
                   for sized in self._sized.values()):
            points = ", ".join("%s:%s" % (one.kind, one.gradient.name)
                               for one in self.hook_points)
            raise _error("the step has no hook point '%s': it was compiled with"
                         " %s" % (point, points or "none"))
        self._hooks[id(hook)] = hook
        return hook

    def __call__(self, *args, **kwargs):
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            raise _error("the step was compiled for arguments of another form:"
                         " %s, not %s" % (self._in_spec, spec))
        inputs = [one for one in map(_tensor_of, flat)
                  if isinstance(one, torch.Tensor)]
        found = {argument.name: self._find(argument.name, inputs)
                 for argument in self._first.given}
        sized = self._find_sized(found)
        given = [_checked(argument, found[argument.name], self._place)
                 for argument in sized.given]
        return pytree.tree_unflatten(list(_Run.apply(sized, *given)),
                                     self._out_spec)

    def _find(self, name, inputs):
        kind, _, own = name.partition(".")
        if kind == "input":
            if int(own) >= len(inputs):
                raise _error("'%s' is missing" % name)
            return inputs[int(own)]
        found = self._state.get(own)
        if found is None:
            raise _error("nothing is known to put into '%s' of the step" % name)
        return found

    def _find_sized(self, found):
        """The machine code for the sizes of these tensors."""
        sizes, by = dict(self._symbols), {}
        for name, declared in self._declared.items():
            shape = tuple(found[name].shape) if name in found else ()
            if len(shape) != len(declared):
                continue  # said when it is taken
            for text, size in zip(declared, shape):
                if text not in sizes:
                    continue
                if by.setdefault(text, name) != name and sizes[text] != size:
                    raise _error("%s is %d by '%s', and %d by '%s'"
                                 % (text, sizes[text], by[text], size, name))
                sizes[text] = size
        key = tuple(sizes.values())
        if key not in self._sized:
            _run_program(str(self._folder), *(
                "--sym=%s=%d" % one for one in sizes.items()))
            self._sized[key] = self._open(self._folder / "sizes" / ",".join(
                "%s=%d" % one for one in sizes.items()))
        return self._sized[key]


def _checked(argument, found, place):
    if (found.device != place.device or tuple(found.shape) != argument.sizes
            or found.dtype != _DTYPES[argument.dtype]):
        raise _error(
            "'%s' is %s of %s on %s; the step was compiled for %s of %s on"
            " %s: compile it again for these"
            % (argument.name, found.dtype, list(found.shape), found.device,
               _DTYPES[argument.dtype], list(argument.sizes), place))
    return found


class _SizedStep:
    """Machine code for one set of sizes, and what it holds of its last
    forward."""

    def __init__(self, step, state, out_spec, place):
        self.step, self._place = step, place
        self.runs = 0  # forwards so far: the arena is of the last one
        self._waits = False  # and whether its backward may come
        self._own = {}  # by number, tensors of arguments that nobody gives
        self._seeds = []
        self._tangent = None
        for number, argument in enumerate(step.arguments):
            if argument.required:
                continue
            self._own[number] = _make(argument, place.device)
            if argument.fill == "s":
                self._seeds.append(number)
            elif argument.fill == "1" and not argument.name:
                self._tangent = number
        self.given = [one for number, one in enumerate(step.arguments)
                      if number not in self._own]
        self.twice = _find_tied(self.given, state)
        self._outputs = _outputs_of(step, out_spec)
        self._results = {one.name: number
                         for number, one in enumerate(step.results)}

    def _run(self, segment, given):
        """Runs a segment on tensors, one an argument that is not our own."""
        given = iter(given)
        tensors, copies, written = [], [], []
        self._copies = []  # an output may lie in one
        for number, argument in enumerate(self.step.arguments):
            tensor = self._own.get(number)
            if tensor is None:
                original = next(given).detach()
                tensor = original
                if not original.is_contiguous() or original.data_ptr() % 16:
                    tensor = original.clone(
                        memory_format=torch.contiguous_format)
                    self._copies.append(tensor)
                    if argument.written:
                        copies.append((original, tensor))
                elif argument.written:
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

    def _read(self, number):
        result = self.step.results[number]
        tensor = torch.empty_strided(
            result.sizes, self.step.strides[number],
            dtype=_DTYPES[result.dtype], device=self._place.device)
        self.step.read_lying(number, tensor.data_ptr())
        return tensor.contiguous()

    def forward(self, given):
        for number in self._seeds:
            self._own[number].random_()
        self.runs += 1
        self._waits = True
        self._run("forward", given)
        return tuple(self._read(number) for number in self._outputs)

    def backward(self, run, given, tangent):
        if run != self.runs or not self._waits:
            raise _error(
                "the memory that this backward reads is gone: a step has that"
                " of its last forward, for one backward; compile a second one"
                " for steps that overlap")
        self._waits = False
        self._own[self._tangent].copy_(tangent)
        self._run("backward", given)

    def gradient(self, argument):
        """Of "param.fc.weight" or "input.0"; an input without one is an error,
        as a gradient that is silently none would be a wrong one."""
        kind, _, name = argument.partition(".")
        number = self._results.get(
            "grad." + (argument if kind == "input" else name))
        if number is None:
            raise _error("the step has no gradient of '%s': compile it with"
                         " requires_grad set there" % argument)
        return self._read(number)


class _Run(torch.autograd.Function):
    """One step, of one graph of autograd."""

    @staticmethod
    def forward(ctx, step, *given):
        outputs = step.forward(given)
        ctx.set_materialize_grads(False)
        ctx.step, ctx.run = step, step.runs
        # Autograd tells whether somebody changes what the backward reads; what
        # the step changes itself is not that.
        ctx.written = {i: one for i, one in enumerate(given)
                       if step.given[i].written}
        ctx.save_for_backward(*(one for i, one in enumerate(given)
                                if i not in ctx.written))
        ctx.mark_non_differentiable(*(one for one in outputs
                                      if not one.is_floating_point()))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, loss, *others):
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
        step.backward(ctx.run, given, loss)
        return None, *(
            step.gradient(argument.name)
            if wanted and argument.name not in step.twice else None
            for argument, wanted in zip(step.given, ctx.needs_input_grad[1:]))


def _state_of(program, model, device):
    """Parameters, buffers and constants by name: the model's own, so that what
    an optimizer does to them is seen. Constants, numbers of the program's text,
    may have been on a CPU."""
    state = {name: one.to(device) for name, one in program.constants.items()
             if isinstance(one, torch.Tensor)}
    state.update(program.state_dict)
    if isinstance(model, torch.nn.Module):
        state.update(model.named_parameters(remove_duplicate=False))
        state.update(model.named_buffers(remove_duplicate=False))
    return state


def _find_tied(arguments, state):
    """Names of parameters that have another name in front: each name of a tied
    parameter has the gradient of all of them."""
    seen, twice = set(), set()
    for argument in arguments:
        kind, _, name = argument.name.partition(".")
        tensor = state.get(name)
        if kind != "param" or tensor is None:
            continue
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
        if key in seen:
            twice.add(argument.name)
        seen.add(key)
    return twice


def _make(argument, device):
    tensor = torch.zeros(argument.sizes, dtype=_DTYPES[argument.dtype],
                         device=device)
    return tensor.fill_(1) if argument.fill == "1" else tensor


def _outputs_of(step, spec):
    """Numbers of the results that are the model's outputs, in their order."""
    by_name = {one.name: number for number, one in enumerate(step.results)}
    found = []
    for i in range(spec.num_leaves):
        name = "loss" if i == 0 and "loss" in by_name else "output.%d" % i
        if name not in by_name:
            raise _error("output %d of the model is no tensor that the step"
                         " computes: return tensors, the loss first" % i)
        found.append(by_name[name])
    return found
