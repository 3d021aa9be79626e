# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Variables of Python that a forward reads beside what its module holds.

Globals of the files that methods and the functions they call are of, what those
functions enclose, and attributes of classes and Python modules that they name:
constant in machine code, so a guard compares them. What is looked at are
numbers, texts, flags, tensors, and lists, dicts and plain objects of these:
settings. Other objects (loggers, say) are not compared.
"""

import argparse
import enum
import sys
import types

import torch

PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype,
         torch.device, torch.layout, torch.memory_format, enum.Enum, type)
_MISSING = object()
_MOST_ELEMENTS = 1000
# Files that have constants alone.
_CONSTANT = frozenset({"torch", "transformers", *sys.stdlib_module_names}) \
    - {"__main__"}


class _Enclosed:
    """A variable that a function encloses, with the interface of a dict."""

    def __init__(self, cell):
        self._cell = cell

    def get(self, _, default=None):
        try:
            return self._cell.cell_contents
        except ValueError:  # it is not assigned yet
            return default


class _Reader:
    def __init__(self, root):
        self._todo = [one for module in root.modules() for one in (
            *(value for base in type(module).__mro__
              for value in vars(base).values()),
            *(value for value in vars(module).values()
              if isinstance(value, types.FunctionType)))]
        self._seen = set()
        self.found = {}

    def read(self):
        while self._todo:
            function = self._todo.pop()
            if isinstance(function, property):
                function = function.fget
            function = getattr(function, "__func__", function)
            code = getattr(function, "__code__", None)
            # One code is that of many functions that enclose other values.
            if code is None or id(function) in self._seen:
                continue
            self._seen.add(id(function))
            if not _is_constant(function.__module__ or ""):
                self._read_function(function, code)

    def _read_function(self, function, code):
        variables, where = function.__globals__, function.__module__ or "?"
        names = _names_of(code)
        for name in names:
            self._note(variables, name, where, names)
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            self._note(_Enclosed(cell), name, function.__qualname__, names,
                       id(cell))

    def _note(self, holder, name, where, names, key=None):
        value = holder.get(name, _MISSING)
        if isinstance(value, types.FunctionType):
            self._todo.append(value)
        elif isinstance(value, type) and not issubclass(value, enum.Enum):
            self._note_inside(vars(value), value.__module__,
                              value.__qualname__, names, id(value))
        elif isinstance(value, types.ModuleType):
            self._note_inside(vars(value), value.__name__, value.__name__,
                              names, id(vars(value)))
        elif value is not _MISSING and _is_setting(value, where):
            self.found[key or id(holder), name] = (holder, name, where)

    def _note_inside(self, holder, file, where, names, key):
        """Of a class or a Python module, what functions name of it."""
        if _is_constant(file):
            return
        for name in names | {"__init__", "__call__"}:
            value = holder.get(name, _MISSING)
            if isinstance(value, (staticmethod, classmethod, property)) \
                    or isinstance(value, types.FunctionType):
                self._todo.append(value)
            elif not isinstance(value, (type, types.ModuleType)) \
                    and value is not _MISSING and name[:2] != "__" \
                    and _is_setting(value, file):
                self.found[key, name] = (holder, name, where)


def read_variables(root):
    """What the modules of `root` read: triples of what has `get(name)`, a name,
    and a word for where that is."""
    reader = _Reader(root)
    reader.read()
    return list(reader.found.values())


def _is_constant(file):
    return file.partition(".")[0] in _CONSTANT


def _names_of(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


def _is_setting(value, where):
    """Whether all of it is plain, or tensors; an object, if its class is of the package
    `where` too, or a bare namespace."""
    left = [_MOST_ELEMENTS]

    def is_plain(one):
        left[0] -= 1
        if left[0] < 0:
            return False
        if isinstance(one, (*PLAIN, torch.Tensor)):
            return True
        if isinstance(one, (list, tuple, set, frozenset)):
            return all(map(is_plain, one))
        if isinstance(one, dict):
            return all(map(is_plain, one.values()))
        own = getattr(one, "__dict__", None)
        return (isinstance(own, dict) and _is_own(type(one), where)
                and all(map(is_plain, own.values())))

    return is_plain(value)


def _is_own(kind, where):
    return (kind in (types.SimpleNamespace, argparse.Namespace)
            or kind.__module__.partition(".")[0] == where.partition(".")[0])
