# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Safetensors files as folders of one file a tensor.

  tensors.py unpack FILE... FOLDER   the bytes of each tensor, in FOLDER/NAME
  tensors.py compare FILE FOLDER     each tensor of FILE is FOLDER/NAME, bit for
                                     bit
  tensors.py empty NAME FILE         a file with one tensor of no elements
"""

import json
import pathlib
import struct
import sys


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, data[8 + length + begin:8 + length + end]


command, *files, folder = sys.argv[1:]
if command == "empty":
    header = json.dumps({files[0]: {"dtype": "F32", "shape": [0],
                                    "data_offsets": [0, 0]}}).encode()
    pathlib.Path(folder).write_bytes(struct.pack("<Q", len(header)) + header)
    sys.exit()
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
count = 0
for file in files:
    for name, data in tensors(file):
        count += 1
        if command == "unpack":
            (folder / name).write_bytes(data)
        elif (folder / name).read_bytes() != data:
            sys.exit(f"{name} differs")
print(f"{count} tensors")
