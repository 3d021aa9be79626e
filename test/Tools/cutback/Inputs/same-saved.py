"""Whether two reports save the same: `same-saved.py A.json B.json`."""

import json
import sys


def saved(path):
    with open(path) as file:
        values = json.load(file)["saved"]
    return sorted(
        (value["op"], value["bytes"], value["location"], value["module"])
        for value in values
    )


a, b = saved(sys.argv[1]), saved(sys.argv[2])
print("the same" if a == b else "others", len(a))
for value in [v for v in a if v not in b] + [v for v in b if v not in a]:
    print(*value)
