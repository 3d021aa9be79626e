# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operands of every element type and many shapes, and calls that PyTorch may
# refuse.

import torch

from .calls import TYPES

FLOATS = [torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


def tried(call):
    """The call with its results, or None if PyTorch has no kernel for it."""
    try:
        call.expect = call.run()
    except (RuntimeError, NotImplementedError, TypeError, IndexError, ValueError,
            ZeroDivisionError):
        return None
    known = all(result.dtype in TYPES for result in call.expect)
    return call if known else None


def shape(r, rank=None, low=1, high=4):
    return [r.randint(low, high) for _ in range(r.randint(0, 3) if rank is None else rank)]


def sprinkle(r, x, values):
    """Puts special values at some places."""
    x = x.clone()
    flat = x.reshape(-1)
    for i in range(flat.numel()):
        if r.random() < 0.15:
            flat[i] = r.choice(values)
    return flat.reshape(x.shape)


def floating(r, sizes, low=-3.0, high=3.0, dtype=None, special=True):
    x = r.uniform(*sizes, low=low, high=high, dtype=dtype or r.choice(FLOATS))
    values = [0.0, -0.0, 1.0, low, high]
    if special:
        values += [float("nan"), float("inf"), float("-inf")]
    return sprinkle(r, x, values) if r.coin() else x


def integral(r, sizes, low=-9, high=10, dtype=None):
    dtype = dtype or r.choice(INTS)
    if dtype == torch.uint8:
        low = max(low, 0)
    return r.ints(*sizes, low=low, high=high, dtype=dtype)


def element(r, sizes, kinds="fffib", **kwargs):
    kind = r.choice(kinds)
    if kind == "f":
        return floating(r, sizes, **kwargs)
    if kind == "i":
        return integral(r, sizes)
    if kind == "c":
        return torch.complex(r.normal(*sizes, dtype=torch.float32),
                             r.normal(*sizes, dtype=torch.float32))
    return r.mask(*sizes)


def broadcast_pair(r):
    """Two shapes that broadcast."""
    whole = shape(r)
    pair = []
    for _ in range(2):
        own = [1 if r.random() < 0.2 else size for size in whole]
        pair.append(own[r.randint(0, len(own)):] if r.random() < 0.3 else own)
    return pair


def scalar(r, kinds="fi"):
    kind = r.choice(kinds)
    if kind == "f":
        return r.choice([0.5, -1.5, 2.0, 0.1, 3.25, -0.3])
    return r.randint(-4, 5)
