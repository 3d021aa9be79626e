# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Groups of parameters as PyTorch's pipelines have them (get_param_groups, on
# nodes of autograd) beside those of --cutback-print-parameter-groups (on ops of
# the joint graph). Models without norms, whose ops are those of the nodes.
#
#   parameter-groups.py CUTBACK CUTBACK_OPT FOLDER

import re
import subprocess
import sys

import torch
from torch import nn
from torch.distributed.pipelining import _backward as pipelining


class Attention(nn.Module):

    def __init__(self):
        super().__init__()
        self.q, self.k, self.o = (nn.Linear(8, 8) for _ in range(3))
        self.v = nn.Linear(8, 8, bias=False)
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        scores = torch.softmax(self.q(x) @ self.k(x).transpose(0, 1), -1)
        return self.o(scores @ self.v(x)) * self.scale + x


class Meeting(nn.Module):
    """Parameters that meet before the input does, and one apart."""

    def __init__(self):
        super().__init__()
        self.w, self.v, self.u = (nn.Parameter(torch.randn(8, 8))
                                  for _ in range(3))

    def forward(self, x):
        return x @ (self.w * self.v).sin() + (x @ self.u).tanh()


class Convolutions(nn.Module):
    """With a layer that is not called."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 4, 3)
        self.b = nn.Conv2d(4, 2, 1, bias=False)
        self.unused = nn.Linear(8, 8)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).sum((2, 3))


class Branches(nn.Module):

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        return self.c(torch.cat([self.a(x).relu(), self.b(x).sigmoid()], 0))


class Chain(nn.Module):
    """What is computed from parameters alone is used in two places."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(8, 8))
        self.v = nn.Parameter(torch.randn(8))
        self.m = nn.Linear(8, 8)

    def forward(self, x):
        z = torch.exp(self.w) * self.v
        return self.m(x @ z) + z.sum(0)


def of_torch(model, x):
    result = model(x)
    node_of = pipelining._get_grad_fn_or_grad_acc
    nodes = {node_of(p): name for name, p in model.named_parameters()}
    groups = pipelining.get_param_groups(
        [node_of(x)], list(nodes),
        pipelining.construct_reverse_graph([result.grad_fn]))
    return sorted(sorted(nodes[p] for p in g["params"]) for g in groups)


def of_cutback(model, x, name):
    cutback, opt, folder = sys.argv[1:]
    path = f"{folder}/{name}.pt2"
    torch.export.save(torch.export.export(model, (x,)), path)
    parameters = [n for n, _ in model.named_parameters()]
    subprocess.run([cutback, "compile", path, "--to=partition",
                    "--grad-of=" + ",".join(["input.0"] + parameters),
                    "-o", f"{folder}/{name}"], check=True)
    text = subprocess.run(
        [opt, f"{folder}/{name}/joint.mlir", "-o", "/dev/null",
         "--cutback-print-parameter-groups"],
        check=True, capture_output=True, text=True).stdout
    by_argument = {"p_" + n.replace(".", "_"): n for n in parameters}
    return sorted(sorted(by_argument[a] for a in names.split(", "))
                  for names in re.findall(r": parameters (.*); ", text))


def main():
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    for model, shape in ((layers, (4, 8)), (Attention(), (4, 8)),
                         (Meeting(), (4, 8)), (Convolutions(), (2, 3, 6, 6)),
                         (Branches(), (4, 8)), (Chain(), (4, 8))):
        name = type(model).__name__
        x = torch.randn(*shape, requires_grad=True)
        theirs, ours = of_torch(model, x), of_cutback(model, x, name)
        print(name, "equal" if theirs == ours else f"{ours}, not {theirs}")


main()
