# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: modules whose forward is a list of statements.

A program grows by one statement at a time. Each is drawn from a template with
operands among the values that there are, and stays if PyTorch still runs the
whole step, backward included, with finite numbers. At last ranges of statements
are put under `no_grad`, autocast or a checkpoint. The program is its source:
what is kept of a finding is a file that runs by itself.
"""

import dataclasses
import random
import re

import torch

from . import templates

HEAD = """import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def number(shape, dtype, grid):
    value = torch.randn(shape, dtype=torch.float64)
    return ((2 * value).round() / 2 if grid else value).to(dtype)
"""


# [[a|b]]
CHOICE = r"\[\[([^\[\]]*\|[^\[\]]*)\]\]"


@dataclasses.dataclass
class Statement:
    text: str
    target: str = ""  # the name it binds

    def lines(self):
        return [self.target + " = " + self.text if self.target else self.text]


@dataclasses.dataclass
class Region:
    """Statements under `with HEADER:`, or in a function that is checkpointed."""

    header: str
    children: list
    returned: tuple = ()  # of a checkpoint

    def lines(self):
        inner = [line for child in self.children for line in child.lines()]
        if not self.returned:
            return ["with %s:" % self.header] + ["    " + x for x in inner]
        names = "".join(name + ", " for name in self.returned)
        return (["def %s():" % self.header] + ["    " + x for x in inner]
                + ["    return " + names,
                   "(%s) = checkpoint(%s, use_reentrant=False)"
                   % (names, self.header)])


@dataclasses.dataclass
class Program:
    inputs: list = dataclasses.field(default_factory=list)
    state: list = dataclasses.field(default_factory=list)
    body: list = dataclasses.field(default_factory=list)
    losses: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)
    dynamic: bool = False
    head: str = HEAD
    last: list = dataclasses.field(default_factory=list)  # of the constructor

    def source(self, probe=False):
        lines = [self.head, "", "def inputs(batch=5):", "    torch.manual_seed(1)",
                 "    return ["]
        lines += ["        %s,  # x%d" % (text, i)
                  for i, text in enumerate(self.inputs)]
        lines += ["    ]", "", "", "DYNAMIC = %s" % self.dynamic, "", "",
                  "class Step(torch.nn.Module):", "    def __init__(self):",
                  "        super().__init__()", "        torch.manual_seed(2)"]
        lines += ["        " + text for text in self.state + self.last]
        names = "".join(", x%d" % i for i in range(len(self.inputs)))
        lines += ["", "    def forward(self%s):" % names]
        lines += ["        " + line for statement in self.body
                  for line in statement.lines()]
        terms = ["(%s).double().mul(1.25).sin().sum()" % x for x in self.losses]
        lines += ["        loss = " + (" + ".join(terms) or "0"),
                  "        return " + ("locals()" if probe else ", ".join(
                      ["loss"] + self.outputs) + ",")]
        return "\n".join(lines) + "\n"


def load(source):
    space = {}
    exec(compile(source, "<program>", "exec"), space)
    return space


def eager(space, batch=5, step=None):
    """One step: results by the names that `cutback run` gives them."""
    module = step or space["Step"]()
    inputs = space["inputs"](batch)
    values = module(*inputs)
    results = {"loss": values[0].detach()}
    results.update(("output.%d" % i, value.detach().clone())
                   for i, value in enumerate(values[1:], 1))
    if values[0].requires_grad:
        values[0].backward()
    for name, tensor in module.named_parameters(remove_duplicate=False):
        if tensor.requires_grad:
            results["grad." + name] = tensor.grad
    for i, tensor in enumerate(inputs):
        if tensor.requires_grad:
            results["grad.input.%d" % i] = tensor.grad
    results.update(("buffer." + name, tensor.detach())
                   for name, tensor in module.named_buffers())
    return results


def is_tame(value):
    """Finite, and of such numbers that rounding stays small; a number that is
    counted is exact."""
    return (value is None or not value.numel()
            or not (value.is_floating_point() or value.is_complex())
            or bool(torch.isfinite(value).all())
            and bool(value.abs().max() < 1e4))


def _fits(value):
    return value is None or value.numel() <= 3000 and is_tame(value)


class Maker:
    """Makes the program of one seed."""

    def __init__(self, seed, ties=True):
        self.random = random.Random(seed)
        self.program = Program(dynamic=self.random.random() < 0.2)
        self.grid = ties and self.random.random() < 0.5
        self.mixed = self.random.random() < 0.25
        self.count = 0
        self.parameters = 0
        self.env = {}

    def make(self):
        draw = self.random
        for _ in range(draw.randint(1, 3)):
            self.add_input()
        for _ in range(draw.randint(1, 2)):
            self.parameter(draw.choice([(3,), (2, 3), (3, 2), (2, 2, 3), ()]))
        self.refresh()
        target = draw.randint(5, draw.choice([10, 25, 50]))
        tries = 0
        while len(self.program.body) < target and tries < 12 * target:
            tries += 1
            self.add_statement()
        self.choose_results()
        self.wrap()
        return self.program

    # Inputs and state.

    def add_input(self):
        draw = self.random
        shape = draw.choice([(2, 3), (2, 3, 4), (4, 4), (3,), (2, 2, 3, 4),
                             (1, 3), (), (2, 3, 3), (1, 2, 4, 4)])
        text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        if self.program.dynamic and shape:
            text = "batch, " + ", ".join(map(str, shape[1:]))
        kind = draw.random()
        if self.program.inputs and kind < 0.2:
            self.program.inputs.append("torch.randint(-2, 3, (%s))" % text)
        else:
            grad = ".requires_grad_()" if draw.random() < 0.5 else ""
            self.program.inputs.append("number((%s), torch.float64, %s)%s" % (
                text, self.grid, grad))

    def parameter(self, shape):
        draw = self.random
        name = "p%d" % self.parameters
        self.parameters += 1
        dtype = "float32" if self.mixed and draw.random() < 0.5 else "float64"
        frozen = ", False" if draw.random() < 0.15 else ""
        self.program.state.append(
            "self.%s = torch.nn.Parameter(number(%s, torch.%s, %s)%s)"
            % (name, tuple(shape), dtype, self.grid, frozen))
        if draw.random() < 0.1:
            self.program.state.append("self.q%s = self.%s" % (name, name))
        return "self." + name

    def buffer(self, shape):
        name = "b%d" % self.parameters
        self.parameters += 1
        self.program.state.append(
            "self.register_buffer('%s', number(%s, torch.float64, %s))"
            % (name, tuple(shape), self.grid))
        return "self." + name

    # The values that there are.

    def refresh(self):
        """Runs the program; false if PyTorch does not, or numbers are bad."""
        try:
            space = load(self.program.source(probe=True))
            for size in (7, 2, 5) if self.program.dynamic else (5,):
                step, args = space["Step"](), space["inputs"](size)
                tensors = {name: value for name, value in step(*args).items()
                           if isinstance(value, torch.Tensor)
                           and name != "loss"}
                loss = sum(v.double().sin().sum() for v in tensors.values()
                           if v.is_floating_point() and v.requires_grad)
                if isinstance(loss, torch.Tensor):
                    loss.backward()
                leaves = list(step.parameters()) + args
                if not all(map(_fits, list(tensors.values())
                               + [leaf.grad for leaf in leaves])):
                    return False
        except Exception:  # whatever PyTorch says, the statement is drawn anew
            return False
        self.env = tensors
        self.env.update(("self." + name, value)
                        for name, value in step.named_parameters())
        return True

    def add_statement(self):
        draw = self.random
        families = [(templates.UNARY, 5), (templates.BINARY, 4),
                    (templates.REDUCTIONS, 4), (templates.PRODUCTS, 3),
                    (templates.LAYERS, 4), (templates.MOVES, 8),
                    (templates.WRITES, 6), (templates.INDICES, 2),
                    (templates.BUFFERS, 0.5),
                    (templates.CASTS, 3 if self.mixed else 0.3)]
        family = draw.choices([f for f, _ in families],
                              [w for _, w in families])[0]
        writes = family in (templates.WRITES, templates.BUFFERS)
        for _ in range(8):
            state = list(self.program.state), self.parameters
            statement = self.statement(draw.choice(family), writes)
            if statement:
                self.program.body.append(statement)
                if self.refresh():
                    return
                self.program.body.pop()
            self.program.state, self.parameters = state

    # Templates.

    def statement(self, template, writes):
        try:
            text = self.fill(template)
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        if writes:
            return Statement(text)
        target = "v%d" % self.count
        self.count += 1
        return Statement(text, target)

    def fill(self, template):
        draw = self.random
        self.t, self.name, self.dim = None, "t", 0
        text = re.sub(CHOICE,
                      lambda found: draw.choice(found[1].split("|")), template)
        while "{V}" in text or "{U}" in text:
            text = text.replace("{V}", "".join(
                draw.choice(templates.VIEWS)
                for _ in range(draw.choice([1, 1, 2, 3]))), 1)
            text = text.replace("{U}", draw.choice(
                templates.VIEWS + [""] * len(templates.VIEWS)), 1)
            text = re.sub(CHOICE,
                          lambda found: draw.choice(found[1].split("|")), text)
        text = re.sub(r"\{(\w)(?::([^}]*))?\}",
                      lambda hole: self.hole(hole[1], hole[2]), text)
        return re.sub(r"(?<![.\w])t(?=[.,)\]])", self.name, text)

    def pick(self, keep):
        names = [name for name, value in self.env.items() if keep(value)]
        recent = names[-12:]
        return self.random.choice(recent if self.random.random() < 0.7
                                  else names)

    def hole(self, kind, detail):
        draw = self.random
        if kind == "f" or kind in "sc" and self.t is None:
            low, _, high = (detail or "0-9").partition("-")
            name = self.pick(
                lambda v: v.is_floating_point()
                and int(low) <= v.dim() <= int(high or low))
            if self.t is None:
                self.name, self.t = name, self.env[name]
            return name
        if kind in "sc":
            return self.pick(lambda v: v.is_floating_point()
                             and self.fits(v, kind == "s"))
        if kind == "i":
            name = self.pick(lambda v: not v.is_floating_point()
                             and v.dtype != torch.bool and not v.is_complex())
            if self.t is None:
                self.name, self.t = name, self.env[name]
            return name
        if kind == "b":
            if self.t is None:
                self.name = self.pick(lambda v: v.dtype == torch.bool)
                self.t = self.env[self.name]
                return self.name
            try:
                return self.pick(lambda v: v.dtype == torch.bool
                                 and self.fits(v, False))
            except LookupError:
                return "(%s > 0)" % self.hole("s", "")
        if kind == "d":
            rank = max(self.t.dim(), 1)
            self.dim = draw.randrange(rank)
            return str(self.dim - (rank if draw.random() < 0.4 else 0))
        if kind == "e":
            others = [i for i in range(self.t.dim()) if i != self.dim]
            return str(draw.choice(others))
        if kind == "n":
            return str(draw.randint(*map(int, detail.split(","))))
        if kind == "x":
            return draw.choice(["0.5", "-0.5", "2", "-1.0", "0", "1.5", "0.25"])
        shape = eval("(%s,)" % detail if detail != "t.shape" else detail,
                     {"t": self.t})
        return self.parameter(shape) if kind == "P" else self.buffer(shape)

    def fits(self, value, exactly):
        if exactly:
            return value.shape == self.t.shape
        try:
            torch.broadcast_shapes(value.shape, self.t.shape)
            return True
        except RuntimeError:
            return False

    # What the step gives, and regions.

    def choose_results(self):
        draw = self.random
        names = [name for name, value in self.env.items()
                 if value.is_floating_point() and value.requires_grad]
        inner = [name for name in names if name.startswith("v")] or names
        count = draw.choice([1, 2, len(inner), len(inner) // 2])
        self.program.losses = sorted(
            draw.sample(inner, min(max(1, count), len(inner))))
        others = [name for name, value in self.env.items()
                  if name.startswith("v") and not value.is_complex()]
        draw.shuffle(others)
        self.program.outputs = others[:draw.choice([0, 1, 2, 4])]

    def wrap(self):
        draw = self.random
        for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
            before = list(self.program.body)
            start = draw.randrange(len(before))
            end = draw.randint(start + 1, min(len(before), start + 6))
            children = before[start:end]
            kind = draw.choice(["torch.no_grad()", "checkpoint", "checkpoint",
                                "torch.autocast('cpu', torch.bfloat16)"
                                if self.mixed else "torch.enable_grad()"])
            if kind == "checkpoint":
                pure = all(isinstance(one, Statement) and one.target
                           and "self.b" not in one.text
                           for one in before)
                if not pure:
                    continue
                names = tuple(one.target for one in children)
                region = Region("g%d" % start, children, names)
            else:
                region = Region(kind, children)
            self.program.body = before[:start] + [region] + before[end:]
            if not self.steps():
                self.program.body = before

    def steps(self):
        try:
            results = eager(load(self.program.source()))
        except Exception:
            return False
        return all(map(_fits, results.values()))
