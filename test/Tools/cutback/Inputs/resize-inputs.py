# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the inputs of a file of tensors with another number of rows, from the
# first on and over again; nothing else of the file.
#
#   resize-inputs.py SOURCE TARGET ROWS [NAME=ROWS ...]

import json
import struct
import sys

source, target, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
others = dict(other.split("=") for other in sys.argv[4:])
content = open(source, "rb").read()
(length,) = struct.unpack("<Q", content[:8])
header, data = json.loads(content[8:8 + length]), content[8 + length:]
made, body = {}, b""
for name, entry in sorted(header.items()):
    if not name.startswith("input."):
        continue
    rows = int(others.get(name, most))
    begin, end = entry["data_offsets"]
    row = (end - begin) // entry["shape"][0]
    old = data[begin:end]
    new = (old * (rows // entry["shape"][0] + 1))[:rows * row]
    made[name] = {
        "dtype": entry["dtype"],
        "shape": [rows] + entry["shape"][1:],
        "data_offsets": [len(body), len(body) + len(new)],
    }
    body += new
text = json.dumps(made).encode()
text += b" " * (-len(text) % 8)
with open(target, "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + body)
