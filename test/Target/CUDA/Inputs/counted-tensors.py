# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a safetensors file of f32 tensors whose elements are 1, 2, 3, …

usage: counted-tensors.py FILE NAME=2x3...
"""

import array
import json
import math
import struct
import sys

header, data = {}, b""
for one in sys.argv[2:]:
    name, _, text = one.partition("=")
    shape = [int(size) for size in text.split("x")]
    numbers = array.array("f", range(1, math.prod(shape) + 1)).tobytes()
    header[name] = {"dtype": "F32", "shape": shape,
                    "data_offsets": [len(data), len(data) + len(numbers)]}
    data += numbers
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
