# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a safetensors file; the first element of input.0 becomes 1000000."""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
length = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8 : 8 + length])
begin = 8 + length + header["input.0"]["data_offsets"][0]
data[begin : begin + 8] = struct.pack("<q", 1000000)
with open(sys.argv[2], "wb") as file:
    file.write(data)
