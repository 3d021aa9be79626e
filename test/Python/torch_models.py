# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of kinds that have needed care of their own. No graph of them falls
back, under either cost model, and the gradients are those of eager PyTorch.

PyTorch's kernels run the halves of all plans: what is compared are the plans.
"""

import torch
import torch.utils.checkpoint as checkpoint
from torch import nn
from torch._higher_order_ops import effects

from torch_case import Case

PLANS = ({}, {"cost_model": "pytorch"}, {"strategy": "recompute-all"})


class Net(nn.Module):
    """A linear layer, a matrix, and a function of them and the input."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.linear = nn.Linear(8, 8)
        self.weight = nn.Parameter(0.3 * torch.randn(8, 8))

    def forward(self, x):
        return self.function(self, x)


def _checkpointed(function):
    return Net(lambda net, x: net.linear(checkpoint.checkpoint(
        lambda y: function(net, y), x, use_reentrant=False)))


class Models(Case):
    def check_plans(self, make, plans=PLANS):
        x = torch.randn(5, 8, requires_grad=True)
        for options in plans:
            with self.subTest(options=options):
                torch._dynamo.reset()
                self.check(make, x, options=options, compiler="eager")

    def test_complex_numbers_in_the_model(self):
        self.check_plans(lambda: Net(
            lambda net, x: (torch.complex(net.linear(x), x) * (1 + 2j)).abs()))
        self.check_plans(lambda: Net(
            lambda net, x: ((x + 0j) @ (net.weight * 1j)).imag.square()))

    def test_distances_of_points_in_batches(self):
        self.check_plans(lambda: Net(lambda net, x: torch.cdist(
            net.linear(x).view(5, 1, 8), net.weight).sum(1)))

    def test_checks_that_are_ops_with_effects(self):
        def solve(net, x):
            matrix = net.weight @ net.weight.mT + torch.eye(8)
            return torch.linalg.solve(matrix, torch.sin(x).mT).mT

        self.check_plans(lambda: Net(solve))
        self.check_plans(lambda: _checkpointed(solve))

    def test_an_op_of_the_user_s_in_a_checkpointed_region(self):
        @torch.library.custom_op("cutback_test::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        twice.register_fake(torch.empty_like)
        twice.register_autograd(
            lambda context, g: torch.ops.cutback_test.twice(g))
        self.check_plans(lambda: _checkpointed(
            lambda net, x: torch.tanh(twice(torch.sin(net.linear(x)))) * x))

    def test_ops_with_effects_in_both_halves(self):
        """Their order is a token that the backward takes and gives."""
        with torch.library._scoped_library("cutback_test", "FRAGMENT") as lib:
            lib.define("note(Tensor x, str text) -> Tensor")
            lib.impl("note", lambda x, text: (noted.append(text), x.clone())[1],
                     "CompositeExplicitAutograd")
            lib.impl("note", lambda x, text: torch.empty_like(x), "Meta")
            note = torch.ops.cutback_test.note.default
            effects._register_effectful_op(note, effects._EffectType.ORDERED)
            torch.library.register_autograd(
                "cutback_test::note",
                lambda context, g: (note(g, "backward"), None), lib=lib)
            for options in PLANS:
                noted = []
                with self.subTest(options=options):
                    self.check_plans(lambda: Net(lambda net, x: torch.sin(note(
                        torch.tanh(net.linear(x)), "forward"))), (options,))
                    # By the compiled module, and by the eager one.
                    self.assertEqual(noted, ["forward", "backward"] * 2)

    def test_gradients_inside_the_model(self):
        self.check_plans(lambda: Net(lambda net, x: net.linear(x) * (
            torch.func.vmap(torch.func.grad(
                lambda y: torch.tanh(net.linear(y)).sum()))(x))))
