# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of a group: two processes, each with the step that torch.compile makes
of a model with collectives. Their gradients are those of both ranks' losses
together, computed in one process without collectives."""

import os
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.distributed as dist

collectives = torch.ops._c10d_functional


class Layers(torch.nn.Module):
    """What ranks look up goes to the other; a gather between layers."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(16, 4)
        self.bottom = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        self.top = torch.nn.Linear(8, 4)

    def before(self, looked, x):
        return self.top(torch.cat([looked, self.bottom(x)], 1))

    @staticmethod
    def loss(both):
        return (both.sin() * both).mean()


class Rank(Layers):
    def __init__(self, group):
        super().__init__()
        self.group = group

    def forward(self, rows, x):
        looked = collectives.wait_tensor(collectives.all_to_all_single(
            self.table(rows), [4, 4], [4, 4], self.group))
        both = collectives.wait_tensor(collectives.all_gather_into_tensor(
            self.before(looked, x), 2, self.group))
        return collectives.wait_tensor(
            collectives.all_reduce(self.loss(both), "sum", self.group))


def inputs_of(rank):
    torch.manual_seed(10 + rank)
    return torch.randint(0, 16, (8,)), torch.randn(8, 6)


def gradients(loss, model):
    loss.backward()
    return [p.grad for p in model.parameters()]


def expected(rank):
    """Both ranks in this process: the gradients of the sum of their losses."""
    ranks = []
    for _ in range(2):
        torch.manual_seed(3)
        ranks.append(Layers())
    rows, xs = zip(*map(inputs_of, range(2)))
    looked = [one.table(row) for one, row in zip(ranks, rows)]
    both = torch.cat([
        ranks[0].before(torch.cat([looked[0][:4], looked[1][:4]]), xs[0]),
        ranks[1].before(torch.cat([looked[0][4:], looked[1][4:]]), xs[1])])
    loss = 2 * Layers.loss(both)
    return [loss.detach()] + gradients(2 * loss, ranks[rank])


def run_rank(rank, folder):
    dist.init_process_group("gloo", rank=rank, world_size=2,
                            store=dist.FileStore(folder + "/store", 2))
    torch.manual_seed(3)
    model = Rank(dist.group.WORLD.group_name)
    loss = torch.compile(model, backend="cutback")(*inputs_of(rank))
    got = [loss.detach()] + gradients(loss, model)
    for one, other in zip(expected(rank), got, strict=True):
        torch.testing.assert_close(other, one)
    print("rank", rank, "agrees in", len(got), "tensors")
    dist.destroy_process_group()


class Collectives(unittest.TestCase):
    def test_two_processes_have_pytorchs_gradients(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen(
                [sys.executable, "-B", os.path.abspath(__file__), str(rank),
                 folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) for rank in range(2)]
            for number, rank in enumerate(ranks):
                out, errors = rank.communicate(timeout=300)
                self.assertEqual(rank.returncode, 0, errors)
                self.assertIn("rank %d agrees in 8 tensors" % number, out)


if __name__ == "__main__":
    run_rank(int(sys.argv[1]), sys.argv[2])
