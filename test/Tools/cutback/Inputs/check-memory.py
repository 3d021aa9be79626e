# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check-memory.py PLAN.json: the memory plan in the file, checked without the
# planner: offsets are aligned, storages that are live at one moment lie on
# different bytes (but for one in the place of another), the arena is as large
# as they need, its bound is what is live at once, and the peak of the report
# is the arena's.

import json
import sys

plan = json.load(open(sys.argv[1]))
memory = plan["memory"]
storages = memory["storages"]
alignment = memory["alignment"]


def rounded(size):
    return (size + alignment - 1) // alignment * alignment


live = [0] * memory["ops"]
for s in storages:
    assert s["offset"] % alignment == 0 and s["begin"] < s["end"], s
    for op in range(s["begin"], s["end"]):
        live[op] += rounded(s["bytes"])
pairs = 0
for i, a in enumerate(storages):
    for b in storages[:i]:
        if a["begin"] < b["end"] and b["begin"] < a["end"]:
            pairs += 1
            assert (
                a["offset"] + a["bytes"] <= b["offset"]
                or b["offset"] + b["bytes"] <= a["offset"]
            ), (a, b)
assert pairs > 0
assert max(live) == memory["lower_bound"] == plan["peak"]["lower_bound"]
assert live[memory["peak"]["op"]] == memory["lower_bound"]
assert max(s["offset"] + rounded(s["bytes"]) for s in storages) == memory[
    "arena_bytes"
]
assert plan["peak"]["model"] == "planned"
assert plan["peak"]["bytes"] == memory["arena_bytes"] >= memory["lower_bound"]
for part in "saved", "result", "gradient", "temporary":
    key = part + "_bytes"
    assert plan["peak"][key] == memory["peak"][key]
assert sum(memory["peak"][p + "_bytes"] for p in
           ("saved", "result", "gradient", "temporary")) == max(live)
names = {s["value"] for s in storages}
assert all(s.get("in_place_of") in names | {None} for s in storages)
print(f"{len(storages)} storages, {pairs} pairs live together: all apart")
