# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways into PyTorch beside torch.compile(backend="cutback")."""

import ctypes.util
import io
import os
import subprocess
import sys
import unittest.mock

import torch
from torch import nn

import cutback
from torch_case import Case, mlp


# Goes through one door, named as its argument; prints what is raised.
THROUGH_A_DOOR = """
import sys, torch
model, x = torch.nn.Linear(3, 3), torch.randn(2, 3)

def function(x):
    return torch.sin(x).sum()

def compiled():
    torch.compile(model, backend="cutback")(x)

def explained():
    import cutback
    cutback.explain(model, x)

def chosen():
    import cutback
    cutback.InductorPartitioner()

def partitioned():
    import cutback
    from functorch.compile import aot_function, nop
    aot_function(function, nop, nop, partition_fn=cutback.partition_fn)(
        x.requires_grad_())

try:
    globals()[sys.argv[1]]()
except Exception as error:
    print(type(error).__module__, type(error).__name__)
    print(error)
"""


class Doors(Case):
    def test_every_door_is_closed_with_one_sentence(self):
        """A library that is missing, or too old: no warning, no wrapping."""
        missing = ("/nowhere/libcutback.so", "cannot be used (/nowhere")
        old = (ctypes.util.find_library("c"), "it has no function cutback")
        for door, (path, reason) in (
                ("compiled", missing), ("explained", missing),
                ("chosen", missing), ("partitioned", missing),
                ("compiled", old)):
            with self.subTest(door=door, library=path):
                run = subprocess.run(
                    [sys.executable, "-c", THROUGH_A_DOOR, door],
                    env={**os.environ, "CUTBACK_LIBRARY": path},
                    text=True, capture_output=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stderr, "")
                kind, *sentence = run.stdout.splitlines()
                self.assertEqual(kind, "cutback._library LibraryMissing")
                self.assertEqual(len(sentence), 1, run.stdout)
                self.assertIn(reason, sentence[0])
                self.assertIn("name it in CUTBACK_LIBRARY", sentence[0])

    def test_aot_function(self):
        from functorch.compile import aot_function, nop

        def function(x, y):
            return torch.sin(x @ y).sum(0)

        x, y = (torch.randn(4, 4, requires_grad=True) for _ in range(2))
        with self.no_fallback():
            aot_function(function, nop, nop,
                         partition_fn=cutback.partition_fn)(x, y).sum() \
                .backward()
        got = x.grad.clone()
        x.grad = None
        function(x, y).sum().backward()
        torch.testing.assert_close(got, x.grad)

    def test_the_uuid_tells_versions_and_options_apart(self):
        one = cutback.InductorPartitioner()
        self.assertEqual(one.uuid(), cutback.InductorPartitioner().uuid())
        self.assertIn(cutback.version(), one.uuid())
        for options in ({"byte_price": 0.5}, {"strategy": "precompute"},
                        cutback.Options(cost_model="pytorch")):
            self.assertNotEqual(one.uuid(),
                                cutback.InductorPartitioner(options).uuid())

    def test_explain_prints_a_report_and_changes_nothing(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4),
                              nn.Dropout(0.5))
        before = [buffer.clone() for buffer in model.buffers()]
        x, text = torch.randn(2, 3, 8, 8), io.StringIO()
        state = torch.get_rng_state()
        plans = cutback.explain(model, x, file=text)
        self.assertEqual(len(plans), 1)
        self.assertIn("saved", text.getvalue())
        report, _, eager = text.getvalue().rpartition("eager PyTorch keeps")
        self.assertEqual(report, plans[0].report())
        # What the convolution gives, and what batch norm and dropout keep of it.
        self.assertRegex(eager, r"^ [0-9.]+ KiB for the backward, in \d+ ")
        for old, new in zip(before, model.buffers()):
            self.assertTrue(torch.equal(old, new))
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        self.assertTrue(all(p.grad is None for p in model.parameters()))

    def test_explain_groups_by_module(self):
        def half():
            return nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8))

        class Deep(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([half(), half()])
                self.head = nn.Sequential(nn.BatchNorm1d(8), nn.Linear(8, 3))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.head(x)

        model, text = Deep(), io.StringIO()
        cutback.explain(model, torch.randn(5, 8), file=text)
        self.assertRegex(text.getvalue(), r"\n  module +values ")
        self.assertRegex(text.getvalue(), r"\n  blocks\.0")
        self.assertRegex(text.getvalue(), r"\n  head\.0 ")
        # Found by the names that a function has for them.
        block, head, text = half(), nn.Linear(8, 3), io.StringIO()
        cutback.explain(lambda x: head(block(x).relu()).sum(),
                        torch.randn(5, 8), file=text)
        self.assertRegex(text.getvalue(), r"\n  block\.\d ")
        # Two parameters without a module are what they were.
        weight, text = nn.Parameter(torch.randn(8, 8)), io.StringIO()
        cutback.explain(lambda x: (x @ weight).sin().sum(),
                        torch.randn(5, 8), file=text)
        self.assertIn("saved for the backward", text.getvalue())

    def test_explain_says_where_in_a_model_of_modules_only(self):
        text = io.StringIO()
        cutback.explain(nn.Sequential(mlp(), nn.ReLU()), torch.randn(5, 8),
                        file=text)
        self.assertIn(" <module 0.2> in LayerNorm ", text.getvalue())
        self.assertNotIn("<joint graph>", text.getvalue())

    def test_plans_are_for_the_device_of_the_tensors(self):
        model, x = nn.Linear(8, 8), torch.randn(5, 8)
        for options, device in ((None, "cpu"), ({"device": "a100"}, "a100")):
            text = io.StringIO()
            plan, = cutback.explain(model, x, options=options, file=text)
            self.assertIn(device, text.getvalue())

    def test_inductor_options_stand_beside_ours(self):
        from cutback.backend import compile_graph
        seen = []

        def compile_fx(graph, inputs, config_patches):
            seen.append(config_patches)
            return graph

        with unittest.mock.patch("torch._inductor.compile_fx.compile_fx",
                                 compile_fx):
            compile_graph(None, (), options={
                "byte_price": 0.5, "mode": "max-autotune-no-cudagraphs",
                "epilogue-fusion": False})
        patches, = seen
        self.assertEqual(
            patches.pop("custom_partitioner_fn").options.byte_price, 0.5)
        self.assertEqual(patches["max_autotune"], True)
        self.assertEqual(patches["epilogue_fusion"], False)
        with self.assertRaisesRegex(TypeError, "no option 'speed', neither of"
                                    " a plan .* nor of Inductor"):
            compile_graph(None, (), options={"speed": 11})
        with self.assertRaisesRegex(ValueError, "compiler='eager' has no mode"):
            compile_graph(None, (), options={
                "compiler": "eager", "mode": "max-autotune"})

    def test_explain_names_each_graph(self):
        class Broken(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = mlp(), nn.Linear(4, 4)

            def forward(self, x):
                x = self.first(x)
                torch._dynamo.graph_break()
                return self.last(torch.sin(x))

        text = io.StringIO()
        self.assertEqual(
            len(cutback.explain(Broken(), torch.randn(5, 8), file=text)), 2)
        self.assertIn("graph 2 of 2", text.getvalue())

    def test_explain_of_what_is_not_compiled(self):
        def loop(x):
            for i in range(2):
                x = x * torch.nonzero(x).shape[0]
                torch._dynamo.graph_break()
            return x

        text = io.StringIO()
        x = torch.ones(3, requires_grad=True)
        self.assertEqual(cutback.explain(loop, x, file=text), [])
        self.assertEqual(text.getvalue(),
                         "torch.compile finds no graph in this model;"
                         " TORCH_LOGS=graph_breaks says why\n")

    def test_explain_without_gradients(self):
        text = io.StringIO()
        self.assertEqual(cutback.explain(torch.sin, torch.ones(3), file=text),
                         [])
        self.assertEqual(text.getvalue(),
                         "no graph of this model has a gradient\n")
