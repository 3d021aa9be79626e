# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cutback.compile: training on compiled steps beside PyTorch's own."""

import copy
import os
import unittest
from unittest import mock

import torch

import cutback


class Net(torch.nn.Module):
    """Batch norm in training, a buffer, tied weights, two outputs."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 32)
        self.norm = torch.nn.BatchNorm1d(32)
        self.last = torch.nn.Linear(32, 16)
        self.again = torch.nn.Linear(16, 32)
        self.again.weight = self.first.weight
        self.register_buffer("scale", torch.full((32,), 2.0))

    def forward(self, x, y):
        h = self.last(torch.relu(self.norm(self.first(x))))
        h = self.again(torch.tanh(h)) * self.scale
        return torch.nn.functional.cross_entropy(h, y), h


class Dropped(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.25).sum()


class Rotary(torch.nn.Module):
    """A complex buffer, a complex parameter, a transform."""

    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(8, 8)
        self.filter = torch.nn.Parameter(torch.randn(4, dtype=torch.cfloat))
        angles = torch.outer(torch.arange(5.0), 1 / 10 ** torch.arange(4.0))
        self.register_buffer("turn", torch.polar(torch.ones(5, 4), angles))

    def forward(self, x):
        z = torch.view_as_complex(self.proj(x).unflatten(-1, (4, 2)))
        z = torch.fft.fft(z * self.turn, dim=1) * self.filter
        return torch.view_as_real(z).flatten(-2).tanh().sum()


def batch(seed=0, rows=8):
    torch.manual_seed(seed)
    return (torch.randn(rows, 16, requires_grad=True),
            torch.randint(0, 32, (rows,)))


def largest(mine, others):
    return max((a.float() - b.float()).abs().max().item()
               for a, b in zip(mine, others, strict=True))


class CompiledTest(unittest.TestCase):
    def train(self, model, step, eager, rows=(8, 8, 8, 8)):
        mine = torch.optim.SGD(model.parameters(), 0.1)
        other = torch.optim.SGD(eager.parameters(), 0.1)
        for seed, count in enumerate(rows):
            x, y = batch(seed, count)
            z = x.detach().clone().requires_grad_()
            mine.zero_grad()
            other.zero_grad()
            loss, h = step(x, y)
            (3 * loss).backward()
            expected, g = eager(z, y)
            (3 * expected).backward()
            self.assertLess(largest([loss, h, x.grad],
                                    [expected, g, z.grad]), 2e-5)
            self.assertLess(largest(
                [one.grad for one in model.parameters()],
                [one.grad for one in eager.parameters()]), 2e-5)
            mine.step()
            other.step()
        self.assertLess(largest(model.parameters(), eager.parameters()), 1e-4)
        self.assertLess(largest(model.buffers(), eager.buffers()), 1e-4)

    def test_complex_numbers_are_their_parts(self):
        torch.manual_seed(0)
        model = Rotary()
        eager = copy.deepcopy(model)
        x = torch.randn(3, 5, 8)
        cutback.compile(model, (x,))(x).backward()
        eager(x).backward()
        for mine, other in zip(model.parameters(), eager.parameters()):
            self.assertLess((mine.grad - other.grad).abs().max(), 1e-4)

    def test_trains_as_the_module(self):
        for options in (None, {"strategy": "recompute-all"},
                        {"cost_model": "pytorch"}):
            with self.subTest(options=options):
                model = Net()
                eager = copy.deepcopy(model)
                step = cutback.compile(model, batch(), options=options,
                                       threads=2)
                self.assertGreater(step.arena_bytes, 0)
                self.train(model, step, eager)

    def test_a_module_under_two_names_stays_as_it_is(self):
        class Twice(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.one = torch.nn.Linear(4, 4)
                self.other = self.one

            def forward(self, x):
                return self.other(self.one(x).tanh()).square().sum()

        model, x = Twice(), torch.randn(2, 4)
        weight = model.one.weight
        step = cutback.compile(model, (x,))
        self.assertIs(model.other.weight, weight)
        torch.testing.assert_close(*(
            torch.autograd.grad(call(x), weight)[0] for call in (step, model)))

    def test_inputs_without_a_row_of_their_own_are_copied(self):
        model = Net()
        step = cutback.compile(model, batch())
        x, y = batch()
        across = x.detach().t().contiguous().t().requires_grad_()
        self.assertFalse(across.is_contiguous())
        model.norm.running_mean.zero_()
        first, _ = step(x, y)
        second, _ = step(across, y)
        self.assertEqual(float(first.detach()), float(second.detach()))

    def test_arrays_of_other_libraries_are_taken_where_they_lie(self):
        class Array:
            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, **options):
                return self.tensor.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.tensor.__dlpack_device__()

        model = Net()
        x, y = (one.detach() for one in batch())
        step = cutback.compile(model, (Array(x), Array(y)))
        self.assertEqual(step(Array(x), Array(y))[0].item(),
                         step(x, y)[0].item())
        before = step(Array(x), y)[0].item()
        x.mul_(2)
        self.assertNotEqual(step(Array(x), y)[0].item(), before)

    def test_one_step_for_all_sizes(self):
        rows = torch.export.Dim("rows", min=2, max=64)
        model = Net()
        eager = copy.deepcopy(model)
        step = cutback.compile(model, batch(), threads=2,
                               dynamic_shapes=({0: rows}, {0: rows}))
        one = step.arena_bytes
        self.train(model, step, eager, rows=(8, 5, 12, 8, 5))
        self.assertGreater(step.arena_bytes, 2 * one)
        self.check_error("outside of its range from 2 to 64",
                         lambda: step(*batch(rows=65)))
        self.check_error("is 8 by 'input.0', and 5 by 'input.1'",
                         lambda: step(batch()[0], batch(rows=5)[1]))
        self.check_error("dynamic_shapes goes with a module",
                         lambda: cutback.compile(
                             torch.export.export(model, batch()), batch(),
                             dynamic_shapes=({0: rows}, {0: rows})))
        loss, _ = step(*batch(rows=5))
        other, _ = step(*batch(rows=12))
        loss.backward()  # each has memory of its own
        other.backward()

    def test_a_program_has_its_own_parameters(self):
        model = Net().eval()
        x, y = batch()
        program = torch.export.export(model, (x, y))
        with torch.no_grad():
            loss, _ = cutback.compile(program)(x, y)
            self.assertFalse(loss.requires_grad)
            self.assertLess(largest([loss], [model(x, y)[0]]), 1e-5)

    def test_the_backward_has_the_mask_of_its_forward(self):
        x = torch.rand(64, 32).add_(1).requires_grad_()
        step = cutback.compile(Dropped(), (x,),
                               options={"strategy": "recompute-all"})
        masks = []
        for _ in range(2):
            x.grad = None
            loss = step(x)
            loss.backward()
            self.assertAlmostEqual(
                loss.item(), (x * x.grad).sum().item(), delta=0.1)
            masks.append(x.grad != 0)
            self.assertLess(abs(masks[-1].float().mean().item() - 0.75), 0.05)
        self.assertFalse(torch.equal(*masks))

    def check_error(self, text, call, kind=cutback.CutbackError):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(text, str(raised.exception))

    def test_what_would_be_a_wrong_gradient_is_an_error(self):
        model = Net()
        step = cutback.compile(model, batch())
        loss, h = step(*batch())
        self.check_error("add it to the loss inside of the model",
                         (loss + h.sum()).backward)
        loss, _ = step(*batch())
        step(*batch())
        self.check_error("compile a second one", loss.backward)
        loss, _ = step(*batch())
        loss.backward(retain_graph=True)
        self.check_error("for one backward", loss.backward)
        loss, _ = step(*batch())
        with torch.no_grad():
            model.first.weight.add_(1)
        self.check_error("modified by an inplace operation", loss.backward,
                         RuntimeError)
        x, y = batch()
        plain = cutback.compile(torch.export.export(model, (x.detach(), y)))
        loss, _ = plain(x, y)
        self.check_error("no gradient of 'input.0'", loss.backward)

    def test_hooks_run_as_those_of_tensors(self):
        model = Net()
        eager = copy.deepcopy(model)
        x, y = batch()
        z = x.detach().clone().requires_grad_()
        seen, expected = [], []

        def shift(gradient):
            gradient.sub_(1)

        step = cutback.compile(model, (x, y), hooks={
            "last.*": lambda g: seen.append(g)})
        self.assertEqual([one.gradient.name for one in step.hook_points],
                         ["last.bias", "last.weight"])
        halve = step.add_hook("last.weight", lambda g: g / 2)
        in_place = step.add_hook("last.weight", shift)
        for one in (eager.last.bias, eager.last.weight):
            one.register_hook(lambda g: expected.append(g))
        eager.last.weight.register_hook(lambda g: g / 2 - 1)
        for times in (1, 3):
            (times * step(x, y)[0]).backward()
            (times * eager(z, y)[0]).backward()
        self.assertLess(largest(seen, expected), 2e-5)
        self.assertLess(largest([one.grad for one in model.parameters()],
                                [one.grad for one in eager.parameters()]),
                        5e-5)
        halve.remove()
        halve.remove()
        in_place.remove()
        count = len(seen)
        model.last.weight.grad = None
        step(x, y)[0].backward()
        self.assertTrue(torch.equal(seen[-1], model.last.weight.grad))
        self.assertEqual(len(seen), count + 2)

    def test_hooks_of_each_size_and_within_a_run(self):
        rows = torch.export.Dim("rows", min=2, max=64)
        step = cutback.compile(Net(), batch(), hooks=["retains-grad:tanh"],
                               dynamic_shapes=({0: rows}, {0: rows}))
        seen = []

        def once(gradient):
            seen.append(tuple(gradient.shape))
            handle.remove()

        handle = step.add_hook("retains-grad:*", once)
        for count in (8, 5, 8):
            step(*batch(rows=count))[0].backward()
        self.assertEqual(seen, [(8, 16)])
        with step.add_hook("retains_grad:tanh",
                           lambda g: seen.append(tuple(g.shape))):
            step(*batch(rows=12))[0].backward()
            step(*batch(rows=5))[0].backward()
        step(*batch(rows=5))[0].backward()
        self.assertEqual(seen, [(8, 16), (12, 16), (5, 16)])

    def test_what_hooks_must_not_do(self):
        step = cutback.compile(Net(), batch(),
                               hooks=["last.bias", "retains-grad:tanh"])
        self.check_error("no hook point 'first.weight': it was compiled with"
                         " retains_grad:tanh, tensor_pre:last.bias",
                         lambda: step.add_hook("first.weight", print))
        self.check_error("is called 'nowhere'", lambda: cutback.compile(
            Net(), batch(), hooks=["nowhere"]))

        def wrong(function, text, kind, point="last.bias"):
            with step.add_hook(point, function):
                loss, _ = step(*batch())
                self.check_error(text, loss.backward, kind)

        wrong(lambda g: 1, "the hook of the gradient of 'last.bias' is to return"
              " None or torch.float32 of [16], not int", TypeError)
        wrong(lambda g: g[:4], "not torch.float32 of [4]", TypeError)
        wrong(lambda g: 1 / 0, "division", ZeroDivisionError)
        wrong(lambda g: g * 2, "retains_grad", cutback.CutbackError,
              "retains-grad:tanh")
        step(*batch())[0].backward()  # and goes on

    def test_other_arguments_are_errors(self):
        model = Net()
        step = cutback.compile(model, batch())
        x, y = batch()
        self.check_error("'input.0' is torch.float32 of [4, 16] on cpu; the step"
                         " was compiled for torch.float32 of [8, 16]",
                         lambda: step(x[:4], y))
        self.check_error("torch.float64", lambda: step(x.double(), y))
        self.check_error("missing 1 required", lambda: step(x), TypeError)
        self.check_error("torch.float64", lambda: (model.double(), step(x, y)))

    def test_what_is_missing_says_where_to_get_it(self):
        with mock.patch.dict(os.environ, {"PATH": ""}):
            os.environ.pop("CUTBACK_PROGRAM", None)
            self.check_error("name it in CUTBACK_PROGRAM",
                             lambda: cutback.compile(Net(), batch()))

    def test_what_has_no_machine_code_is_interpreted(self):
        class Factor(torch.nn.Module):
            def forward(self, x):
                return torch.linalg.cholesky(x @ x.T + torch.eye(4)).sum()

        x = torch.randn(4, 4, requires_grad=True)
        self.check_error("'linalg_cholesky_ex' has no kernel yet, as (4x4xf32)",
                         lambda: cutback.compile(Factor(), (x,), strict=True))
        with self.assertWarnsRegex(
                cutback.FallbackWarning, r"'linalg_cholesky_ex' has no kernel"
                r" yet, as \(4x4xf32\): the step calls the interpreter"):
            step = cutback.compile(Factor(), (x,))
        for _ in range(2):
            wanted, = torch.autograd.grad(Factor()(x), x)
            found, = torch.autograd.grad(step(x), x)
            self.assertLess(largest([found], [wanted]), 1e-5)


if __name__ == "__main__":
    unittest.main()
