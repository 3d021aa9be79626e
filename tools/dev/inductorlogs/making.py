# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How small models are written: functions that make a module and its inputs."""
import math

MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


def module(forward, **parts):
    """A module with `parts` as its parameters and modules."""
    import torch

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                if isinstance(part, torch.Tensor):
                    part = torch.nn.Parameter(part)
                setattr(self, name, part)

        def forward(self, *inputs):
            return forward(self, *inputs)

    return Small()


def weights(*sizes):
    import torch
    return torch.randn(*sizes) / math.sqrt(sizes[-1])


def of(inputs, forward, **parts):
    return module(forward, **parts), inputs


def unary(function, *sizes):
    """A function of x times a weight."""
    import torch
    sizes = sizes or (4, 8)
    return of([torch.randn(*sizes)],
              lambda m, x: function(x * m.w).sum(), w=weights(*sizes))


def t():
    import torch
    return torch


def f():
    import torch.nn.functional as functional
    return functional


def attention(core, mask=None, heads=2, batch=2):
    nn = t().nn

    def forward(m, x, *more):
        b, s, e = x.shape
        q, k, v = (p.view(b, s, heads, e // heads).transpose(1, 2)
                   for p in m.qkv(x).chunk(3, -1))
        return m.out(core(q, k, v, *more).transpose(1, 2).reshape(b, s, e))
    inputs = [t().randn(batch, 6, 8)] + ([mask] if mask is not None else [])
    return of(inputs, forward, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8))
