# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers that a step writes after its loss has read them."""

import copy
import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional as F

import cutback
from cutback import written


class Queue(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.line, self.how = nn.Linear(6, 4), how
        self.register_buffer("queue", torch.randn(4, 10))

    def forward(self, x):
        z = self.line(x)
        loss = self.how(z, self.queue)
        with torch.no_grad():
            self.queue.index_copy_(1, torch.arange(5), z.t().detach())
        return loss


CASES = (
    (lambda z, q: F.softmax(z @ q.clone(), 1).square().sum(), {}),
    (lambda z, q: (z @ q[:, 2:].clone()).square().sum(),
     {"cost_model": "pytorch"}),
    (lambda z, q: (z * q.clone().t().relu()[:5]).exp().sum(),
     {"strategy": "recompute-all", "compiler": "eager"}),
)


class WrittenTest(unittest.TestCase):
    def test_the_backward_reads_what_was_there(self):
        x = torch.randn(5, 6)
        for how, options in CASES:
            model = Queue(how)
            eager = copy.deepcopy(model)
            eager(x).backward()
            with self.subTest(options=options), warnings.catch_warnings():
                warnings.simplefilter("error", cutback.FallbackWarning)
                torch._dynamo.reset()
                torch.compile(model, backend="cutback",
                              options=options)(x).backward()
                torch.testing.assert_close(model.line.weight.grad,
                                           eager.line.weight.grad)
                torch.testing.assert_close(model.queue, eager.queue)

    def test_halves_that_save_what_is_written_are_refused(self):
        def graph(write):
            made = torch.fx.Graph()
            q = made.placeholder("q")
            t = made.create_node("call_function", torch.ops.aten.t.default,
                                 (q,), {}, "t")
            if write:
                made.call_function(torch.ops.aten.copy_.default, (q, q))
            made.output((q, t))
            return torch.fx.GraphModule({}, made)

        backward = torch.fx.Graph()
        t = backward.placeholder("t")
        backward.output((backward.call_function(
            torch.ops.aten.sin.default, (t,)),))
        backward = torch.fx.GraphModule({}, backward)
        written.check_halves(graph(False), backward, 1)
        with self.assertRaisesRegex(written.WrongHalves, "saves 't', which is"
                                    " memory of 'q'"):
            written.check_halves(graph(True), backward, 1)


if __name__ == "__main__":
    unittest.main()
