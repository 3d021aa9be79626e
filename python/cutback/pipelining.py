# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages of a pipeline as machine code, run by PyTorch's own schedules.

    pipe = cutback.pipelining.split(model, (x,), stages=4, folder="P")
    stage = pipe.build_stage(rank, "cpu")
    ScheduleZBVZeroBubble([...], n_microbatches, loss_fn=loss_fn).step(batch)

The model is exported for one micro-batch and cut by the program `cutback`. Each
stage's backward is two phases where a schedule wants that, gradients of inputs
and of weights, planned together and not found again at each step.
"""

import dataclasses
import tempfile

import torch
import torch.distributed as dist
from torch.utils import _pytree as pytree

from ._library import input_error as _error
from .exporting import Exported, run_program
from .options import Options
from .pipe_call import Call, write_call
from .pipe_manifest import Manifest
from .pipe_phase import StageModule, read_weights
from .pipe_stage import CompiledStage, sync_replicated_grads
from .sized import DTYPES
from .variant import tensor_of

__all__ = ["CompiledStage", "Pipe", "PipeInfo", "build_stage", "first_output",
           "split", "sync_replicated_grads"]


def split(model, args=(), kwargs=None, *, stages=None, split_spec=None,
          multi_use=None, backward="split", options=None, folder=None):
    """Cuts a model into stages, for micro-batches of the sizes of `args`.

    `model` is a module, exported here, or an `ExportedProgram`. It is cut at
    its markers (`torch.distributed.pipelining.pipe_split`); or into `stages` of
    equal time; or at the modules of `split_spec`, a dict from names to
    "begin", "end" or `SplitPoint`s.

    Where its first output is a float tensor of one element that is the loss,
    and gradients are those of it; the schedule's `loss_fn` is `first_output`.
    Otherwise `loss_fn` makes a loss of the outputs, which all have gradients.

    `multi_use` says of parameters of several stages whether each has them
    ("replicate", the default; see `sync_replicated_grads`) or the first sends
    them ("transmit"): for all, or a dict by name. `options` decide the plan of
    each stage, as of `cutback.compile`. `folder` keeps the stages, for
    `build_stage` of other processes; without it, they go with what this gives.
    """
    args, kwargs = pytree.tree_map(tensor_of, (tuple(args), kwargs or {}))
    exported = Exported.of(model, args, kwargs, None, lacks_loss=True)
    if exported.is_program:
        args, kwargs = exported.model.example_inputs
    if exported.place.on_device:
        raise _error("the model is on %s, and stages are compiled for a CPU:"
                     " move it there" % exported.place)
    keeper = None
    if folder is None:
        keeper = tempfile.TemporaryDirectory(prefix="cutback-")
        folder = keeper.name
    asked = [*_cuts(stages, split_spec), *_multi_use(multi_use),
             "--backward=" + backward]
    options = Options.of(options)
    exported.write(lambda given, graph: run_program(
        given, "-o", str(folder), *asked,
        *_plan_options(exported.place, graph, options), command="split"))
    write_call(Manifest(folder), exported, args, kwargs)
    return Pipe(folder, model, exported.guard, keeper)


def _plan_options(place, graph, options):
    """Without those that say nothing: a plan of three phases takes none."""
    usual = Options().arguments(runs_elsewhere=False)
    return [one for one in place.arguments(graph, options) if one not in usual]


def _cuts(stages, split_spec):
    if stages is not None and split_spec is not None:
        raise _error("stages= and split_spec= both say where to cut: give one"
                     " of them")
    if stages is not None:
        return ["--stages=%d" % stages]
    if split_spec is None:
        return []
    words = {"begin": "begin", "beginning": "begin", "end": "end"}
    cuts = []
    for name, point in split_spec.items():
        word = words.get(getattr(point, "name", str(point)).lower())
        if word is None:
            raise _error("split_spec has %r for '%s': it takes \"begin\" or"
                         " \"end\"" % (point, name))
        cuts.append("%s=%s" % (name, word))
    return ["--split-spec=" + ",".join(cuts)]


def _multi_use(given):
    if given is None:
        return []
    pairs = given.items() if isinstance(given, dict) else [("", given)]
    return ["--multi-use=" + ",".join(
        "%s=%s" % (name, use) if name else use for name, use in pairs)]


@dataclasses.dataclass(frozen=True)
class StageInfo:
    """Names; those of parameters and buffers are the model's."""

    parameters: tuple
    buffers: tuple
    receives: tuple  # from the stage before, in order
    sends: tuple  # to the stage after it
    saved_bytes: int  # that a micro-batch keeps for its backward
    saved_bytes_for_weight: int  # and between the halves of that


@dataclasses.dataclass(frozen=True)
class PipeInfo:
    num_stages: int
    has_loss_and_backward: bool  # whether the loss is inside of the model
    stages: tuple
    replicated_params: dict  # names, with the stages that have it


