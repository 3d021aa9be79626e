"""A safetensors file of small float32 numbers, always the same:
`write-tensors.py F NAME=4x4...`."""

import json
import math
import struct
import sys

header, data = {}, b""
for word in sys.argv[2:]:
    name, sizes = word.split("=")
    shape = [int(size) for size in sizes.split("x")]
    count = math.prod(shape)
    begin = len(data)
    numbers = [math.sin(7.0 * i + len(header)) * 1.5 for i in range(count)]
    data += struct.pack(f"<{count}f", *numbers)
    header[name] = {
        "dtype": "F32",
        "shape": shape,
        "data_offsets": [begin, len(data)],
    }
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
