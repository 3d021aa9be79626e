# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of micro-batches, and what several steps of one model add up to.

  tile FILE M OUT        inputs of FILE M times along dimension 0, each time
                         rotated by one element more: micro-batches that differ
  part FILE K OUT        the same of micro-batch K alone
  sum RESULTS STEPS...   gradients of RESULTS against (g0 / m + g1 / m) + ..., in
                         float, to the bit; within 1e-6 those named in --near=;
                         with --replicas=R sums of R equal parts of STEPS, which
                         are then added; --shares=A,B,... weighs by those in
                         place of 1 / m
  flatten FILE K OUT     the first K rows of a training (or rows A,B,...) as one
                         batch, along dimension 0
  row FILE K OUT         row K of a training alone
  rows FILE M OUT        inputs of FILE as M rows of a training, each rotated
  lead FILE A,B OUT      inputs of FILE, their first two sizes A and B (0: none)
  same FILE FILE         the same tensors, whatever their order
  draw OUT NAME=SIZES... tensors of floats between -1 and 1
"""

import array
import json
import math
import random
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    base = 8 + length
    return {name: (entry["dtype"], entry["shape"],
                   data[base + entry["data_offsets"][0]:
                        base + entry["data_offsets"][1]])
            for name, entry in header.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in sorted(
            tensors.items(), key=lambda item: "64" not in item[1][0]):
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def rotated(tensor, number):
    dtype, shape, data = tensor
    size = {"F32": 4, "I64": 8}[dtype]
    at = number * size % max(len(data), 1)
    return dtype, shape, data[at:] + data[:at]


def inputs_of(path):
    return {name: tensor for name, tensor in read(path).items()
            if name.startswith("input.")}


def tile(path, count, out):
    made = {}
    for name, tensor in inputs_of(path).items():
        dtype, shape, _ = tensor
        made[name] = (dtype, [shape[0] * count] + shape[1:],
                      b"".join(rotated(tensor, k)[2] for k in range(count)))
    write(out, made)


def rows(path, count, out):
    made = {}
    for name, tensor in inputs_of(path).items():
        dtype, shape, _ = tensor
        made[name] = (dtype, [count] + shape,
                      b"".join(rotated(tensor, k)[2] for k in range(count)))
    write(out, made)


def lead(path, sizes, out):
    made = {}
    for name, (dtype, shape, data) in inputs_of(path).items():
        shape = [size for size in sizes if size] + shape[2:]
        count = {"F32": 4, "I64": 8}[dtype]
        for size in shape:
            count *= size
        made[name] = (dtype, shape, data[:count])
    write(out, made)


def chosen_rows(path, numbers):
    made = {}
    for name, (dtype, shape, data) in inputs_of(path).items():
        size = len(data) // shape[0]
        made[name] = (dtype, shape[1:], [data[k * size:(k + 1) * size]
                                         for k in numbers])
    return made


def flatten(path, text, out):
    numbers = ([int(k) for k in text.split(",")] if "," in text
               else range(int(text)))
    write(out, {name: (dtype, [shape[0] * len(numbers)] + shape[1:],
                       b"".join(parts))
                for name, (dtype, shape, parts)
                in chosen_rows(path, numbers).items()})


def row(path, number, out):
    write(out, {name: (dtype, shape, parts[0]) for name, (dtype, shape, parts)
                in chosen_rows(path, [number]).items()})


def same(first, second):
    first, second = read(first), read(second)
    assert sorted(first) == sorted(second), set(first) ^ set(second)
    for name, tensor in first.items():
        assert tensor == second[name], name
    print("%d tensors" % len(first))


def draw(out, tensors):
    made, numbers = {}, random.Random(1)
    for tensor in tensors:
        name, sizes = tensor.split("=")
        shape = [int(size) for size in sizes.split(",")]
        made[name] = ("F32", shape, array.array("f", (
            numbers.uniform(-1, 1) for _ in range(math.prod(shape)))).tobytes())
    write(out, made)


def part(path, number, out):
    write(out, {name: rotated(tensor, number)
                for name, tensor in inputs_of(path).items()})


def floats(data):
    return array.array("f", data)


def add(total, more):
    """Arithmetic of array("f") rounds a sum of two floats once."""
    return more if total is None else array.array(
        "f", (a + b for a, b in zip(total, more)))


def compare(results, steps, near, replicas, shares):
    steps, equal = [read(step) for step in steps], 0
    each = len(steps) // replicas
    shares = shares or [1] * len(steps)
    weights = [share / sum(shares) for share in shares]
    results = read(results)
    gradients = [name for name in steps[0] if name.startswith("grad.")
                 and not name.startswith("grad.input.")
                 and steps[0][name][0] == "F32"]
    for name in gradients:
        total = None
        for replica in range(replicas):
            own = None
            for k in range(replica * each, (replica + 1) * each):
                if weights[k]:
                    own = add(own, array.array("f", (
                        x * weights[k] for x in floats(steps[k][name][2]))))
            if own is not None:
                total = add(total, own)
        made = floats(results[name][2])
        if name in near:
            assert all(abs(a - b) <= 1e-6 for a, b in zip(made, total)), name
        else:
            assert made.tobytes() == total.tobytes(), name
            equal += 1
    print("%d gradients, %d to the bit" % (len(gradients), equal))


def main(arguments):
    near = [name for argument in arguments if argument.startswith("--near=")
            for name in argument[7:].split(",")]
    replicas = sum(int(argument[11:]) for argument in arguments
                   if argument.startswith("--replicas="))
    shares = [int(share) for argument in arguments
              if argument.startswith("--shares=")
              for share in argument[9:].split(",")]
    command, *rest = [one for one in arguments if not one.startswith("--")]
    if command == "tile":
        tile(rest[0], int(rest[1]), rest[2])
    elif command == "part":
        part(rest[0], int(rest[1]), rest[2])
    elif command == "rows":
        rows(rest[0], int(rest[1]), rest[2])
    elif command == "lead":
        lead(rest[0], [int(size) for size in rest[1].split(",")], rest[2])
    elif command == "draw":
        draw(rest[0], rest[1:])
    elif command == "flatten":
        flatten(rest[0], rest[1], rest[2])
    elif command == "row":
        row(rest[0], int(rest[1]), rest[2])
    elif command == "same":
        same(rest[0], rest[1])
    elif command == "sum":
        compare(rest[0], rest[1:], near, replicas or 1, shares)
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
