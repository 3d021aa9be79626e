# within-limit.py EAGER REPORT=LIMIT ...: peaks are within limits (bytes, or a
# share of the peak of EAGER), and time falls as limits rise.
import json
import sys

eager = json.load(open(sys.argv[1]))["peak"]["bytes"]
plans = []
for entry in sys.argv[2:]:
    path, limit = entry.rsplit("=", 1)
    report = json.load(open(path))
    limit = float(limit)
    wanted = int(limit * eager) if limit <= 1 else int(limit)
    assert report["limit"] == wanted, (report["limit"], wanted)
    assert report["peak"]["bytes"] <= wanted, entry
    assert report["search"]["plans"] > 1 and report["verified"], entry
    plans.append((wanted, report["time"]["priced_ps"]))
plans.sort()
for (low, slow), (high, fast) in zip(plans, plans[1:]):
    assert fast <= slow and (low < high or fast == slow), plans
