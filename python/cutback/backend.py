# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(model, backend="cutback")`.

Inductor, or with the option compiler="eager" PyTorch's kernels one by one, on
halves that Cutback has planned. Other options are the fields of `Options`, or
Inductor's; torch.compile takes options or a mode, so a mode may be an option:

    torch.compile(model, backend="cutback", options={
        "byte_price": "2x", "mode": "max-autotune-no-cudagraphs",
        "epilogue_fusion": False})

Importing this module, as torch.compile does when it is called, raises
`LibraryMissing` without the library: later, PyTorch would wrap the error.
"""

import dataclasses
import functools

from ._library import check_library
from .options import Options
from .partition import partition_fn

check_library()


def _split(options):
    """Options as ours, and as those of Inductor."""
    ours = {field.name for field in dataclasses.fields(Options)}
    given = {name.replace("-", "_"): value for name, value in options.items()}
    return (Options.of({name: value for name, value in given.items()
                        if name in ours}),
            {name: value for name, value in given.items()
             if name not in ours})


def _check_inductor(patches):
    from torch._inductor import config

    known = config.get_config_copy()
    for name in patches:
        if name not in known:
            raise TypeError(
                "there is no option '%s', neither of a plan (%s) nor of"
                " Inductor (torch._inductor.list_options())" % (name, ", ".join(
                    field.name for field in dataclasses.fields(Options))))


def compile_graph(graph_module, example_inputs, *, options=None, mode=None,
                  **kwargs):
    """What the entry point `cutback` of `torch_dynamo_backends` names."""
    given = dict(options or {})
    compiler = given.pop("compiler", "inductor")
    mode = given.pop("mode", mode)
    planned, patches = _split(given)
    _check_inductor(patches)
    if compiler not in ("inductor", "eager"):
        raise ValueError("unknown compiler '%s'; there are inductor, eager"
                         % compiler)
    if compiler == "eager":
        if patches or mode not in (None, "default"):
            raise ValueError("compiler='eager' has no mode and none of"
                             " Inductor's options: leave out %s" % ", ".join(
                                 [*patches, *(["mode"] if mode else [])]))
        return _eager(planned)(graph_module, example_inputs)
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    from .inductor import InductorPartitioner

    all_patches = {"custom_partitioner_fn": InductorPartitioner(planned)}
    if mode and mode != "default":
        all_patches.update(list_mode_options(mode))
    all_patches.update(patches)
    return compile_fx(graph_module, example_inputs, config_patches=all_patches)


def _eager(options):
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def boxed(graph_module, _):
        return make_boxed_func(graph_module.forward)

    return aot_autograd(
        fw_compiler=boxed, bw_compiler=boxed,
        partition_fn=functools.partial(partition_fn, options=options),
        keep_inference_input_mutations=True)
