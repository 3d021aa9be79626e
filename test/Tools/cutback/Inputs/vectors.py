# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""vectors.py OUT NAME=A,B,C...: a safetensors file of vectors of f32."""
import json
import struct
import sys

header, body = {}, b""
for argument in sys.argv[2:]:
    name, numbers = argument.split("=")
    values = [float(x) for x in numbers.split(",")]
    data = struct.pack(f"<{len(values)}f", *values)
    header[name] = {"dtype": "F32", "shape": [len(values)],
                    "data_offsets": [len(body), len(body) + len(data)]}
    body += data
text = json.dumps(header).encode()
open(sys.argv[1], "wb").write(len(text).to_bytes(8, "little") + text + body)
