# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A family's training step as `torch.export` writes it, with what eager PyTorch
computes, in a folder that keeps them:

    NAME/static/model.pt2  expected.safetensors
    NAME/batch/...         with a symbolic size of the batch
    NAME/all/...           with all sizes symbolic, as far as the model lets them

`expected.safetensors` has inputs, loss, gradients and buffers (input.N, loss,
grad.NAME, buffer.NAME), as in test/corpus. Beside an export with symbols
`other.safetensors` has the same for other sizes, if the model takes them.
`none` names the parameters that the loss does not reach, a line each, and
`rounding.json` has how far eager PyTorch is off itself, where the model runs in
float64: normalizing a few numbers magnifies rounding. Dropout is
off; a model that is still random, or that PyTorch cannot export, has `error`.
"""

import contextlib
import json
import os
import re

import torch
from safetensors.torch import load_file, save_file

SIZES = ("static", "batch", "all")
OTHER = {"batch": dict(batch=3), "all": dict(batch=3, length=16)}


class Step(torch.nn.Module):
    """Loss of a model for tensors in the order of `names`."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        given = dict(zip(self.names, tensors))
        first = given.pop("x", None)
        return (_loss(self.model(*(() if first is None else (first,)),
                                 **given)),)


def _floats(result):
    """The floating tensors of whatever a model gives."""
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in _floats(part)]
    return []


def _loss(result):
    loss = getattr(result, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    return sum(tensor.sin().mean() for tensor in _floats(result)[:2])


def run(step, inputs):
    """Loss, gradients and changed buffers; these are put back."""
    kept = {name: buffer.clone() for name, buffer in step.named_buffers()}
    step.zero_grad(set_to_none=True)
    loss = step(*inputs)[0]
    loss.backward()
    results = {"loss": loss.detach()}
    for name, parameter in step.named_parameters():
        if parameter.grad is not None:
            results["grad." + name] = parameter.grad.clone()
    for name, buffer in step.named_buffers():
        if not torch.equal(buffer, kept[name]):
            results["buffer." + name] = buffer.clone()
            buffer.copy_(kept[name])
    return results


def _prepare(family, wide):
    torch.manual_seed(0)
    model = family.make().train()
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and ("drop" in name or name == "p"):
                setattr(module, name, 0.0)
    return model.double() if wide else model


def _inputs(family, wide, **sizes):
    torch.manual_seed(1)
    given = family.inputs(**sizes)
    return {name: one.double() if wide and one.is_floating_point() else one
            for name, one in given.items()}


def _expected(step, inputs):
    """What eager PyTorch computes, twice: a model may be random."""
    first, second = run(step, inputs), run(step, inputs)
    for name, one in first.items():
        if not torch.equal(one, second[name]) and not torch.allclose(
                one.double(), second[name].double(), rtol=1e-4, atol=1e-6):
            raise RuntimeError("is random, or not finite: " + name)
    return first


def _rounding(family, results):
    """By name: the largest error of what is computed in float32."""
    try:
        inputs = _inputs(family, True)
        step = Step(_prepare(family, True), list(inputs))
        exact = run(step, tuple(inputs.values()))
        return {name: (one.double() - exact[name]).abs().max().item()
                for name, one in results.items()
                if one.is_floating_point() and one.numel()}
    except Exception:  # it has constants of a type of its own
        return {}


def _save(results, inputs, path):
    tensors = {"input.%d" % i: one for i, one in enumerate(inputs)}
    tensors.update(results)
    save_file({name: one.contiguous().clone() for name, one in tensors.items()},
              path)


def _dynamic(inputs, which):
    auto = torch.export.Dim.AUTO
    if which == "static":
        return None
    return (tuple({i: auto for i in range(one.dim()) if which == "all" or not i}
                  for one in inputs),)


def _has_symbols(program):
    return any(isinstance(size, torch.SymInt) for node in program.graph.nodes
               if node.op == "placeholder"
               and isinstance(node.meta.get("val"), torch.Tensor)
               for size in node.meta["val"].shape)


def export(family, which, folder, wide):
    """Writes `folder`; what PyTorch cannot do is in its file `error`."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _export(family, which, folder, wide)
    except Exception as failure:  # whatever a library raises
        text = "%s: %s" % (type(failure).__name__, str(failure)[:300])
        (folder / "error").write_text(re.sub(r"\s+", " ", text))


def _export(family, which, folder, wide):
    model = _prepare(family, wide)
    inputs = _inputs(family, wide)
    step, tensors = Step(model, list(inputs)), tuple(inputs.values())
    results = _expected(step, tensors)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        program = torch.export.export(
            step, tensors, dynamic_shapes=_dynamic(tensors, which), strict=False)
    if which != "static" and not _has_symbols(program):
        raise RuntimeError("no size is symbolic: the model fixes all of them")
    _save(results, tensors, folder / "expected.safetensors")
    (folder / "none").write_text("".join(
        "grad.%s\n" % name for name, _ in step.named_parameters()
        if "grad." + name not in results))
    (folder / "rounding.json").write_text(json.dumps(
        {} if wide else _rounding(family, results)))
    whole = folder / "whole.pt2"  # before its buffers are written
    torch.export.save(program, whole)
    if which != "static":
        _export_other(family, which, step, program, folder, wide)
    # The last one: it says that the folder is complete.
    whole.rename(folder / "model.pt2")


def _export_other(family, which, step, program, folder, wide):
    try:
        other = tuple(_inputs(family, wide, **OTHER[which]).values())
        results = run(step, other)
        program.module()(*other)  # it has guards for the sizes that it takes
    except Exception:  # the model does not take these
        return
    _save(results, other, folder / "other.safetensors")


def expected(path):
    """Inputs in their order, and results by name."""
    tensors = load_file(path)
    inputs = []
    while "input.%d" % len(inputs) in tensors:
        inputs.append(tensors.pop("input.%d" % len(inputs)))
    return inputs, tensors


def wrong(ours, theirs, none, rounding, tolerance):
    """What differs, in words; `none` names what has no gradient. Four times
    what PyTorch itself is off is allowed too."""
    largest = max((float(one.abs().max()) for one in theirs.values()
                   if one.numel()), default=0)
    found = []
    for name, wanted in theirs.items():
        got = ours.get(name)
        if got is None or got.shape != wanted.shape:
            if got is not None or wanted.any():
                found.append(name + " is missing" if got is None else
                             "%s has sizes %s" % (name, list(got.shape)))
            continue
        if not wanted.numel():
            continue
        scale = wanted.double().abs().max().item()
        error = (got.double() - wanted.double()).abs().max().item()
        allowed = max(tolerance * max(scale, largest / 100) + 1e-12,
                      4 * rounding.get(name, 0))
        if not error <= allowed:
            found.append("%s differs by %.2g of %.2g" % (name, error, scale))
    found += [name + ": PyTorch has none" for name in none
              if ours.get(name) is not None and ours[name].any()]
    return found
