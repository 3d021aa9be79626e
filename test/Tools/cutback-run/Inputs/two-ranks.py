# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What two ranks compute together (two-ranks.mlir): loss and gradients of each by
differences of the sum of both losses, in double.

  two-ranks.py MICRO_BATCHES BATCH WEIGHTS0 WEIGHTS1 RESULTS0 RESULTS1
"""

import array
import json
import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = array.array("f", data[8 + length + begin:8 + length + end])
            sizes = entry["shape"] or [1]
            rows = sizes[0] if len(sizes) > 1 else 1
            each = len(values) // rows
            tensors[name] = [list(values[i * each:(i + 1) * each])
                             for i in range(rows)]
    return tensors


def mm(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)]
            for row in a]


def tanh(x):
    return [[math.tanh(one) for one in row] for row in x]


def combine(a, b, function):
    return [[function(x, y) for x, y in zip(p, q)] for p, q in zip(a, b)]


def losses_of(x, weights):
    """Of both ranks, for one micro-batch; and what they exchange."""
    parts = [mm(tanh(mm(x, w["param.v"])), w["param.w"]) for w in weights]
    added = combine(*parts, lambda a, b: a + b)
    second = [mm(added, w["param.u"]) for w in weights]
    gathered = [list(row) for one in second for row in zip(*one)]
    squares = combine(gathered, gathered, lambda a, b: a * b)
    # Both have the same squares, so their mean is that.
    scattered = [squares[:4], squares[4:]]
    exchanged = [scattered[0][:2] + scattered[1][:2],
                 scattered[0][2:] + scattered[1][2:]]
    losses = [sum(sum(row) for row in combine(e, s, lambda a, b: a * b))
              for e, s in zip(exchanged, second)]
    return losses, exchanged


def main(count, batch, *paths):
    count = int(count)
    x = read(batch)["input.0"]
    rows = len(x) // count
    weights, results = [read(path) for path in paths[:2]], [
        read(path) for path in paths[2:]]

    def total():
        return sum(sum(losses_of(x[k * rows:(k + 1) * rows], weights)[0])
                   for k in range(count)) / count

    compared = 0
    for rank in range(2):
        outputs, loss = [], 0
        for k in range(count):
            losses, exchanged = losses_of(x[k * rows:(k + 1) * rows], weights)
            outputs += exchanged[rank]
            loss += losses[rank] / count
        near(results[rank]["loss"], [[loss]], "loss")
        near(results[rank]["output.1"], outputs, "output.1")
        for name, tensor in weights[rank].items():
            slopes = []
            for row in tensor:
                slopes.append([])
                for i, value in enumerate(row):
                    step = 1e-5
                    row[i] = value + step
                    slope = total()
                    row[i] = value - step
                    slopes[-1].append((slope - total()) / (2 * step))
                    row[i] = value
            near(results[rank]["grad" + name[5:]], slopes, name)
            compared += 1
    print("%d gradients agree" % compared)


def near(made, wanted, name):
    for a, b in zip(made, wanted):
        for x, y in zip(a, b):
            assert abs(x - y) <= 1e-4 * (1 + abs(y)), (name, made, wanted)


main(*sys.argv[1:])
