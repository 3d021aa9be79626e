# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes files beside it for three small models: what PyTorch's double backward
gives.

NAME.pt2                       the forward program
NAME-penalty.safetensors       input.N; loss and grad.FQN of
                               loss + 10 |dloss/dinput.0|^2
NAME-hessian.safetensors       input.N, a vector for each parameter (tangent.1,
                               ...); grad.FQN, the Hessian times the vectors
NAME-*-exact.safetensors       the same results in float64

A parameter without a gradient does not reach the penalized loss.

usage: recipe.py [FOLDER]
"""

import pathlib
import sys

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F
from torch.export.experimental import _export_forward_backward
from torch.nn.attention import SDPBackend, sdpa_kernel

WEIGHT = 10.0


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 10), nn.Linear(10, 10)
        self.third, self.last = nn.Linear(10, 10), nn.Linear(10, 3)

    def forward(self, x, y):
        x = F.gelu(self.first(x))
        x = torch.tanh(self.second(x))
        x = F.silu(self.third(x))
        return F.mse_loss(self.last(x), y)


class Cnn(nn.Module):
    """Norms of a batch (in training), of groups and of layers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.batch = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 6, 3, stride=2)
        self.group = nn.GroupNorm(2, 6)
        self.layer = nn.LayerNorm(6)
        self.last = nn.Linear(6, 4)

    def forward(self, x, y):
        x = F.silu(self.batch(self.first(x)))
        x = F.avg_pool2d(F.softplus(self.group(self.second(x))), 2)
        return F.cross_entropy(self.last(self.layer(x.flatten(2).mean(2))), y)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(8), 2
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down = nn.Linear(8, 12), nn.Linear(12, 5)

    def forward(self, x, y):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2)
                   for z in self.qkv(self.norm(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, c))
        x = self.down(F.gelu(self.up(x), approximate="tanh"))
        return F.cross_entropy(x.flatten(0, 1), y.flatten())


MODELS = {
    "mlp": (Mlp, lambda: (torch.randn(8, 6), torch.randn(8, 3))),
    "cnn": (Cnn, lambda: (torch.randn(4, 2, 9, 9), torch.randint(4, (4,)))),
    "attention": (Attention, lambda: (torch.randn(2, 5, 8),
                                      torch.randint(5, (2, 5)))),
}


def penalty(model, inputs):
    """The penalized loss and its gradients."""
    inputs = [x.detach().clone() for x in inputs]
    inputs[0].requires_grad_()
    names, parameters = zip(*model.named_parameters())
    loss = model(*inputs)
    slope, = torch.autograd.grad(loss, inputs[0], create_graph=True)
    loss = loss + WEIGHT * (slope * slope).sum()
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    results = {"loss": loss}
    results.update(("grad." + name, gradient)
                   for name, gradient in zip(names, found)
                   if gradient is not None)
    return results


def hessian(model, inputs, vectors):
    """The Hessian times `vectors`."""
    names, parameters = zip(*model.named_parameters())
    first = torch.autograd.grad(model(*inputs), parameters, create_graph=True)
    products = torch.autograd.grad(first, parameters, vectors)
    return {"grad." + name: x for name, x in zip(names, products)}


def save(path, tensors):
    save_file({key: x.detach().contiguous() for key, x in tensors.items()},
              str(path))
    path.chmod(0o644)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                          else pathlib.Path(__file__).parent)
    for name, (kind, draw) in MODELS.items():
        torch.manual_seed(5)
        model, inputs = kind(), draw()
        vectors = [torch.randn_like(p) for p in model.parameters()]
        program = torch.export.export(model, inputs)
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # places of one machine
        torch.export.save(program, str(folder / (name + ".pt2")))
        if name == "cnn":  # with the norms' backwards taken apart
            joint = _export_forward_backward(program)
            for node in joint.graph.nodes:
                node.meta.pop("stack_trace", None)
            torch.export.save(joint, str(folder / (name + "-joint.pt2")))
        given = {"input.%d" % i: x for i, x in enumerate(inputs)}
        given_vectors = {"tangent.%d" % (i + 1): v
                         for i, v in enumerate(vectors)}
        with sdpa_kernel(SDPBackend.MATH):
            save(folder / (name + "-penalty.safetensors"),
                 {**given, **penalty(model, inputs)})
            save(folder / (name + "-hessian.safetensors"),
                 {**given, **given_vectors, **hessian(model, inputs, vectors)})
            model.double()
            wide = [x.double() if x.is_floating_point() else x for x in inputs]
            vectors = [v.double() for v in vectors]
            save(folder / (name + "-penalty-exact.safetensors"),
                 penalty(model, wide))
            save(folder / (name + "-hessian-exact.safetensors"),
                 hessian(model, wide, vectors))


if __name__ == "__main__":
    main()
