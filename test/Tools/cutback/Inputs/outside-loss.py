# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What outside-loss.mlir takes: small whole numbers, so that no sum rounds.

usage: outside-loss.py FOLDER
"""

import pathlib
import random
import struct
import sys


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(4)

    def floats(*sizes):
        count = 1
        for size in sizes:
            count *= size
        values = [draw.randrange(-4, 5) for _ in range(count)]
        return list(sizes), struct.pack("<%df" % count, *values)

    def write(path, tensors):
        header, data = [], b""
        for name, (sizes, raw) in tensors.items():
            header.append(
                '"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}' % (
                    name, sizes, len(data), len(data) + len(raw)))
            data += raw
        text = "{%s}" % ",".join(header)
        text += " " * (-len(text) % 8)
        path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)

    write(folder / "weights", {"param.a": floats(3, 3),
                               "param.b": floats(3, 2)})
    batch = {
        "input.0": floats(8, 3), "input.1": ([], struct.pack("<f", 2)),
        "input.2": floats(2, 8), "tangent.0": floats(8, 2),
        "tangent.1": floats(2, 8), "tangent.6": floats(3)}
    write(folder / "whole-batch", batch)
    # The program that is not cut begins with one where an output is a number.
    one = [], struct.pack("<f", 1)
    write(folder / "batch", {**batch, "tangent.2": one, "tangent.3": one,
                             "tangent.4": one})


main()
