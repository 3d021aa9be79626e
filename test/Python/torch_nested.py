# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that run graphs of their own, under plans that save what they give and
plans that run them again. No graph falls back, and the gradients are eager's."""

from unittest import mock

import torch
import torch.nn.attention.flex_attention as flex
from torch import nn
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from models import PackedBytes
from torch_case import Case
from torch_models import PLANS, Net


class Attention(nn.Module):
    """Causal attention with a learned bias of the distance."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.slope = nn.Parameter(torch.randn(2))

    def forward(self, x):
        q, k, v = (part.view(2, 16, 2, 4).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, -1))
        mask = flex.create_block_mask(
            lambda b, h, q, k: q >= k, None, None, 16, 16, device="cpu")
        y = flex.flex_attention(
            q, k, v, block_mask=mask,
            score_mod=lambda s, b, h, q, k: s + self.slope[h] * (q - k))
        return y.transpose(1, 2).reshape(2, 16, 8)


class Nested(Case):
    def check_plans(self, make, *inputs):
        for options in PLANS:
            with self.subTest(options=options):
                torch._dynamo.reset()
                self.check(make, *inputs, options=options, compiler="eager",
                           fullgraph=True)

    def test_a_branch(self):
        def branch(net, x):
            return torch.cond(x.sum() > 0, lambda y: torch.tanh(net.linear(y)),
                              lambda y: y @ net.weight, (x.exp(),))

        for sign in (1, -1):
            x = sign * torch.rand(5, 8).requires_grad_()
            self.check_plans(lambda: Net(branch), x.detach().requires_grad_())

    def test_a_branch_that_draws_runs_once(self):
        """Its gradient draws anew, in PyTorch's own halves as well: what is
        compared is the value."""
        def branch(net, x):
            return torch.cond(
                x.sum() > -99, lambda y: nn.functional.dropout(y, 0.5),
                lambda y: y.sin(), (net.linear(x),)).detach() * net.linear(x)

        self.check_plans(lambda: Net(branch), torch.randn(5, 8))

    def test_loops(self):
        def repeated(net, x):
            return while_loop(lambda n, y: n < 3,
                              lambda n, y: (n + 1, torch.tanh(net.linear(y))),
                              (torch.tensor(0), x))[1]

        def scanned(net, x):
            last, rounds = scan(lambda h, y: ((h @ net.weight + y).sin(), 2 * h),
                                x[0] * 0, x, dim=0)
            return last + rounds

        for function in (repeated, scanned):
            self.check_plans(lambda: Net(function), torch.randn(5, 8))

    def test_attention_with_functions_of_the_scores(self):
        with mock.patch.object(flex, "_validate_device",
                               lambda *tensors: None):
            self.check_plans(Attention, torch.randn(2, 16, 8))

    def test_a_plan_that_runs_a_branch_again_saves_less(self):
        def branch(net, x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos,
                              (x.repeat(1, 9),)).square() * net.weight[0, 0]

        torch.manual_seed(3)
        net, x = Net(branch), torch.randn(40, 8)
        saved = []
        for strategy in ("precompute", "recompute-all"):
            torch._dynamo.reset()
            compiled = torch.compile(net, backend="cutback", options={
                "compiler": "eager", "strategy": strategy})
            with self.no_fallback(), PackedBytes() as packed:
                compiled(x)
            saved.append(packed.bytes)
        self.assertLess(saved[1], saved[0] / 4)
