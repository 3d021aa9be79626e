#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives the manifest of a folder the checksum that its library has now, or the
file that is named."""
import re
import sys

folder = sys.argv[1]
name = sys.argv[2] if len(sys.argv) > 2 else "libstep.so"
checksum = 0xCBF29CE484222325
with open(folder + "/" + name, "rb") as file:
    for byte in file.read():
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
with open(folder + "/manifest.json") as file:
    text = file.read()
text = re.sub(
    r'("name": "%s", "checksum": ")[0-9a-f]+' % re.escape(name),
    rf"\g<1>{checksum:016x}",
    text,
)
with open(folder + "/manifest.json", "w") as file:
    file.write(text)
