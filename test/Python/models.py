# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported models with PyTorch's own results, as the tests run them.

A model is a folder with model.pt2 (the loss is its first output) and
expected.safetensors; meta.json, where there is one, has PyTorch's own error
against float64, by which tolerances are set.
"""

import json
import pathlib
import warnings

import torch
import torch.distributed.pipelining  # registers the op of pipeline splits
from safetensors.torch import load_file

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "corpus"


class Model:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.expected = load_file(self.folder / "expected.safetensors")
        meta = self.folder / "meta.json"
        self.meta = json.loads(meta.read_text()) if meta.exists() else {}

    def module(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.export.load(self.folder / "model.pt2").module()

    def inputs(self):
        """Fresh leaves; those have a gradient whose gradient is expected."""
        found = []
        while "input.%d" % len(found) in self.expected:
            name = "input.%d" % len(found)
            tensor = self.expected[name].clone()
            found.append(tensor.requires_grad_("grad." + name in self.expected))
        return found

    def tolerance(self, name, scale):
        """The largest difference that a value of magnitude `scale` may have."""
        if "bf16" in self.name:
            return 2e-2 * scale
        own = self.meta.get("error_vs_float64", {}).get(name, {}).get("rel", 0)
        least = 2e-6 if self.meta else 1e-5
        return 1e-7 + max(4 * own, least) * scale

    def join_tied(self, results):
        """Gives each name of a tied parameter the whole gradient: what
        torch.export writes has a parameter of its own for each."""
        groups = {}
        for alias, name in self.meta.get("tied", {}).items():
            groups.setdefault(name, ["grad." + name]).append("grad." + alias)
        for names in groups.values():
            parts = {id(results[one]): results[one] for one in names
                     if one in results}
            if parts:
                whole = sum(parts.values())
                results.update((one, whole) for one in names)

    def differences(self, results):
        """What differs from PyTorch's results, as sentences."""
        found = []
        self.join_tied(results)
        for name, wanted in sorted(self.expected.items()):
            if name.startswith(("input.", "param.", "const.")):
                continue
            if name not in results:
                found.append("%s: %s is missing" % (self.name, name))
                continue
            got = results[name].detach()
            if got.shape != wanted.shape:
                found.append("%s: %s has shape %s" % (self.name, name,
                                                      tuple(got.shape)))
            elif wanted.is_floating_point():
                error = (got.double() - wanted.double()).abs().max().item()
                scale = wanted.double().abs().max().item()
                if not error <= self.tolerance(name, scale):
                    found.append("%s: %s differs by %g, its scale is %g"
                                 % (self.name, name, error, scale))
            elif not torch.equal(got, wanted):
                found.append("%s: %s differs" % (self.name, name))
        return found


def all_models(folder=CORPUS):
    return [Model(path.parent) for path in
            sorted(pathlib.Path(folder).glob("*/expected.safetensors"))]


def step(call, module, inputs):
    """One training step: loss, outputs, gradients and buffers by name."""
    outputs = torch.utils._pytree.tree_leaves(call(*inputs))
    outputs[0].backward()
    results = {"loss": outputs[0]}
    results.update(("output.%d" % i, value)
                   for i, value in enumerate(outputs[1:], 1))
    # One tensor under each of its names.
    for name, tensor in module.named_parameters(remove_duplicate=False):
        if tensor.grad is not None:
            results["grad." + name] = tensor.grad
    for i, tensor in enumerate(inputs):
        if tensor.grad is not None:
            results["grad.input.%d" % i] = tensor.grad
    results.update(("buffer." + name, tensor)
                   for name, tensor in module.named_buffers())
    return results


class PackedBytes:
    """The bytes of what autograd keeps between the forward and the backward.

    `bytes` counts each storage once, and none that was there before: those of
    `existing` tensors.
    """

    def __init__(self, existing=()):
        self._known = {tensor.untyped_storage()._cdata for tensor in existing}
        self._kept = []
        self.bytes = 0

    def _pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self._known:
            self._known.add(storage._cdata)
            self._kept.append(storage)
            self.bytes += storage.nbytes()
        return tensor

    def __enter__(self):
        self._hooks = torch.autograd.graph.saved_tensors_hooks(
            self._pack, lambda tensor: tensor)
        self._hooks.__enter__()
        return self

    def __exit__(self, *error):
        self._hooks.__exit__(*error)
        self._kept.clear()
