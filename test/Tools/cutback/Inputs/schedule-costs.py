# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the ranks of a simulation with the manifest of its pipeline.

import json
import math
import re
import sys

SIZES = {"f32": 4, "i64": 8}

pipeline = json.load(open(sys.argv[1]))
schedule = json.load(open(sys.argv[2]))
batches = schedule["micro_batches"]
isSplit = any(re.match(r"\d+I", action[0])
              for rank in schedule["ranks"] for action in rank["actions"])
AFTERWARDS = ("norms", "update")
PHASES = ("forward", "input", "weight") if isSplit else ("forward", "backward")
PHASES += AFTERWARDS


def bytes_of(tensor):
    return math.prod(tensor["sizes"]) * SIZES[tensor["dtype"]]


def time_of(stage):
    return sum(p.get("picoseconds", 0) for p in stage["phases"]
               if p["phase"] in PHASES and p["phase"] not in AFTERWARDS)


for rank in schedule["ranks"]:
    stages = [pipeline["stages"][i] for i in rank["stages"]]
    busy = batches * sum(time_of(stage) for stage in stages)
    kept = sum(bytes_of(p) * (2 if p.get("gradient") else 1)
               for stage in stages for p in stage["parameters"])
    kept += sum(bytes_of(b) for stage in stages for b in stage["buffers"])
    # Gradients are added one at a time.
    kept += sum(max((bytes_of(p) for p in stage["parameters"]
                     if p.get("gradient")), default=0) for stage in stages)
    arena = max(p.get("arena_bytes", 0) for stage in stages
                for p in stage["phases"] if p["phase"] in PHASES)
    print("rank %d: stages %s, busy %s, kept %s, arena %s" % (
        rank["rank"], rank["stages"],
        "as of %d micro-batches" % batches if rank["busy"] == busy else
        "%d, not %d" % (rank["busy"], busy),
        "as of its parameters twice" if rank["kept_bytes"] == kept else
        "%d, not %d" % (rank["kept_bytes"], kept),
        "as of its phases" if rank["arena_bytes"] == arena else
        "%d, not %d" % (rank["arena_bytes"], arena)))
    assert rank["peak_bytes"] == (rank["kept_bytes"] + rank["arena_bytes"] +
                                  rank["slot_bytes"])
    assert rank["slot_bytes"] >= max(s["forward_saved_bytes"] for s in stages)
for stage in pipeline["stages"]:
    # A weight phase takes values of the forward, and no more than both lists.
    both = set(stage["forward_saves"]) & set(stage["input_saves"])
    assert (stage["throughout_saved_bytes"] > 0) == bool(both), stage["name"]
    assert stage["throughout_saved_bytes"] <= stage["forward_saved_bytes"]
print("slots of one micro-batch and more")
