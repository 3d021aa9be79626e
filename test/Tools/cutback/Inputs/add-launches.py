# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Adds up the launches of a plan.json: the time of each from its bytes and its
# FLOPs, that of a half from its launches.

import json
import sys

plan = json.load(open(sys.argv[1]))
kernels, launches = plan["kernels"], plan["launches"]
for half in ("forward", "backward"):
    total, off = 0.0, 0
    for launch in launches[half]:
        ps = (max(launch["flops_ps"],
                  launch["moved_bytes"] / kernels["bytes_per_ps"]) +
              kernels["launch_ps"])
        off += ps != launch["ps"]
        off += launch["moved_bytes"] < launch["border_bytes"]
        total += launch["ps"]
    off += total != kernels[half + "_ps"]
    print(f"{half}: {len(launches[half])} launches, {off} off")
moved = sum(launch["moved_bytes"]
            for half in ("forward", "backward") for launch in launches[half])
assert moved == kernels["moved_bytes"], (moved, kernels["moved_bytes"])
