#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies an archive with other text in one of its entries: IN OUT NAME TEXT."""
import sys
import zipfile

source, target, name, text = sys.argv[1:]
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
    for entry in old.infolist():
        isOther = entry.filename.endswith("/" + name)
        new.writestr(entry.filename, text if isOther else old.read(entry))