class Pipe:
    """What `split` gives; of a folder that it, or `cutback split`, wrote."""

    def __init__(self, folder, model=None, guard=None, keeper=None):
        self._manifest = Manifest(folder)
        self._call = Call(self._manifest, guard)
        self._model, self._keeper = model, keeper

    @property
    def folder(self):
        return self._manifest.folder

    @property
    def num_stages(self):
        return self._manifest.num_stages

    def info(self):
        manifest, given = self._manifest, self._call.given

        def own(tensors):
            return tuple(one["name"].partition(".")[2] for one in tensors)

        stages = []
        for number, one in enumerate(manifest.stages):
            stages.append(StageInfo(
                own(one["parameters"]), own(one["buffers"]),
                tuple(value.name for value in manifest.boundary(
                    number - 1, given)) if number else (),
                tuple(value.name for value in manifest.boundary(number, given)),
                one["forward_saved_bytes"], one["input_saved_bytes"]))
        return PipeInfo(
            manifest.num_stages,
            manifest.loss is not None and manifest.has_gradients,
            tuple(stages),
            {name.partition(".")[2]: tuple(every) for name, (every, _) in
             sorted(manifest.replicated().items())})

    def build_stage(self, stage_index, device="cpu", group=None, *,
                    threads=None):
        """A stage for this rank; see the function `build_stage`."""
        count = self.num_stages
        if not 0 <= stage_index < count:
            raise _error("there is no stage %d: the pipeline has stages 0 to %d"
                         % (stage_index, count - 1))
        device = torch.device(device)
        if device.type != "cpu":
            raise _error("stage %d would run on %s, and was split for a CPU:"
                         " give \"cpu\"" % (stage_index, device))
        if not dist.is_initialized():
            raise _error("a stage belongs to a process group, and there is"
                         " none: call torch.distributed.init_process_group"
                         " first")
        if dist.get_world_size(group) > count:
            raise _error("the group has %d processes, and the pipeline %d"
                         " stages: split the model into as many, or give a"
                         " smaller group" % (dist.get_world_size(group), count))
        module, constants = self._state_of(stage_index)
        stage = CompiledStage(self._manifest, self._call, stage_index, device,
                              group, module, constants, threads)
        stage.pipe = self  # its folder lives as long
        return stage

    def _state_of(self, stage_index):
        """Parameters and buffers as a module, and constants by name."""
        self._check_ties()
        entry = self._manifest.stages[stage_index]
        weights = read_weights(
            self.folder / entry["name"] / "weights.safetensors")
        module, constants = StageModule(self._call.training), {}
        for one in (*entry["parameters"], *entry["buffers"]):
            name = one["name"]
            tensor = self._own(name) if self._model is not None else None
            if tensor is None:
                tensor = weights.get(name)
            self._check(one, tensor)
            if name.startswith("const."):
                constants[name] = tensor
            elif name.startswith("param."):
                parameter = self._parameter(one, tensor)
                for known in (name, *one.get("aliases", ())):
                    module.hold(known, parameter)
            else:
                module.hold(name, tensor)
        return module, constants

    def _check_ties(self):
        """A parameter that the model has twice was one when it was split: each
        stage would add to the gradient of the other's."""
        if self._model is None:
            return
        names = {}
        for stage in self._manifest.stages:
            for one in stage["parameters"]:
                name = one["name"]
                other = names.setdefault(id(self._own(name)), name)
                if other != name:
                    raise _error(
                        "'%s' and '%s' are one parameter of the model, and were"
                        " two when it was split: split it again" % (
                            other.partition(".")[2], name.partition(".")[2]))

    def _own(self, name):
        """The model's tensor of this name; None for a constant."""
        kind, _, path = name.partition(".")
        if kind == "const":
            return None
        model = self._model
        if not isinstance(model, torch.nn.Module):
            tensors = model if isinstance(model, dict) else {
                **model.state_dict, **model.constants}
            found = tensors.get(path)
        else:
            parent, _, own = path.rpartition(".")
            try:
                found = getattr(model.get_submodule(parent), own, None)
            except AttributeError:
                found = None
        if not isinstance(found, torch.Tensor):
            raise _error("the model has no '%s', which the stages in '%s' have:"
                         " they are of another model; split this one"
                         % (path, self.folder))
        return found

    def _check(self, one, tensor):
        name = one["name"].partition(".")[2]
        if tensor is None:
            raise _error("'%s' has no weights of '%s': give build_stage the"
                         " model" % (self.folder, name))
        dtype = DTYPES[one["dtype"]]
        if tensor.dtype != dtype or list(tensor.shape) != one["sizes"]:
            raise _error(
                "'%s' is %s of %s in the model, and %s of %s in the stages in"
                " '%s': they are of another model; split this one" % (
                    name, tensor.dtype, list(tensor.shape), dtype,
                    one["sizes"], self.folder))
        if tensor.device.type != "cpu":
            raise _error("'%s' is on %s, and the stages are for a CPU: move the"
                         " model there" % (name, tensor.device))

    def _parameter(self, one, tensor):
        wanted, has_gradient = self._call.requires_grad, bool(
            one.get("gradient"))
        if not isinstance(tensor, torch.nn.Parameter):
            takes_one = has_gradient or (wanted is not None
                                         and one["name"] in wanted)
            return torch.nn.Parameter(tensor.detach(), takes_one and (
                tensor.is_floating_point() or tensor.is_complex()))
        if (tensor.requires_grad and not has_gradient and wanted is not None
                and one["name"] not in wanted):
            raise _error("'%s' requires a gradient, and did not when the model"
                         " was split: split it again"
                         % one["name"].partition(".")[2])
        return tensor


def build_stage(folder, stage_index, device="cpu", group=None, *, model=None,
                threads=None):
    """A stage of a folder that `split` or `cutback split` wrote, for a schedule
    of torch.distributed.pipelining; it is a `PipelineStage`.

    `stage.submod` has the stage's parameters and buffers, under the names that
    the model has. They are those of `model`, a module or a dict, so that an
    optimizer of the model's parameters works; without it they are read from the
    folder. `group` is the process group of the pipeline. `threads` is how many
    run a kernel; results have the same bits.

    The first stage takes the positional arguments that the model was split
    with; what of them later stages read is passed on. Keyword arguments are
    given to the step of every rank.
    """
    return Pipe(folder, model).build_stage(stage_index, device, group,
                                           threads=threads)


def first_output(output, target):
    """The `loss_fn` of a schedule for a model whose first output is its loss. A
    schedule wants a `target` on the last rank all the same."""
    del target
    return pytree.tree_leaves(output)[0]
