# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled stages under PyTorch's schedules: two processes with gloo, and the
methods of a stage in one."""

import copy
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
import weakref

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import pipelining as theirs
from torch.distributed.pipelining import schedules
from torch.nn import functional as F

import cutback
from cutback import pipelining

MICRO_BATCHES = 4
ROWS = 3  # of a micro-batch


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.mixed = nn.Linear(size, 3 * size)
        self.joined = nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 32), nn.Linear(32, size)

    def forward(self, x):
        parts = self.mixed(self.before(x)).unflatten(
            -1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        looked = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.joined(looked.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.between(x))))


class Gpt(nn.Module):
    """Its loss is inside, its head tied to the embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(24, 16)
        self.blocks = nn.ModuleList(Block(16, 2) for _ in range(2))
        self.head = nn.Linear(16, 24, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return loss, logits

    def batch(self, count):
        return tuple(torch.randint(24, (count, 5)) for _ in range(2))


class Skips(nn.Module):
    """The loss is outside. What the first stage makes the last one reads, and so
    is an input; integers and flags cross; the batch norms write."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.norms = nn.ModuleList(nn.BatchNorm1d(6) for _ in range(4))
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x, weight, flag=True):
        first = self.norms[0](self.parts[0](x)).tanh()
        column, positive = first.argmax(1), first > 0
        x = self.norms[1](self.parts[1](first)).relu() * self.scale
        x = self.norms[2](self.parts[2](x * positive)) + first
        x = self.norms[3](self.parts[3](x)) + first.square() * self.scale
        return x * weight, x.gather(1, column[:, None])

    def batch(self, count):
        return torch.randn(count, 6), torch.rand(count, 6)


def outside(output, target):
    return F.mse_loss(output[0], target) + output[1].square().mean()


CASES = {
    "gpt": (Gpt, {2: ["blocks.1"], 4: ["blocks.0", "blocks.1", "head"]}),
    "skips": (Skips, {2: ["parts.2"], 4: ["parts.1", "parts.2", "parts.3"]}),
}
SCHEDULES = {
    "1F1B": (2, schedules.Schedule1F1B),
    "InterleavedZeroBubble": (4, schedules.ScheduleInterleavedZeroBubble),
    "ZBVZeroBubble": (4, schedules.ScheduleZBVZeroBubble),
}


def made(name):
    torch.manual_seed(3)
    return CASES[name][0]()


def split(name, count, folder=None):
    model = made(name)
    with torch.random.fork_rng():
        args = model.batch(ROWS)
    return pipelining.split(
        model, args, split_spec={one: "begin" for one in CASES[name][1][count]},
        folder=folder)


def batch_of(model):
    torch.manual_seed(5)
    batch = model.batch(MICRO_BATCHES * ROWS)
    return batch, torch.randn(MICRO_BATCHES * ROWS, 6)


def eager(name):
    """Losses and outputs of micro-batches, and the model after them."""
    model = made(name)
    batch, target = batch_of(model)
    losses, outputs = [], []
    for i in range(MICRO_BATCHES):
        rows = slice(i * ROWS, (i + 1) * ROWS)
        given = model(*(one[rows] for one in batch))
        loss = given[0] if name == "gpt" else outside(given, target[rows])
        (loss / MICRO_BATCHES).backward()
        losses.append(loss.detach())
        outputs.append(given)
    return losses, [torch.cat([one.reshape(one.shape or 1) for one in parts])
                    for parts in zip(*outputs)], model


def check_module(stage, model):
    """Gradients, parameters and buffers of a stage against the model's."""
    theirs_by_name = dict(model.named_parameters(remove_duplicate=False))
    for name, one in stage.submod.named_parameters():
        torch.testing.assert_close(one.grad, theirs_by_name[name].grad,
                                   rtol=1e-4, atol=1e-6, msg=lambda text:
                                   "%s: %s" % (name, text))
    buffers = dict(model.named_buffers())
    for name, one in stage.submod.named_buffers():
        torch.testing.assert_close(one, buffers[name])


def stages_of(schedule, rank, build):
    count, kind = SCHEDULES[schedule]
    if count == 2:
        return [build(rank)]
    last = 3 - rank if "V" in schedule else rank + 2
    return [build(rank), build(last)]


def run_schedule(schedule, name, stages, rank):
    loss_fn = pipelining.first_output if name == "gpt" else outside
    kind = SCHEDULES[schedule][1]
    runs = kind(stages if SCHEDULES[schedule][0] == 4 else stages[0],
                MICRO_BATCHES, loss_fn=loss_fn)
    batch, target = batch_of(made(name))
    losses = []
    given = batch if any(one.is_first for one in stages) else ()
    for one in stages:
        one.submod.zero_grad()
    output = runs.step(*given, target=target, losses=losses)
    pipelining.sync_replicated_grads(stages)
    return losses, output


def run_rank(rank, folder):
    dist.init_process_group("gloo", rank=rank, world_size=2,
                            store=dist.FileStore(folder + "/store", 2))
    for name in CASES:
        losses, outputs, model = eager(name)
        for schedule, (count, _) in SCHEDULES.items():
            stages = stages_of(schedule, rank, lambda k: pipelining.build_stage(
                "%s/%s%d" % (folder, name, count), k, "cpu"))
            got, output = run_schedule(schedule, name, stages, rank)
            for stage in stages:
                check_module(stage, model)
            if any(one.is_last for one in stages):
                torch.testing.assert_close(got, losses)
                torch.testing.assert_close(list(output), outputs)
            print("rank", rank, schedule, "of", name, "is eager's")
    dist.destroy_process_group()


class TwoProcesses(unittest.TestCase):
    def test_three_schedules_have_eager_gradients(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in CASES:
                for count in (2, 4):
                    split(name, count, "%s/%s%d" % (folder, name, count))
            ranks = [subprocess.Popen(
                [sys.executable, "-B", os.path.abspath(__file__), str(rank),
                 folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                for rank in range(2)]
            said = [rank.communicate(timeout=200) for rank in ranks]
            for out, errors in said:
                self.assertEqual(out.count("is eager's"), 6, said)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_rank(int(sys.argv[1]), sys.argv[2])
