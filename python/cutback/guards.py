# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step took from the module that it was compiled for, and whether it is
still so.

A forward reads more than tensors: whether it is in training, numbers and flags
of modules and of their configurations, numbers of Python modules, which
submodules there are. All of it is constant in machine code. `Reads` notes what
the forward reads while it is exported; `Guard` holds what that was, and says at
each call what is no longer so: then another step is needed.
"""

import contextlib
import functools
import sys
import types
import weakref
from unittest import mock

import torch
from torch.nn.modules import module as torch_module

from ._library import input_error
from .variables import PLAIN as _PLAIN
from .variables import read_variables

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
# What a module has whatever it is; the guard compares what of it matters.
_OF_EVERY_MODULE = frozenset(torch.nn.Module().__dict__) - {"training"}
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_BACKWARD_HOOKS = ("_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")
_GLOBAL_BACKWARD_HOOKS = ("_global_backward_hooks",
                          "_global_backward_pre_hooks")
_MISSING = "no attribute"
_MOST_ELEMENTS = 10000


class _Same:
    """Equal to that of the same object, which it does not keep."""

    def __init__(self, value):
        self._of = weakref.ref(value)

    def __eq__(self, other):
        mine = self._of()
        return (isinstance(other, _Same) and mine is not None
                and mine is other._of())

    __hash__ = None

    def __repr__(self):
        return "a %s" % type(self._of()).__name__


class _Snapshot:
    """Copies values, so that later ones can be compared with them."""

    def __init__(self):
        self._open = set()
        self._left = _MOST_ELEMENTS

    def of(self, value):
        self._left -= 1
        if self._left < 0:
            return "more than %d elements" % _MOST_ELEMENTS
        if isinstance(value, float):
            return (float, repr(value))  # one NaN is as the other, -0 not as 0
        if isinstance(value, _PLAIN):
            return (type(value), value)
        if isinstance(value, _FUNCTIONS):
            return value
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            return _Same(value)
        if id(value) in self._open:
            return "itself"
        self._open.add(id(value))
        try:
            return self._inside(value)
        finally:
            self._open.remove(id(value))

    def _inside(self, value):
        if isinstance(value, (list, tuple)):
            return (type(value), tuple(map(self.of, value)))
        if isinstance(value, (set, frozenset)):
            return (type(value), tuple(sorted(map(repr, value))))
        if isinstance(value, dict):
            return (type(value), tuple(
                (repr(key), self.of(one)) for key, one in value.items()))
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict) and not isinstance(value, types.ModuleType):
            return (type(value), self._inside(own))
        return type(value)


def snapshot(value):
    """What is equal as long as a forward that reads `value` sees the same."""
    return _Snapshot().of(value)


def differs(before, now):
    """Which part of a snapshot is another: ".eps", "[2]", "" for all of it."""
    if (isinstance(before, tuple) and isinstance(now, tuple)
            and len(before) == 2 == len(now) and before[0] == now[0]
            and all(isinstance(one[1], tuple) for one in (before, now))
            and len(before[1]) == len(now[1])):
        for i, (a, b) in enumerate(zip(before[1], now[1])):
            if a == b:
                continue
            if issubclass(before[0], (list, tuple)):
                return "[%d]%s" % (i, differs(a, b))
            if (isinstance(a, tuple) and isinstance(b, tuple)
                    and len(a) == 2 == len(b) and a[0] == b[0]):
                inner = a[0].strip("'") if isinstance(a[0], str) else ""
                return ".%s%s" % (inner, differs(a[1], b[1]))
    return ""


class Reads:
    """Notes which attributes of modules a forward reads, inside of `with`."""

    def __init__(self, root):
        self._modules = {id(one): one for one in root.modules()}
        self._root = root
        self.names = {}  # by (id of module, name), in their order
        self._ignored = set()
        self.grad_mode = False  # whether it asks whether gradients are wanted

    @contextlib.contextmanager
    def noted(self):
        get, is_grad_enabled = object.__getattribute__, torch.is_grad_enabled

        def read(module, name):
            if id(module) in self._modules and name not in _OF_EVERY_MODULE:
                self.names.setdefault((id(module), name), module)
            return get(module, name)

        def asked():
            place = sys._getframe(1).f_globals.get("__name__", "")
            self.grad_mode |= (not place.startswith("torch.")
                               or place.startswith("torch.nn.modules."))
            return is_grad_enabled()

        torch.nn.Module.__getattribute__ = read
        torch.is_grad_enabled = asked
        try:
            yield self
        finally:
            torch.is_grad_enabled = is_grad_enabled
            del torch.nn.Module.__getattribute__

    def attributes(self):
        """Pairs of a module and the name of what is no parameter, buffer or
        module of it, nor a method."""
        for (_, name), module in self.names.items():
            if (id(module), name) in self._ignored or any(
                    name in module.__dict__[kind] for kind in (
                        "_parameters", "_buffers", "_modules")):
                continue
            if name in module.__dict__ or _is_value(type(module), name):
                yield module, name

    def methods(self):
        """Pairs of a module and the name of a method, or of a property."""
        return [(module, name) for (_, name), module in self.names.items()
                if name not in module.__dict__ and callable_of(
                    type(module), name) is not None]


    def paths(self, changed):
        """Names of attributes, for a message."""
        paths = {id(one): path for path, one in self._root.named_modules()}
        return ", ".join("'%s'" % ".".join(
            filter(None, (paths[id(module)], name)))
            for module, name in changed)

    def ignore(self, changed):
        """Leaves these attributes out of what a guard compares."""
        self._ignored.update((id(module), name) for module, name in changed)


def callable_of(kind, name):
    """A function or property that a class of the model has, or None."""
    for base in kind.__mro__:
        if base is torch.nn.Module:
            break
        if name in base.__dict__:
            value = base.__dict__[name]
            return None if isinstance(value, _PLAIN) else value
    return None


def _is_immutable(value):
    return isinstance(value, _PLAIN) or (
        type(value) in (tuple, torch.Size) and all(map(_is_immutable, value)))


def _is_value(kind, name):
    """Whether a class has a plain attribute of this name, or none."""
    for base in kind.__mro__:
        if base is torch.nn.Module and name in (*base.__dict__,
                                                *base.__annotations__):
            return False
        if name in base.__dict__:
            return isinstance(base.__dict__[name], (*_PLAIN, list, tuple, dict))
    return True


def attribute(module, name):
    """What a forward reads there; without properties or methods."""
    if name in module.__dict__:
        return module.__dict__[name]
    for base in type(module).__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return _MISSING


class Attributes:
    """Values of attributes as they are now."""

    def __init__(self, pairs):
        self._held = [(module, name, attribute(module, name))
                      for module, name in pairs]
        self._snapshots = [snapshot(value) for *_, value in self._held]

    def changed(self):
        """Pairs of a module and a name."""
        return [(module, name) for (module, name, _), before in zip(
            self._held, self._snapshots)
            if snapshot(attribute(module, name)) != before]

    def put(self):
        """Sets them again to what they were."""
        for module, name in self.changed():
            module.__dict__[name] = next(
                value for one, called, value in self._held
                if one is module and called == name)


@contextlib.contextmanager
def restored(root):
    """Puts back what a forward inside of `with` sets in modules; tensors that
    it sets are those of the export, which refuses them."""
    held = [(one, dict(one.__dict__)) for one in root.modules()]
    try:
        yield
    finally:
        for module, attributes in held:
            for name in [*module.__dict__]:
                if name not in attributes:
                    del module.__dict__[name]
            module.__dict__.update(attributes)


def _autocast():
    return tuple(
        (kind, torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")
        if torch.is_autocast_enabled(kind))


def _has_global_backward_hooks():
    return any(getattr(torch_module, name) for name in _GLOBAL_BACKWARD_HOOKS)


def check_backward_hooks(root):
    """Hooks of the backward of modules are an error: no step runs them."""
    found = "every module" if _has_global_backward_hooks() else ""
    for path, module in root.named_modules():
        if any(module.__dict__[kind] for kind in _BACKWARD_HOOKS):
            found = "%s (%s)" % ("'%s'" % path if path else "the model",
                                 type(module).__name__)
            break
    if found:
        raise input_error(
            "%s has a hook of the backward, which a compiled step does not run:"
            " hooks of parameters run, and those of the step (add_hook)"
            % found)


@contextlib.contextmanager
def autocast_inside(model):
    """Makes autocast that is around a call part of the model's forward: an
    export takes no notice of it otherwise."""
    state = _autocast()
    if not state:
        yield
        return
    had, forward = model.__dict__.get("forward"), model.forward

    @functools.wraps(forward)
    def cast(*args, **kwargs):
        with contextlib.ExitStack() as stack:
            for kind, dtype in state:
                stack.enter_context(torch.autocast(kind, dtype=dtype))
            return forward(*args, **kwargs)

    model.__dict__["forward"] = cast
    try:
        yield
    finally:
        del model.__dict__["forward"]
        if had is not None:
            model.__dict__["forward"] = had


def _ties_of(modules):
    """Places of a tensor that has an earlier one, and that: pairs of a dict and
    a name. An export knows it by one of them."""
    first, ties = {}, []
    for module in modules:
        for holder in (module._parameters, module._buffers, module.__dict__):
            for name, value in holder.items():
                if isinstance(value, torch.Tensor):
                    place = (holder, name)
                    earlier = first.setdefault(id(value), place)
                    if earlier is not place:
                        ties.append((place, earlier))
    return ties


@contextlib.contextmanager
def without_inference_mode():
    """Makes torch.inference_mode in a forward torch.no_grad, of which an export
    takes notice."""
    def enter(mode):
        mode._without = torch.no_grad() if mode.mode \
            else contextlib.nullcontext()
        mode._without.__enter__()

    def leave(mode, *error):
        mode._without.__exit__(*error)

    with mock.patch.object(torch.inference_mode, "__enter__", enter), \
            mock.patch.object(torch.inference_mode, "__exit__", leave):
        yield


class Guard:
    """What a step was compiled for, but its arguments."""

    def __init__(self, root, reads):
        self._root = root
        self._grad_mode = torch.is_grad_enabled() if reads.grad_mode else None
        self._dtype, self._autocast = torch.get_default_dtype(), _autocast()
        modules = list(root.modules())
        self._trees = [
            (one, type(one), one.__dict__["_modules"],
             dict(one.__dict__["_modules"])) for one in modules]
        self._full_trees = [one[2:] for one in self._trees if one[3]]
        self._leaves = [one[2] for one in self._trees if not one[3]]
        hooks = [one.__dict__[name] for one in modules for name in _HOOKS]
        hooks += [getattr(torch_module, name) for name in _GLOBAL_HOOKS]
        self._hooks = [(one, dict(one)) for one in hooks if one]
        # Most are empty, and stay so: asked for at once.
        self._empty_hooks = [one for one in hooks if not one]
        self._backward_hooks = [one.__dict__[name] for one in modules
                                for name in _BACKWARD_HOOKS]
        self._nothing = [
            (one.__dict__[kind], name) for one in modules
            for kind in ("_parameters", "_buffers")
            for name, value in one.__dict__[kind].items() if value is None]
        self._ties = _ties_of(modules)
        methods = reads.methods()
        self._methods = [(one.__dict__, name) for one, name in methods]
        self._of_classes = {
            (type(one), name): callable_of(type(one), name)
            for one, name in methods}
        self._values, self._others, self._snapshots = [], [], {}
        for module, name in reads.attributes():
            self._add(module.__dict__, name, module)
        for variables, name, where in read_variables(root):
            self._add(variables, name, where)
        del self._snapshots

    def _add(self, holder, name, where):
        value = holder.get(name, _MISSING)
        if value is not _MISSING and _is_immutable(value):
            self._values.append((holder, name, value, type(value), where))
        elif isinstance(where, str) or not isinstance(value, torch.Tensor):
            value = self._value(holder, name, where)
            before = self._snapshots.setdefault(id(value), snapshot(value))
            self._others.append((holder, name, before, where))

    def _value(self, holder, name, where):
        if isinstance(where, torch.nn.Module):
            return attribute(where, name)
        return holder.get(name, _MISSING)

    @property
    def asks_grad_mode(self):
        return self._grad_mode is not None

    def holds(self):
        """Whether a step for this guard computes what the module does now."""
        if (self._grad_mode not in (None, torch.is_grad_enabled())
                or self._dtype is not torch.get_default_dtype()
                or self._autocast != _autocast()):
            return False
        if any(self._empty_hooks) or any(self._leaves):
            return False
        for module, kind, _, _ in self._trees:
            if type(module) is not kind:
                return False
        for now, before in self._full_trees + self._hooks:
            if now != before:
                return False
        for holder, name in self._nothing:
            if holder.get(name) is not None:
                return False
        for one, other in self._ties:
            if one[0].get(one[1]) is not other[0].get(other[1]):
                return False
        for holder, name in self._methods:
            if name in holder:
                return False
        for (kind, name), value in self._of_classes.items():
            if callable_of(kind, name) is not value:
                return False
        for holder, name, value, kind, _ in self._values:
            now = holder.get(name, _MISSING)
            if now is not value and (type(now) is not kind or now != value):
                return False
        seen = {}  # a configuration is that of many modules
        for holder, name, before, where in self._others:
            value = self._value(holder, name, where)
            key = (id(value), id(before))
            if key not in seen:
                seen[key] = snapshot(value) == before
            if not seen[key]:
                return False
        return True

    def check_backward_hooks(self):
        if any(self._backward_hooks) or _has_global_backward_hooks():
            check_backward_hooks(self._root)

    def difference(self):
        """What is no longer so, in words; "" if nothing is."""
        for holder, name, value, kind, where in self._values:
            now = holder.get(name, _MISSING)
            if now is not value and (type(now) is not kind or now != value):
                return "%s is %r, and was %r" % (
                    self._said(where, name), now, value)
        for holder, name, before, where in self._others:
            value = self._value(holder, name, where)
            now = snapshot(value)
            if now != before:
                return "%s%s is another than it was" % (
                    self._said(where, name), differs(before, now))
        for holder, name in self._nothing:
            if holder.get(name) is not None:
                return "'%s' is a tensor, and was None" % name
        for one, other in self._ties:
            if one[0].get(one[1]) is not other[0].get(other[1]):
                return "'%s' and '%s' are two tensors, and were one" % (
                    other[1], one[1])
        return self._difference_of_modes()

    def _difference_of_modes(self):
        if self._grad_mode not in (None, torch.is_grad_enabled()):
            return "torch.is_grad_enabled(), which the model reads, is %s" \
                % torch.is_grad_enabled()
        if self._dtype is not torch.get_default_dtype():
            return "the default dtype is %s, and was %s" % (
                torch.get_default_dtype(), self._dtype)
        if self._autocast != _autocast():
            return "autocast is %s, and was %s" % (
                _said_autocast(_autocast()), _said_autocast(self._autocast))
        for name in [*(name for holder, name in self._methods
                       if name in holder),
                     *(name for (kind, name), value in self._of_classes.items()
                       if callable_of(kind, name) is not value)]:
            return "the method '%s' is another function" % name
        for module, kind, tree, before in self._trees:
            if type(module) is not kind or tree != before:
                return "the submodules of %s are others" % self._said(module)
        if any(self._empty_hooks) or any(
                now != before for now, before in self._hooks):
            return "the model has other forward hooks"
        return ""

    def _said(self, where, name=None):
        if isinstance(where, str):
            return "the variable '%s.%s'" % (where, name)
        path = next((path for path, one in self._root.named_modules()
                     if one is where), "?")
        if name is None:
            return "'%s'" % path if path else "the model"
        return "the attribute '%s'" % (path + "." + name if path else name)

    def facts(self):
        """As lines of text: equal for a module of another process that a step
        for this one fits."""
        own = {key: value for key, value in (
            ("grad mode", self._grad_mode), ("dtype", self._dtype),
            ("autocast", self._autocast))}
        lines = ["%s: %s" % one for one in own.items()]
        paths = {id(one): path for path, one in self._root.named_modules()}
        lines += ["%s is a %s" % (paths[id(one)] or "the model",
                                  kind.__qualname__)
                  for one, kind, _, _ in self._trees]
        lines += ["'%s' is '%s'" % (one[1], other[1])
                  for one, other in self._ties]
        for _, name, value, _, where in self._values:
            lines.append("%s: %s" % (self._said(where, name), _text(value)))
        for _, name, before, where in self._others:
            lines.append("%s: %s" % (self._said(where, name), _text(before)))
        return lines

    def names(self):
        """Pairs of a module's path and the attribute that is read, for a
        module of another process."""
        paths = {id(one): path for path, one in self._root.named_modules()}
        return [(paths[id(where)], name) for *_, name, where in (
            [(0, one[1], one[4]) for one in self._values]
            + [(0, one[1], one[3]) for one in self._others])
            if isinstance(where, torch.nn.Module)]


class Known:
    """In the place of `Reads`, for a step that is opened again."""

    def __init__(self, root, names, grad_mode):
        self._pairs = [(root.get_submodule(path), name) for path, name in names]
        self._root, self.grad_mode = root, grad_mode

    def attributes(self):
        return self._pairs

    def methods(self):
        return [(one, "forward") for one in self._root.modules()
                if "forward" not in one.__dict__]


def _text(value):
    if isinstance(value, tuple):
        return "(%s)" % ", ".join(map(_text, value))
    if isinstance(value, (type, *_FUNCTIONS)):
        return value.__qualname__
    return repr(value)


def _said_autocast(state):
    return " and ".join("%s on %s" % (dtype, kind) for kind, dtype in state) \
        or "off"
