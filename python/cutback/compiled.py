# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's training step as machine code, called as the model is.

The model is exported and compiled by the program `cutback`; what comes back
runs its forward, and its backward when autograd asks for it. Parameters,
buffers and inputs are read where PyTorch has them; buffers are changed in
place, as by the model. A model on a GPU becomes a step for it.

What the model reads beside tensors is constant in machine code: a call for
which it is another gets machine code of its own, a `Variant`.
"""

import json
import logging
import pathlib
import tempfile
import time

import torch
from torch.utils import _pytree as pytree

from ._library import CutbackError
from ._library import input_error as _error
from .exporting import Exported
from .hooks import Hook
from .options import Options
from .sized import DTYPES, Turn
from .updating import Update
from .variant import Variant, form_of, leaves_of, tensor_of

_LOGGER = logging.getLogger("cutback")
_MOST_VARIANTS = 8
_MOST_SIZES = 8


def compile(model, args=(), kwargs=None, *, dynamic_shapes=None, options=None,
            folder=None, threads=None, hooks=(), sizes=_MOST_SIZES,
            strict=False, optimizer=None):
    """A function that computes what `model(*args, **kwargs)` computes.

    `model` is a module, exported here for `args`, or an `ExportedProgram`,
    whose own parameters are used. Its first output is the loss: gradients are
    those of it; other outputs have none.

        step = cutback.compile(model, (x, y))
        step(x, y).backward()

    Sizes are those of `args`, but for those that `dynamic_shapes` (as of
    torch.export.export) or the program leave open: machine code for others is
    made when a call first has them, of the same plan, in an arena of its own.
    The machine code of the `sizes` that were used last is held.

    What a module reads beside tensors may change: numbers, flags and None
    among its arguments, which of them there are, train() and eval(),
    attributes, settings in variables, submodules, autocast, what requires a
    gradient. Then it is exported and compiled anew, for up to 8
    such states; parameters and buffers are those that it has at the call. For a
    program a change of them is an error. What only a backward sees (an
    autograd.Function of its own, hooks inside of the module) is an error.

    Tensors are read and written where they lie, on a CPU or on device 0 of
    CUDA: all of the model and its inputs on one. On a GPU the step comes behind
    what was issued to the current stream. Arguments of other libraries (arrays
    that have `__dlpack__`) are taken without a copy. Threads that call one step
    take turns, so a hook must not wait for a thread that calls its step; each
    backward is that of the last forward.

    `options` decide the plan (cutback.Options, or a dict of its fields).
    `folder` keeps what is compiled, for `cutback.load`; without it, it goes with
    the function.

    `hooks` names points where functions may run on gradients, as the option
    --hook of the program does: "*.weight", "input.0", "retains-grad:tanh"; or
    it is a dict from these to functions, as of `CompiledStep.add_hook`.

    An op without machine code is run by the interpreter, slowly, and a
    `cutback.FallbackWarning` names it with its types and place; with `strict`
    it is an error.

    With an `optimizer` (torch.optim.SGD, AdamW, or Adam without weight decay, of
    the model's parameters) the backward updates these, each as soon as its
    gradient is there, whose memory is free then:

        step = cutback.compile(model, (x, y), optimizer=optimizer)
        step(x, y).backward()

    is a step of the training. Parameters have no `grad` after it, so that
    optimizer.step() has nothing to do; its state is that of the step, and the
    learning rate of its groups, which is one, is read at each backward. Groups
    may differ in whether they have weight decay. Gradients that are scaled,
    added up or clipped together are needed all at once: compile without an
    optimizer for these.
    """
    options = Options.of(options)
    update = Update(optimizer, model) if optimizer is not None else None
    keeper = None
    if folder is None:
        keeper = tempfile.TemporaryDirectory(prefix="cutback-")
        folder = keeper.name
    step = CompiledStep(model, pathlib.Path(folder), keeper, sizes)
    step._compiles_with(dynamic_shapes, options, hooks, strict)
    step._update = update
    step._add_variant(args, kwargs or {})
    return step._with(threads, hooks)


def load(folder, model, *, threads=None, hooks=None, sizes=_MOST_SIZES,
         optimizer=None):
    """The step that `cutback.compile(..., folder=FOLDER)` wrote, opened again.

    `model` is the module that it was compiled of, in the state that it had, or
    a dict of its parameters and buffers by name; it has the tensors that the
    step works on. Of a program, compiled here or by `cutback compile`, it is the
    program. `hooks` is a dict, and `optimizer` has the settings, as of
    `cutback.compile`.
    """
    folder = pathlib.Path(folder)
    if isinstance(model, torch.export.ExportedProgram):
        if optimizer is not None:
            Update(optimizer, model)  # which says that it takes a module
        step = CompiledStep(model, folder, None, sizes)
        step._open(Exported.of(model, (), {}, None), folder)
        return step._with(threads, hooks or {})
    try:
        kept = json.loads((folder / "python.json").read_text())
    except OSError:
        raise _error("'%s' is not of cutback.compile(..., folder=...): it has"
                     " no python.json" % folder) from None
    step = CompiledStep(model, folder, None, sizes)
    if optimizer is not None:
        step._update = Update(optimizer, model)
    _check_update(kept.get("optimizer", []), step._update)
    exported = Exported.load(folder, kept, model)
    if isinstance(model, torch.nn.Module):
        step._compiles_with(None, Options.of(kept["options"]), kept["hooks"],
                            kept["strict"], kept["dynamic"])
    step._open(exported, folder)
    return step._with(threads, hooks or {})


def _check_update(kept, update):
    given = update.arguments if update is not None else []
    if kept != given:
        raise _error("the step was compiled with %s, and is loaded with %s: give"
                     " the optimizer that it was compiled for"
                     % (" ".join(kept) or "no optimizer",
                        " ".join(given) or "none"))


class CompiledStep:
    """What `cutback.compile` gives; see there."""

    def __init__(self, model, folder, keeper, sizes):
        if sizes < 1:
            raise _error("sizes=%r: a step holds machine code of at least one"
                         " set of sizes" % sizes)
        self._model, self._folder, self._keeper = model, folder, keeper
        self._most_sizes = sizes
        self._dynamic_shapes = self._options = None
        self._points, self._strict, self._why_not = [], False, None
        self._threads = self._update = None
        self._hooks = {}  # in their order
        self._variants = []  # the one that was used last comes first
        self._changes = []  # why there are so many
        self._turn = Turn()

    def _compiles_with(self, dynamic_shapes, options, points, strict,
                       why_not=None):
        self._dynamic_shapes, self._options = dynamic_shapes, options
        self._points, self._strict = list(points), strict
        self._why_not = why_not

    def _with(self, threads, hooks):
        if threads is not None:
            self.set_threads(threads)
        if isinstance(hooks, dict):
            for point, function in hooks.items():
                self.add_hook(point, function)
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError(
            "a compiled step is machine code that is open in this process, and"
            " is neither copied nor pickled: compile one of the copied model,"
            " or keep it in a folder (compile(..., folder=...)) and open that"
            " (cutback.load)")

    def _add_variant(self, args, kwargs):
        started = time.monotonic()
        folder = self._folder
        if self._variants:
            folder = folder / "variants" / str(len(self._changes))
        args, kwargs = pytree.tree_map(tensor_of, (tuple(args), kwargs))
        exported = Exported.of(self._model, args, kwargs, self._dynamic_shapes)
        update = self._update.arguments if self._update else ()
        exported.compile(folder, self._options, self._points, self._strict,
                         update)
        if isinstance(self._model, torch.nn.Module):
            exported.save(folder, self._options, self._points, self._strict,
                          self._dynamic_shapes is not None, update)
        variant = self._open(exported, folder)
        _LOGGER.info("%s", variant.summary(time.monotonic() - started))

    def _open(self, exported, folder):
        variant = Variant(exported, folder, self._most_sizes, self._turn,
                          self._prepare, self._forget, self._update)
        self._variants.insert(0, variant)
        return variant

    def _prepare(self, sized):
        """Machine code that was just opened."""
        if self._threads is not None:
            sized.step.set_threads(self._threads)
        for hook in self._hooks.values():
            hook.add_to(sized.step, DTYPES, self._place)

    def _forget(self, sized):
        """Machine code that is no longer held."""
        for hook in self._hooks.values():
            hook.forget(sized.step)

    @property
    def _place(self):
        return self._variants[0].place

    def _sized(self):
        return [sized for variant in self._variants
                for sized in variant.sized.values()]

    @property
    def device(self):
        """Where the step runs, and its tensors are."""
        return self._place.device

    @property
    def arena_bytes(self):
        """Memory of a step but parameters, buffers and inputs; of all sizes
        that are held."""
        return sum(one.step.arena_bytes for one in self._sized())

    def set_threads(self, count):
        """How many threads run a kernel; results have the same bits."""
        with self._turn:
            self._threads = count
            for sized in self._sized():
                sized.step.set_threads(count)

    @property
    def hook_points(self):
        """Where functions may run, in this order (cutback.HookPoint)."""
        return list(self._sized()[0].step.hook_points)

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
        if not sum(hook.add_to(sized.step, DTYPES, self._place)
                   for sized in self._sized()):
            points = ", ".join("%s:%s" % (one.kind, one.gradient.name)
                               for one in self.hook_points)
            raise _error("the step has no hook point '%s': it was compiled with"
                         " %s" % (point, points or "none"))
        self._hooks[id(hook)] = hook
        return hook

    def __call__(self, *args, **kwargs):
        variant, leaves = self._variant(args, kwargs)
        return variant.run(leaves)

    def _variant(self, args, kwargs):
        """What computes this call, and the call's leaves."""
        first = self._variants[0]
        leaves = leaves_of(args, kwargs, first.in_spec)
        if leaves is not None and first.fits(leaves):
            return first, leaves
        with self._turn:
            for variant in self._variants:
                leaves = leaves_of(args, kwargs, variant.in_spec)
                if leaves is not None and variant.fits(leaves):
                    break
            else:
                variant = self._another(args, kwargs)
                leaves = leaves_of(args, kwargs, variant.in_spec)
            # Others read the list without a turn: it is never half sorted.
            self._variants = [variant, *(
                one for one in self._variants if one is not variant)]
        return variant, leaves

    def _difference(self, args, kwargs):
        """Why no machine code is for this call, in words."""
        for variant in self._variants:
            leaves = leaves_of(args, kwargs, variant.in_spec)
            if leaves is not None:
                return variant.difference(leaves)
        _, spec = pytree.tree_flatten((args, kwargs))
        return "the arguments are %s, and were %s" % (
            form_of(spec), form_of(self._variants[0].in_spec))

    def _another(self, args, kwargs):
        change = self._difference(args, kwargs)
        if not isinstance(self._model, torch.nn.Module):
            raise _error("%s: the step is that of the exported program, which"
                         " has it as a constant: export the program anew, or"
                         " compile the module" % change)
        if self._why_not:
            raise _error("%s: %s" % (change, self._why_not))
        if len(self._variants) >= _MOST_VARIANTS:
            raise _error(
                "%s: the step was compiled for %d states of the model already,"
                " the last ones as %s; what changes from call to call is to be"
                " a tensor, or compile a step of its own for it"
                % (change, _MOST_VARIANTS, "; ".join(self._changes[-2:])))
        self._changes.append(change)
        _LOGGER.info("compiles another step: %s", change)
        try:
            self._add_variant(args, kwargs)
        except Exception as error:
            self._changes.pop()
            error.add_note("another step is needed: " + change)
            raise
        return self._variants[0]
