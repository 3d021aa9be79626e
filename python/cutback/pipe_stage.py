# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled stage that the schedules of torch.distributed.pipelining run.

The schedule says when which phase of which micro-batch runs, and moves tensors
to the next stage and gradients back; `PipelineStage` has the interface for it,
of which the phases and what they keep are replaced here. A stage passes on what
later stages take, and adds up the gradients that come back: that of the last
user first, its own last. Nothing is found out by running: sizes are in the
manifest. Buffers for what is received are there while they are needed.
"""

import dataclasses
import weakref

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining._utils import _make_tensor_from_meta
from torch.distributed.pipelining.stage import _RecvInfo
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ._library import input_error as _error
from .pipe_phase import Phase, StageModule
from .sized import DTYPES

_unsummed = weakref.WeakSet()  # stages with parts of replicated gradients


@dataclasses.dataclass
class Kept:
    """What a micro-batch keeps until its next phase."""

    tensors: dict  # by name
    seed: object
    roots: dict  # inputs whose gradient is wanted, by name
    outputs: dict = dataclasses.field(default_factory=dict)  # of the last stage
    versions: list = dataclasses.field(default_factory=list)

    def watch(self, names, tensors):
        """Notes the state of what later phases read."""
        self.versions = [(name, tensors[name], tensors[name]._version)
                         for name in names if name in tensors]

    def check(self):
        for name, tensor, version in self.versions:
            if tensor._version != version:
                raise _error("'%s' was changed between the forward and the"
                             " backward of a micro-batch, which reads what it"
                             " was: change it after the step of the schedule"
                             % name)


class CompiledStage(PipelineStage):
    """See `cutback.pipelining.build_stage`."""

    def __init__(self, manifest, call, stage_index, device, group, module,
                 constants, threads):
        self._manifest, self._call = manifest, call
        self._files = manifest.phases(stage_index)
        given = call.given
        self._out = manifest.boundary(stage_index, given)
        self._in = (manifest.boundary(stage_index - 1, given) if stage_index
                    else [])
        super().__init__(
            module, stage_index, manifest.num_stages, device, group=group,
            **self._metas(stage_index))
        self._phases = {name: Phase(files, threads)
                        for name, files in self._files.items()}
        entry = manifest.stages[stage_index]
        self._gradient_of = {one["gradient"]: one["name"]
                             for one in entry["parameters"]
                             if one.get("gradient")}
        self._replicated = {one["name"] for one in entry["parameters"]
                            if one.get("replicated")}
        self._state = {}
        for kind, found in (
                ("param.", module.named_parameters(remove_duplicate=False)),
                ("buffer.", module.named_buffers(remove_duplicate=False))):
            self._state.update((kind + name, one) for name, one in found)
        self._constants = constants  # by name
        self._read_later = sorted(
            {name for phase, files in self._files.items()
             if phase != "forward" for name in files.arguments})
        self._for_backward = entry["forward_saves"]
        self._for_weight = entry["input_saves"]
        self._own_inputs = [
            one["name"] for one in entry["inputs"]
            if not one["name"].startswith("tangent.")
            and (stage_index == 0 or one["name"] not in given)]
        self._kept, self._kept_for_weight = {}, {}
        self._parts = {}  # of gradients of replicated parameters
        self._check_phases(entry)

    #--- what is known before a run

    def _metas(self, stage_index):
        def meta(one):
            return torch.empty(one.sizes, dtype=DTYPES[one.dtype],
                               device="meta")

        def gradients(passed):
            return tuple(meta(one) if one.gradient else None for one in passed)

        metas = {"input_args": tuple(map(meta, self._in)),
                 "input_grads": gradients(self._in)}
        if stage_index == self._manifest.num_stages - 1:
            metas["output_args"] = tuple(map(meta, self._manifest.outputs))
        else:
            metas["output_args"] = tuple(map(meta, self._out))
            metas["output_grads"] = gradients(self._out)
        return metas

    def _check_phases(self, entry):
        written = {one["name"] for one in entry["buffers"]
                   if one.get("written")}
        for name in self._read_later:
            if name in written:
                raise _error("stage %d reads '%s' in its backward, when later"
                             " micro-batches have changed it: cut the model"
                             " elsewhere" % (self.stage_index, name))
        for files in self._files.values():
            for name in files.results:
                if (name.startswith("grad.input.") and self.stage_index
                        and name.removeprefix("grad.") in self._call.given):
                    raise _error(
                        "stage %d makes the gradient of %s, which the first"
                        " stage is given: give it as a keyword argument, to"
                        " the rank of stage %d" % (
                            self.stage_index,
                            self._call.said(name.removeprefix("grad.")),
                            self.stage_index))

    def set_threads(self, count):
        """How many threads run a kernel; results have the same bits."""
        for phase in self._phases.values():
            phase.set_threads(count)

    def _setup_forward_recv_info(self, num_microbatches, has_backward):
        self.args_recv_info = {
            chunk: tuple(
                _RecvInfo(one.name, self.stage_index - 1, None, meta)
                for one, meta in zip(self._in, self._stage_meta.inputs,
                                     strict=True))
            for chunk in range(num_microbatches)}

    def _create_grad_recv_info(self, act_send_info):
        if self.is_last:
            return ()
        return tuple(_RecvInfo(one.name, self.stage_index + 1, None, meta)
                     for one, meta in zip(
                         self._out, self._stage_meta.output_grads, strict=True))

    #--- what is received and sent

    def _with_buffers(self, infos):
        for info in infos:
            if info.tensor_meta is not None and info.buffer is None:
                info.buffer = _make_tensor_from_meta(info.tensor_meta,
                                                     self.device)

    def get_fwd_recv_ops(self, fwd_chunk_id):
        self._with_buffers(self.args_recv_info[fwd_chunk_id])
        return super().get_fwd_recv_ops(fwd_chunk_id)

    def get_bwd_recv_ops(self, bwd_chunk_id):
        if not self.has_backward or self.is_last:
            return []
        self._with_buffers(self.grad_recv_info[bwd_chunk_id])
        return super().get_bwd_recv_ops(bwd_chunk_id)

    def get_fwd_send_ops(self, fwd_chunk_id):
        if self.is_last:
            return []
        ops = super().get_fwd_send_ops(fwd_chunk_id)
        del self.fwd_cache[fwd_chunk_id]
        return ops

    # On one rank a schedule hands gradients over also where it only evaluates.

    def get_local_bwd_output(self, mb_index):
        if not self.has_backward:
            return ()
        return super().get_local_bwd_output(mb_index)

    def set_local_bwd_input(self, next_stage_bwd_outputs, mb_index):
        if self.has_backward:
            super().set_local_bwd_input(next_stage_bwd_outputs, mb_index)

    @staticmethod
    def _received(infos, passed, what):
        """By name; from here on the micro-batch alone holds them."""
        found = {}
        for info, one in zip(infos, passed, strict=True):
            tensor, info.buffer = info.buffer, None
            if tensor is None and (what == "value" or one.gradient):
                raise _error("the %s of '%s' has not been received"
                             % (what, one.name))
            found[one.name] = tensor
        return found

    @property
    def _is_next_here(self):
        return (not self.is_last and self.stage_index_to_group_rank[
            self.stage_index + 1] == self.group_rank)

    def clear_runtime_states(self):
        super().clear_runtime_states()
        self._call.check_model()
        if type(self.submod) is not StageModule:
            raise _error("stage %d is wrapped, in %s, which would see none of"
                         " its runs: add up gradients of replicas after the"
                         " step of the schedule" % (
                             self.stage_index, type(self.submod).__name__))
        if self._kept or self._kept_for_weight:  # of a step that was given up
            self._parts.clear()
        for name in self._parts if self.has_backward else ():
            raise _error("the gradients of '%s', which several stages have,"
                         " were not added up after the last step: call"
                         " sync_replicated_grads(stages) after each" % name)
        for states in (self._kept, self._kept_for_weight, self.bwd_cache):
            states.clear()
        for infos in (*self.args_recv_info.values(),
                      *self.grad_recv_info.values()):
            for info in infos:
                info.buffer = None

    #--- the forward

    def forward_one_chunk(self, fwd_chunk_id, args, kwargs=None,
                          save_forward_output=True):
        given = self._call.tensors_of(args if self.is_first else None,
                                      kwargs or {}, self._own_inputs)
        values = {name: one.detach() for name, one in given.items()}
        if not self.is_first:
            values.update(self._received(self.args_recv_info[fwd_chunk_id],
                                         self._in, "value"))
        values.update(self._constants)
        forward = self._phases["forward"]
        seed = (torch.empty((), dtype=torch.int64).random_()
                if forward.is_random else None)
        values.update(forward.run({**self._state, **values}, seed))
        kept = None
        if self.has_backward:
            kept = Kept({name: values[name].detach()
                         for name in self._for_backward}, seed,
                        self._roots_of(given))
            kept.watch(self._read_later, {**self._state, **kept.tensors})
            self._kept[fwd_chunk_id] = kept
        if self.is_last:
            return self._return(values, kept, save_forward_output)
        output = tuple(values[one.name].contiguous() for one in self._out)
        if not self._is_next_here:
            self.fwd_cache[fwd_chunk_id] = (output, [])
        return output

    def _roots_of(self, given):
        wanted = {name: one for name, one in given.items() if one.requires_grad}
        for name in wanted:
            if name not in self._call.wanted:
                raise _error("%s requires a gradient, and the model was split"
                             " for one that does not: split it with"
                             " requires_grad set there, or give it detached"
                             % self._call.said(name))
        return wanted

    def _return(self, values, kept, is_saved):
        """The outputs of the model. Each is a leaf, whose gradient the loss
        makes."""
        leaves, shown = [], []
        for one, sizes in zip(self._manifest.outputs, self._call.output_sizes):
            leaf = values[one.name].detach()
            if sizes is not None:
                leaf = leaf.reshape(sizes)
            shown.append(leaf.detach().reshape(leaf.shape or (1,)))
            if (kept is not None and torch.is_grad_enabled()
                    and leaf.is_floating_point()):
                kept.outputs[one.name] = leaf.requires_grad_()
            leaves.append(leaf)
        if is_saved:
            # What is put together along the first dimension has one.
            self.output_chunks.append(self._call.outputs(shown))
        return self._call.outputs(leaves)

    #--- the backward

    def backward_one_chunk(self, bwd_chunk_id, loss=None, full_backward=True,
                           last_backward=False):
        if not self.has_backward:
            return
        self._check_chunk_id(bwd_chunk_id)
        if bwd_chunk_id not in self._kept:
            raise _error("%s has no forward of micro-batch %d before its"
                         " backward" % (self.log_prefix, bwd_chunk_id))
        kept = self._kept.pop(bwd_chunk_id)
        kept.check()
        if self.is_last:
            came = self._gradients_of_outputs(kept, loss)
        else:
            came = self._received(self.grad_recv_info[bwd_chunk_id], self._out,
                                  "gradient")
        tensors = kept.tensors
        for name, gradient in came.items():
            if gradient is not None:
                tensors[_tangent_of(name)] = gradient
        made = {}
        for name in self._phases_of(full_backward):
            made.update(self._run(name, {**tensors, **made}, kept))
        if not full_backward:
            later = Kept({name: tensors[name] if name in tensors else made[name]
                          for name in self._for_weight}
                         if "weight" in self._phases else {}, kept.seed,
                         kept.roots)
            later.versions = [one for one in kept.versions if one[0] in
                              later.tensors or one[0] in self._state]
            self._kept_for_weight[bwd_chunk_id] = later
        if not self.is_first:
            self.bwd_cache[bwd_chunk_id] = tuple(
                self._gradient(one, came, made) for one in self._in)

    def _phases_of(self, full_backward):
        """Those of a stage that has a part of the backward alone are that."""
        if full_backward and "backward" in self._phases:
            return ["backward"]
        parts = [one for one in ("input", "weight") if one in self._phases]
        if full_backward or not parts:
            return parts or [one for one in ("backward",)
                             if one in self._phases]
        return [one for one in parts if one == "input"]

    def _gradients_of_outputs(self, kept, loss):
        torch.autograd.backward(loss)
        found = {}
        for one in self._manifest.outputs:
            leaf = kept.outputs.get(one.name)
            if leaf is None:
                continue
            gradient, leaf.grad = leaf.grad, None
            leaf.requires_grad_(False)
            if one.tangent is None and gradient is not None:
                if self._manifest.has_gradients and self._manifest.loss:
                    raise _error(
                        "a gradient comes to '%s', and the stages have those of"
                        " the loss alone, the model's first output: add it to"
                        " the loss inside of the model" % one.name)
                gradient = None
            if one.tangent is not None:
                found[one.name] = (torch.zeros_like(leaf) if gradient is None
                                   else gradient).reshape(one.sizes)
        return found

    def _gradient(self, one, came, made):
        """Of a value received: the sum of what came back for it, and ours."""
        if not one.gradient:
            return None
        later, own = came.get(one.name), made.get("grad." + one.name)
        if later is None or own is None:
            return later if own is None else own
        return later + own

    def backward_weight_one_chunk(self, bwd_chunk_id, last_backward=False):
        if not self.has_backward:
            return
        if bwd_chunk_id not in self._kept_for_weight:
            raise AssertionError(
                "%s: the gradients of weights of micro-batch %d come after"
                " backward_one_chunk(full_backward=False)"
                % (self.log_prefix, bwd_chunk_id))
        kept = self._kept_for_weight.pop(bwd_chunk_id)
        kept.check()
        if "weight" in self._phases:
            self._run("weight", kept.tensors, kept)

    def _run(self, phase, tensors, kept):
        """Runs it, adds up gradients of parameters and inputs; gives the rest.
        """
        made = self._phases[phase].run(
            {**self._state, **self._constants, **tensors}, kept.seed)
        rest = {}
        while made:
            name = next(iter(made))
            result = made.pop(name)
            if name in self._gradient_of:
                self._accumulate(self._gradient_of[name], result)
            elif name.startswith("grad.input."):
                root = kept.roots.get(name.removeprefix("grad."))
                if root is not None:
                    torch.autograd.backward(root, result.view(root.shape))
            else:
                rest[name] = result
        return rest

    def _accumulate(self, name, gradient):
        parameter = self._state[name]
        if not parameter.requires_grad:
            return
        if name not in self._replicated:
            # As autograd does, so with hooks of the parameter.
            torch.autograd.backward(parameter, gradient)
        elif name in self._parts:
            self._parts[name].add_(gradient)
        else:
            self._parts[name] = gradient
            _unsummed.add(self)

    def scale_grads(self, grad_scale_factor):
        if grad_scale_factor == 1:
            return
        parts = [self._state[name].grad for name in self._gradient_of.values()
                 if name not in self._replicated]
        for gradient in (*parts, *self._parts.values()):
            if gradient is not None:
                gradient.div_(grad_scale_factor)


def _tangent_of(name):
    """What the gradient of a value, or of an output, is called as an argument.
    """
    return "tangent." + (name.removeprefix("output."))


#--- parameters of several stages

def sync_replicated_grads(stages):
    """Adds up the gradients of parameters that several stages have.

    `stages`: those of this rank, one or a list. Every rank calls it, after the
    step of the schedule and before the optimizer's (and before gradients are
    clipped). The sum is in the order of the stages, and each copy of the
    parameter gets it, so equal copies stay equal.
    """
    stages = [stages] if isinstance(stages, CompiledStage) else list(stages)
    if not stages:
        return
    here = {one.stage_index: one for one in stages}
    ranks = stages[0].stage_index_to_group_rank
    mine, group = stages[0].group_rank, stages[0].group
    missing = [k for k, rank in ranks.items() if rank == mine and k not in here]
    if missing:
        raise _error("stage %d is on this rank too: give sync_replicated_grads"
                     " all stages of the rank" % missing[0])
    replicated = sorted(stages[0]._manifest.replicated().items())
    for name, (_, making) in replicated:
        for k in making:
            if (k in here and name not in here[k]._parts
                    and here[k]._state[name].requires_grad):
                raise _error("stage %d has no gradient of '%s' to add: run a"
                             " step of the schedule before" % (k, name))
    for name, (every, making) in replicated:
        _sum_over_stages(name, every, making, here, ranks, mine, group)
    for one in stages:
        _unsummed.discard(one)


def _sum_over_stages(name, every, making, here, ranks, mine, group):
    holders = [here[k] for k in every if k in here]
    making = [k for k in making if k not in here
              or here[k]._state[name].requires_grad]
    if not making or not holders:
        return
    like = holders[0]._state[name]
    total, at = None, ranks[making[0]]
    for k in making:
        total, at = _move(total, at, ranks[k], mine, like, group), ranks[k]
        if k in here:
            part = here[k]._parts.pop(name)
            total = part if total is None else total.add_(part)
    for rank in sorted({ranks[k] for k in every} - {at}):
        sent = _move(total, at, rank, mine, like, group)
        total = sent if rank == mine else total
    done = set()  # one parameter may be that of several stages
    for stage in holders:
        parameter = stage._state[name]
        if parameter.requires_grad and id(parameter) not in done:
            done.add(id(parameter))
            torch.autograd.backward(parameter, total)


def _move(total, source, target, mine, like, group):
    """What this rank has of `total` once it is where it was moved to."""
    if source == target:
        return total
    if mine == source:
        dist.send(total, group=group, group_dst=target)
    elif mine == target:
        total = torch.empty_like(like, requires_grad=False)
        dist.recv(total, group=group, group_src=source)
    return total


def _check_summed(optimizer, *_):
    if not _unsummed:
        return
    updated = {id(one) for group in optimizer.param_groups
               for one in group["params"]}
    for stage in _unsummed:
        for name in stage._parts:
            if id(stage._state[name]) in updated:
                raise _error(
                    "'%s' is a parameter of several stages, whose gradients are"
                    " not added up: call sync_replicated_grads(stages) before"
                    " the optimizer" % name)


register_optimizer_step_pre_hook(_check_summed)
