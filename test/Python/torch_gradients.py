# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a training meets, through torch.compile with Cutback's plan: gradients
are those of eager PyTorch. Checkpointing and random numbers have a file of their
own."""

import copy
import functools

import torch
import torch._functorch.config as config
from functorch.compile import make_boxed_func
from torch import nn

import cutback
from models import PackedBytes
from torch_case import RUN, Case, gradients, mlp, mlp_of_32


def _boxed(graph_module, _):
    return make_boxed_func(graph_module.forward)


class Gradients(Case):
    def test_every_strategy_and_cost_model(self):
        for strategy in ("min-cut", "eager", "precompute", "recompute-all"):
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
        def make():
            return nn.Sequential(mlp(), nn.Linear(4, 32), mlp_of_32())

        for cost_model in ("roofline", "pytorch"):
            kept, options = [], {"cost_model": cost_model}
            for budget in (1, 0.6, 0.3):
                with self.subTest(cost_model=cost_model, budget=budget), \
                        config.patch(activation_memory_budget=budget):
                    torch._dynamo.reset()
                    self.check(make, torch.randn(5, 8), options=options)
                    kept.append(self.kept_of(make(), options))
            self.assertLessEqual(kept[1], 0.6 * kept[0])
            self.assertLessEqual(kept[2], 0.3 * kept[0])

    def test_a_hook_of_a_tensor_in_the_model(self):
        """By itself, and where the backward is compiled, to which the forward
        hands an object of PyTorch's (BackwardState)."""
        from torch._dynamo import compiled_autograd

        class Hooked(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 3)

            def forward(self, x):
                x = self.first(x)
                x.register_hook(lambda gradient: 2 * gradient)
                return self.last(torch.tanh(x))

        self.check(Hooked, torch.randn(5, 8))
        torch._dynamo.reset()
        with compiled_autograd._enable(torch.compile(backend="eager")):
            self.check(Hooked, torch.randn(5, 8))

    def kept_of(self, module, options):
        """Bytes that autograd keeps of a forward."""
        torch._dynamo.reset()
        compiled = torch.compile(module, backend="cutback", options={
            "compiler": "eager", **options})
        x = torch.randn(512, 8)
        with PackedBytes([*module.parameters(), x]) as packed, \
                self.no_fallback():
            compiled(x).sum()
        return packed.bytes

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

    def test_an_input_that_is_written_behind_the_forward(self):
        """AOTAutograd does such writes where it may not leave them in the
        graph; PyTorch's own partitioner saves the argument."""
        from torch._dynamo.backends.common import aot_autograd
        from torch.testing._internal.two_tensor import TwoTensor

        def through(x, b):
            y = torch.tanh(x) * torch.exp(b)
            b.mul_(0.9).add_(x.detach())
            return y * torch.cos(b)

        def view(x, b):
            y = torch.sin(x) * (b.view(-1) * 2).view(4, 4).t()
            b.add_(1)
            return y

        plain = torch.randn(4, 4)
        pair = TwoTensor(plain.clone(), torch.randn(4, 4))
        cases = [(through, pair, {}), (view, plain, {})] + [
            (through, plain, options) for options in (
                {}, {"cost_model": "pytorch"}, {"strategy": "recompute-all"})]
        for function, b, options in cases:
            with self.subTest(function=function.__name__, options=options):
                torch._dynamo.reset()
                backend = aot_autograd(
                    fw_compiler=_boxed, bw_compiler=_boxed,
                    partition_fn=functools.partial(cutback.partition_fn,
                                                   options=options))
                self.check_steps(torch.compile(function, backend=backend),
                                 function, b)

    def check_steps(self, compiled, function, buffer):
        """Two steps of each from the same buffer."""
        x, results = torch.randn(4, 4), []
        for call in (compiled, function):
            b = buffer.clone()
            for _ in range(2):
                x = x.detach().requires_grad_()
                with self.no_fallback():
                    y = call(x, b)
                    y.square().sum().backward()
                results += [y.detach(), x.grad]
            results.append(b)
        torch.testing.assert_close(results[:5], results[5:])

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
