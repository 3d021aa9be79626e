# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""count-launches.py DIR: launches of a compiled step beside those that the plan
prices. A launch of the plan is one of the manifest; a call may have several,
one behind the other."""

import json
import re
import sys

folder = sys.argv[1]
with open(folder + "/plan.json") as file:
    plan = {segment["name"]: segment["launches"]
            for segment in json.load(file)["segments"]}
with open(folder + "/manifest.json") as file:
    manifest = json.load(file)
with open(folder + "/kernels.mlir") as file:
    functions = set(re.findall(r"kernel\.func @(\w+)", file.read()))
for segment in manifest["segments"]:
    half = segment["name"]
    own = [launch["op"] in functions for launch in segment["launches"]]
    planned = [launch["schedule"] != "call" for launch in plan[half]]
    print(
        "%s: %d of %d launches of kernels, %d of %d calls"
        % (
            half,
            sum(own),
            sum(planned),
            len(own) - sum(own),
            len(planned) - sum(planned),
        )
    )
