# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of a training with a scaled loss.

usage: loss-scale.py spoil IN.safetensors ROW OUT.safetensors
       loss-scale.py equal STATE STATE

`spoil`: row ROW of input.0 becomes infinite. `equal`: both states have the same
bits but for the numbers of the training.
"""

import json
import struct
import sys


def read(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    return bytearray(data), json.loads(data[8:8 + size]), 8 + size


def spoil(source, row, target):
    data, entries, start = read(source)
    entry = entries["input.0"]
    begin, end = entry["data_offsets"]
    length = (end - begin) // entry["shape"][0]
    begin += start + int(row) * length
    data[begin:begin + length] = struct.pack("<f", float("inf")) * (length // 4)
    open(target, "wb").write(data)


def state(path):
    data, entries, start = read(path)
    return {name: bytes(data[start + entry["data_offsets"][0]:
                             start + entry["data_offsets"][1]])
            for name, entry in entries.items()
            if name != "__metadata__" and not name.startswith("training.")}


def equal(first, second):
    a, b = state(first), state(second)
    print("%d tensors, %s" % (len(a), "equal" if a == b else "not equal"))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
