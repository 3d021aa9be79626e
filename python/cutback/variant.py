# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code for one state of a model, of as many sizes as are used."""

import collections
import json

import torch
from torch.utils import _pytree as pytree

from ._library import input_error as _error
from ._step import Step
from .exporting import run_program
from .sized import DTYPES, Run, SizedStep


def tensor_of(argument):
    """What another library holds, as a tensor of the same memory; what is
    conjugated or negated by a flag alone, as the numbers that it is."""
    if isinstance(argument, torch.Tensor):
        if argument.is_conj() or argument.is_neg():
            return argument.resolve_conj().resolve_neg()
        return argument
    if not hasattr(argument, "__dlpack__"):
        return argument
    return torch.from_dlpack(argument)


def leaves_of(args, kwargs, in_spec):
    """What a call is given, in the order of `in_spec`; None if it is of another
    form."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if spec != in_spec:
        leaves, spec = pytree.tree_flatten(_ordered((args, kwargs), in_spec))
        if spec != in_spec:
            return None
    return [tensor_of(one) for one in leaves]


def _ordered(value, spec):
    """With the entries of dicts in the order of `spec`."""
    if type(value) is not spec.type:
        return value
    inner = spec.children()
    if type(value) is dict and set(value) == set(spec.context):
        return {key: _ordered(value[key], one)
                for key, one in zip(spec.context, inner)}
    if type(value) in (tuple, list) and len(value) == len(inner):
        return type(value)(map(_ordered, value, inner))
    return value


def form_of(spec):
    """In words: "(*, {mask: *})"."""
    if spec.is_leaf():
        return "*"
    inner = [form_of(one) for one in spec.children()]
    if isinstance(spec.context, list) and len(spec.context) == len(inner):
        return "{%s}" % ", ".join(map("%s: %s".__mod__,
                                      zip(spec.context, inner)))
    return "(%s)" % ", ".join(inner)


class Variant:
    """Of `exported`, in `folder`. Machine code of `most` sizes is held;
    `prepare` is told of what is opened, `forget` of what is given up. `update`
    is that of the step's backward, or None."""

    def __init__(self, exported, folder, most, turn, prepare, forget, update):
        self._exported, self._folder, self._most = exported, folder, most
        self._turn, self._prepare, self._forget = turn, prepare, forget
        self._update = update
        self.place, self.in_spec = exported.place, exported.in_spec
        self._constants = exported.constants
        manifest = json.loads((folder / "manifest.json").read_text())
        self._symbols = {one["name"]: one["value"]
                         for one in manifest.get("symbols", [])}
        self._declared = {one["name"]: one["declared"]
                          for one in manifest["arguments"]
                          if "declared" in one}
        self.sized = collections.OrderedDict()  # those used last come last
        self._compiled = set()  # names of sizes whose machine code is written
        first = Step(folder, self.place.on_device)
        self._names = [one.name for one in first.arguments if one.required
                       and not one.name.startswith("optimizer.")]
        self._sources = [exported.source(name) for name in self._names]
        self._parameters = [i for i, name in enumerate(self._names)
                            if name.startswith("param.")]
        found = self._find([])
        self._tied = self._tied_now(found)
        self._groups = [i if one is None else id(one)
                        for i, one in enumerate(found)]
        # Each name of a tied parameter has the gradient of all of them.
        self._twice = frozenset(i for i, first in zip(
            self._parameters, self._tied) if i != first)
        # A program has the gradients that it has; what comes for others is said
        # by the backward.
        # What an update in the backward changes; it has to be what it was.
        self._trained = [] if self._update is None else [
            i for i in self._parameters
            if self._names[i] in exported.requires_grad]
        self._frozen = [] if exported.is_program else [
            i for i, name in enumerate(self._names)
            if name not in exported.requires_grad]
        if exported.is_program:
            self._twice |= self._tied_in_file(manifest["results"], found)
        self._hold(tuple(self._symbols.values()), first)

    def _tied_in_file(self, results, found):
        """Numbers of parameters that the file of a program has in the memory of
        an earlier one, and whose gradient is the same value."""
        places = {one["name"].removeprefix("grad."): (one.get("segment"),
                                                      one.get("arena"))
                  for one in results if one["name"].startswith("grad.")}
        seen, tied = set(), set()
        for i in self._parameters:
            place = places.get(self._names[i].removeprefix("param."))
            key = (place, found[i].data_ptr(), found[i].shape)
            if place is not None and key in seen:
                tied.add(i)
            seen.add(key)
        return tied

    def _hold(self, key, step):
        sized = SizedStep(step, self._exported.count, self.place,
                          self._turn, self._exported.unreached, self._groups,
                          self._update)
        self._prepare(sized)
        self.sized[key] = sized
        while len(self.sized) > self._most:
            self._forget(self.sized.popitem(last=False)[1])
        return sized

    def fits(self, leaves):
        """Whether this is the machine code for a call with these."""
        exported = self._exported
        for leaf, (is_tensor, kind, value) in zip(leaves, self._constants):
            if isinstance(leaf, torch.Tensor) != is_tensor:
                return False
            if not is_tensor and (type(leaf) is not kind
                                  or not _same(leaf, value)):
                return False
        if exported.guard is not None and not exported.guard.holds():
            return False
        found = self._find(leaves)
        if torch.is_grad_enabled():
            for i in self._frozen:
                if found[i] is not None and found[i].requires_grad:
                    return False
            for i in self._trained:
                if found[i] is not None and not found[i].requires_grad:
                    return False
        return self._tied_now(found) == self._tied

    def difference(self, leaves):
        """Why it does not fit, in words."""
        exported = self._exported
        for i, (leaf, (is_tensor, kind, value)) in enumerate(zip(
                leaves, self._constants)):
            name = exported.leaf_names[i]
            if isinstance(leaf, torch.Tensor) or is_tensor:
                if isinstance(leaf, torch.Tensor) != is_tensor:
                    return "the argument %s is %s, and was %s" % (
                        name, _said(leaf),
                        "a tensor" if is_tensor else repr(value))
            elif type(leaf) is not kind or not _same(leaf, value):
                return "the argument %s is %r, and was %r" % (name, leaf, value)
        if exported.guard is not None and not exported.guard.holds():
            return exported.guard.difference()
        found = self._find(leaves)
        for i in self._frozen:
            if found[i] is not None and found[i].requires_grad:
                return "'%s' requires a gradient, and did not" % self._names[i]
        return "parameters are tied in another way"

    def _find(self, leaves):
        """Tensors of the arguments, in their order; None for missing ones."""
        tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
        return [tensors[own] if holder is None and own < len(tensors)
                else None if holder is None else holder.get(own)
                for holder, own in self._sources]

    def _tied_now(self, found):
        """For each parameter the number of the first one that it is."""
        first = {}
        return [first.setdefault(id(found[i]), i) for i in self._parameters]

    def run(self, leaves):
        """The model's outputs."""
        if self._exported.guard is not None:
            self._exported.guard.check_backward_hooks()
        found = [one if one is None or one.layout is not torch.strided
                 or not (one.is_conj() or one.is_neg()) else tensor_of(one)
                 for one in self._find(leaves)]
        for name, one in zip(self._names, found):
            if one is None:
                raise _error("nothing is known to put into '%s' of the step"
                             % name)
        sized = self._find_sized(dict(zip(self._names, found)))
        for argument, one in zip(sized.given, found):
            _check(argument, one, self.place)
        made = Run.apply(sized, self._twice, *found)
        return self._exported.outputs(made)

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
        with self._turn:
            if key in self.sized:
                self.sized.move_to_end(key)
                return self.sized[key]
            return self._hold(key, self._open_for(sizes))

    def _open_for(self, sizes):
        if sizes == self._symbols:
            return Step(self._folder, self.place.on_device)
        name = ",".join("%s=%d" % one for one in sizes.items())
        if name not in self._compiled:
            run_program(str(self._folder), *(
                "--sym=%s=%d" % one for one in sizes.items()))
            self._compiled.add(name)
        return Step(self._folder / "sizes" / name, self.place.on_device)

    def summary(self, seconds):
        """One line of what was compiled."""
        plan = json.loads((self._folder / "plan.json").read_text())
        first = next(iter(self.sized.values()))
        return ("compiled %d ops for %s in %.1f s: %d bytes saved for the"
                " backward, an arena of %d bytes"
                % (plan["ops"], self.place, seconds, plan["saved_bytes"],
                   first.step.arena_bytes))


def _same(leaf, value):
    try:
        return bool(leaf == value) or (leaf != leaf and value != value)
    except Exception:
        return False


def _said(leaf):
    return "a tensor" if isinstance(leaf, torch.Tensor) else repr(leaf)


def _check(argument, found, place):
    if (found.device != place.device or tuple(found.shape) != argument.sizes
            or found.dtype != DTYPES[argument.dtype]):
        raise _error(
            "'%s' is %s of %s on %s; the step was compiled for %s of %s on"
            " %s: compile it again for these"
            % (argument.name, found.dtype, list(found.shape), found.device,
               DTYPES[argument.dtype], list(argument.sizes), place))
    if found.layout is not torch.strided or not _is_plain(found):
        raise _error("'%s' is a %s of layout %s: a step takes tensors with one"
                     " dense memory; convert it beforehand"
                     % (argument.name, type(found).__name__, found.layout))


def _is_plain(tensor):
    if type(tensor) in (torch.Tensor, torch.nn.Parameter):
        return True
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    return not is_traceable_wrapper_subclass(tensor)
