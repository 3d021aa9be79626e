# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""masked-index-put.py OUT: a place twice, and an index outside that is masked."""
import json
import struct
import sys

tensors = {
    "param.self": ("F32", [6, 4], struct.pack("<24f", *range(24))),
    "input.0": ("BOOL", [5, 1], bytes([1, 1, 0, 1, 1])),
    "input.1": ("I64", [5], struct.pack("<5q", 2, -1, 1000, 2, 0)),
    "input.2": ("F32", [5, 4], struct.pack("<20f", *(x / 8 for x in range(20)))),
}
header, data = {}, b""
for name, (dtype, shape, values) in tensors.items():
    header[name] = {"dtype": dtype, "shape": shape,
                    "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
