"""Peak and recomputed ops of reports: `region-peaks.py FOLDER NAME...`."""

import json
import sys

for name in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{name}.json") as file:
        report = json.load(file)
    peak = report["peak"]["bytes"] / 2**20
    print(f"{name}: {peak:.1f} MiB, {len(report['recomputed'])} ops recomputed")
