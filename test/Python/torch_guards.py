# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cutback.compile where what is no tensor changes, and what it would lose."""

import copy
import os
import pickle
import random
import tempfile
import threading
import types
import unittest
import warnings
from unittest import mock

import torch
from torch import nn

import cutback

FACTOR = 1.0


class Constants:
    shift = 3.0


SETTINGS = types.SimpleNamespace(factor=2.0)


class Part(nn.Module):
    """Reads whatever a forward may read."""

    def __init__(self):
        super().__init__()
        self.line, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.spare = nn.Linear(4, 4)
        self.times, self.config = 2.0, type("Config", (), {})()
        self.config.layers = [1, {"bias": True}]
        self.epoch = 0  # which no forward reads

    def forward(self, x, scale=1.0, flag=True, mode="sum", other=None):
        x = self.norm(self.line(x)) * self.times * FACTOR
        if self.config.layers[1]["bias"]:
            x = x + 1
        x = x.relu() if flag else x
        if other is not None:
            x = x * other
        return (self.drop(x).mean() if mode == "mean" else x.sum()) * scale


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Lost(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.line, self.how = nn.Linear(4, 4), how

    def forward(self, x):
        return self.how(self.line, x).pow(2).sum()


def hooked(line, x):
    y = line(x)
    y.register_hook(lambda g: g / 2)
    return y


def node_hooked(line, x):
    y = line(x)
    y.grad_fn.register_prehook(lambda g: None)
    return y


def packed(line, x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2,
                                                  lambda t: t):
        return line(x)


def without_gradients(line, x):
    with torch.no_grad():
        x = Straight.apply(x)
    return line(x)


def checkpointed(line, x):
    return torch.utils.checkpoint.checkpoint(line, x, use_reentrant=False)


class GuardsTest(unittest.TestCase):
    def check_same(self, step, model, *args):
        """One step of each, from the same state."""
        other = copy.deepcopy(model)
        for one in (model, other):
            one.zero_grad()
        loss, expected = step(*args), other(*args)
        loss.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close(loss, expected)
        for (name, mine), theirs in zip(model.named_parameters(),
                                        other.parameters()):
            self.assertEqual(mine.grad is None, theirs.grad is None, name)
            if mine.grad is not None:
                torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4,
                                           atol=1e-4)
        for mine, theirs in zip(model.buffers(), other.buffers()):
            torch.testing.assert_close(mine, theirs)

    def check_error(self, text, call, kind=cutback.CutbackError):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(text, str(raised.exception))

    def setUp(self):
        torch.manual_seed(0)
        self.x = torch.randn(8, 4) + 1

    def test_arguments_that_are_no_tensors(self):
        model = Part()
        args = [self.x, 1.0, True, "sum", None]
        step = cutback.compile(model, args)
        for i, value in ((1, 3.0), (2, False), (4, torch.randn(4))):
            self.check_same(step, model, *args[:i], value, *args[i + 1:])
        self.check_same(step, model, *args)
        program = cutback.compile(torch.export.export(model, tuple(args)))
        self.check_error("the argument 'scale' is 3.0, and was 1.0",
                         lambda: program(self.x, 3.0, *args[2:]))
        self.check_error("the argument 'other' is a tensor, and was None",
                         lambda: program(*args[:4], self.x))
        for i in range(4, 8):
            step(self.x, float(i), *args[2:])
        self.check_error("the argument 'scale' is 9.0, and was 7.0: the step was"
                         " compiled for 8 states",
                         lambda: step(self.x, 9.0, *args[2:]))

    def test_state_of_modules(self):
        model = Part()
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)

        def changed(change):
            change()
            self.check_same(step, model, self.x)

        changed(lambda: setattr(model, "times", 3.0))
        changed(lambda: model.config.layers[1].update(bias=False))
        changed(lambda: setattr(model.norm, "eps", 0.5))
        changed(model.eval)
        changed(lambda: setattr(model, "norm", nn.LayerNorm(4)))
        changed(lambda: model.line.register_forward_hook(
            lambda module, given, made: made * 2))
        with mock.patch.dict(globals(), FACTOR=0.5):
            self.check_same(step, model, self.x)
        count = len(step._variants)
        for _ in range(12):
            model.epoch += 1
            changed(lambda: None)
        self.assertEqual(len(step._variants), count)

    def test_variables_that_functions_read(self):
        kept, scale = {"times": [2.0]}, 1.5

        def decorated(function):
            return lambda *args: function(*args) * scale

        class Reads(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)

            @decorated
            def forward(self, x):
                x = self.line(x) * kept["times"][0] * SETTINGS.factor
                return (x * Constants.shift).square().sum()

        model = Reads()
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)
        kept["times"][0] = 3.0
        self.check_same(step, model, self.x)
        with mock.patch.object(SETTINGS, "factor", 0.25):
            self.check_same(step, model, self.x)
        with mock.patch.object(Constants, "shift", 4.0):
            self.check_same(step, model, self.x)
        scale = 0.5
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 5)

    def test_tensors_in_variables(self):
        held = [torch.ones(4)]
        model = Lost(lambda line, x: line(x) * held[0])
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)
        held[0].mul_(2)
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 1)
        held[0] = torch.full((4,), 0.5)
        self.check_same(step, model, self.x)

    def test_one_tensor_for_several_arguments(self):
        class Product(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)

            def forward(self, x, y):
                return (self.line(x) * y.sum()).square().sum()

        model = Product()
        step = cutback.compile(model, (self.x, self.x))
        other = torch.randn(4, 4, requires_grad=True)
        self.check_same(step, model, self.x, other)
        given = self.x.clone().requires_grad_()
        step = cutback.compile(model, (given, given))
        self.check_same(step, model, given, given)
        step = cutback.compile(model, (self.x, model.line.weight))
        self.check_same(step, model, self.x, other)
        weight = model.line.weight
        torch.testing.assert_close(*(
            torch.autograd.grad(run(self.x, weight), weight)
            for run in (step, model)), rtol=1e-4, atol=1e-4)

    def test_buffers_in_two_places(self):
        class Buffers(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)
                self.register_buffer("a", torch.ones(4))
                self.register_buffer("b", self.a)

            def forward(self, x):
                self.a.mul_(2)
                return (self.line(x) * self.a * self.b).sum()

        model = Buffers()
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)
        model.b = torch.full((4,), 5.0)
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 2)
        model.b = model.a[:]
        self.check_error("share memory, and the step changes it",
                         lambda: step(self.x))

    def test_calls_of_another_form(self):
        class Optional(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)

            def forward(self, x, extra=None):
                x = self.line(x["a"]) * x["b"]
                return (x if extra is None else x + extra).square().sum()

        model = Optional()
        given = {"a": self.x, "b": self.x + 1}
        step = cutback.compile(model, (given,))
        self.check_same(step, model, {"b": self.x + 1, "a": self.x})
        self.assertEqual(len(step._variants), 1)
        self.check_same(step, model, given, self.x)
        with self.assertLogs("cutback") as logs:
            with torch.no_grad():
                torch.testing.assert_close(step(given, extra=self.x),
                                           model(given, extra=self.x))
        self.assertIn("the arguments are (({a: *, b: *}), {extra: *}), and were"
                      " (({a: *, b: *}, *), {})", "".join(logs.output))
        self.assertEqual(len(step._variants), 3)

    def test_gradients_of_gradients(self):
        model = Lost(lambda line, x: line(x).tanh())
        step = cutback.compile(model, (self.x,))
        self.check_error("create_graph=True", lambda: torch.autograd.grad(
            step(self.x), model.line.weight, create_graph=True))

    def test_inference_mode_inside(self):
        def part(line, x):
            with torch.inference_mode():
                factor = line(x)
            return line(x) * factor.clone()

        model = Lost(part)
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)

    def test_numbers_that_a_forward_draws(self):
        class Draws(nn.Module):
            def __init__(self, uses):
                super().__init__()
                self.line, self.uses = nn.Linear(4, 4), uses

            def forward(self, x):
                drawn = random.random()
                return (self.line(x) * (drawn if self.uses else 2)).sum()

        self.check_error("draws numbers of the module 'random', and computes",
                         lambda: cutback.compile(Draws(True), (self.x,)))
        model = Draws(False)
        with self.assertWarnsRegex(UserWarning, "draws numbers of the module"):
            step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)

    def test_parameters_are_those_of_the_call(self):
        model = Part()
        step = cutback.compile(model, (self.x,))
        model.line.weight = nn.Parameter(torch.randn(4, 4))
        self.check_same(step, model, self.x)
        model.load_state_dict(Part().state_dict(), assign=True)
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 1)
        model.line.bias.requires_grad_(False)
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 1)
        model.line.weight = model.spare.weight
        step(self.x).backward()
        frozen = cutback.compile(model, (self.x,))
        model.line.bias.requires_grad_(True)
        self.check_same(frozen, model, self.x)
        self.assertEqual(len(frozen._variants), 2)

    def test_tensors_in_lists_and_methods(self):
        class Lists(nn.Module):
            def __init__(self):
                super().__init__()
                self.line, self.scales = nn.Linear(4, 4), [torch.ones(4)]

            def forward(self, x):
                return (self.line(x) * self.scales[0]).tanh().sum()

        model = Lists()
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)
        model.scales[0].mul_(2)
        self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 1)
        model.scales[0] = torch.full((4,), 0.5)
        self.check_same(step, model, self.x)
        with mock.patch.object(Lists, "forward",
                               lambda self, x: self.line(x).sum()):
            self.check_same(step, model, self.x)
        self.assertEqual(len(step._variants), 3)

    def test_two_parameters_in_one_memory(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Parameter(torch.randn(4, 4))
                self.b = nn.Parameter(self.a.detach())

            def forward(self, x):
                return (x @ self.a).tanh().sum() + (x @ self.b).sum()

        model = Two()
        step = cutback.compile(model, (self.x,))
        self.check_same(step, model, self.x)
        program = torch.export.export(model, (self.x,))
        cutback.compile(program)(self.x).backward()
        self.assertFalse(torch.equal(program.state_dict["a"].grad,
                                     program.state_dict["b"].grad))

    def test_modes_around_a_call(self):
        class Asks(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)

            def forward(self, x):
                x = self.line(x).square().sum()
                return x * 2 if torch.is_grad_enabled() else x

        model = Asks()
        step = cutback.compile(model, (self.x,))
        with torch.no_grad():
            torch.testing.assert_close(step(self.x), model(self.x))
        self.check_same(step, model, self.x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(step(self.x).item(), model(self.x).item())

    def test_flags_of_views_are_resolved(self):
        class Complex(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(4))

            def forward(self, z):
                return (z * self.weight).imag.sum() + z.real.sum()

        z = torch.randn(4, dtype=torch.cfloat)
        model = Complex()
        step = cutback.compile(model, (z,))
        self.check_same(step, model, z.conj())
        real = Lost(lambda line, x: line(x))
        step = cutback.compile(real, (self.x,))
        self.check_same(step, real, torch._neg_view(self.x))
        self.check_error("of layout torch.sparse_coo",
                         lambda: step(self.x.to_sparse()))

    def test_attributes_that_a_forward_sets(self):
        class Counts(nn.Module):
            def __init__(self, uses):
                super().__init__()
                self.line, self.calls, self.uses = nn.Linear(4, 4), 0, uses

            def forward(self, x):
                self.calls += 1
                return self.line(x).sum() * (self.calls if self.uses else 1)

        model = Counts(False)
        with self.assertWarnsRegex(UserWarning, "the forward sets 'calls'"):
            step = cutback.compile(model, (self.x,))
        self.assertEqual(model.calls, 0)
        model(self.x)
        self.check_same(step, model, self.x)
        self.check_error("the forward sets 'calls', and computes something else",
                         lambda: cutback.compile(Counts(True), (self.x,)))

    def test_what_only_the_backward_sees_is_named(self):
        def own(line, x):
            return Straight.apply(line(x))

        for how, text in (
                (own, "a function of its own, 'Straight' (torch_guards.py:"),
                (hooked, "a hook of a gradient (torch_guards.py:"),
                (node_hooked, "a hook of a gradient (torch_guards.py:"),
                (packed, "saved_tensors_hooks (torch_guards.py:")):
            self.check_error(text, lambda: cutback.compile(
                Lost(how), (self.x,)))
        for how in without_gradients, checkpointed:
            model = Lost(how)
            self.check_same(cutback.compile(model, (self.x,)), model, self.x)
        text = "'line' (Linear) has a hook of the backward"
        model = Lost(lambda line, x: line(x))
        step = cutback.compile(model, (self.x,))
        model.line.register_full_backward_hook(lambda *_: None)
        self.check_error(text, lambda: step(self.x))
        self.check_error(text, lambda: cutback.compile(model, (self.x,)))

    def test_hooks_of_parameters_run(self):
        model = Lost(lambda line, x: line(x))
        plain = copy.deepcopy(model)
        seen = []
        model.line.weight.register_hook(lambda g: g * 3)
        model.line.bias.register_post_accumulate_grad_hook(seen.append)
        cutback.compile(model, (self.x,))(self.x).backward()
        plain(self.x).backward()
        torch.testing.assert_close(model.line.weight.grad,
                                   3 * plain.line.weight.grad)
        self.assertEqual(len(seen), 1)

    def test_looking_leaves_the_model_as_it_was(self):
        model = Part()
        before, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
        cutback.compile(model, (self.x, 1.0, True, "mean"))
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        for name, one in model.state_dict().items():
            self.assertTrue(torch.equal(one, before[name]), name)

    def test_outputs(self):
        class Many(nn.Module):
            def __init__(self):
                super().__init__()
                self.line = nn.Linear(4, 4)

            def forward(self, x):
                y = torch.vmap(self.line)(x)
                return y.sum().reshape(1, 1), None, {"k": 3, "y": y}

        model = Many()
        step = cutback.compile(model, (self.x,))
        loss, nothing, more = step(self.x)
        expected, _, others = model(self.x)
        self.assertIsNone(nothing)
        self.assertEqual(more["k"], 3)
        torch.testing.assert_close(loss, expected)
        torch.testing.assert_close(more["y"], others["y"])
        expected.backward()
        gradient, model.line.weight.grad = model.line.weight.grad, None
        loss.backward()
        torch.testing.assert_close(model.line.weight.grad, gradient)
        text = "the first output of the model is to be its loss"
        for how in (lambda m, x: x, lambda m, x: None,
                    lambda m, x: (3, m(x).sum())):
            other = nn.Linear(4, 4)
            other.forward = lambda x, how=how: how(Many().line, x)
            self.check_error(text, lambda: cutback.compile(other, (self.x,)))

    def test_threads_take_turns(self):
        model = Part()
        step = cutback.compile(model.eval(), (self.x,), threads=2)
        expected = [model(self.x * i).item() for i in range(8)]
        wrong = []

        def work(i):
            for _ in range(10):
                loss = step(self.x * i)
                if abs(loss.item() - expected[i]) > 1e-3:
                    wrong.append((i, loss.item()))
                try:
                    torch.autograd.grad(loss, model.line.weight)
                except cutback.CutbackError as error:
                    if "one backward" not in str(error):
                        wrong.append((i, str(error)))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)
        self.assertFalse(any(one.is_alive() for one in threads))
        self.assertEqual(wrong, [])
        child = os.fork()
        if not child:
            try:
                step(self.x)
            except cutback.CutbackError as error:
                os._exit(7 if "by another process" in str(error) else 1)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_a_hook_that_runs_its_step(self):
        model = Part()
        step = cutback.compile(model, (self.x,), hooks={
            "line.bias": lambda g: step(self.x)})
        self.check_error("a hook of it runs it again", step(self.x).backward)
        self.check_error("", lambda: step(self.x).backward())

    def test_a_folder_is_opened_again(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Part()
            args = (self.x, 2.0, True, "sum", None)
            cutback.compile(model, args, folder=folder, hooks=["line.bias"])
            other, seen = Part(), []
            other.load_state_dict(model.state_dict())
            step = cutback.load(folder, other,
                                hooks={"line.bias": seen.append})
            self.check_same(step, other, *args)
            self.assertEqual(len(seen), 1)
            self.check_same(step, other, self.x, 3.0, *args[2:])
            state = {**dict(other.named_parameters()),
                     **dict(other.named_buffers())}
            plain = cutback.load(folder, state)
            copied = copy.deepcopy(other)
            torch.testing.assert_close(plain(*args), copied(*args))
            self.check_error("the argument 'scale' is 3.0, and was 2.0",
                             lambda: plain(self.x, 3.0, *args[2:]))
            self.check_error("in another state, which differs in: the attribute"
                             " 'norm.training': False", lambda: cutback.load(
                                 folder, other.eval()))
        with tempfile.TemporaryDirectory() as folder:
            self.check_error("has no python.json", lambda: cutback.load(
                folder, Part()))
            program = torch.export.export(model, args)
            cutback.compile(program, folder=folder)
            again = cutback.load(folder, program)
            torch.testing.assert_close(again(*args), model(*args))

    def test_sizes_that_are_held(self):
        rows = torch.export.Dim("rows", min=2, max=64)
        model = Part().eval()
        step = cutback.compile(model, (self.x,), sizes=2,
                               dynamic_shapes=({0: rows},),
                               hooks={"line.bias": lambda g: None})
        arenas = set()
        for count in (8, 5, 6, 5, 7):
            loss = step(torch.ones(count, 4))
            torch.testing.assert_close(loss, model(torch.ones(count, 4)))
            self.assertLessEqual(len(step._sized()), 2)
            arenas.add(step.arena_bytes)
        loss.backward()
        self.check_error("at least one set of sizes", lambda: cutback.compile(
            model, (self.x,), sizes=0))

    def test_a_line_says_what_was_compiled(self):
        with self.assertLogs("cutback", "INFO") as logged:
            step = cutback.compile(Part(), (self.x,))
        self.assertRegex(logged.output[0], r"compiled \d+ ops for a CPU in"
                         r" [\d.]+ s: \d+ bytes saved for the backward, an arena"
                         r" of %d bytes" % step.arena_bytes)
        for call in (lambda: cutback.compile(Part(), (self.x,), options={
                "remarks": True}), lambda: cutback.partition_fn(
                    None, (), num_fwd_outputs=1, options={"remarks": True})):
            self.check_error("there is no option 'remarks' of a plan", call,
                             TypeError)

    def test_copies_and_pointers(self):
        step = cutback.compile(Part(), (self.x,))
        inside = step._sized()[0].step
        self.check_error("1 pointers are given, and the step has",
                         lambda: inside.run("forward", [0]))
        self.check_error("no segment 'later': it has forward, backward",
                         lambda: inside.run("later",
                                            [0] * len(inside.arguments)))
        pointers = [torch.zeros(one.bytes).data_ptr()
                    for one in inside.arguments]
        self.check_error("run 'forward' before each 'backward'",
                         lambda: inside.run("backward", pointers))
        for copied in copy.copy, copy.deepcopy, pickle.dumps:
            self.check_error("is neither copied nor pickled",
                             lambda: copied(step), TypeError)
            self.check_error("is neither copied nor pickled", lambda: copied(
                inside), TypeError)


if __name__ == "__main__":
    unittest.main()
