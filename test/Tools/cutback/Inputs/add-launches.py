# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Adds up the launches of a plan.json: the time of each from its bytes and its
# FLOPs, that of a call of graphs from the launches in it, that of a segment
# from its launches, and the figures of the step from its segments.

import json
import sys

plan = json.load(open(sys.argv[1]))
kernels = plan["kernels"]


def time_of(launch):
    return (max(launch["flops_ps"],
                launch["moved_bytes"] / kernels["bytes_per_ps"]) +
            kernels["launch_ps"])


def is_off(launch):
    """Whether a launch is not what follows from its parts."""
    off = launch["moved_bytes"] < launch["border_bytes"]
    inside = launch.get("nested")
    if inside is None:
        return off or launch["ps"] != time_of(launch)
    for key in ("border_bytes", "moved_bytes", "flops_ps", "ps"):
        off |= launch[key] != sum(one["times"] * one[key] for one in inside)
    return off or any(map(is_off, inside))


totals = dict.fromkeys(("launches", "calls", "nested_launches",
                        "uncounted_loops", "moved_bytes", "border_bytes"), 0)
for segment, shown in zip(plan["segments"], kernels["segments"], strict=True):
    launches = segment["launches"]
    off = sum(map(is_off, launches))
    calls = [launch for launch in launches if "nested" in launch]
    found = {
        "launches": len(launches),
        "calls": sum(launch["schedule"] == "call" for launch in launches),
        "nested_launches": sum(one["times"] for launch in calls
                               for one in launch["nested"]),
        "uncounted_loops": sum(not launch["is_counted"] for launch in calls),
        "moved_bytes": sum(launch["moved_bytes"] for launch in launches),
        "border_bytes": sum(launch["border_bytes"] for launch in launches),
        "ps": sum(launch["ps"] for launch in launches),
        "name": segment["name"],
    }
    off += sum(shown[key] != found[key] for key in found)
    assert shown.keys() == found.keys(), (shown, found)
    if segment["name"] != "update":
        for key in totals:
            totals[key] += found[key]
    print(f"{segment['name']}: {len(launches)} launches, {off} off")
for key, total in totals.items():
    assert kernels[key] == total, (key, kernels[key], total)
