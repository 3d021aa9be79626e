# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare-page.py PAGE JSON [OPTIONS...]: the plan that the page opens with, or
# the one that it says these options give, has the numbers of `report --json`.

import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
report = json.load(open(sys.argv[2], encoding="utf-8"))
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)'
                            r'</script>', page, re.S).group(1))
options = " ".join(sys.argv[3:])


def sums(changes):
    total, out = 0, []
    for change in changes:
        total += change
        out.append(total)
    return out


def check(what, in_page, in_report):
    if in_page != in_report:
        sys.exit("%s: %r in the page, %r in the report"
                 % (what, in_page, in_report))


# Plans are differences from the one before.
saved, recomputed, chosen = {}, set(), None
for index, plan in enumerate(data["plans"]):
    for item in sums(plan["saved"]["drop"]):
        del saved[item]
    for item, own, why in zip(sums(plan["saved"]["add"]), plan["saved"]["own"],
                              plan["saved"]["reason"]):
        saved[item] = own, data["texts"][why]
    recomputed -= set(sums(plan["recomputed"]["drop"]))
    recomputed |= set(sums(plan["recomputed"]["add"]))
    if (plan["options"] == options if options else index == data["chosen"]):
        chosen = plan, dict(saved), set(recomputed)
if chosen is None:
    sys.exit("no plan '%s' in the page: %s"
             % (options, [plan["options"] for plan in data["plans"]]))
plan, saved, recomputed = chosen
items = data["items"]

check("graph", data["graph"], report["graph"])
# The time of the step: ascending, to the sum of its kernels.
times = plan["moments"]["time_ps"]
check("times", min(times, default=0) < 0 or times[:1] not in ([], [0]), False)
if "kernels" in report:
    total = sum(one["ps"] for one in report["kernels"]["segments"]
                if one["name"] != "update")
    check("time", abs(sum(times) - total) <= 1, True)
for key, value in (
        ("saved_bytes", report["saved_bytes"]),
        ("peak_bytes", report["peak"]["bytes"]),
        ("lower_bound", report["peak"]["lower_bound"]),
        ("peak_at", report["peak"]["at"]),
        ("peak_half", report["peak"]["half"]),
        ("model_ps", report["time"]["model_ps"]),
        ("priced_ps", report["time"]["priced_ps"]),
        ("recomputed_ops", len(report["recomputed"])),
        ("forward_ops", report["forward_ops"]),
        ("ops", report["forward_ops"] + report["backward_ops"]),
        ("verified", report["verified"])):
    check(key, plan[key], value)
check("saved values",
      sorted((items["name"][i], items["bytes"][i]) for i in saved),
      sorted((s["value"], s["bytes"]) for s in report["saved"]))
check("sum of own bytes", sum(own for own, _ in saved.values()),
      report["saved_bytes"])
names = {s["value"]: s for s in report["saved"]}
for i, (own, why) in saved.items():
    entry = names[items["name"][i]]
    if why != "a forward result: in memory anyway":
        check("reason of " + entry["value"], why, entry["reason"])
    # The page has whole paths, the report the last part of each.
    place = data["texts"][items["place"][i]]
    check("place of " + entry["value"],
          ("/" + place).endswith("/" + entry["location"]), True)
if report["cost_model"] == "roofline":
    # A call with several results has a name of its own in the report, and goes
    # by that of its first result in the page.
    in_page = {items["name"][i] for i in recomputed}
    in_report = set(report["recomputed"])
    calls = in_report - in_page
    check("recomputed", len(in_page - in_report), len(calls))
    check("recomputed calls", calls & set(items["name"]), set())
kinds = {}
for i in recomputed:
    kind = data["texts"][items["op"][i]]
    kinds[kind] = kinds.get(kind, 0) + 1
expected = {}
for entry in report["recomputed_by_kind"]:
    kind = entry["op"].split(".")[-1]
    expected[kind] = expected.get(kind, 0) + entry["count"]
check("recomputed by kind", kinds, expected)

# The peak is among the moments, with its parts.
moments = plan["moments"]
groups = [sums(g) for g in moments["saved_by_kind"]]
by_module = [sums(g) for g in moments["saved_by_module"]]
saved_at = [sum(at) for at in zip(*groups)] or [0] * len(moments["step"])
check("saved by kind and by module", saved_at,
      [sum(at) for at in zip(*by_module)] or saved_at)
temporaries = [sum(at) for at in zip(sums(moments["temporary"]),
                                     sums(moments["recomputed"]))]
parts = list(zip(saved_at, sums(moments["gradient"]), sums(moments["result"]),
                 temporaries))
peak = report["peak"]
# Planned, the arena holds what is live, with gaps if it must be.
planned = peak["model"] == "planned"
check("highest moment", max(map(sum, parts)),
      plan["lower_bound" if planned else "peak_bytes"])
wanted = (peak["saved_bytes"], peak["gradient_bytes"],
          peak.get("result_bytes", 0), peak["temporary_bytes"])
if wanted not in parts:
    sys.exit("no moment has the parts of the peak, %s" % (wanted,))
# The arena is that of the report.
if planned:
    check("arena", plan["arena"]["bytes"], peak["bytes"])
else:
    check("no arena, and why", bool(plan["arena"]["problem"]), True)
print("same numbers: %d saved, %d recomputed, %d plans"
      % (len(saved), len(recomputed), len(data["plans"])))
