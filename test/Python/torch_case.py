# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests inside PyTorch share: one step, compiled and eager, from equal
weights, inputs and random state, gives equal results."""

import contextlib
import os
import unittest
import warnings

import torch
from torch import nn

import cutback

RUN = os.environ.get("CUTBACK_TEST_COMPILER", "eager")


def gradients(call, module, *inputs, seed=1):
    """Output and gradients of one step, and what the module's buffers are
    then."""
    module.zero_grad()
    inputs = [tensor.detach().clone().requires_grad_(tensor.requires_grad)
              for tensor in inputs]
    torch.manual_seed(seed)
    output = call(*inputs)
    outputs = output if isinstance(output, (tuple, list)) else [output]
    loss = sum(value.float().square().mean() for value in outputs
               if value.requires_grad)
    loss.backward()
    return ([value.detach() for value in outputs]
            + [p.grad for p in module.parameters()]
            + [tensor.grad for tensor in inputs]
            + [buffer.clone() for buffer in module.buffers()])


class Case(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)

    @contextlib.contextmanager
    def no_fallback(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", cutback.FallbackWarning)
            yield

    def assert_equal_results(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            if one is None or other is None:
                self.assertIs(one, other)
            elif one.is_floating_point():
                scale = other.abs().max().item()
                torch.testing.assert_close(one, other, rtol=0,
                                           atol=1e-7 + 1e-5 * scale)
            else:
                self.assertTrue(torch.equal(one, other))

    def check(self, make, *inputs, options=None, compiler=RUN, **compiling):
        """Compiled and eager modules, made alike, give the same."""
        torch.manual_seed(3)
        eager = make()
        torch.manual_seed(3)
        module = make()
        compiled = torch.compile(module, backend="cutback", options={
            "compiler": compiler, **(options or {})}, **compiling)
        with self.no_fallback():
            ours = gradients(compiled, module, *inputs)
        self.assert_equal_results(ours, gradients(eager, eager, *inputs))


def mlp():
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32),
                         nn.Linear(32, 4))


def mlp_of_32():
    return nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Softmax(-1),
                         nn.Linear(32, 32), nn.GELU())
