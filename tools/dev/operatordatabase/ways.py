# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The three programs that are made of a step.

  model       torch.export's program; Cutback decomposes and differentiates it
  decomposed  the same after PyTorch's run_decompositions()
  joint       PyTorch's joint program, forward and backward
"""

import contextlib
import functools
import io
import re

import torch
from torch._export import utils
from torch.export.experimental import _export_forward_backward
from torch.nn.attention import SDPBackend, sdpa_kernel

from . import samples

WAYS = ("model", "decomposed", "joint")

# Found anew for each program, in case a custom operator was added: a third of
# the time of an export.
utils._collect_all_valid_cia_ops_for_namespace = functools.cache(
    utils._collect_all_valid_cia_ops_for_namespace)


class Unexported(Exception):
    """PyTorch does not make the program."""


@contextlib.contextmanager
def quiet():
    """PyTorch prints graphs that it could not finish."""
    with contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        yield


def export(step, inputs):
    try:
        # PyTorch 2.13 writes a wrong gradient of its CPU attention.
        with quiet(), sdpa_kernel(SDPBackend.MATH):
            return torch.export.export(step, inputs, strict=False)
    except Exception as error:
        raise Unexported("export: %s" % first_line(error)) from None


@functools.cache
def decompositions():
    """Made once: making the table takes longer than applying it."""
    return torch.export.default_decompositions()


def make(way, exported):
    if way == "model":
        return exported
    try:
        with quiet(), sdpa_kernel(SDPBackend.MATH):
            if way == "decomposed":
                return exported.run_decompositions(
                    decompositions().copy())
            return _export_forward_backward(exported)
    except Exception as error:
        raise Unexported("%s: %s" % (way, first_line(error))) from None


def is_random(program):
    """An operator in it may draw random numbers, or gives memory as it is
    found (`empty`, `new_empty_strided`)."""
    return any(torch.Tag.nondeterministic_seeded
               in getattr(node.target, "tags", ())
               or re.search(r"^aten\.(new_)?empty(_|\.|$)", str(node.target))
               for node in program.graph.nodes)


def save(program, path):
    try:
        with quiet():
            torch.export.save(program, path)
    except Exception as error:
        raise Unexported("save: %s" % first_line(error)) from None


def first_line(error):
    text = (str(error).strip().splitlines() or [""])[0]
    return "%s: %s" % (type(error).__name__, text[:160])


def run(way, program, step):
    """What a program gives, by the names that it has in files."""
    if way == "joint":
        return run_joint(program, step.inputs())
    module = program.module()
    return samples.run(module, module, step.inputs())


def run_joint(program, inputs):
    """Results of a joint program by the names that they have in files."""
    signature = program.graph_signature
    tensors = {**program.state_dict, **program.constants}
    values, given = [], iter(inputs)
    for spec in signature.input_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT":
            values.append(next(given))
        elif kind == "TOKEN":
            values.append(torch.empty(0))
        else:
            values.append(tensors[spec.target].detach())
    with torch.no_grad():
        results = program.graph_module(*values)
    named, outputs = {}, 0
    for spec, value in zip(signature.output_specs, results):
        kind = spec.kind.name
        if kind in ("LOSS_OUTPUT", "USER_OUTPUT"):
            named["output.%d" % outputs if outputs else "loss"] = value
            outputs += 1
        elif kind == "GRADIENT_TO_PARAMETER":
            named["grad." + spec.target] = value
    return named
