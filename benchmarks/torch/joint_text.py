# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the text of a joint graph back into PyTorch's own FX graph.

The text is Python, so `ast` reads it; what it declares of every value (type,
sizes, strides, device, symbols) becomes a fake tensor in `meta["val"]`, which
is all that PyTorch's partitioner looks at. Nothing is executed. Linear.

Limits: hooks, submodules and effect tokens do not occur in these texts.
"""

import ast
import operator
import re

import torch
import torch.distributed.pipelining  # defines pippy's pipe_split
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils.checkpoint import CheckpointPolicy

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
    "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
    "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
    "b8": torch.bool, "c64": torch.complex64, "c128": torch.complex128,
}
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}
TENSOR = re.compile(r"^(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?(.*)$", re.S)
TAG = re.compile(r"ac_graph_id: (\d+) - ([A-Z_]+)")


def dotted(node):
    """`torch.ops.aten.mm.default` as that object."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id != "torch":
        raise ValueError(f"no target: {ast.unparse(node)}")
    value = torch
    for name in reversed(names):
        value = getattr(value, name)
    return value


class Symbols:
    """Symbolic sizes with their hints, and the functions of their texts."""

    def __init__(self, hints):
        self.env = ShapeEnv()
        self.names = {
            "Max": torch.sym_max, "Min": torch.sym_min,
            "ToFloat": torch.sym_float, "TruncToInt": torch.sym_int,
            "FloatTrueDiv": operator.truediv, "IntTrueDiv": operator.truediv,
            "FloorDiv": operator.floordiv, "PythonMod": operator.mod,
            "Mod": operator.mod, "FloatPow": operator.pow,
            "Eq": operator.eq, "Ne": operator.ne,
            "OpaqueUnaryFn_sqrt": torch.sym_sqrt,
        }
        from torch._dynamo.source import ConstantSource
        for name, hint in hints.items():
            source = ConstantSource(name)
            symbol = self.env.create_symbol(
                hint, source, dynamic_dim=DimDynamic.DYNAMIC,
                constraint_dim=None)
            self.names[name] = self.env.create_symintnode(
                symbol, hint=hint, source=source)

    def value(self, text):
        return eval(text, {"__builtins__": {}}, self.names)


class Reader:
    def __init__(self, text, hints, device):
        self.text, self.device = text, device
        self.symbols = Symbols(hints)
        self.mode = FakeTensorMode(shape_env=self.symbols.env,
                                   allow_non_fake_inputs=True)
        self.graph = fx.Graph()
        self.nodes, self.results, self.root = {}, {}, torch.nn.Module()

    def sizes(self, text):
        value = self.symbols.value(f"({text},)") if text else ()
        return list(value)

    def fake(self, annotation):
        """The value that a declared type stands for, None without one."""
        if not annotation or annotation == "None":
            return None
        if annotation.startswith("Sym("):
            return self.symbols.value(annotation[4:-1])
        match = TENSOR.match(annotation)
        if not match:
            raise ValueError(f"no type: {annotation}")
        dtype, sizes, strides, device = match.groups()
        sizes = self.sizes(sizes)
        device = torch.device(device or self.device)
        with self.mode:
            if strides is None:
                return torch.empty(sizes, dtype=DTYPES[dtype], device=device)
            return torch.empty_strided(sizes, self.sizes(strides),
                                       dtype=DTYPES[dtype], device=device)

    def argument(self, node):
        if isinstance(node, ast.Name):
            if node.id in self.nodes:
                return self.nodes[node.id]
            return {"inf": float("inf"), "nan": float("nan")}[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.argument(element) for element in node.elts]
        if isinstance(node, ast.UnaryOp):
            value = self.argument(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Call):  # device(type='cuda', index=0)
            words = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
            return torch.device(words["type"], words.get("index", 0))
        return dotted(node)

    def create(self, value, name):
        if isinstance(value, ast.Call):
            return self.graph.create_node(
                "call_function", dotted(value.func),
                tuple(self.argument(a) for a in value.args),
                {k.arg: self.argument(k.value) for k in value.keywords}, name)
        if isinstance(value, ast.Subscript):
            target = operator.getitem
            args = (self.argument(value.value), self.argument(value.slice))
        elif isinstance(value, ast.BinOp):
            target = OPERATORS[type(value.op)]
            args = (self.argument(value.left), self.argument(value.right))
        elif isinstance(value, ast.Compare):
            target = OPERATORS[type(value.ops[0])]
            args = (self.argument(value.left),
                    self.argument(value.comparators[0]))
        elif isinstance(value, ast.UnaryOp):
            target = OPERATORS[type(value.op)]
            args = (self.argument(value.operand),)
        elif isinstance(value, ast.Attribute):
            self.root.register_buffer(name, torch.empty(()))
            return self.graph.create_node("get_attr", name, (), {}, name)
        else:
            raise ValueError(f"no call: {ast.unparse(value)}")
        return self.graph.create_node("call_function", target, args, {}, name)

    def describe(self, node, annotation, tag):
        if annotation:
            node.meta["val"] = self.fake(annotation)
        if tag:
            node.meta["ac_graph_id"] = tag[0]
            node.meta["recompute"] = tag[1]
        if node.target is operator.getitem:
            self.results.setdefault(node.args[0], {})[node.args[1]] = \
                node.meta.get("val")

    def statement(self, statement, tag):
        value = statement.value
        if isinstance(statement, ast.AnnAssign):
            name, annotation = statement.target.id, statement.annotation
            annotation = (annotation.value
                          if isinstance(annotation, ast.Constant)
                          else ast.unparse(annotation))
        else:
            target = statement.targets[0]
            if isinstance(value, ast.Constant) or isinstance(target, ast.Tuple):
                return  # "x = None": x is dead; the signature's unpacking
            name, annotation = target.id, None
        node = (self.graph.placeholder(name) if value is None
                else self.create(value, name))
        self.nodes[name] = node
        self.describe(node, annotation, tag)

    def tags_by_line(self):
        """A comment holds until the next one."""
        tags, current = {}, None
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.lstrip().startswith("#"):
                match = TAG.search(line)
                current = match and (int(match[1]),
                                     CheckpointPolicy[match[2]])
            if current:
                tags[number] = current
        return tags

    def read(self):
        tags = self.tags_by_line()
        function = next(f for f in ast.walk(ast.parse(self.text))
                        if isinstance(f, ast.FunctionDef)
                        and f.name == "forward")
        for argument in function.args.args[1:]:
            if argument.annotation is not None:  # the form of 2023
                node = self.graph.placeholder(argument.arg)
                self.nodes[argument.arg] = node
                text = argument.annotation
                self.describe(node, text.value if isinstance(text, ast.Constant)
                              else ast.unparse(text), None)
        for statement in function.body:
            if isinstance(statement, ast.Return):
                outputs = statement.value.args[0]
                self.graph.output([self.argument(o) for o in outputs.elts])
            else:
                self.statement(statement, tags.get(statement.lineno))
        for node, results in self.results.items():
            node.meta["val"] = tuple(results.get(i)
                                     for i in range(max(results) + 1))
        for node in self.graph.nodes:
            # A call of several results of which none is read.
            schema = getattr(node.target, "_schema", None)
            if node.op == "call_function" and "val" not in node.meta and \
                    schema is not None and len(schema.returns) > 1:
                node.meta["val"] = ()
        return self.root, self.graph, self.mode


def read_joint_text(text, hints, device):
    """Root module, graph and fake mode; `hints` are sizes by symbol, `device` is where
    tensors lie whose type does not say it."""
    return Reader(text, hints, device).read()
