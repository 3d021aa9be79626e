# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives the first launch of a step the operands of the last one, and the other
way.

    swap-operands.py DIR"""

import pathlib
import sys

manifest = pathlib.Path(sys.argv[1]) / "manifest.json"
lines = manifest.read_text().split("\n")
places = [i for i, line in enumerate(lines) if line.startswith('     "operands"')]
first, last = places[0], places[-1]
ends = [lines[i][lines[i].index("]"):] for i in (first, last)]
starts = [lines[i][:lines[i].index("]")] for i in (first, last)]
lines[first], lines[last] = starts[1] + ends[0], starts[0] + ends[1]
manifest.write_text("\n".join(lines))
