# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-halves.py OPT.mlir FORWARD.mlir BACKWARD.mlir: the functions of the
first file, byte by byte, are those of the others; all were printed by
cutback-opt.
"""

import re
import sys


def functions(path):
    with open(path) as file:
        text = file.read()
    return [match.group(0) for match in
            re.finditer(r"^  func\.func @.*?^  }$", text, re.S | re.M)]


ours, *parts = [functions(path) for path in sys.argv[1:]]
theirs = [function for part in parts for function in part]
if len(ours) != 2 or ours != theirs:
    for one, other in zip(ours, theirs):
        for a, b in zip(one.splitlines(), other.splitlines()):
            if a != b:
                sys.exit(f"cutback-opt: {a}\ncutback:     {b}")
    sys.exit(f"{len(ours)} functions, {len(theirs)} in the folder")
print(f"same halves: {sum(map(len, ours))} bytes")
