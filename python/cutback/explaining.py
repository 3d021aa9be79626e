# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a model, in one line of a user's code."""

import torch

from ._library import check_library
from .graph_text import roles_of
from .options import Options
from .partition import plan_of


def explain(model, *args, options=None, file=None, **kwargs):
    """Prints what a training step of `model(*args, **kwargs)` saves, and why.

    Runs the forward once; buffers and the state of random generators are put
    back. Several graphs give several reports. Returns the plans.
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
    buffers = [(buffer, buffer.detach().clone())
               for buffer in _buffers(model)]
    torch._dynamo.reset()
    try:
        with torch.random.fork_rng(), torch.enable_grad():
            compiled(*args, **kwargs)
    finally:
        torch._dynamo.reset()
        with torch.no_grad():
            for buffer, old in buffers:
                buffer.copy_(old)
    for number, plan in enumerate(plans):
        if len(plans) > 1:
            print("graph %d of %d" % (number + 1, len(plans)), file=file)
        print(plan.report(), end="", file=file)
    if not graphs:
        print("torch.compile finds no graph in this model;"
              " TORCH_LOGS=graph_breaks says why", file=file)
    elif not plans:
        print("no graph of this model has a gradient", file=file)
    return plans


def _buffers(model):
    return model.buffers() if isinstance(model, torch.nn.Module) else ()


