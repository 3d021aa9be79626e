# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a `torch.optim` optimizer asks for, inside of a compiled step.

Groups and settings become options of `cutback compile`; the optimizer's state
is the step's, in the same tensors, so that its state_dict() is that of a
training; the learning rate is read at each update, so that schedulers work.
"""

import torch

from ._library import input_error as _error

# By class: settings that the machine code has as constants, and what others
# must be: the update has no other form of it.
_ADAM = (("betas", "eps", "weight_decay"), {
    "amsgrad": False, "maximize": False, "differentiable": False})
_SGD = (("momentum", "nesterov", "weight_decay"), {
    "dampening": 0, "maximize": False, "differentiable": False})
_STATES = {"adamw": ("exp_avg", "exp_avg_sq"), "sgd": ("momentum_buffer",)}


def _kind_of(optimizer):
    if type(optimizer) is torch.optim.SGD:
        return "sgd", *_SGD
    if type(optimizer) is torch.optim.AdamW:
        return "adamw", *_ADAM
    if type(optimizer) is torch.optim.Adam:
        # Without decay the two are one.
        return "adamw", _ADAM[0], {**_ADAM[1], "weight_decay": 0}
    raise _error("optimizer is a %s: a step updates by torch.optim.SGD, AdamW,"
                 " or Adam without weight decay" % type(optimizer).__name__)


class Update:
    """The update by `optimizer` of the parameters of `model`."""

    def __init__(self, optimizer, model):
        if not isinstance(model, torch.nn.Module):
            raise _error("optimizer goes with a module, whose parameters it has")
        self._optimizer = optimizer
        self._kind, self._settings, self._fixed = _kind_of(optimizer)
        self._names = {}
        for name, one in model.named_parameters(remove_duplicate=False):
            self._names.setdefault(id(one), []).append(name)
        self._made_for = self._read()
        self._check_parameters(model)
        self.arguments = self._options()

    def _read(self):
        """The settings that are constants of machine code, by group."""
        groups = []
        for group in self._optimizer.param_groups:
            for name, value in self._fixed.items():
                if group.get(name, value) != value:
                    raise _error("the optimizer has %s=%r: a step updates with"
                                 " %s=%r alone" % (name, group[name], name,
                                                   value))
            groups.append({name: group[name] for name in self._settings})
        return groups

    def _check_parameters(self, model):
        known = {id(one) for group in self._optimizer.param_groups
                 for one in group["params"]}
        for name, one in model.named_parameters():
            if one.requires_grad and id(one) not in known:
                raise _error("'%s' requires a gradient, and the optimizer does"
                             " not have it: add it to a group, or freeze it"
                             " (requires_grad_(False))" % name)
        self._check_rates()

    def _check_rates(self):
        rates = {float(group["lr"]) for group in self._optimizer.param_groups}
        if len(rates) != 1:
            raise _error("groups have the learning rates %s: a step has one"
                         " for all" % ", ".join(map(repr, sorted(rates))))
        return rates.pop()

    def _options(self):
        """Of `cutback compile`."""
        first, undecayed = dict(self._made_for[0]), []
        decays = {one["weight_decay"] for one in self._made_for} - {0}
        if len(decays) > 1:
            raise _error("groups have the weight decays %s: a step has one, and"
                         " parameters without it"
                         % ", ".join(map(repr, sorted(decays))))
        first["weight_decay"] = decays.pop() if decays else 0
        for group, settings in zip(self._optimizer.param_groups,
                                   self._made_for):
            for name, value in settings.items():
                if name == "weight_decay" and value in (0, first[name]):
                    continue
                if value != first[name]:
                    raise _error("groups have %s=%r and %s=%r: a step has one"
                                 " for all" % (name, first[name], name, value))
            if settings["weight_decay"] != first["weight_decay"]:
                undecayed += [name for one in group["params"]
                              if one.requires_grad
                              for name in self._names.get(id(one), ())[:1]]
        options = ["--optimizer=" + self._kind]
        for name, value in first.items():
            if isinstance(value, bool):
                options += ["--" + name] * value
            elif isinstance(value, (tuple, list)):
                options.append("--%s=%s" % (name, ",".join(
                    repr(float(one)) for one in value)))
            elif name != "momentum" or value:
                options.append("--%s=%r" % (name.replace("_", "-"),
                                            float(value)))
        if undecayed:
            options.append("--no-decay=" + ",".join(undecayed))
        return options

    def find(self, name, tensors):
        """The tensor for an argument of a step, of its optimizer: a state, made
        if it is not there; None for a number. `tensors`: by name of a
        parameter."""
        kind, _, bare = name.removeprefix("optimizer.").partition(".")
        if not bare:
            return None
        parameter = tensors["param." + bare]
        if id(parameter) not in self._names:
            raise _error("'%s' of the call is another tensor than the one that the"
                         " optimizer has: give it the parameters that the model"
                         " has now" % bare)
        state = self._optimizer.state[parameter]
        if kind not in state or state[kind] is None:
            state[kind] = torch.zeros_like(
                parameter, memory_format=torch.contiguous_format)
            if self._kind == "adamw":
                state.setdefault("step", torch.tensor(0.0))
        if not state[kind].is_contiguous():
            state[kind] = state[kind].contiguous()
        return state[kind]

    def begin(self, updated):
        """Before an update of parameters: the learning rate, and the number of
        the update."""
        if self._read() != self._made_for:
            raise _error("settings of the optimizer have changed since the step"
                         " was compiled; but for the learning rate they are"
                         " constants of machine code: compile it anew")
        rate, number = self._check_rates(), 0
        if self._kind == "adamw":
            counts = {float(state["step"])
                      for state in map(self._optimizer.state.get, updated)
                      if state and "step" in state}
            if len(counts) > 1:
                raise _error("parameters have had different numbers of updates:"
                             " a step has one number for all; give those that"
                             " it updates an optimizer of their own")
            number = counts.pop() if counts else 0
        return rate, number + 1

    def end(self, updated):
        """After an update."""
        for state in map(self._optimizer.state.get, updated):
            if state and "step" in state:
                state["step"] += 1
