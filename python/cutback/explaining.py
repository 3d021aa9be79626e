# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a model, in one line of a user's code."""

import contextlib

import torch
from torch.utils import _pytree as pytree

from ._library import check_library
from .graph_text import roles_of
from .options import Options
from .partition import plan_of


def explain(model, *args, options=None, file=None, **kwargs):
    """Prints what a training step of `model(*args, **kwargs)` saves, and why.

    Runs the forward twice, compiled and as it is, to count what eager PyTorch
    keeps; buffers and the state of random generators are put back. Several
    graphs give several reports. Returns the plans.
    """
    check_library()
    options = Options.of(options)
    from functorch.compile import (make_boxed_func,
                                   min_cut_rematerialization_partition)
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table

    plans, graphs = [], []

    def boxed(graph_module, _):
        return make_boxed_func(graph_module.forward)

    def backend(graph_module, inputs):
        graphs.append(graph_module)
        roles = roles_of(graph_module.graph, inputs, model)

        def partition(joint, joint_inputs, **more):
            plans.append(plan_of(joint, more["num_fwd_outputs"], options,
                                 roles=roles))
            return min_cut_rematerialization_partition(joint, joint_inputs,
                                                       **more)

        return aot_autograd(
            fw_compiler=boxed, bw_compiler=boxed, partition_fn=partition,
            decompositions=select_decomp_table,
            keep_inference_input_mutations=True)(graph_module, inputs)

    compiled = torch.compile(model, backend=backend)
    torch._dynamo.reset()
    try:
        with _put_back(model):
            compiled(*args, **kwargs)
    finally:
        torch._dynamo.reset()
    with _put_back(model):
        kept = _kept_by_eager(model, args, kwargs) if plans else {}
    for number, plan in enumerate(plans):
        if len(plans) > 1:
            print("graph %d of %d" % (number + 1, len(plans)), file=file)
        print(plan.report(), end="", file=file)
    if kept:
        print("eager PyTorch keeps %s for the backward, in %d tensors'"
              " memories, counted in a run of the forward"
              % (_bytes_text(sum(kept.values())), len(kept)), file=file)
    if not graphs:
        print("torch.compile finds no graph in this model;"
              " TORCH_LOGS=graph_breaks says why", file=file)
    elif not plans:
        print("no graph of this model has a gradient", file=file)
    return plans


@contextlib.contextmanager
def _put_back(model):
    """Of a run inside of it buffers and random generators know nothing."""
    buffers = [(buffer, buffer.detach().clone())
               for buffer in (model.buffers() if isinstance(
                   model, torch.nn.Module) else ())]
    try:
        with torch.random.fork_rng(), torch.enable_grad():
            yield
    finally:
        with torch.no_grad():
            for buffer, old in buffers:
                buffer.copy_(old)


def _kept_by_eager(model, args, kwargs):
    """Bytes by storage that autograd keeps, but those that are there anyway."""
    given = [one for one in pytree.tree_leaves((args, kwargs))
             if isinstance(one, torch.Tensor)]
    if isinstance(model, torch.nn.Module):
        given += [*model.parameters(), *model.buffers()]
    there = {one.untyped_storage().data_ptr() for one in given}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in there:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        held = model(*args, **kwargs)  # so that no memory is taken twice
    del held
    return kept


def _bytes_text(count):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return "%.1f %s" % (count / unit, name)
    return "%d B" % count
