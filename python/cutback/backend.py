# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(model, backend="cutback")`.

Inductor, or with the option compiler="eager" PyTorch's kernels one by one, on
halves that Cutback has planned. The other options are the fields of `Options`:

    torch.compile(model, backend="cutback", options={"byte_price": 0.5})
"""

import functools

from .options import Options
from .partition import partition_fn


def compile_graph(graph_module, example_inputs, *, options=None, mode=None,
                  **kwargs):
    """What the entry point `cutback` of `torch_dynamo_backends` names."""
    given = dict(options or {})
    compiler = given.pop("compiler", "inductor")
    planned = Options.of(given)
    if compiler == "eager":
        return _eager(planned)(graph_module, example_inputs)
    if compiler != "inductor":
        raise ValueError("unknown compiler '%s'; there are inductor, eager"
                         % compiler)
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    from .inductor import InductorPartitioner

    patches = {"custom_partitioner_fn": InductorPartitioner(planned)}
    if mode and mode != "default":
        patches.update(list_mode_options(mode))
    return compile_fx(graph_module, example_inputs, config_patches=patches)


def _eager(options):
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def boxed(graph_module, _):
        return make_boxed_func(graph_module.forward)

    return aot_autograd(
        fw_compiler=boxed, bw_compiler=boxed,
        partition_fn=functools.partial(partition_fn, options=options),
        keep_inference_input_mutations=True)
