# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the PTX of a step must not have: approximate functions, numbers flushed to
# zero, and a multiplication contracted with an addition where the text has none.
# Each has the line of the text that it comes from (.loc). `fma` is right in a line
# that calls fma, fmaf or fused: a polynomial, a product. All of them are right
# inside the toolkit's functions of double precision, which are rounded once, and
# inside fmod, which is exact.

import re
import subprocess

OWN = re.compile(r"\b(?:fmaf?|fused)\(")
# Lines of these files that stand for the toolkit's own functions.
NAMES = (r"\b(?:exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|"
         r"atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|erfinv|lgamma|cbrt)\(")
LIBRARY = re.compile(r"\bfmodf?\(|" + NAMES + r"double\(")
IN_HEADERS = re.compile(r"\bfmodf?\(|" + NAMES)
HEADERS = ("cutback_math.cuh", "cutback_random.cuh", "cutback_rows.cuh")


def make(nvcc, folder, half, architecture):
    done = subprocess.run(
        [nvcc, "-std=c++17", "--fmad=false", "-lineinfo", "-ptx", "-o", "-",
         "-arch=compute_" + architecture[3:], half + ".cu"],
        cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def is_right(text, name, is_fma):
    if is_fma and OWN.search(text):
        return True
    return bool((IN_HEADERS if name in HEADERS else LIBRARY).search(text))


def look(ptx, folder):
    """Problems, and how many fma there are."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+) "(?:[^"]*/)?([^"]+)"', ptx, re.M))
    lines = {name: (folder / name).read_text().splitlines()
             for name in files.values() if (folder / name).exists()}
    problems, count, kernel, place = set(), 0, "", ("", 0)
    for text in ptx.splitlines():
        if found := re.search(r"\.entry (\w+)\(", text):
            kernel = found.group(1)
        elif found := re.match(r"\s*\.loc\s+(\d+) (\d+)", text):
            place = (files.get(found.group(1), ""), int(found.group(2)))
        elif found := re.match(
                r"\s*(?:@\S+\s+)?(fma\.\S+|\w[\w.]*\.(?:approx|ftz)[\w.]*)", text):
            is_fma = found.group(1).startswith("fma")
            count += is_fma
            name, line = place
            source = lines.get(name, [])
            if not 0 < line <= len(source) or \
                    not is_right(source[line - 1], name, is_fma):
                problems.add("%s: %s at %s:%d" % (kernel, found.group(1), name, line))
    return sorted(problems), count
