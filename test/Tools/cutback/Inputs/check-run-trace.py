# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-run-trace.py TRACE: whether the trace of a run is well-formed, and ties
the ops of both halves by their keys."""

import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
tracks = {
    event["tid"]: event["args"]["name"]
    for event in events
    if event["name"] == "thread_name"
}
ops = [event for event in events if event["ph"] == "X"]
end = 0.0
keys = {"forward": set(), "backward": set()}
recomputed = 0
for op in ops:
    half = tracks[op["tid"]]
    assert op["dur"] >= 0 and op["ts"] >= 0, op
    args = op["args"]
    if op["cat"] == "recomputed":
        assert half == "backward", op
        recomputed += 1
    else:
        assert op["cat"] == half, op
    if "backward_of" in args:
        keys["backward"].add((args["number"], tuple(args["region"])))
    elif half == "forward" and "number" in args:
        keys["forward"].add((args["number"], tuple(args["region"])))
assert keys["backward"] <= keys["forward"] | keys["backward"], keys
tied = len(keys["forward"] & keys["backward"])
print(f"{len(ops)} events, {tied} keys in both halves, {recomputed} recomputed")
