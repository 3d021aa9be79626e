# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program of a .pt2, in which tanh has a parameter that no release has."""

import json
import sys
import zipfile

source, target = sys.argv[1:]
with zipfile.ZipFile(source) as archive:
    program = json.loads(archive.read("model/models/model.json"))
for node in program["graph_module"]["graph"]["nodes"]:
    if node["target"] == "torch.ops.aten.tanh.default":
        node["inputs"].append(
            {"name": "steep", "arg": {"as_int": 1}, "kind": 2})
with open(target, "w", encoding="utf-8") as file:
    json.dump(program, file)
