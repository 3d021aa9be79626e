# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a training with PyTorch's.

usage: check-train.py EXPECTED.safetensors EXPECTED.json NAME OUTPUT STATE

Losses and norms of OUTPUT, the lines of `cutback train`, must be within 1e-5 of
those of NAME in the JSON file, parameters of STATE within 1e-5 of `NAME.param.*`.
"""

import array
import json
import re
import struct
import sys


def tensors(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8:8 + size]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            yield name, array.array("f", data[8 + size + begin:8 + size + end])


def off(name, ours, theirs):
    if len(ours) != len(theirs):
        sys.exit("%s: %d of %d" % (name, len(ours), len(theirs)))
    return max((abs(a - b) for a, b in zip(ours, theirs)), default=0.0)


def main():
    expected, curves, training, output, state = sys.argv[1:]
    text, curve = open(output).read(), json.load(open(curves))[training]
    worst = 0.0
    for name in ("loss", "norm"):
        ours = [float(one) for one in re.findall(name + r" (\S+)", text)]
        worst = max(worst, off(name, ours, curve[name]))
    ours, count = dict(tensors(state)), 0
    for name, theirs in tensors(expected):
        if name.startswith(training + ".param."):
            worst = max(worst, off(name, ours[name[len(training) + 1:]], theirs))
            count += 1
    print("%s: %d steps, %d parameters, %s" % (
        training, len(curve["loss"]), count,
        "agree" if worst <= 1e-5 else "off by %g" % worst))


if __name__ == "__main__":
    main()
