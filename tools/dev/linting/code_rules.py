# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rules that look at C++: formatting, mirrored folders, and loops whose order
# depends on addresses.

import os
import re
import shutil
import subprocess

from .tree import Finding


def formatting(tree):
    """Own C++ and scripts of pages are as clang-format 22 writes them."""
    tool = shutil.which("clang-format-22")
    files = list(tree.cpp()) + [n for n in tree.pages() if n.endswith(".js")]
    if not files:
        return
    if tool is None:
        yield Finding("tools/dev/format", 1, "clang-format-22 is not there;"
                      " run tools/dev/bootstrap")
        return
    out = subprocess.run([tool, "--dry-run", "--ferror-limit=1"] + files,
                         cwd=tree.root, capture_output=True, text=True).stderr
    seen = set()
    for name, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be",
                                 out, re.M):
        if name not in seen:
            seen.add(name)
            yield Finding(name, int(line),
                          "not formatted; run tools/dev/format")


UNORDERED = r"(?:llvm::|std::)?(?:Small)?(?:DenseMap|DenseSet|SmallPtrSet|"\
    r"unordered_(?:multi)?(?:map|set))\s*<"
POINTER_KEYED = r"std::(?:map|set)\s*<\s*(?:const\s+)?[\w:]+\s*\*"
ORDERED_MARK = "order:"


def _after_angles(text, start):
    """The position behind the template argument list opened before start."""
    depth = 1
    while start < len(text) and depth:
        depth += {"<": 1, ">": -1}.get(text[start], 0)
        start += 1
    return start


def unordered_names(text):
    """Variables, members and parameters declared with an unordered type."""
    names = set()
    for match in re.finditer(UNORDERED + "|" + POINTER_KEYED, text):
        begin = text.index("<", match.start()) + 1
        rest = text[_after_angles(text, begin):]
        declared = re.match(r"[\s&*]*(?:const\s+)?(\w+)\s*[;={(,)\[]", rest)
        if declared:
            names.add(declared.group(1))
    return names


def _without_comments(text):
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def iteration(tree):
    """No loop over a container whose order depends on addresses or hashes.

    Heuristic: a range-for over, or begin() of, a variable that this file, the
    headers beside it or its mirrored header declare with such a type. Where
    the order cannot reach output, `// order: REASON` on the line of the loop
    or the one above says why.
    """
    code = list(tree.select(("include", "lib", "tools"), (".h", ".cpp")))
    names_of = {n: unordered_names(_without_comments(tree.text(n)))
                for n in code}
    for name in code:
        names = set(names_of[name])
        for include in re.findall(r'#include "([^"]+)"', tree.text(name)):
            beside = os.path.join(os.path.dirname(name), include)
            for header in ("include/" + include, os.path.normpath(beside)):
                names |= names_of.get(header, set())
        lines = tree.lines(name)
        clean = _without_comments(tree.text(name)).splitlines()
        for number, line in enumerate(clean, 1):
            joined = line + " " + (clean[number] if number < len(clean) else "")
            loop = re.search(r"\bfor\s*\([^;()]*[^:]:\s*(?:\w+(?:\.|->))*"
                             r"(\w+)(?:\.(?:keys|values)\(\))?\s*\)", joined)
            begin = re.search(r"\b(\w+)(?:\.|->)begin\(\)", line)
            for hit in (loop if loop and loop.start() < len(line) else None,
                        begin):
                if hit is None or hit.group(1) not in names:
                    continue
                near = lines[max(number - 2, 0):number]
                if any(ORDERED_MARK in text for text in near):
                    continue
                yield Finding(name, number, "loops over '%s', whose order is"
                              " that of addresses or hashes; sort first, use"
                              " MapVector or SetVector, or say '// order: ...'"
                              % hit.group(1))


def _stem(name):
    return os.path.splitext(os.path.basename(name))[0]


def _folder(name, top):
    return os.path.dirname(name)[len(top):].strip("/")


def _implements(tree, name, folder):
    """Its first #include is a header of its folder, or of the one above."""
    first = re.search(r'#include "([^"]+)"', tree.text(name))
    if first is None:
        return False
    at = os.path.dirname(first.group(1))
    return at in ("", "cutback/" + folder,
                  "cutback/" + os.path.dirname(folder))


def mirror(tree):
    """lib/X/Y.cpp, include/cutback/X/Y.h and tests in X lie alike."""
    headers = {}
    for name in tree.select(("include/cutback", "lib"), (".h",)):
        top = "lib" if name.startswith("lib/") else "include/cutback"
        headers.setdefault(_folder(name, top), set()).add(_stem(name))
    folders = {}
    for name in tree.select(("lib",), (".cpp",)):
        folder = _folder(name, "lib")
        folders.setdefault(folder, name)
        near = headers.get(folder, set())
        own = any(_stem(name).startswith(stem) for stem in near)
        if not (own or _implements(tree, name, folder)) and \
           name not in tree.config["mirror_exceptions"]:
            yield Finding(name, 1, "has no header of its name in"
                          " include/cutback/%s or beside it, nor is its first"
                          " #include one of that folder" % folder)
    for folder, name in sorted(folders.items()):
        tests = [top + at for top in ("test/", "test/unit/")
                 for at in (folder, os.path.dirname(folder)) if at]
        if not any(tree.select(tests)):
            yield Finding(name, 1, "nothing in test/%s or test/unit/%s tests"
                          " this folder" % (folder, folder))
    for name in tree.select(("test/unit",), ("Test.cpp",)):
        folder = _folder(name, "test/unit")
        if folder not in folders and not tree.exists("tools/" + folder.lower()):
            yield Finding(name, 1, "tests no folder of lib: lib/%s is not"
                          " there" % folder)
    for name in tree.select(("include/cutback",), (".h",)):
        path = name[len("include/"):]
        guard = re.sub(r"[^A-Z0-9]", "_", path.upper())
        if "#ifndef " + guard not in tree.text(name):
            yield Finding(name, 1, "its include guard is not " + guard)


RULES = {"format": formatting, "iteration": iteration, "mirror": mirror}
