# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what half.mlir takes. usage: half.py FOLDER

weights are its parameters; rows six micro-batches, of which the fourth is so large that
its scaled gradients are not finite.
"""

import pathlib
import random
import struct
import sys


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(2)

    def numbers(dtype, sizes, most=1.0):
        count = 1
        for size in sizes:
            count *= size
        kind = {"F16": "e", "F32": "f"}[dtype]
        return dtype, sizes, struct.pack(
            "<%d%s" % (count, kind),
            *(draw.uniform(-most, most) for _ in range(count)))

    def write(path, tensors):
        header, data = [], b""
        for name, (dtype, sizes, raw) in tensors.items():
            header.append(
                '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (
                    name, dtype, sizes, len(data), len(data) + len(raw)))
            data += raw
        text = "{%s}" % ",".join(header)
        text += " " * (-len(text) % 8)
        path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)

    write(folder / "weights", {"param.a": numbers("F32", [4, 8]),
                               "param.b": numbers("F32", [8, 3])})
    rows = {"input.0": [], "input.1": []}
    for row in range(6):
        rows["input.0"].append(numbers("F16", [2, 4])[2])
        rows["input.1"].append(numbers("F16", [2, 3], 40 if row == 3 else 0.1)[2])
    write(folder / "rows", {
        "input.0": ("F16", [6, 2, 4], b"".join(rows["input.0"])),
        "input.1": ("F16", [6, 2, 3], b"".join(rows["input.1"]))})


main()
