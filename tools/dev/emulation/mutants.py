# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Changes to the text of kernels, all of them in one build: each is a condition on
# the number in CUTBACK_MUTANT, so that a mutant costs a run and no compilation.
#
#   barrier  a __syncthreads or __syncwarp less
#   store    four elements, or one, behind its place; in shared memory too
#   bound    a test of an index against a size less
#   guard    a test less that lets one thread store (lane == 0, row == 0)
#
# Tests of indices that data give (`checked`) are not among them: whether an index
# is outside depends on the data, and errors.test has such data.

import re

# Tile products, sums and attention; math and random numbers have no memory.
HEADERS = ("cutback_reduce.cuh", "cutback_factors.cuh", "cutback_product.cuh",
           "cutback_attention.cuh", "cutback_rows.cuh")
# In front of the text: whether a mutant is the one that runs, and which of them a
# run without any came by.
SWITCH = """#include <cstdio>
#include <cstdlib>
static const int chosenMutant =
    std::getenv("CUTBACK_MUTANT") ? std::atoi(std::getenv("CUTBACK_MUTANT")) : 0;
static bool isReached[%d];
__attribute__((disable_sanitizer_instrumentation, noinline)) static bool
mutant(int number) {
  static const char *const path = std::getenv("CUTBACK_REACHED");
  if (path && !isReached[number]) {
    isReached[number] = true;
    std::FILE *file = std::fopen(path, "a");
    std::fprintf(file, "%%d\\n", number);
    std::fclose(file);
  }
  return number == chosenMutant;
}
"""
SIZE = r"(?:[1-9]\d*|keys|queries|width|outWidth|count|m|n|k)"


class Mutant:
    def __init__(self, number, kind, file, line, text):
        self.number, self.kind = number, kind
        self.file, self.line, self.text = file, line, text.strip()

    def place(self):
        return "%s:%d" % (self.file, self.line)


def closing(text, opening):
    """Where the bracket at `opening` ends."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "[") - (text[at] == "]")
        if not depth:
            return at
    return -1


class Changer:
    """Rewrites the lines of one file."""

    def __init__(self, file, first):
        self.file, self.next = file, first
        self.mutants = []
        self.written = []  # parameters of the kernel that it writes

    def new(self, kind):
        self.mutants.append(
            Mutant(self.next, kind, self.file, self.line, self.text))
        self.next += 1
        return self.next - 1

    def change(self, text):
        lines = text.split("\n")
        self.lines = list(lines)
        for i, line in enumerate(lines):
            self.line, self.text = i + 1, line
            if "__global__" in line:
                self.written, self.head = [], True
            if self.file.endswith(".cu") and getattr(self, "head", False):
                self.written += re.findall(
                    r"(?<!const )\b(?!const)(?:\w+ )?\w+ \*(?:__restrict__ )?(\w+)(?=[,)])",
                    re.sub(r"const [\w ]+\*(?:__restrict__ )?\w+[,)]?", "", line))
                self.head = "{" not in line
                continue
            lines[i] = self.change_line(line, lines[i + 1] if i + 1 < len(lines)
                                        else "")
        return "\n".join(lines)

    def change_line(self, line, behind):
        code = line.split("//")[0]
        if re.match(r"\s*(?:template|struct|__device__|inline|#|(?:static )?constexpr)",
                    code):
            return line
        for rule in (self.barrier, self.guard, self.bound, self.stores):
            code = rule(code, behind)
        return code

    def barrier(self, code, behind):
        return re.sub(r"__sync(?:threads|warp)\(\);",
                      lambda found: "if (!mutant(%d)) %s" % (
                          self.new("barrier"), found.group(0)), code)

    def guard(self, code, behind):
        """`if (lane == 0)` and the like, whatever is tested with it."""
        if not re.match(r"\s*if \(", code) or "return" in behind:
            return code
        return re.sub(
            r"(?:lane|threadIdx\.x(?: / 32)?(?: % \d+)?|(?:at|row|column|element)"
            r"(?: / \d+)?(?: % \d+)?) == 0\b",
            lambda found: "(mutant(%d) || %s)" % (self.new("guard"),
                                                    found.group(0)), code)

    def bound(self, code, behind):
        if re.match(r"\s*if \(\w+ >= \d+\)$", code) and "return" in behind:
            if self.is_tested_again(code):
                return code
            return re.sub(r"if \((.*)\)", lambda found: "if (!mutant(%d) && %s)" % (
                self.new("bound"), found.group(1)), code)
        # One iteration more of a thread that goes over rows.
        code = re.sub(r"row < (\d+); row \+= 8", lambda found:
                      "row < %s + 8 * mutant(%d); row += 8" % (
                          found.group(1), self.new("bound")), code)
        if re.search(r"isInside &?= ", code):
            return re.sub(r"(isInside &?= )(?!true)(.*);", lambda found:
                          "%smutant(%d) || %s;" % (
                              found.group(1), self.new("bound"), found.group(2)),
                          code)
        # Which nest a block runs is no bound.
        if "for (" in code or "if (blockIdx" in code:
            return code
        if not re.search(r"\bif \(|\?|&&", code):
            return code
        if self.is_tested_again(code):
            return code
        index = r"(?:\w+(?:\.\w+)?(?: [-+*/%] \w+(?:\.\w+)?)*)"
        return re.sub(r"(%s) < (%s)\b(?! ==)(?!\.)" % (index, SIZE), lambda found:
                      "(mutant(%d) || %s)" % (self.new("bound"), found.group(0)),
                      code)

    def is_tested_again(self, code):
        """`if (column < 29)` or `if (element >= 29) return` in front of
        `if (at < 29)`: the same test, which the inner one makes for each
        element."""
        found = re.match(r"( *)if \((?:column <|element >=) (\d+)\)", code)
        if not found:
            return False
        for line in self.lines[self.line:]:
            if line.startswith(found.group(1)[:-2] + "}"):
                return False
            if line.strip() == "if (at < %s) {" % found.group(2):
                return True
        return False

    def stores(self, code, behind):
        code = re.sub(r"store([24])\((\w+ \+ .*), (\w+)\);", lambda found:
                      "store%s(%s + %s * mutant(%d), %s);" % (
                          found.group(1), found.group(2), found.group(1),
                          self.new("store"), found.group(3)), code)
        names = self.written if self.file.endswith(".cu") else ["shared", "to"]
        for name in names:
            for found in reversed(list(re.finditer(
                    r"(?<![\w.])%s\[" % re.escape(name), code))):
                end = closing(code, found.end() - 1)
                while end > 0 and code[end + 1:end + 2] == "[":
                    end = closing(code, end + 1)
                if end > 0 and re.match(r" [-+*]?= ", code[end + 1:]):
                    code = "%s + mutant(%d)%s" % (
                        code[:end], self.new("store"), code[end:])
        return code


def change_folder(folder):
    """Puts the mutants into the text of a step; gives their list, from 1 on."""
    mutants = []
    for name in ("forward.cu", "backward.cu", *HEADERS):
        changer = Changer(name, len(mutants) + 1)
        path = folder / name
        path.write_text(changer.change(path.read_text()))
        mutants += changer.mutants
    host = folder / "host.cpp"
    host.write_text(SWITCH % (len(mutants) + 1) + host.read_text())
    return mutants
