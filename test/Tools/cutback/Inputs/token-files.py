# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tokens as flat files, and the batches that training cuts from them.

usage: token-files.py FOLDER

tokens.u16 and tokens.u32 are 500 ids below 64; rows.safetensors has, for six
steps of two rows of 32 tokens, `input.0` and the tokens after those, `input.1`,
uneven.safetensors one step less of the second.
held.u16 are others; short.u16 is no batch, odd.u16 no number of tokens, wild.u16 ids above all others.
norm.safetensors and norm-held.safetensors are batches of norm.mlir,
norm-weights.safetensors what it begins with.
"""

import pathlib
import random
import struct
import sys

ROWS, LENGTH, STEPS, COUNT = 2, 32, 6, 500


def write_tensors(path, tensors):
    header, data = [], b""
    for name, (dtype, sizes, raw) in tensors.items():
        header.append('"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (
            name, dtype, list(sizes), len(data), len(data) + len(raw)))
        data += raw
    text = "{%s}" % ",".join(header)
    text += " " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)


def batches(tokens, ahead):
    windows = (len(tokens) - 1) // LENGTH
    ids = []
    for row in range(STEPS * ROWS):
        begin = row % windows * LENGTH + ahead
        ids += tokens[begin:begin + LENGTH]
    return "I64", (STEPS, ROWS, LENGTH), struct.pack("<%dq" % len(ids), *ids)


def numbers(draw, *sizes):
    count = 1
    for size in sizes:
        count *= size
    values = [draw.uniform(-1, 1) for _ in range(count)]
    return "F32", sizes, struct.pack("<%df" % count, *values)


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(5)
    tokens = [draw.randrange(64) for _ in range(COUNT)]
    (folder / "tokens.u16").write_bytes(struct.pack("<500H", *tokens))
    (folder / "tokens.u32").write_bytes(struct.pack("<500I", *tokens))
    held = [draw.randrange(64) for _ in range(COUNT)]
    (folder / "held.u16").write_bytes(struct.pack("<500H", *held))
    (folder / "short.u16").write_bytes(struct.pack("<60H", *tokens[:60]))
    (folder / "wild.u16").write_bytes(b"\xff" * 1000)
    (folder / "odd.u16").write_bytes(b"123")
    write_tensors(folder / "rows.safetensors", {
        "input.0": batches(tokens, 0), "input.1": batches(tokens, 1)})
    dtype, sizes, raw = batches(tokens, 1)
    write_tensors(folder / "uneven.safetensors", {
        "input.0": batches(tokens, 0),
        "input.1": (dtype, (STEPS - 1, *sizes[1:]), raw[:-len(raw) // STEPS])})
    write_tensors(folder / "held.safetensors", {
        "input.0": batches(held, 0), "input.1": batches(held, 1)})
    write_tensors(folder / "norm.safetensors",
                  {"input.0": numbers(draw, 4, 6, 3)})
    write_tensors(folder / "norm-held.safetensors",
                  {"input.0": numbers(draw, 2, 6, 3)})
    write_tensors(folder / "norm-weights.safetensors", {
        "param.fc.weight": numbers(draw, 4, 3),
        "param.fc.bias": numbers(draw, 4),
        "param.bn.weight": numbers(draw, 4),
        "param.bn.bias": numbers(draw, 4),
        "buffer.bn.running_mean": numbers(draw, 4),
        "buffer.bn.running_var": numbers(draw, 4),
        "buffer.bn.num_batches_tracked": ("I64", (), struct.pack("<q", 0))})


if __name__ == "__main__":
    main()
