# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever is not as expected: PyTorch decides, with one warning, and the
gradients are right."""

import os
import re
import types
import unittest.mock
import warnings

import torch
import torch._functorch.config as config
import torch._functorch.partitioners as partitioners
from torch import nn

import cutback
import cutback.partition
from torch_case import Case, gradients, mlp


class Falling(Case):
    """Whatever is not as expected: PyTorch decides, one warning, right
    gradients."""

    def falls_back(self, reason, **options):
        module = mlp()
        x = torch.randn(5, 8)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled = torch.compile(module, backend="cutback", options={
                "compiler": "eager", **options})
            ours = gradients(compiled, module, x)
        caught = [str(one.message) for one in caught
                  if issubclass(one.category, cutback.FallbackWarning)]
        self.assertEqual(len(caught), 1, caught)
        self.assertIn("this graph is partitioned as PyTorch does it: ",
                      caught[0])
        self.assertIn(reason, caught[0])
        self.assert_equal_results(ours, gradients(module, module, x))

    def replaced(self, target, name, value):
        return unittest.mock.patch.object(target, name, value)

    def test_a_wrong_option_is_an_error(self):
        for message, options in (
                ("'fastest' is not one of min-cut|", {"strategy": "fastest"}),
                ("'dear' is not a factor of the default price", {"byte_price": "dear"}),
                ("there is no option 'price'", {"price": 1})):
            with self.assertRaisesRegex(Exception, re.escape(message)):
                compiled = torch.compile(mlp(), backend="cutback", options={
                    "compiler": "eager", **options})
                compiled(torch.randn(5, 8))

    def test_a_budget_for_a_strategy_without_a_choice(self):
        with config.patch(activation_memory_budget=0.5):
            self.falls_back("an activation memory budget needs the strategy"
                            " min-cut", strategy="precompute")

    def test_a_budget_that_no_plan_keeps(self):
        # The mask cannot be computed again.
        module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
        compiled = torch.compile(module, backend="cutback",
                                 options={"compiler": "eager"})
        with config.patch(activation_memory_budget=0.25), \
                self.assertWarnsRegex(UserWarning, "no plan keeps to the"
                                      " activation memory budget of 0.25"):
            y = compiled(torch.randn(512, 8))
            y.sum().backward()
        torch.testing.assert_close(module[0].bias.grad,
                                   2 * (y != 0).sum(0).float())

    def test_a_text_that_is_no_graph(self):
        with self.replaced(cutback.partition.graph_text, "text_of",
                           lambda *_: "def forward(:"):
            self.falls_back("<joint graph>:1:")

    def test_a_plan_of_another_graph(self):
        plan = types.SimpleNamespace(saved=["no_such"])
        with self.replaced(cutback.partition, "_planner",
                           lambda *_: lambda _: plan):
            self.falls_back("the graph has no node 'no_such', which the plan"
                            " saves")

    def test_a_plan_that_forgets_an_argument(self):
        plan = types.SimpleNamespace(saved=[])
        with self.replaced(cutback.partition, "_planner",
                           lambda *_: lambda _: plan):
            self.falls_back("which the plan does not save")

    def test_another_partitioner_in_pytorch(self):
        def other(joint, inputs, **more):
            return partitioners.default_partition(joint, inputs, **more)

        with self.replaced(partitioners, "min_cut_rematerialization_partition",
                           other):
            self.falls_back("chooses saved values in another way")

    def test_a_library_that_is_not_there(self):
        cutback._library._library.cache_clear()
        try:
            with unittest.mock.patch.dict(os.environ,
                                          CUTBACK_LIBRARY="/nowhere.so"):
                # From every door, and no plan of PyTorch's instead.
                model, x = torch.nn.Linear(4, 4), torch.randn(2, 4)
                for door in (lambda: cutback.explain(model, x),
                             lambda: cutback.partition_fn(
                                 None, (), num_fwd_outputs=1),
                             cutback.InductorPartitioner,
                             cutback.version):
                    with self.assertRaisesRegex(
                            cutback.LibraryMissing,
                            "^/nowhere.so: error: this library cannot be used"
                            ) as caught:
                        door()
                    self.assertEqual(len(caught.exception.diagnostics), 1)
        finally:
            cutback._library._library.cache_clear()

    def test_a_random_op_that_would_run_twice(self):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        noise = graph.call_function(torch.ops.aten.rand_like.default, (x,))
        with self.assertRaisesRegex(cutback.partition.Surprise,
                                    "the plan runs 'rand_like_default' twice"):
            cutback.partition.complete({x}, [noise], {x, noise})

    def test_an_unknown_compiler(self):
        with self.assertRaisesRegex(Exception, "unknown compiler 'gcc'"):
            torch.compile(mlp(), backend="cutback",
                          options={"compiler": "gcc"})(torch.randn(5, 8))
