# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what micro-batches.mlir is trained on.

usage: micro-batches.py FOLDER

weights has parameters and buffers; rows ten micro-batches, of 6, 1, 4, 0, 6, 3, 2,
6, 0 and 0 labels that are not -100; flat the same with all labels; first is the
first one of rows, as a step of one takes it.
"""

import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from importlib import import_module  # noqa: E402

write = import_module("naive-accumulation").write
VALID = (6, 1, 4, 0, 6, 3, 2, 6, 0, 0)


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(11)

    def floats(*sizes, least=-1.0):
        count = 1
        for size in sizes:
            count *= size
        values = [draw.uniform(least, 1) for _ in range(count)]
        return "F32", list(sizes), struct.pack("<%df" % count, *values)

    factor = struct.pack("<4H", 0x3f80, 0xbfc0, 0x3f20, 0x4000)
    embed = floats(7, 4)
    write(folder / "weights", {
        "param.embed.weight": embed, "param.head.weight": embed,
        "param.frozen.weight": floats(4, 4),
        "param.factor": ("BF16", [4], factor),
        "param.bn.weight": floats(4), "param.bn.bias": floats(4),
        "buffer.bn.running_mean": floats(4),
        "buffer.bn.running_var": floats(4, least=0.1),
        "buffer.bn.num_batches_tracked": ("I64", [], struct.pack("<q", 0))})
    tokens, labels, whole = [], [], []
    for valid in VALID:
        places = draw.sample(range(6), valid)
        for i in range(6):
            tokens.append(draw.randrange(7))
            whole.append(draw.randrange(7))
            labels.append(whole[-1] if i in places else -100)
    for name, chosen in (("rows", labels), ("flat", whole)):
        sizes = [len(VALID), 2, 3]
        write(folder / name, {
            "input.0": ("I64", sizes, struct.pack("<60q", *tokens)),
            "input.1": ("I64", sizes, struct.pack("<60q", *chosen))})
    write(folder / "first", {
        "input.0": ("I64", [2, 3], struct.pack("<6q", *tokens[:6])),
        "input.1": ("I64", [2, 3], struct.pack("<6q", *labels[:6]))})


if __name__ == "__main__":
    main()
