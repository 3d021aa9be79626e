# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random-inputs.py OUT f32:2x3 i64:4x5<10 ... [--tangent f32:2x3]: a safetensors
file with input.0, input.1, ... and tangent.0 of these types and sizes; integers
are below the bound."""

import json
import random
import struct
import sys

random.seed(1)
header, data = {}, b""
arguments = sys.argv[2:]
if "--tangent" in arguments:
    arguments.remove("--tangent")
names = ["input.%d" % i for i in range(len(arguments))]
if len(arguments) != len(sys.argv) - 2:
    names[-1] = "tangent.0"
for name, text in zip(names, arguments):
    kind, sizes = text.split(":")
    sizes, _, bound = sizes.partition("<")
    sizes = [int(size) for size in sizes.split("x")]
    count = 1
    for size in sizes:
        count *= size
    if kind == "f32":
        values = [random.uniform(-1, 1) for _ in range(count)]
        piece = struct.pack("<%df" % count, *values)
    else:
        values = [random.randrange(int(bound)) for _ in range(count)]
        piece = struct.pack("<%dq" % count, *values)
    header[name] = {
        "dtype": kind.upper(),
        "shape": sizes,
        "data_offsets": [len(data), len(data) + len(piece)],
    }
    data += piece
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
