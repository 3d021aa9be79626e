# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check-trace.py TRACE JSON [PAGE [OPTIONS...]]: the trace is well-formed, has
# the figures of `report --json`, and is, byte by byte, the one that the page
# has for its first plan, or for the plan that these options give.

import base64
import gzip
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
trace, report = json.loads(text), json.load(open(sys.argv[2],
                                                 encoding="utf-8"))


def check(what, holds, found=""):
    if not holds:
        sys.exit("%s: %s" % (what, found))


def bytes_of(event):
    return sum(event["args"].values())


events = trace["traceEvents"]
timed = [event for event in events if event["ph"] != "M"]
for event in events:
    check("fields", {"name", "ph", "pid", "tid"} <= event.keys(), event)
names = {event["tid"]: event["args"]["name"] for event in events
         if event["name"] == "thread_name"}
check("tracks", names == {1: "forward", 2: "backward"}, names)
check("order of time", all(a["ts"] <= b["ts"] for a, b in
                           zip(timed, timed[1:])))

launches = [event for event in events if event["ph"] == "X"]
for a, b in zip(launches, launches[1:]):
    check("launches follow each other",
          abs(a["ts"] + a["dur"] - b["ts"]) < 1e-6, (a, b))
    check("the forward comes first", a["tid"] <= b["tid"], (a, b))
for launch in launches:
    check("duration", launch["dur"] > 0, launch)
    check("what it is of", {"value", "bytes", "type", "source", "ops",
                            "model_ps"} <= launch["args"].keys(), launch)

counts = [event for event in events if event["ph"] == "C"]
total = [event for event in counts if event["name"] == "arena bytes in use"]
by_use = [event for event in counts if event["name"] == "bytes by use"]
check("counters", len(total) == len(by_use) == len(launches) + 1,
      (len(total), len(by_use), len(launches)))
check("uses add up", all(bytes_of(a) == bytes_of(b)
                         for a, b in zip(total, by_use)))
peak = report["peak"]
most = max(map(bytes_of, total))
check("peak", most == (peak["lower_bound"] if peak["model"] == "planned"
                       else peak["bytes"]), most)
marks = [event for event in events if event["ph"] == "i"]
check("mark of the peak", len(marks) == 1 and
      marks[0]["args"]["bytes"] == most and
      marks[0]["args"]["value"] == "%" + peak["at"], marks)
check("saved at the peak",
      any(event["args"]["saved"] == peak["saved_bytes"] for event in by_use))
check("recomputed ops", sum(launch["args"]["recomputed_ops"]
                            for launch in launches) <=
      len(report["recomputed"]))

if len(sys.argv) > 3:
    page = open(sys.argv[3], encoding="utf-8").read()
    data = json.loads(re.search(
        r'<script id="data" type="application/json">(.*?)</script>', page,
        re.S).group(1))
    options = " ".join(sys.argv[4:])
    plan, = [plan for i, plan in enumerate(data["plans"])
             if (plan["options"] == options if options
                 else i == data["chosen"])]
    check("the page's trace",
          gzip.decompress(base64.b64decode(plan["trace"])).decode() == text)
    check("kernels", plan["kernels"] == len(launches))
print("a trace: %d launches, %d counts" % (len(launches), len(counts)))
