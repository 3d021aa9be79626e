# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""each-type.py make IN GRAPH: a graph that adds a number to an input of each type.
each-type.py compare A B: both files have the same tensors of the same types."""
import json
import sys

TYPES = {"BOOL": ("i1", 1), "U8": ("ui8", 1), "I8": ("i8", 1),
         "I16": ("i16", 2), "I32": ("i32", 4), "I64": ("i64", 8),
         "F16": ("f16", 2), "BF16": ("bf16", 2), "F32": ("f32", 4),
         "F64": ("f64", 8)}


def make(tensors, graph):
    header, body = {}, b""

    def add(name, word, shape, data):
        nonlocal body
        header[name] = {"dtype": word, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data

    arguments, ops, results, types = [], [], [], []
    for i, (word, (element, width)) in enumerate(TYPES.items()):
        add(f"input.{i}", word, [2], bytes([1] + [0] * (width - 1)) * 2)
        kind = f"tensor<2x{element}>"
        arguments.append(f"%x{i}: {kind} {{joint.role = #joint.role<input>}}")
        ops.append(f"  %y{i} = aten.bitwise_not(%x{i}) : ({kind}) -> {kind}"
                   if word[0] in "BUI" and word != "BF16" else
                   f"  %y{i} = aten.neg(%x{i}) : ({kind}) -> {kind}")
        results.append(f"%y{i}")
        types.append(kind)
    add("param.w", "F32", [], bytes(4))
    text = ", ".join(['%w: tensor<f32> {joint.role = #joint.role<param "w">}']
                     + arguments)
    kinds = ", ".join(["tensor<f32>"] + types)
    body_text = "\n".join(["  %l = aten.neg(%w) : (tensor<f32>) -> tensor<f32>"]
                          + ops)
    values = ", ".join(["%l"] + results)
    open(graph, "w").write(
        f"joint.graph @g({text}) -> ({kinds}) gradients () {{\n{body_text}\n"
        f"  joint.output {values} : {kinds}\n}}\n")
    head = json.dumps(header).encode()
    open(tensors, "wb").write(len(head).to_bytes(8, "little") + head + body)


def read(path):
    data = open(path, "rb").read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    return {name: (entry["dtype"],
                   data[8 + size:][slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    one, other = read(sys.argv[2]), read(sys.argv[3])
    assert one == other, (one, other)
    words = {word for word, _ in one.values()}
    print(f"{len(one)} tensors:", *[word for word in TYPES if word in words])
