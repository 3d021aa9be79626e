# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cutback.compile(optimizer=...): trainings whose backward updates parameters,
beside PyTorch's own."""

import copy
import pathlib
import tempfile
import unittest

import torch

import cutback
import torch_compiled
from torch_compiled import batch, largest


class Net(torch_compiled.Net):
    """The gradient of a bias before a norm is zero but for rounding, of which
    Adam makes a step of any size."""

    def __init__(self):
        super().__init__()
        self.first.register_parameter("bias", None)


def split(model, **settings):
    """Two groups, as trainings have them."""
    many = [one for one in model.parameters() if one.ndim > 1]
    few = [one for one in model.parameters() if one.ndim < 2]
    return [{"params": many}, {"params": few, **settings}]


OPTIMIZERS = {
    "adamw": lambda model: torch.optim.AdamW(model.parameters(), lr=0.01),
    "groups": lambda model: torch.optim.AdamW(
        split(model, weight_decay=0), lr=0.01, weight_decay=0.1),
    "adam": lambda model: torch.optim.Adam(
        model.parameters(), lr=0.01, betas=(0.8, 0.9), eps=1e-6),
    "nesterov": lambda model: torch.optim.SGD(
        model.parameters(), lr=0.05, momentum=0.9, nesterov=True,
        weight_decay=0.01),
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.05),
}


def train(call, optimizer, schedule, steps):
    losses = []
    for seed in steps:
        optimizer.zero_grad()
        loss = call(*(one.detach() for one in batch(seed)))[0]
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def schedule_of(optimizer):
    return torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


