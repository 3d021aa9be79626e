# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One training step of a model: by eager PyTorch, by `cutback run` on its export,
and through torch.compile.

Steps run in float64 where the model lets them, and must then agree to 1e-8 of the
largest magnitude: some of PyTorch's own kernels have constants in float32
(hardsigmoid: 1.5e-8 of a gradient, 3e-8 are allowed), and normalizing a few
numbers magnifies rounding. With smaller types inside it is 1e-4.
"""

import re
import subprocess
import warnings

import torch
from safetensors.torch import load_file, save_file

PLANS = ({}, {"cost_model": "pytorch"}, {"strategy": "recompute-all"})


class Step(torch.nn.Module):
    """Loss of a model for tensors in the order of `names`; those without a name
    come first."""

    def __init__(self, model, names, options):
        super().__init__()
        self.model = model
        self.names = names
        self.options = options

    def forward(self, *tensors):
        unnamed = len(tensors) - len(self.names)
        return (loss_of(self.model(
            *tensors[:unnamed], **dict(zip(self.names, tensors[unnamed:])),
            **self.options)),)


def floats(result):
    """The floating tensors of whatever a model gives."""
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in floats(part)]
    return []


def loss_of(result):
    loss = getattr(result, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    return sum(tensor.sin().mean() for tensor in floats(result)[:2])


def prepare(make, wide):
    """The step, its inputs, and its buffers as they are before it."""
    torch.manual_seed(0)
    model, inputs, options = make()
    model.train()
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and ("drop" in name or name == "p"):
                setattr(module, name, 0.0)
    if wide:
        model = model.double()
        inputs = {name: tensor.double() if tensor.is_floating_point() else tensor
                  for name, tensor in inputs.items()}
    unnamed = {name: tensor for name, tensor in inputs.items() if name == "x"}
    named = {name: tensor for name, tensor in inputs.items() if name != "x"}
    step = Step(model, list(named), options)
    return step, (*unnamed.values(), *named.values())


def run(step, call, inputs):
    """Loss and gradients; buffers are put back."""
    kept = {name: buffer.clone() for name, buffer in step.named_buffers()}
    step.zero_grad(set_to_none=True)
    loss = call(*inputs)[0]
    loss.backward()
    results = {"loss": loss.detach()}
    for name, parameter in step.named_parameters():
        results["grad." + name] = parameter.grad
    for name, buffer in step.named_buffers():
        buffer.copy_(kept[name])
    return results


def wrong(ours, theirs, tolerance):
    """What differs, in words."""
    largest = max(float(value.abs().max()) for value in theirs.values()
                  if value is not None and value.numel())
    found = []
    for name, wanted in theirs.items():
        got = ours.get(name)
        if wanted is None or got is None:
            some = got if wanted is None else wanted
            if some is not None and some.any():
                found.append(name + (" is missing" if got is None
                                     else ": PyTorch has none"))
            continue
        scale = wanted.abs().max().item() if wanted.numel() else 0
        error = (got.double() - wanted.double()).abs().max().item() \
            if wanted.numel() else 0
        if not error <= tolerance * max(scale, largest / 100) + 1e-12:
            found.append("%s differs by %.2g of %.2g" % (name, error, scale))
    return found


def eager(make):
    """The step with its results: in float64, else in the model's own type. Fails
    with a sentence for a model that cannot run or is random."""
    error = ""
    for wide in (True, False):
        try:
            step, inputs = prepare(make, wide)
            first, second = (run(step, step, inputs) for _ in range(2))
        except Exception as failure:  # whatever a library raises
            error = "%s: %s" % (type(failure).__name__, str(failure)[:150])
            continue
        if wrong(first, second, 1e-9):
            raise RuntimeError("is random, or not finite")
        return step, inputs, first, wide
    raise RuntimeError(error)


def is_wide(exported):
    """No tensor of fewer bits than float64 in the program."""
    def values(meta):
        return meta if isinstance(meta, (tuple, list)) else [meta]

    return not any(
        isinstance(value, torch.Tensor) and value.is_floating_point()
        and value.dtype != torch.float64
        for node in exported.graph.nodes
        for value in values(node.meta.get("val")))


def compare_exported(make, cutback, folder):
    try:
        step, inputs, theirs, wide = eager(make)
        exported = torch.export.export(step, inputs, strict=False)
        torch.export.save(exported, folder / "model.pt2")
    except Exception as failure:
        return "unexported", re.sub(r"\s+", " ", str(failure))[:200]
    save_file({"input.%d" % i: tensor.contiguous()
               for i, tensor in enumerate(inputs)}, folder / "inputs")
    done = subprocess.run(
        [cutback, "run", folder / "model.pt2", "--reference",
         "--inputs=%s" % (folder / "inputs"), "--outputs=%s" % (folder / "out")],
        capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        return "refused", (lines or [done.stderr[-200:]])[0]
    ours = load_file(folder / "out")
    tolerance = 3e-8 if wide and is_wide(exported) else 1e-4
    found = wrong(ours, theirs, tolerance)
    if found:
        # An autograd function's own backward is not in an export.
        module = exported.module()
        if not wrong(ours, run(module, module, inputs), tolerance):
            found = []
    return (("wrong", "; ".join(found[:4])) if found
            else ("agree", "%d nodes" % len(exported.graph.nodes)))


def first_line(failure):
    return str(failure).strip().split("\n")[0][:150]


def compiled(step, inputs, **how):
    torch._dynamo.reset()
    return run(step, torch.compile(step, **how), inputs)


def compare_compiled(make, compiler):
    """`compiler`: "eager", PyTorch's kernels one by one, or "inductor"."""
    import cutback
    from cutback.backend import compile_graph

    try:
        step, inputs, theirs, _ = eager(make)
    except Exception as failure:
        return "unexported", str(failure)
    beside = "aot_eager" if compiler == "eager" else compiler
    try:
        compiled(step, inputs, backend=beside)
    except Exception as failure:
        return "unexported", "%s: %s" % (beside, first_line(failure))
    for options in PLANS:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", cutback.FallbackWarning)
                ours = compiled(step, inputs, backend=compile_graph,
                                options={"compiler": compiler, **options})
        except Exception as failure:
            return "wrong", "%s: %s" % (options, first_line(failure))
        fallen = [str(one.message) for one in caught
                  if issubclass(one.category, cutback.FallbackWarning)]
        if fallen:
            return "refused", "%s: %s" % (options, fallen[0][:200])
        found = wrong(ours, theirs, 1e-4)
        if found:
            return "wrong", "%s: %s" % (options, "; ".join(found[:4]))
    return "agree", "%d plans" % len(PLANS)
