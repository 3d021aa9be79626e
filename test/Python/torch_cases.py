# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a training meets, through torch.compile with Cutback's plan: gradients
are those of eager PyTorch, and nothing that goes wrong stops it."""

import contextlib
import copy
import functools
import io
import os
import types
import unittest
import warnings

import torch
import torch._functorch.partitioners as partitioners
import torch.utils.checkpoint as checkpoint
from torch import nn

import cutback
import cutback.partition
from models import PackedBytes

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


class Block(nn.Module):
    """A block whose middle is checkpointed."""

    def __init__(self, **how):
        super().__init__()
        self.first, self.inner, self.last = nn.Linear(8, 8), mlp(), \
            nn.Linear(4, 4)
        self.how = how

    def forward(self, x):
        x = torch.sin(self.first(x))
        x = checkpoint.checkpoint(self.inner, x, use_reentrant=False,
                                  **self.how)
        return self.last(x)


class Gradients(Case):
    def test_every_strategy_and_cost_model(self):
        for strategy in ("min-cut", "default", "save-all", "recompute-all"):
            for cost_model in ("roofline", "pytorch"):
                with self.subTest(strategy=strategy, cost_model=cost_model):
                    torch._dynamo.reset()
                    self.check(mlp, torch.randn(5, 8), options={
                        "strategy": strategy, "cost_model": cost_model})

    def test_a_dearer_byte_saves_less(self):
        kept = []
        for price in (0.0, 1e6):
            torch._dynamo.reset()
            module = mlp()
            compiled = torch.compile(module, backend="cutback", options={
                "compiler": "eager", "byte_price": price})
            with PackedBytes(module.parameters()) as packed:
                compiled(torch.randn(64, 8, requires_grad=True)).sum()
            kept.append(packed.bytes)
        self.assertLess(kept[1], kept[0])

    def test_an_activation_budget(self):
        import torch._functorch.config as config

        make = lambda: nn.Sequential(mlp(), nn.Linear(4, 32), mlp_of_32())
        kept = []
        for budget in (1, 0.6, 0.3):
            with config.patch(activation_memory_budget=budget):
                torch._dynamo.reset()
                self.check(make, torch.randn(5, 8))
                torch._dynamo.reset()
                module, x = make(), torch.randn(512, 8)
                compiled = torch.compile(module, backend="cutback",
                                         options={"compiler": "eager"})
                with PackedBytes([*module.parameters(), x]) as packed, \
                        self.no_fallback():
                    compiled(x).sum()
                kept.append(packed.bytes)
        self.assertLessEqual(kept[1], 0.6 * kept[0])
        self.assertLessEqual(kept[2], 0.3 * kept[0])

    def test_dynamic_shapes(self):
        module = mlp()
        compiled = torch.compile(module, backend="cutback", dynamic=True,
                                 options={"compiler": RUN})
        with self.no_fallback():
            for batch in (3, 7, 12):
                x = torch.randn(batch, 8, requires_grad=True)
                self.assert_equal_results(gradients(compiled, module, x),
                                          gradients(module, module, x))

    def test_sizes_that_the_backward_computes_with(self):
        class Sizes(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x):
                y = self.linear(x).view(x.shape[0] * 2, -1)
                return (y / (x.shape[0] + 1)).sum(0).repeat(x.shape[0])

        self.check(Sizes, torch.randn(6, 8, requires_grad=True), dynamic=True)

    def test_a_checkpointed_region(self):
        self.check(Block, torch.randn(5, 8, requires_grad=True))

    def test_a_selective_policy(self):
        def policy(context, op, *args, **kwargs):
            keep = op == torch.ops.aten.addmm.default
            return (checkpoint.CheckpointPolicy.MUST_SAVE if keep else
                    checkpoint.CheckpointPolicy.PREFER_RECOMPUTE)

        contexts = functools.partial(
            checkpoint.create_selective_checkpoint_contexts, policy)
        self.check(lambda: Block(context_fn=contexts),
                   torch.randn(5, 8, requires_grad=True))

    def test_tied_weights(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(11, 8)
                self.head = nn.Linear(8, 11, bias=False)
                self.head.weight = self.embedding.weight

            def forward(self, tokens):
                return self.head(torch.tanh(self.embedding(tokens)))

        self.check(Tied, torch.randint(0, 11, (3, 5)))

    def test_buffers_that_a_step_writes(self):
        self.check(lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
            nn.Linear(144, 2)), torch.randn(2, 3, 8, 8))

    def test_an_input_that_a_step_writes(self):
        class Writes(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                self.register_buffer("seen", torch.zeros(8))

            def forward(self, x):
                y = torch.sigmoid(self.linear(x))
                self.seen.add_(y.detach().sum(0))
                return y * self.seen

        self.check(Writes, torch.randn(5, 8))

    def test_several_outputs(self):
        class Several(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x):
                y = torch.exp(self.linear(x))
                return y, y.argmax(-1), torch.sin(y), y.detach().sum()

        self.check(Several, torch.randn(5, 8))

    def test_inputs_with_and_without_a_gradient(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)
                self.linear.bias.requires_grad_(False)

            def forward(self, x, y):
                return torch.relu(self.linear(x)) * torch.sin(y)

        self.check(Two, torch.randn(5, 8, requires_grad=True),
                   torch.randn(5, 8))

    def test_several_graphs(self):
        class Broken(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = mlp(), nn.Linear(4, 4)

            def forward(self, x):
                x = self.first(x)
                torch._dynamo.graph_break()
                return self.last(torch.sin(x))

        self.check(Broken, torch.randn(5, 8))

    def test_a_tensor_subclass(self):
        from torch.testing._internal.two_tensor import TwoTensor

        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(
                    TwoTensor(torch.ones(8, 8), 2 * torch.ones(8, 8)))

            def forward(self, x):
                return torch.sin(x @ self.weight)

        one, other, x = Two(), Two(), torch.randn(5, 8)
        one(x).sum().backward()
        with self.no_fallback():
            torch.compile(other, backend="cutback", options={
                "compiler": RUN})(x).sum().backward()
        for part in ("a", "b"):
            torch.testing.assert_close(getattr(other.weight.grad, part),
                                       getattr(one.weight.grad, part))

    def test_tensors_of_a_device_mesh(self):
        import torch.distributed as distributed
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import (
            ColwiseParallel, RowwiseParallel, parallelize_module)

        distributed.init_process_group(
            "gloo", store=distributed.HashStore(), rank=0, world_size=1)
        try:
            one, x = mlp(), torch.randn(5, 8)
            other = copy.deepcopy(one)
            parallelize_module(other, init_device_mesh("cpu", (1,)), {
                "0": ColwiseParallel(), "3": RowwiseParallel()})
            one(x).sum().backward()
            with self.no_fallback():
                torch.compile(other, backend="cutback", options={
                    "compiler": RUN})(x).sum().backward()
        finally:
            distributed.destroy_process_group()
        for name in ("0.weight", "0.bias", "3.weight", "3.bias"):
            torch.testing.assert_close(
                other.get_parameter(name).grad.full_tensor(),
                one.get_parameter(name).grad)

    def test_a_region_that_is_compiled_once(self):
        class Region(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            @torch.compiler.nested_compile_region
            def forward(self, x):
                return torch.sin(self.linear(x))

        self.check(lambda: nn.Sequential(Region(), Region()),
                   torch.randn(5, 8))

    def test_twenty_steps_of_an_optimizer(self):
        losses = []
        for compiled in (False, True):
            torch.manual_seed(5)
            module = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16),
                                   nn.SiLU(), nn.Linear(16, 1))
            call = module
            if compiled:
                call = torch.compile(module, backend="cutback",
                                     options={"compiler": RUN})
            optimizer = torch.optim.AdamW(module.parameters(), 0.01)
            with self.no_fallback():
                for _ in range(20):
                    loss = (call(torch.randn(12, 8)) - 1).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
        self.assertLess(losses[19], losses[0])
        torch.testing.assert_close(torch.tensor(losses[20:]),
                                   torch.tensor(losses[:20]),
                                   rtol=1e-4, atol=1e-6)

    def test_double_backward_is_refused_as_by_pytorch(self):
        x = torch.randn(5, 8, requires_grad=True)
        compiled = torch.compile(mlp(), backend="cutback",
                                 options={"compiler": RUN})
        with self.no_fallback():
            (gradient,) = torch.autograd.grad(compiled(x).sum(), x,
                                              create_graph=True)
            with self.assertRaisesRegex(RuntimeError, "double backward"):
                gradient.sum().backward()

    def test_a_forward_without_gradients(self):
        module = mlp()
        compiled = torch.compile(module, backend="cutback",
                                 options={"compiler": RUN})
        with self.no_fallback(), torch.no_grad():
            x = torch.randn(5, 8)
            torch.testing.assert_close(compiled(x), module(x))


class Randomness(Case):
    """A mask that is computed twice must be the same both times. The numbers of
    compiled code need not be those of eager: where the output is zero, and
    only there, the gradient is."""

    def check_mask(self, make, compiler=RUN, **options):
        torch.manual_seed(3)
        module = make()
        compiled = torch.compile(module, backend="cutback", options={
            "compiler": compiler, **options})
        x = torch.ones(64, 32, requires_grad=True)
        with self.no_fallback():
            y = compiled(x)
            # Numbers that are drawn in between must not matter.
            torch.rand(1000)
            y.sum().backward()
        dropped = y.detach() == 0
        self.assertTrue(dropped.any() and not dropped.all())
        self.assertTrue(torch.equal(x.grad == 0, dropped))

    def test_dropout(self):
        for strategy in ("min-cut", "recompute-all"):
            for cost_model in ("roofline", "pytorch"):
                with self.subTest(strategy=strategy, cost_model=cost_model):
                    torch._dynamo.reset()
                    self.check_mask(lambda: nn.Dropout(0.3),
                                    strategy=strategy, cost_model=cost_model)

    def test_dropout_in_a_checkpointed_region(self):
        class Checkpointed(nn.Module):
            def forward(self, x):
                return checkpoint.checkpoint(
                    lambda x: nn.functional.dropout(torch.sigmoid(x), 0.3),
                    x, use_reentrant=False)

        for compiler in ("eager", "inductor"):
            for cost_model in ("roofline", "pytorch"):
                with self.subTest(compiler=compiler, cost_model=cost_model):
                    torch._dynamo.reset()
                    self.check_mask(Checkpointed, compiler,
                                    cost_model=cost_model)


    def test_a_checkpointed_region_draws_what_eager_draws(self):
        import torch._inductor.config as config

        class Checkpointed(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def region(self, x):
                x = nn.functional.dropout(torch.sigmoid(self.linear(x)), 0.3)
                return torch.sin(x * torch.rand_like(x) + torch.randn(8))

            def forward(self, x):
                return checkpoint.checkpoint(self.region, x,
                                             use_reentrant=False)

        x = torch.randn(64, 8, requires_grad=True)
        with config.patch(fallback_random=True):
            for compiler in ("eager", "inductor"):
                for cost_model in ("roofline", "pytorch"):
                    with self.subTest(compiler=compiler,
                                      cost_model=cost_model):
                        torch._dynamo.reset()
                        self.check(Checkpointed, x, compiler=compiler,
                                   options={"cost_model": cost_model})

    def test_a_checkpointed_mask_is_not_saved(self):
        def forward(x):
            return checkpoint.checkpoint(
                lambda x: nn.functional.dropout(torch.sigmoid(x), 0.3), x,
                use_reentrant=False)

        x = torch.randn(256, 256, requires_grad=True)
        for compiler in ("eager", "inductor"):
            with self.subTest(compiler=compiler), self.no_fallback():
                torch._dynamo.reset()
                compiled = torch.compile(forward, backend="cutback",
                                         options={"compiler": compiler})
                with PackedBytes([x]) as packed:
                    compiled(x)
                # The state of the CPU's generator, or a seed.
                self.assertLess(packed.bytes, 6000)


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

    def test_an_option_that_there_is_not(self):
        self.falls_back("error: 'fastest' is not one of min-cut|",
                        strategy="fastest")

    def test_a_budget_under_pytorch_s_rules(self):
        import torch._functorch.config as config

        with config.patch(activation_memory_budget=0.5):
            self.falls_back("an activation memory budget needs",
                            cost_model="pytorch")

    def test_a_budget_that_no_plan_keeps(self):
        import torch._functorch.config as config

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
                self.falls_back("/nowhere.so")
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


class Doors(Case):
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
        for options in ({"byte_price": 0.5}, {"strategy": "save-all"},
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
        self.assertEqual(text.getvalue(), plans[0].report())
        for old, new in zip(before, model.buffers()):
            self.assertTrue(torch.equal(old, new))
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        self.assertTrue(all(p.grad is None for p in model.parameters()))

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

    def test_explain_without_gradients(self):
        text = io.StringIO()
        self.assertEqual(cutback.explain(torch.sin, torch.ones(3), file=text),
                         [])
        self.assertEqual(text.getvalue(),
                         "no graph of this model has a gradient\n")


if __name__ == "__main__":
    import unittest.mock

    unittest.main()
