# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of single operators.

PyTorch tests each of its operators on samples: `op_db` in `torch.testing`, a
part of every installation. A step here is one sample: tensors that take a
gradient are its parameters, the others its inputs. Its loss is a sum of all
that the operator gives, weighted by fixed numbers, times one more parameter, so
that each operator is in a graph with a gradient. Behind the loss come the
operator's results.

The signs of eigenvectors, and of pairs of singular vectors, are free: two
LAPACKs give different ones. For these PyTorch's samples come with a function
that gives what does not depend on signs, and steps are made of that.
"""

import re

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree


FREE_SIGNS = ("linalg.eigh", "linalg.svd", "svd")


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def operators(dtype, only=".", share=(0, 1)):
    """Entries of `op_db` that take `dtype`, by name; with share (k, n) each
    n-th from the k-th on."""
    listed = sorted((op for op in op_db
                     if dtype in op.supported_dtypes("cpu")), key=name_of)
    part, parts = share
    return [op for number, op in enumerate(listed)
            if number % parts == part and re.search(only, name_of(op))]


def samples(op, dtype, count):
    """At most `count` samples, spread over those that there are."""
    torch.manual_seed(0)
    takes = op.supports_autograd and (dtype.is_floating_point
                                      or dtype.is_complex)
    every = list(op.sample_inputs("cpu", dtype, requires_grad=takes))
    if len(every) <= count:
        return list(enumerate(every))
    places = sorted({number * (len(every) - 1) // max(count - 1, 1)
                     for number in range(count)})
    return [(place, every[place]) for place in places]


def weighted(value, number):
    """The sum of the elements of `value`, each times another number."""
    flat = value.reshape(-1)
    places = torch.arange(flat.numel(), dtype=torch.float64)
    weights = (0.7 * places + number).cos()
    if not flat.is_complex():
        return (flat.double() * weights).sum()
    return (flat.real.double() * weights
            + flat.imag.double() * weights.flip(0)).sum()


class Step(torch.nn.Module):
    def __init__(self, op, sample):
        super().__init__()
        leaves, self.spec = pytree.tree_flatten(
            (sample.input, tuple(sample.args), dict(sample.kwargs)))
        self.name = name_of(op)
        self.call = op.op
        self.decided = (sample.output_process_fn_grad
                        if op.name in FREE_SIGNS else lambda results: results)
        self.scale = torch.nn.Parameter(torch.tensor(1.25, dtype=torch.float64))
        self.leaves = []  # a name of a parameter, a place, or what it is
        self.values = []
        for number, leaf in enumerate(leaves):
            if not isinstance(leaf, torch.Tensor):
                self.leaves.append((None, leaf))
            elif leaf.requires_grad:
                name = "p%d" % number
                self.register_parameter(
                    name, torch.nn.Parameter(leaf.detach().clone()))
                self.leaves.append((name, None))
            else:
                self.leaves.append((len(self.values), None))
                self.values.append(leaf.detach().clone())

    def inputs(self):
        return tuple(value.clone() for value in self.values)

    def forward(self, *inputs):
        leaves = [leaf if place is None
                  else getattr(self, place) if isinstance(place, str)
                  else inputs[place] for place, leaf in self.leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        results = [one for one in pytree.tree_leaves(
            self.decided(self.call(first, *args, **kwargs)))
            if isinstance(one, torch.Tensor)]
        total = sum(weighted(one, number)
                    for number, one in enumerate(results))
        return (self.scale * total, *[one.detach().clone() for one in results])


class Batch(torch.nn.Module):
    """Several steps as one: its loss is the sum of theirs."""

    def __init__(self, steps):
        super().__init__()
        self.steps = torch.nn.ModuleList(steps)

    def inputs(self):
        return tuple(value for step in self.steps for value in step.inputs())

    def forward(self, *inputs):
        losses, results = [], []
        for step in self.steps:
            count = len(step.values)
            loss, *own = step(*inputs[:count])
            inputs = inputs[count:]
            losses.append(loss)
            results += own
        return (sum(losses), *results)


def run(step, call, inputs):
    """Loss, results and gradients by the names that they have in files."""
    step.zero_grad(set_to_none=True)
    loss, *results = call(*inputs)
    loss.backward()
    named = {"loss": loss.detach()}
    for number, one in enumerate(results):
        named["output.%d" % (number + 1)] = one.detach().clone()
    for name, parameter in step.named_parameters():
        named["grad." + name] = (None if parameter.grad is None
                                 else parameter.grad.clone())
    return named


def directional(step, inputs, gradients, length=1e-5):
    """The slope of the loss along one direction: by central differences, and by
    each of `gradients`."""
    generator = torch.Generator().manual_seed(7)
    parameters = dict(step.named_parameters())
    direction = {name: torch.randn(value.shape, dtype=value.dtype,
                                   generator=generator)
                 for name, value in parameters.items()}
    losses = []
    with torch.no_grad():
        kept = {name: value.clone() for name, value in parameters.items()}
        for sign in (1, -1):
            for name, value in parameters.items():
                value.copy_(kept[name] + sign * length * direction[name])
            losses.append(step(*inputs)[0].item())
        for name, value in parameters.items():
            value.copy_(kept[name])

    def slope(gradient):
        return sum(torch.sum(gradient["grad." + name].conj()
                             * direction[name]).real.item()
                   for name in parameters
                   if gradient.get("grad." + name) is not None)

    return ((losses[0] - losses[1]) / (2 * length),
            [slope(gradient) for gradient in gradients])
