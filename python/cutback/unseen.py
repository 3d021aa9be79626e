# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a module only its backward sees, and an export loses.

An exported program is a forward: a gradient that the module has redefined (an
autograd.Function, a hook of a tensor or of a module, hooks of saved tensors) is
not in it, and the step's gradients would be others. So the module's forward
runs once beforehand, on tensors without memory, and whatever redefines a
gradient is noted where it does so. The graph that autograd has made tells which
parameters and inputs the loss reaches.
"""

import contextlib
import sys
from unittest import mock

import torch
from torch.utils import _pytree as pytree
from torch.utils import checkpoint, hooks

from ._library import input_error

_NEXT = ("only the backward of the module sees it, so a compiled step would have"
         " other gradients: torch.compile(model, backend=\"cutback\") keeps it")


class Found:
    """What one forward of the module told."""

    def __init__(self):
        self.lost = []  # in words
        self.reached = None  # ids of tensors that the loss reaches


def look(module, args, kwargs):
    """Runs the forward under watch. An error names what would be lost."""
    found = Found()
    try:
        _run(found, module, args, kwargs, _without_memory())
    except Exception:
        # An op that is not known without memory: on copies, then.
        found = Found()
        with torch.random.fork_rng():
            _run(found, module, args, kwargs, None)
    if found.lost:
        raise input_error("the model has %s: %s" % (found.lost[0], _NEXT))
    return found


def _without_memory():
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=True)


def _run(found, module, args, kwargs, mode):
    originals = {}

    def copied(tensor):
        """One for each tensor, so that tied ones stay tied."""
        if not isinstance(tensor, torch.Tensor):
            return tensor
        if id(tensor) not in originals:
            wanted = tensor.requires_grad
            made = (mode.from_tensor(tensor) if mode
                    else tensor.detach().clone())
            made = made.detach().requires_grad_(wanted)
            originals[id(tensor)] = (made, tensor)
        return originals[id(tensor)][0]

    # By the first name of each module: put into one that has two names twice,
    # a copy would be what is put back.
    state = {path + "." * bool(path) + name: copied(tensor)
             for path, one in module.named_modules()
             for name, tensor in (*one._parameters.items(),
                                  *one._buffers.items())
             if tensor is not None}
    args, kwargs = pytree.tree_map(copied, (args, kwargs or {}))
    with torch.enable_grad(), _watched(found), \
            mode or contextlib.nullcontext():
        outputs = torch.func.functional_call(module, state, args, kwargs,
                                             tie_weights=False)
    leaves = pytree.tree_leaves(outputs)
    loss = leaves[0] if leaves else None
    own = {id(made): id(tensor) for made, tensor in originals.values()}
    found.reached = {own[one] for one in _leaves_of(loss) if one in own}


def _leaves_of(loss):
    """Ids of the tensors that gradients of `loss` go to."""
    if not isinstance(loss, torch.Tensor):
        return set()
    if loss.grad_fn is None:
        return {id(loss)} if loss.requires_grad else set()
    todo, seen, leaves = [loss.grad_fn], set(), set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            leaves.add(id(variable))
        todo.extend(following for following, _ in node.next_functions)
    return leaves


@contextlib.contextmanager
def _watched(found):
    """Inside of it what redefines a gradient is noted."""
    apply = torch.autograd.Function.apply.__func__
    enter = torch.autograd.graph.saved_tensors_hooks.__enter__
    handle = hooks.RemovableHandle.__init__

    def applied(cls, *args, **kwargs):
        if cls is checkpoint.CheckpointFunction:  # what it runs, with gradients
            return args[0](*args[2:])
        if torch.is_grad_enabled() and any(
                isinstance(one, torch.Tensor) and one.requires_grad
                for one in pytree.tree_leaves((args, kwargs))):
            found.lost.append("a function of its own, '%s'%s" % (
                cls.__qualname__, _place()))
        return apply(cls, *args, **kwargs)

    def entered(self):
        if not _saves_as_it_is(self) and torch.is_grad_enabled():
            found.lost.append("saved_tensors_hooks" + _place())
        return enter(self)

    def added(self, *args, **kwargs):
        if _is_of_gradients(sys._getframe(1)):
            found.lost.append("a hook of a gradient" + _place())
        return handle(self, *args, **kwargs)

    with mock.patch.object(torch.autograd.Function, "apply",
                           classmethod(applied)), \
            mock.patch.object(torch.autograd.graph.saved_tensors_hooks,
                              "__enter__", entered), \
            mock.patch.object(hooks.RemovableHandle, "__init__", added):
        yield


def _saves_as_it_is(one):
    """Whether hooks of saved tensors are PyTorch's own, which change none."""
    return (type(one).__module__ == "torch.utils.checkpoint"
            or isinstance(one, torch.autograd.graph.save_on_cpu))


def _is_of_gradients(frame):
    """Whether a handle is made for a hook of a tensor or of a node."""
    name = frame.f_globals.get("__name__", "")
    return (name in ("torch._tensor", "torch.autograd.graph")
            or name == "torch.autograd.function")


def _place():
    """The line of the model's own code that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in ("torch", "cutback", "contextlib",
                                          "unittest"):
            return " (%s:%d in %s)" % (
                frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno,
                frame.f_code.co_name)
        frame = frame.f_back
    return ""