class Updates(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def step_for(self, optimizer=OPTIMIZERS["adamw"], model=None, **given):
        model = model or Net()
        made = optimizer(model)
        given.setdefault("args", batch())
        return model, made, cutback.compile(model, optimizer=made, **given)

    def check_equal(self, model, other):
        self.assertLess(largest([*model.parameters(), *model.buffers()],
                                [*other.parameters(), *other.buffers()]), 2e-5)

    def test_a_training_is_that_of_pytorch(self):
        for name, make in OPTIMIZERS.items():
            with self.subTest(name):
                model = Net()
                other = copy.deepcopy(model)
                _, mine, step = self.step_for(make, model)
                theirs = make(other)
                ours = train(step, mine, schedule_of(mine), range(20))
                wanted = train(other, theirs, schedule_of(theirs), range(20))
                for one, two in zip(ours, wanted):
                    self.assertAlmostEqual(one, two, places=4)
                self.check_equal(model, other)
                self.assertTrue(all(one.grad is None
                                    for one in model.parameters()))

    def test_its_state_goes_on_in_pytorch_and_back(self):
        model = Net()
        other = copy.deepcopy(model)
        _, mine, step = self.step_for(model=model)
        theirs = OPTIMIZERS["adamw"](other)
        train(step, mine, schedule_of(mine), range(3))
        train(other, theirs, schedule_of(theirs), range(3))
        kept = copy.deepcopy(mine.state_dict())
        for key in ("exp_avg", "exp_avg_sq", "step"):
            self.assertLess(largest(
                [one[key] for one in kept["state"].values()],
                [one[key] for one in theirs.state_dict()["state"].values()]),
                1e-5)
        mine.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(kept)
        train(step, mine, schedule_of(mine), range(3, 6))
        train(other, theirs, schedule_of(theirs), range(3, 6))
        self.check_equal(model, other)

    def test_what_is_frozen_stays_and_inputs_have_gradients(self):
        model = Net()
        model.last.requires_grad_(False)
        other = copy.deepcopy(model)
        last = model.last.weight.clone()
        _, mine, step = self.step_for(
            lambda model: torch.optim.SGD(model.parameters(), lr=0.1),
            model)
        x, y = batch()
        step(x, y)[0].backward()
        self.assertTrue(torch.equal(model.last.weight, last))
        z = x.detach().clone().requires_grad_()
        other(z, y)[0].backward()
        self.assertLess(largest([x.grad], [z.grad]), 1e-5)

    def test_it_needs_less_memory(self):
        def wide():
            return torch.nn.Sequential(*(torch.nn.Linear(64, 64)
                                         for _ in range(8)),
                                       torch.nn.Linear(64, 1),
                                       torch.nn.Flatten(0))

        class Loss(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = wide()

            def forward(self, x):
                return self.inner(x).square().mean()

        x = torch.randn(4, 64)
        model = Loss()
        plain = cutback.compile(model, (x,))
        _, _, step = self.step_for(model=model, args=(x,))
        self.assertLess(step.arena_bytes, 0.5 * plain.arena_bytes)

    def test_a_folder_is_loaded_with_its_optimizer(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "step"
            model, mine, step = self.step_for(folder=folder)
            other = copy.deepcopy(model)
            x, y = batch()
            step(x, y)[0].backward()
            again = cutback.load(folder, other,
                                 optimizer=OPTIMIZERS["adamw"](other))
            again(x, y)[0].backward()
            self.assertEqual(largest(model.parameters(), other.parameters()), 0)
            with self.assertRaisesRegex(cutback.CutbackError,
                                        "is loaded with none"):
                cutback.load(folder, other)

    def refuse(self, message, optimizer, model=None):
        with self.assertRaisesRegex(cutback.CutbackError, message):
            self.step_for(optimizer, model)

    def test_what_a_step_does_not_have_is_refused(self):
        self.refuse("a Adagrad: a step updates by",
                    lambda model: torch.optim.Adagrad(model.parameters()))
        self.refuse("amsgrad=True", lambda model: torch.optim.AdamW(
            model.parameters(), amsgrad=True))
        self.refuse("weight_decay=0.1", lambda model: torch.optim.Adam(
            model.parameters(), weight_decay=0.1))
        self.refuse("learning rates 0.001, 0.1", lambda model:
                    torch.optim.AdamW(split(model, lr=0.1)))
        self.refuse("weight decays 0.01, 0.5", lambda model:
                    torch.optim.AdamW(split(model, weight_decay=0.5)))
        self.refuse("betas=", lambda model: torch.optim.AdamW(
            split(model, betas=(0.5, 0.5))))
        self.refuse("'norm.weight' requires a gradient, and the optimizer does"
                    " not have it", lambda model: torch.optim.SGD(
                        [model.first.weight], lr=0.1))

    def test_what_would_be_a_wrong_update_is_refused(self):
        model, mine, step = self.step_for()
        x, y = batch()
        before = [one.detach().clone() for one in model.parameters()]
        with self.assertRaisesRegex(cutback.CutbackError,
                                    "gradient of the loss is 0.5, not 1"):
            (step(x, y)[0] / 2).backward()
        mine.param_groups[0]["betas"] = (0.5, 0.5)
        with self.assertRaisesRegex(cutback.CutbackError,
                                    "settings of the optimizer have changed"):
            step(x, y)[0].backward()
        mine.param_groups[0]["betas"] = (0.9, 0.999)
        loss = step(x, y)[0]
        with torch.no_grad():
            model.last.weight.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace"):
            loss.backward()
        with torch.no_grad():
            model.last.weight.sub_(1)
        self.assertLess(largest(before, model.parameters()), 1e-6)
        model.last.bias = torch.nn.Parameter(model.last.bias.detach())
        with self.assertRaisesRegex(cutback.CutbackError,
                                    "another tensor than the one that the"):
            step(x, y)[0].backward()

    def test_a_forward_alone_changes_nothing(self):
        model, mine, step = self.step_for()
        before = [one.detach().clone() for one in model.parameters()]
        with torch.no_grad():
            step(*batch())
        self.assertEqual(largest(before, model.parameters()), 0)
        self.assertFalse(any(one["step"] for one in mine.state.values()))


if __name__ == "__main__":
    unittest.main()
