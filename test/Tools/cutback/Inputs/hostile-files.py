# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files that ask for too much: brackets in brackets, sizes beyond all
memory, archives that unpack to gigabytes, names that are there a hundred
thousand times. What each is asked for is in the test.

    hostile-files.py MODEL.pt2 JOINT.txt FOLDER"""

import json
import pathlib
import re
import struct
import sys
import zipfile

model, joint, folder = map(pathlib.Path, sys.argv[1:4])
folder.mkdir(parents=True, exist_ok=True)
DEEP = 50000
MANY = 100000
entries = {}
with zipfile.ZipFile(model) as archive:
    for name in archive.namelist():
        entries[name] = archive.read(name)
program = next(name for name in entries if name.endswith("models/model.json"))
config = next(name for name in entries if name.endswith("model_weights_config.json"))
weight = next(name for name in entries if name.endswith("weights/weight_0"))


def pack(name, changes, deflated=()):
    """An archive with other contents of some entries; those may be long, and
    are given as pieces."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        for entry, content in {**entries, **changes}.items():
            info = zipfile.ZipInfo(entry)
            if entry in deflated:
                info.compress_type = zipfile.ZIP_DEFLATED
            pieces = [content] if isinstance(content, bytes) else content
            with archive.open(info, "w", force_zip64=True) as out:
                for piece in pieces:
                    out.write(piece)


def zeros(mebibytes, byte=b"\0"):
    """So many MiB of one byte."""
    return (byte * (1 << 20) for _ in range(mebibytes))


def text(name, content):
    """A file of this text."""
    (folder / name).write_text(content)


def tensors(name, header):
    """A safetensors file of this header."""
    data = header.encode()
    (folder / name).write_bytes(struct.pack("<Q", len(data)) + data + b"\0" * 64)


# Brackets.
text("device.json", "[" * DEEP)
text("object.json", '{"a":' * DEEP)
tensors("deep.safetensors", '{"a":' * DEEP)
pack("deep.pt2", {program: b"[" * DEEP})
pack("deep-config.pt2", {config: b'{"config":' * DEEP})
graph = joint.read_text()
for name, opening, closing in (
    ("list", "[", "]"),
    ("tuple", "(", ")"),
    ("dictionary", "{'a': ", "}"),
):
    nested = opening * DEEP + "1" + closing * DEEP
    text(f"{name}.txt", re.sub(r"\[1, 0\]", nested, graph, count=1))
for name, size in (
    ("brackets", "(" * DEEP + "s1" + ")" * DEEP),
    ("minus", "-" * DEEP + "s1"),
    ("powers", "s1**" * DEEP + "s1"),
    ("calls", "Max(" * DEEP + "s1" + ")" * DEEP),
    ("sum", " + ".join(["s1"] * MANY)),
    ("symbols", " + ".join(f"s{i}" for i in range(MANY))),
    ("huge", "9223372036854775807"),
    ("beyond", "9" * 40),
):
    text(f"size-{name}.txt", re.sub(r"\[s1, 16\]", f"[{size}, 16]", graph))
text("rank.txt", re.sub(r"\[64, 16\]", "[" + "1, " * MANY + "1]", graph))
text("module.mlir", "module attributes {a = " + "[" * DEEP + "]" * DEEP + "} {}")

# What is shared when it is read, and written out when it is printed.
for name, first, deep, wide in (
    ("attribute", "#a0 = 1", "#a{1} = [#a{0}]", "#a{1} = [#a{0}, #a{0}]"),
    ("type", "!a0 = i64", "!a{1} = tuple<!a{0}>", "!a{1} = tuple<!a{0}, !a{0}>"),
    ("location", '#a0 = loc("f":1:1)', '#a{1} = loc("g"(#a{0}))', "#a{1} = loc(callsite(#a{0} at #a{0}))"),
):
    for kind, item, count in (("deep", deep, DEEP), ("wide", wide, 60)):
        lines = [first] + [item.format(i, i + 1) for i in range(count)]
        last = f"{first[0]}a{count}"
        end = f"module {{}} loc({last})" if name == "location" else f"module attributes {{t.a = {last}}} {{}}"
        text(f"{kind}-{name}.mlir", "\n".join([*lines, end]) + "\n")
text("minus.mlir", "module attributes {t.a = affine_map<(d0) -> (" + "-" * DEEP + "d0)>} {}")
text("ops.mlir", 'module { "a.b"() ({' + '"a.b"() ({' * DEEP + "}) : () -> ()" * DEEP + "}) : () -> () }")
text("shape.mlir", "module attributes {t.a = tensor<" + "1x" * DEEP + "f32>} {}")
inner = folder / "inner.zip"
with zipfile.ZipFile(inner, "w") as archive:
    archive.writestr("archive/data.pkl", b"\x80\x02" + b"(" * DEEP + b"t" * DEEP + b".")
plain = {name: data for name, data in entries.items() if "weights/" not in name}
with zipfile.ZipFile(folder / "pickle.pt2", "w") as archive:
    for entry, content in plain.items():
        archive.writestr(entry, content)
    archive.writestr(weight.replace("weight_0", "model.pt"), inner.read_bytes())

# Archives that unpack to more than they should.
pack("weight.pt2", {weight: zeros(512)}, deflated={weight})
pack("text.pt2", {program: zeros(80, b" ")}, deflated={program})
pack("config.pt2", {config: zeros(80, b" ")}, deflated={config})
pack("honest.pt2", {}, deflated=set(entries))
data = (folder / "honest.pt2").read_bytes()
end = data.rfind(b"PK\1\2")
lie = bytearray(data)
place = data.find(b"PK\1\2")
size = struct.unpack_from("<I", data, place + 24)[0]
for name, other in (("less", size // 2), ("more", size * 3)):
    lie[place + 24 : place + 28] = struct.pack("<I", other)
    (folder / f"{name}.pt2").write_bytes(lie)

# Numbers that no memory can hold.
for name, shape, end in (
    ("elements", "[9223372036854775807]", 64),
    ("product", "[4294967296, 4294967296, 4294967296]", 64),
    ("count", "[" + ", ".join(["1000000000000"] * 4) + "]", 64),
    ("empty", "[0, 9223372036854775807, 9223372036854775807]", 0),
    ("negative", "[-1, -16]", 64),
):
    header = f'{{"input.0": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, {end}]}}}}'
    tensors(f"{name}.safetensors", header)
huge = json.loads(entries[program])
sizes = json.dumps(huge).replace('"as_int": 16}', '"as_int": 4611686018427387904}')
pack("sizes.pt2", {program: sizes.encode()})

# One name again and again.
members = ", ".join(f'"a{i % 7}": 1' for i in range(MANY))
tensors("names.safetensors", "{" + members + "}")
text("tolerances.json", "{" + members + "}")
pack("names.pt2", {config: ("{" + members + ', "config": {}}').encode()})
many = b"{" + b'"x": 1, ' * MANY
pack("keys.pt2", {program: entries[program].replace(b"{", many, 1)})
text("nul.txt", graph.replace("torch.ops", "torch\0ops", 1))
text("zero.txt", graph + "\0" * 1000)
long = "x" * 1000000
text("long.txt", graph.replace("permute", long))
