# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random-inputs.py OUT f32:2x3 i64:4x5<10 ... [--tangent f32:2x3]: a safetensors
file with input.0, input.1, ... and tangent.0 of these types and sizes; integers
are below the bound. random-inputs.py OUT --of MANIFEST BOUND: with all that a
compiled step takes but its seed."""

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
if arguments[0] == "--of":
    with open(arguments[1]) as file:
        taken = [one for one in json.load(file)["arguments"] if one["name"] != "rng_seed"]
    names = [one["name"] for one in taken]
    arguments = ["%s:%s<%s" % (one["dtype"], "x".join(map(str, one["sizes"])), arguments[2])
                 for one in taken]
for name, text in zip(names, arguments):
    kind, sizes = text.split(":")
    sizes, _, bound = sizes.partition("<")
    sizes = [int(size) for size in sizes.split("x") if size]
    count = 1
    for size in sizes:
        count *= size
    if kind == "f32":
        values = [random.uniform(-1, 1) for _ in range(count)]
        piece = struct.pack("<%df" % count, *values)
    elif kind == "i1":
        piece = bytes(random.randrange(2) for _ in range(count))
    else:
        values = [random.randrange(int(bound)) for _ in range(count)]
        piece = struct.pack("<%dq" % count, *values)
    header[name] = {
        "dtype": "BOOL" if kind == "i1" else kind.upper(),
        "shape": sizes,
        "data_offsets": [len(data), len(data) + len(piece)],
    }
    data += piece
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
