# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ask-front.sh FRONT GRAPH PYTHON: each plan of a front is that of asking for
# its limit, and they rise in memory and fall in time.
set -eu
limits=$("$3" - "$1" <<'END'
import json, sys
front = json.load(open(sys.argv[1]))["front"]
assert len(front) >= 2
for low, high in zip(front, front[1:]):
    assert low["limit"] < high["limit"] and low["peak_bytes"] < high["peak_bytes"]
    assert low["priced_ps"] > high["priced_ps"], (low, high)
for point in front:
    assert point["peak_bytes"] <= point["limit"], point
    print(point["limit"], point["peak_bytes"], point["priced_ps"])
END
)
echo "$limits" | while read -r limit peak time; do
  cutback report "$2" --memory-limit="$limit" --json | "$3" -c "
import json, sys
report = json.load(sys.stdin)
got = report['limit'], report['peak']['bytes'], report['time']['priced_ps']
assert got == ($limit, $peak, $time), got"
done
