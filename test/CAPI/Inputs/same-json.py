# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two reports that differ in their times alone."""

import json
import sys

one, other = (json.load(open(path)) for path in sys.argv[1:])
assert one.pop("seconds") and other.pop("seconds")
assert one["saved"] and one["strategies"], one
assert one == other, (one, other)
