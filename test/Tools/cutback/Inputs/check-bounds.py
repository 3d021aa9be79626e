# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the bounds of a report against its figures, and of a second one of the
same graph; with --raise=KEY writes a plan.json in which one is larger."""
import json
import sys

arguments = [a for a in sys.argv[1:] if not a.startswith("--raise=")]
raised = [a[len("--raise=") :] for a in sys.argv[1:] if a.startswith("--raise=")]
report = json.load(open(arguments[0]))
bound = report["bound"]
if raised:
    bound[raised[0]] += 1
    json.dump(report, open(arguments[1], "w"))
    sys.exit()
for other in [json.load(open(name)) for name in arguments]:
    assert bound["peak_bytes"] <= other["peak"]["bytes"]
assert 0 < bound["peak_bytes"] and bound["limit_bytes"] == report["peak"]["bytes"]
assert 0 <= bound["time_ps"] <= report["time"]["priced_ps"]
assert 0 <= report["gap"] < 1
assert bound["at_peak"] or bound["peak_at"] == "between"
sizes = [value["bytes"] for value in bound["at_peak"]]
assert sizes == sorted(sizes, reverse=True) and sum(sizes) <= bound["peak_bytes"]
assert all(price["ps"] > 0 for price in bound["prices"])
