# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The least program with a fault: statements, results and state go, first many
at a time, then regions and parts of texts, as long as the fault stays."""

import copy
import re

from .program import Region


class Shrinker:
    """`has_fault` says whether a program still has the fault."""

    def __init__(self, has_fault, limit):
        self.has_fault = has_fault
        self.left = limit
        self.tried = set()

    def shrink(self, program):
        before = None
        while program.source() != before and self.left > 0:
            before = program.source()
            for field in ("losses", "outputs", "body", "state"):
                program = self.drop(program, field)
            for edits in (_regions, _texts):
                program = self.first(program, edits)
        return program

    def keeps(self, program):
        text = program.source()
        if self.left <= 0 or text in self.tried:
            return False
        self.tried.add(text)
        self.left -= 1
        return self.has_fault(program)

    def drop(self, program, field):
        width = max(len(getattr(program, field)) // 2, 1)
        while width:
            start = 0
            while start < len(getattr(program, field)):
                new = copy.deepcopy(program)
                del getattr(new, field)[start:start + width]
                if self.keeps(new):
                    program = new
                else:
                    start += width
            width //= 2
        return program

    def first(self, program, edits):
        for new in edits(program):
            if self.keeps(new):
                return self.first(new, edits)
        return program


def _regions(program):
    """Without a region, its statements staying."""
    for i, one in enumerate(program.body):
        if isinstance(one, Region):
            new = copy.deepcopy(program)
            new.body[i:i + 1] = one.children
            yield new


def _texts(program):
    """Texts with a part less: of `v1.view(-1)[0]` `v1.view(-1)` and `v1`."""
    for i, one in enumerate(program.body):
        depth = 0
        for j, c in enumerate(getattr(one, "text", "")):
            if c in ".[" and depth == 0 and one.target:
                new = copy.deepcopy(program)
                new.body[i].text = one.text[:j]
                yield new
            depth += (c in "([") - (c in ")]")
        inner = re.match(r".*?\b([vx]\d+)\b", getattr(one, "text", ""))
        if inner and inner[1] != one.text:
            new = copy.deepcopy(program)
            new.body[i].text = inner[1]
            yield new
    if program.dynamic:
        new = copy.deepcopy(program)
        new.dynamic = False
        yield new
