# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes model.pt2, which needs PyTorch 2.13: a recommendation model on two
ranks. Rows that one rank looks up go to the other (an exchange), next to dense
layers; both meet in the layers on top; the loss is the mean over ranks. The
group is a stand-in, nothing is sent.

    python recipe.py model.pt2
"""

import sys

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

collectives = torch.ops._c10d_functional


class Model(torch.nn.Module):
    def __init__(self, group):
        super().__init__()
        self.group = group
        self.table = torch.nn.Embedding(16, 4)
        self.bottom = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        self.top = torch.nn.Linear(8, 1)

    def forward(self, rows, x, y):
        exchange = collectives.all_to_all_single(
            self.table(rows), [4, 4], [4, 4], self.group)
        exchange = collectives.wait_tensor(exchange)
        dense = self.bottom(x)
        out = self.top(torch.cat([exchange, dense], 1))
        loss = torch.nn.functional.mse_loss(out, y)
        loss = collectives.all_reduce(loss / 2, "sum", self.group)
        return collectives.wait_tensor(loss)


def main(path):
    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    torch.manual_seed(0)
    model = Model(dist.group.WORLD.group_name)
    inputs = (torch.randint(0, 16, (8,)), torch.randn(8, 6), torch.randn(8, 1))
    program = torch.export.export(model, inputs)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
