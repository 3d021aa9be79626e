# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A call of an op as a line of assembly and a line of data.

import base64
import math
import random

import torch

TYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.bool: "i1",
    torch.complex32: "complex<f16>",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}


class Random(random.Random):
    """Random operands. `dtype` is the floating-point type of this call, one of
    `dtypes`."""

    dtypes = [torch.float32, torch.float32, torch.float64]

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = self.choice(self.dtypes)

    def coin(self):
        return self.random() < 0.5

    def normal(self, *sizes, dtype=None):
        values = [self.gauss(0, 1) for _ in range(math.prod(sizes))]
        values = torch.tensor(values, dtype=torch.float64).reshape(sizes)
        return values.to(dtype or self.dtype)

    def uniform(self, *sizes, low=0.0, high=1.0, dtype=None):
        values = [self.uniform_number(low, high) for _ in range(math.prod(sizes))]
        values = torch.tensor(values, dtype=torch.float64).reshape(sizes)
        return values.to(dtype or self.dtype)

    def uniform_number(self, low, high):
        return low + (high - low) * self.random()

    def complex(self, *sizes):
        half = self.dtype in (torch.bfloat16, torch.float16)
        dtype = torch.float32 if half else self.dtype
        return torch.complex(self.normal(*sizes, dtype=dtype), self.normal(*sizes, dtype=dtype))

    def ints(self, *sizes, low=0, high=10, dtype=torch.int64):
        values = [self.randrange(low, high) for _ in range(math.prod(sizes))]
        return torch.tensor(values, dtype=torch.int64).reshape(sizes).to(dtype)

    def mask(self, *sizes):
        return self.ints(*sizes, high=2, dtype=torch.bool)

    def maybe(self, make):
        return make() if self.coin() else None


class Call:
    """`op` is "mm", "sum.dim_IntList" or "prims.fma"; results in `skip` are not
    compared, `expect` replaces what the op returns."""

    def __init__(self, op, *args, skip=(), expect=None, **kwargs):
        self.op, self.args, self.kwargs = op, args, kwargs
        self.skip, self.expect = skip, expect

    def function(self):
        name, _, overload = self.op.partition(".")
        return getattr(getattr(torch.ops.aten, name), overload or "default")

    def run(self):
        if self.expect is not None:
            return self.expect
        result = self.function()(*self.args, **self.kwargs)
        return result if isinstance(result, (tuple, list)) else (result,)


def type_of(value):
    if value is None:
        return "none"
    if isinstance(value, int):
        return "index"
    sizes = "".join(f"{size}x" for size in value.shape)
    return f"tensor<{sizes}{TYPES[value.dtype]}>"


def data_of(tensor):
    # A tensor of one element may keep any stride, so a new one it is.
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    flat.copy_(tensor.detach().reshape(-1))
    raw = bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""
    return base64.b64encode(raw).decode() or "="


class Writer:
    def __init__(self):
        self.operands = []

    def text(self, value):
        if value is None:
            return "none"
        if isinstance(value, torch.Tensor):
            self.operands.append(value)
            return f"%{len(self.operands) - 1}"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                return str(value)
            text = f"{value:.17g}"
            if "." not in text:
                head, e, tail = text.partition("e")
                text = head + ".0" + e + tail
            return text
        if isinstance(value, str):
            return f'"{value}"'
        if isinstance(value, torch.dtype):
            return TYPES[value]
        return "[" + ", ".join(self.text(entry) for entry in value) + "]"

    def lines(self, call):
        results = call.run()
        arguments = [self.text(arg) for arg in call.args]
        arguments += [f"{k} = {self.text(v)}" for k, v in call.kwargs.items()]
        types = ", ".join(type_of(operand) for operand in self.operands)
        made = ", ".join(type_of(result) for result in results)
        if len(results) != 1:
            made = f"({made})"
        line = f"aten.{call.op}({', '.join(arguments)}) : ({types}) -> {made}\n"
        given = [data_of(operand) for operand in self.operands]
        got = ["-" if i in call.skip or not isinstance(r, torch.Tensor) else data_of(r)
               for i, r in enumerate(results)]
        return line + " ".join(given) + " -> " + " ".join(got) + "\n"


def write(makers, count, seed):
    """`count` calls of each maker (times its `times`); a maker may return None or
    many calls."""
    text = []
    for maker in makers:
        for number in range(int(count * getattr(maker, "times", 1))):
            random_numbers = Random(f"{seed} {maker.__name__} {number}")
            try:
                made = maker(random_numbers)
            except RuntimeError:
                # Some ops lack 16-bit kernels on this machine.
                if torch.float32 in Random.dtypes:
                    raise
                continue
            for call in made if isinstance(made, list) else [made]:
                if call is None:
                    continue
                try:
                    text.append(Writer().lines(call))
                except RuntimeError:
                    if torch.float32 in Random.dtypes:
                        raise
    return "".join(text)
