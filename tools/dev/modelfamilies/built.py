# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families that PyTorch alone is enough for: training through quantization, by
torch.ao.quantization, and models that branch or loop where they run."""

import torch
import torch.ao.quantization as quantization
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan


class Built:
    def __init__(self, name, maker, *sizes):
        self.name, self._maker, self._sizes = name, maker, sizes

    def make(self):
        return self._maker()

    def inputs(self, batch=4, length=12):
        del length
        return {"x": torch.randn(batch, *self._sizes)}


class Function(nn.Module):
    """`function` of the module and its input."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.linear = nn.Linear(8, 8)
        self.weight = nn.Parameter(torch.randn(8) / 2)

    def forward(self, x):
        return self.function(self, x)


# Quantization

class Block(nn.Module):
    """A convolution whose norm is folded into it while it trains."""

    def __init__(self):
        super().__init__()
        self.into, self.out = (quantization.QuantStub(),
                               quantization.DeQuantStub())
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.relu, self.last = nn.ReLU(), nn.Linear(4, 5)

    def forward(self, x):
        y = self.relu(self.norm(self.conv(self.into(x)))).mean((2, 3))
        return self.out(self.last(y))


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = (quantization.QuantStub(),
                               quantization.DeQuantStub())
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(),
                                    nn.Linear(16, 5))

    def forward(self, x):
        return self.out(self.layers(self.into(x)))


def _prepared(model, sizes, config, fused=()):
    """As a training has it after some steps: observers have seen something."""
    model.train()
    model.qconfig = config
    if fused:
        model = quantization.fuse_modules_qat(model, [list(fused)])
    model = quantization.prepare_qat(model)
    torch.manual_seed(5)
    for _ in range(2):
        model(torch.randn(4, *sizes))
    return model


def _block():
    return _prepared(Block(), (3, 6, 6),
                     quantization.get_default_qat_qconfig("fbgemm"),
                     ("conv", "norm", "relu"))


def _perceptron(config="x86", observes=1, quantizes=1):
    if isinstance(config, str):
        config = quantization.get_default_qat_qconfig(config)
    model = _prepared(Perceptron(), (8,), config)
    for module in model.modules():
        if isinstance(module, quantization.FakeQuantizeBase):
            module.enable_observer(observes)
            module.enable_fake_quant(quantizes)
    return model


def _symmetric():
    grid = quantization.FusedMovingAvgObsFakeQuantize.with_args(
        observer=quantization.MovingAverageMinMaxObserver, quant_min=-128,
        quant_max=127, dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
    return _perceptron(quantization.QConfig(activation=grid, weight=grid))


class Learned(nn.Module):
    """Scales and zero points that are trained (LSQ)."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 5)
        self.scale = nn.Parameter(torch.tensor([0.3]))
        self.zero = nn.Parameter(torch.tensor([-1.3]))
        self.scales = nn.Parameter(torch.rand(5) / 10 + 0.02)
        self.zeros = nn.Parameter(torch.randn(5))

    def forward(self, x):
        aten = torch.ops.aten
        x = aten._fake_quantize_learnable_per_tensor_affine(
            x, self.scale, self.zero, -4, 3, 0.5)
        weight = aten._fake_quantize_learnable_per_channel_affine(
            self.linear.weight, self.scales, self.zeros, 0, -8, 7, 0.25)
        return nn.functional.linear(x, weight, self.linear.bias)


def _grids(net, x):
    """The ops themselves, with numbers and tensors."""
    one, two = torch.tensor([0.2]), torch.tensor([0.2, 0.1] * 4)
    zeros = torch.tensor([0, 1] * 4, dtype=torch.int32)
    y = torch.fake_quantize_per_tensor_affine(x, 0.13, 1, -8, 7)
    z = torch.fake_quantize_per_tensor_affine(net.linear(y), one, zeros[:1],
                                              -8, 7)
    w = torch.fake_quantize_per_channel_affine(net.linear.weight, two, zeros, 0,
                                               -4, 3)
    w = w * torch.fake_quantize_per_channel_affine(
        net.linear.weight, two, zeros.float() + 0.3, 1, -4, 3)
    return z @ w * net.weight


# Control flow

def _branch(net, x):
    return torch.cond(x.sum() > 0, lambda y: (net.linear(y).tanh() * net.weight,),
                      lambda y: (y.pow(2) * net.weight.sum(),), (x,))[0]


def _branch_in_branch(net, x):
    def inner(y):
        return torch.cond(y[0, 0] > 0, lambda z: z.exp() * net.weight,
                          lambda z: z * 2, (y,))
    return torch.cond(x.mean() > 9, lambda y: y.sin(), inner, (net.linear(x),))


def _branch_in_place(net, x):
    def changed(y):
        z = y * net.weight
        z[0].mul_(2)
        return z.relu_()
    return torch.cond(x.sum() > -99, changed, lambda y: y.clone(), (x,))


def _recurrence(net, x):
    last, rounds = scan(
        lambda h, y: ((h * net.weight + net.linear(y)).tanh(), h * y),
        net.weight * 0.1, x, dim=0)
    return last + rounds


def _backwards(net, x):
    return scan(lambda h, y: (h + net.linear(y), h.sin()), x[0], x.cos(),
                dim=0, reverse=True)[1]


def _rows(net, x):
    return map_rows(lambda y, w: (y * w).sin() + net.linear(y), x, net.weight)


def families():
    makers = {
        "qat-block": (_block, 3, 6, 6),
        "qat-perceptron": (_perceptron, 8),
        "qat-qnnpack": (lambda: _perceptron("qnnpack"), 8),
        "qat-observers-off": (lambda: _perceptron(observes=0), 8),
        "qat-only-observed": (lambda: _perceptron(quantizes=0), 8),
        "qat-symmetric": (_symmetric, 8),
        "qat-learned": (Learned, 8),
        "qat-grids": (lambda: Function(_grids), 8),
        "branch": (lambda: Function(_branch), 8),
        "branch-in-branch": (lambda: Function(_branch_in_branch), 8),
        "branch-in-place": (lambda: Function(_branch_in_place), 8),
        "recurrence": (lambda: Function(_recurrence), 8),
        "recurrence-backwards": (lambda: Function(_backwards), 8),
        "map-rows": (lambda: Function(_rows), 8),
    }
    return {name: Built(name, *given) for name, given in makers.items()}
