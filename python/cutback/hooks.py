# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions on gradients of a compiled step, as `Tensor.register_hook` has them.

A step is compiled with points; functions come and go later. Of a step for
several sizes each of its machine codes has them.
"""

import fnmatch

import torch

_KINDS = ("tensor_pre", "retains_grad", "node_pre", "node_post",
          "post_accumulate")


class Hook:
    """A function at points of a step, until it is removed."""

    def __init__(self, point, function, owner):
        self._kind, self._name = _kind_and_name(point)
        self._function, self._owner = function, owner
        self._keys = []

    def add_to(self, step, dtypes, place):
        """Adds it at each point of `step`, which runs at `place`, that it fits;
        how many these are."""
        fits = [number for number, one in enumerate(step.hook_points)
                if one.kind == self._kind
                and fnmatch.fnmatchcase(one.gradient.name, self._name)]
        for number in fits:
            gradient = step.hook_points[number].gradient
            self._keys.append((step, step.add_hook(
                number, lambda pointer, stream, of=gradient: self._run_at(
                    place, stream, pointer, of, dtypes[of.dtype]))))
        return len(fits)

    def forget(self, step):
        """Of a step that is given up: it is not held for the function."""
        self._keys = [one for one in self._keys if one[0] is not step]

    def _run_at(self, place, stream, pointer, of, dtype):
        """Whether the function changed the gradient at `pointer`."""
        if not of.bytes:
            return False
        with place.on_stream(stream):
            memory = place.bytes_at(pointer, of.bytes).view(dtype)
            return self._run(memory.view(of.sizes), of, dtype)

    def _run(self, memory, of, dtype):
        given = memory.clone()  # may be kept; that memory is another value soon
        version = given._version
        with torch.no_grad():
            made = self._function(given)
        if made is None:
            if given._version == version:
                return False
            made = given
        if (not isinstance(made, torch.Tensor) or made.shape != memory.shape
                or made.dtype != dtype):
            raise TypeError(
                "the hook of the gradient of '%s' is to return None or %s of"
                " %s, not %s" % (of.name, dtype, list(of.sizes), _said(made)))
        memory.copy_(made.detach())
        return True

    def remove(self):
        """A second time it does nothing."""
        keys, self._keys = self._keys, []
        for step, key in keys:
            step.delete_hook(key)
        self._owner.pop(id(self), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def _kind_and_name(point):
    """Of "[KIND:]NAME", as the option --hook has it."""
    kind, colon, name = point.partition(":")
    kind = kind.replace("-", "_")
    return (kind, name) if colon and kind in _KINDS else ("tensor_pre", point)


def _said(made):
    if isinstance(made, torch.Tensor):
        return "%s of %s" % (made.dtype, list(made.shape))
    return type(made).__name__
