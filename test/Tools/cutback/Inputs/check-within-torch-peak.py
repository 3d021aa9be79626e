# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-within-torch-peak.py REPORT.json: the plan that a report is of is
planned, and was taken in place of a minimum cut for time that needs more than
PyTorch's decision; prints how it compares.
"""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
peak, passed = report["peak"], report["passed_over"]
assert peak["bytes"] <= passed["torch_peak_bytes"] < passed["peak_bytes"]
assert report["verified"]
models = {line.get("peak_model", peak["model"])
          for line in report["strategies"] if not line["chosen"]}
print(f"{report['ops']:,} ops, {peak['model']}, others {sorted(models)}")
print(f"arena {peak['bytes'] / passed['peak_bytes']:.2f} of the minimum cut's")
print(f"by ops: {passed.get('by_ops', False)}")
