# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cutback: what a training step saves for its backward, and what it computes
twice.

    cutback.Graph.read("joint.txt").plan(["--strategy=min-cut"]).saved

needs no PyTorch. With PyTorch (`TESTED_TORCH` names the releases):

    torch.compile(model, backend="cutback")
    cutback.compile(model, inputs) as machine code, without torch.compile
    cutback.explain(model, *inputs)
    cutback.partition_fn           as AOTAutograd's partitioner
    cutback.InductorPartitioner()  as Inductor's
    cutback.pipelining             stages for torch.distributed.pipelining
"""

from ._library import (CutbackError, Diagnostic, Graph, LibraryMissing, Plan,
                       library_path, version)
from ._step import HookPoint, Step, program_path, step_library_path
from .options import Options
from .releases import TESTED_TORCH, ReleaseWarning

# Looked up when they are asked for: they import torch.
_WITH_TORCH = {
    "partition_fn": "partition",
    "plan_of": "partition",
    "FallbackWarning": "partition",
    "InductorPartitioner": "inductor",
    "explain": "explaining",
    "compile": "compiled",
    "load": "compiled",
    "CompiledStep": "compiled",
}

__all__ = ["CutbackError", "Diagnostic", "Graph", "HookPoint", "LibraryMissing",
           "Options", "Plan", "ReleaseWarning", "Step", "TESTED_TORCH", "library_path",
           "program_path", "step_library_path", "version", *_WITH_TORCH]


def __getattr__(name):
    import importlib

    if name == "pipelining":
        return importlib.import_module(".pipelining", __name__)
    if name not in _WITH_TORCH:
        raise AttributeError("module 'cutback' has no attribute '%s'" % name)
    module = importlib.import_module("." + _WITH_TORCH[name], __name__)
    return getattr(module, name)
