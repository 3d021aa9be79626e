# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two reports that differ in their times alone, and in what eager PyTorch keeps,
which the C interface does not count."""

import json
import sys

one, other = (json.load(open(path)) for path in sys.argv[1:])
assert one.pop("seconds") and other.pop("seconds")
other.pop("eager_pytorch", None)
assert one["saved"] and one["strategies"], one
assert one == other, (one, other)
