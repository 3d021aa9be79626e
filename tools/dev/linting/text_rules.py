# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rules that read files as text: licence lines, sizes, forbidden strings,
# paths that documents name.

import re

from .tree import Finding

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
WARN_LINES, FAIL_LINES = 600, 900


def _is_script(tree, name):
    # No comment can stand in JSON.
    return (name.startswith(("tools/dev/", ".ci/")) and "." not in
            name.rsplit("/", 1)[1]) or name.endswith((".py", ".cmake"))


def _sources(tree):
    for name in tree.files:
        if name.startswith("test/corpus/") or "/Inputs/" in name:
            continue
        code = name.endswith((".h", ".cpp", ".td", ".cu", ".cuh", ".py.in",
                              ".js", ".css"))
        if code or _is_script(tree, name) or name.endswith("CMakeLists.txt"):
            yield name


def spdx(tree):
    """Every source file starts with the licence line."""
    for name in _sources(tree):
        # A script may have its #! line first.
        head = tree.lines(name)[:2]
        comment = "// " if name.endswith((".h", ".cpp", ".td", ".js", ".cu",
                                          ".cuh")) else \
            "/* " if name.endswith(".css") else "# "
        start = head[1:] if head and head[0].startswith("#!") else head[:1]
        if start != [comment + SPDX]:
            yield Finding(name, 1, "must start with '%s%s'" % (comment, SPDX))


def opening(tree):
    """Each .cpp of lib and tools opens with 5 to 20 lines of explanation.

    One under 40 lines, which the reader sees whole, may do with less.
    """
    for name in tree.select(("lib", "tools"), (".cpp",)):
        count = 0
        for line in tree.lines(name):
            if not line.startswith("//"):
                break
            count += 1
        short = len(tree.lines(name)) < 40
        if not (1 if short else 6) <= count <= 21:
            yield Finding(name, 1, "opens with %d lines of explanation after"
                          " the licence line, not 5 to 20" % max(count - 1, 0))


def file_size(tree):
    """A source file over 900 lines fails, over 600 warns."""
    for name in list(_sources(tree)) + list(tree.select(("test",),
                                                        (".mlir", ".test"))):
        if name.startswith("test/corpus/"):
            continue
        count = len(tree.lines(name))
        if count > WARN_LINES:
            limit = FAIL_LINES if count > FAIL_LINES else WARN_LINES
            yield Finding(name, count, "has %d lines, more than %d; split it"
                          " by idea" % (count, limit), count <= FAIL_LINES)


def _hits(tree, name, entries):
    for number, line in enumerate(tree.lines(name), 1):
        for first, second, why in entries:
            if first + second in line:
                yield Finding(name, number, "contains '%s': %s"
                              % ((first + second).strip(), why))


def forbidden(tree):
    """No path of a machine, no registry, no unfinished marks, no errs()."""
    for name in tree.files:
        if name.startswith("test/corpus/") or name == "tools/dev/lint.json":
            continue
        yield from _hits(tree, name, tree.config["forbidden_everywhere"])
    for name in tree.select(("lib", "include"), (".h", ".cpp")):
        yield from _hits(tree, name, tree.config["forbidden_in_code"])


def _named_paths(tree, line):
    folders = "|".join(re.escape(f) for f in tree.config["path_folders"])
    for quoted in re.findall(r"`([^`\s]+)`", line):
        if re.match(r"(%s)/" % folders, quoted):
            yield quoted, quoted
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
        if "://" not in target:
            yield target, None


def doc_paths(tree):
    """Paths and links that README.md and docs name exist."""
    documents = [n for n in tree.files if n == "README.md" or
                 (n.startswith("docs/") and n.endswith(".md"))]
    for name in documents:
        for number, line in enumerate(tree.lines(name), 1):
            for shown, path in _named_paths(tree, line):
                if path is None:
                    base = tree.root / name
                    missing = not (base.parent / shown).exists()
                elif re.search(r"[<>*{}$]|\.\.\.|\bX\b|\bNAME\b", path):
                    continue  # a pattern, not a path
                else:
                    missing = not tree.exists(path.split(":")[0])
                if missing:
                    yield Finding(name, number,
                                  "names '%s', which is not there" % shown)


def _unit_tests(tree):
    """The names of all GoogleTests, and SUITE.* of each suite."""
    names = set()
    for name in tree.select(("test/unit",), (".cpp",)):
        for suite, test in re.findall(
                r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)",
                tree.text(name), re.MULTILINE):
            names.update((suite + "." + test, suite + ".*"))
    return names


NO_TEST = r"does not apply, because|not done|the same\b"


def promises(tree):
    """Each row of a table of sentences and tests names tests that exist.

    Or it says that the sentence does not apply, because of what.
    """
    tests = None
    for name in tree.select(("docs",), (".md",)):
        in_table = False
        for number, line in enumerate(tree.lines(name), 1):
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if not line.startswith("|") or not cells:
                in_table = False
            elif cells[-1] == "test":
                in_table = True
            elif in_table and not cells[-1].startswith("--"):
                tests = _unit_tests(tree) if tests is None else tests
                quoted = re.findall(r"`([^`\s]+)`", cells[-1])
                named = [q for q in quoted
                         if re.fullmatch(r"[A-Z]\w*\.(\w+|\*)", q)]
                for test in named:
                    if test not in tests:
                        yield Finding(name, number, "names test '%s', which is"
                                      " not there" % test)
                if not (named or re.search(NO_TEST, cells[-1]) or
                        any(q.startswith("test/") for q in quoted)):
                    yield Finding(name, number, "a row names no test, and does"
                                  " not say 'does not apply, because'")


# What lets text become markup or script, and what reaches for the network. The
# name of SVG's elements looks like an address.
UNSAFE = (r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|"
          r"new Function|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|"
          r"sendBeacon|\bimport\b|@import|\burl\(|\bon\w+=\"|\bstyle=\"|"
          r"https?://(?!www\.w3\.org/2000/svg\")")


def pages(tree):
    """Pages reach for no network, run no text, and are laid out evenly."""
    for name in tree.pages():
        for number, line in enumerate(tree.lines(name), 1):
            found = re.search(UNSAFE, line)
            if found:
                yield Finding(name, number, "'%s' does not belong in a page"
                              % found.group(0))
            indent = len(line) - len(line.lstrip(" "))
            if name.endswith(".css") and (
                    len(line) > 80 or "\t" in line or line != line.rstrip() or
                    (indent % 2 and not line.startswith(" *"))):
                yield Finding(name, number, "not two spaces a level, or longer"
                              " than 80 columns")


RULES = {"spdx": spdx, "opening": opening, "file-size": file_size,
         "forbidden": forbidden, "doc-paths": doc_paths,
         "promises": promises, "pages": pages}
