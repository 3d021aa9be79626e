# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""with-tangent.py IN OUT TENSOR NAME: the inputs of a safetensors file, and one
more called NAME in the shape of its TENSOR, of small numbers."""
import json
import struct
import sys

source, target, like, name = sys.argv[1:]
data = open(source, "rb").read()
size = int.from_bytes(data[:8], "little")
header = json.loads(data[8 : 8 + size])
shape = header[like]["shape"]
count = 1
for dim in shape:
    count *= dim
values = [((37 * i) % 11 - 5) / 7 for i in range(count)]
tensors = {}
for key, entry in header.items():
    if key.startswith(("input.", "tangent.")):
        begin, end = entry["data_offsets"]
        payload = data[8 + size + begin : 8 + size + end]
        tensors[key] = (entry["dtype"], entry["shape"], payload)
tensors[name] = ("F32", shape, struct.pack(f"<{count}f", *values))
out, offset, body = {}, 0, b""
for key, (dtype, dims, payload) in tensors.items():
    out[key] = {"dtype": dtype, "shape": dims,
                "data_offsets": [offset, offset + len(payload)]}
    offset += len(payload)
    body += payload
text = json.dumps(out).encode()
open(target, "wb").write(len(text).to_bytes(8, "little") + text + body)
