# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the model of a pipeline is called: which arguments are which inputs of
the stages, and how outputs are put together. `split` writes it beside them.
"""

import json

import torch
from torch.utils import _pytree as pytree

from ._library import input_error as _error
from .exporting import _read, _written
from .pipe_manifest import number_of
from .sized import DTYPES

_FILE = "python.json"
_VERSION = 1


def write_call(manifest, exported, args, kwargs):
    """What `Call` reads, beside the stages that were split."""
    numbers = iter(range(len(exported.leaf_names)))

    def leaves(one):
        return [["tensor", next(numbers)] if isinstance(leaf, torch.Tensor)
                else ["value", _written(leaf)]
                for leaf in pytree.tree_leaves(one)]

    (manifest.folder / _FILE).write_text(json.dumps({
        "version": _VERSION, "pipeline": manifest.checksum,
        "args": [leaves(one) for one in args],
        "kwargs": {name: leaves(one) for name, one in kwargs.items()},
        "names": [name for name, (is_tensor, *_) in zip(
            exported.leaf_names, exported.constants) if is_tensor],
        "out_spec": pytree.treespec_dumps(exported.out_spec),
        "outputs": [[kind, list(what) if isinstance(what, tuple)
                     else _written(what) if kind == "value" else None]
                    for kind, what in exported.outputs_are],
        "requires_grad": sorted(exported.requires_grad),
        "training": getattr(exported.model, "training", True),
    }, indent=1))


class Call:
    """Of a folder; without the file every input is an argument of its own, and
    outputs are a tuple, or the one that there is."""

    def __init__(self, manifest, guard=None):
        self._manifest, self._guard = manifest, guard
        try:
            read = json.loads((manifest.folder / _FILE).read_bytes())
        except FileNotFoundError:
            read = self._without_file()
        if (read.get("version") != _VERSION
                or read.get("pipeline") != manifest.checksum):
            raise _error("'%s' is of another split, or of another version of"
                         " cutback: split the model again, into an empty folder"
                         % (manifest.folder / _FILE))
        self._args, self._kwargs = read["args"], read["kwargs"]
        self._names = read["names"]
        self._outputs = read["outputs"]
        self._spec = (pytree.treespec_loads(read["out_spec"])
                      if read["out_spec"] else None)
        self.requires_grad = read["requires_grad"]  # None: not known
        self.training = read["training"]
        self.given = [one for one in self._numbered(self._args)
                      if one in manifest.inputs]
        self.wanted = {one["name"].removeprefix("grad.")
                       for stage in manifest.stages
                       for one in stage["outputs"]
                       if one["name"].startswith("grad.input.")}
        self.wanted.update(self.requires_grad or ())
        self.output_sizes = [what for kind, what in self._outputs
                             if kind == "tensor"]
        if len(self.output_sizes) != len(manifest.outputs):
            raise _error("the stages make %d of the %d tensors that the model"
                         " returns: split the model again"
                         % (len(manifest.outputs), len(self.output_sizes)))

    def _without_file(self):
        count = 1 + max(map(number_of, self._manifest.inputs), default=-1)
        return {"version": _VERSION, "pipeline": self._manifest.checksum,
                "args": [[["tensor", one]] for one in range(count)],
                "kwargs": {}, "names": [str(one) for one in range(count)],
                "outputs": [["tensor", None]] * len(self._manifest.outputs),
                "out_spec": None, "requires_grad": None, "training": True}

    @staticmethod
    def _numbered(arguments):
        return ["input.%d" % value for leaves in arguments
                for kind, value in leaves if kind == "tensor"]

    def said(self, name):
        """Of "input.N", as a caller knows it."""
        return "the argument %s" % self._names[number_of(name)]

    def check_model(self):
        """That the model, if it is known, computes what it did."""
        if self._guard is not None and not self._guard.holds():
            raise _error("the stages are those of the model in another state"
                         " (%s): split it again"
                         % (self._guard.difference() or "a mode of PyTorch"))

    def tensors_of(self, args, kwargs, needed):
        """Inputs by name, of a micro-batch. `args`: None where a stage is given
        none. Those `needed` must be there."""
        found = {}
        if args is not None:
            if len(args) != len(self._args):
                raise _error("the first stage takes %d arguments, and is given"
                             " %d: give it those that the model was split with"
                             % (len(self._args), len(args)))
            for number, (leaves, one) in enumerate(zip(self._args, args)):
                self._match(str(number), leaves, one, found)
        for name, one in kwargs.items():
            if name not in self._kwargs:
                raise _error("the stages have no keyword argument '%s': the"
                             " model was split with %s" % (
                                 name, ", ".join(self._kwargs) or "none"))
            self._match(name, self._kwargs[name], one, found)
        for name in needed:
            if name not in found:
                raise _error("%s is missing: the stage takes it, so give it to"
                             " the step of this rank, as a keyword argument"
                             % self.said(name))
        return found

    def _match(self, name, leaves, given, found):
        tensors = pytree.tree_leaves(given)
        if len(tensors) != len(leaves):
            raise _error("the argument %s has %d parts, and had %d when the"
                         " model was split" % (name, len(tensors), len(leaves)))
        for (kind, value), one in zip(leaves, tensors):
            is_tensor = isinstance(one, torch.Tensor)
            if is_tensor != (kind == "tensor"):
                raise _error("the argument %s is %s, and was %s when the model"
                             " was split: split it again" % (
                                 name, "a tensor" if is_tensor else repr(one),
                                 "a tensor" if kind == "tensor"
                                 else repr(_read(value))))
            if is_tensor:
                self._add("input.%d" % value, one, found)
            elif type(one) is not type(_read(value)) or one != _read(value):
                raise _error("the argument %s is %r, and was %r when the model"
                             " was split, which is constant in it: split it"
                             " again" % (name, one, _read(value)))

    def _add(self, name, tensor, found):
        wanted = self._manifest.inputs.get(name)
        if wanted is None:  # no stage reads it
            return
        if tensor.device.type != "cpu":
            raise _error("%s is on %s, and the stages are for a CPU"
                         % (self.said(name), tensor.device))
        dtype, sizes = DTYPES[wanted["dtype"]], wanted["sizes"]
        if tensor.dtype != dtype or list(tensor.shape) != sizes:
            raise _error(
                "%s is %s of %s, and the model was split for micro-batches of"
                " %s of %s: let the schedule make parts of that size, or split"
                " the model for this one" % (
                    self.said(name), tensor.dtype, list(tensor.shape), dtype,
                    sizes))
        found[name] = tensor

    def outputs(self, tensors):
        """The model's outputs of the stages'."""
        tensors = iter(tensors)
        leaves = [_read(what) if kind == "value" else next(tensors)
                  for kind, what in self._outputs]
        if self._spec is not None:
            return pytree.tree_unflatten(leaves, self._spec)
        return leaves[0] if len(leaves) == 1 else tuple(leaves)
