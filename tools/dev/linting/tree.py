# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The files that the rules look at: what git knows or does not ignore, or,
# without git, everything but build folders.

import dataclasses
import functools
import json
import os
import pathlib
import subprocess

SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}


@dataclasses.dataclass
class Finding:
    path: str
    line: int
    text: str
    warning: bool = False

    def place(self):
        return self.path, self.line

    def __str__(self):
        kind = "warning" if self.warning else "error"
        return "%s:%d: %s: %s" % (self.path, self.line, kind, self.text)


class Tree:
    """A checkout: its files as sorted relative paths, and their text."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(self._git_files() or self._walked_files())

    def _git_files(self):
        if not (self.root / ".git").exists():
            return []
        try:
            out = subprocess.run(
                ["git", "-C", str(self.root), "ls-files", "-z", "--cached",
                 "--others", "--exclude-standard"],
                check=True, capture_output=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return []
        names = set(out.decode().split("\0")) - {""}
        return [name for name in names if (self.root / name).is_file()]

    def _walked_files(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
            for name in names:
                path = pathlib.Path(folder, name).relative_to(self.root)
                found.append(path.as_posix())
        return found

    @functools.lru_cache(maxsize=None)
    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8",
                                            errors="replace")

    def lines(self, name):
        return self.text(name).splitlines()

    def exists(self, name):
        return (self.root / name).exists()

    def select(self, folders=(), suffixes=()):
        """Files below one of `folders` (all if empty) with such a suffix."""
        for name in self.files:
            if folders and not name.startswith(tuple(f + "/" for f in folders)):
                continue
            if not suffixes or name.endswith(tuple(suffixes)):
                yield name

    def cpp(self):
        """Own C++, without the inputs of tests."""
        folders = ("include", "lib", "tools", "test", "benchmarks")
        for name in self.select(folders, (".h", ".cpp")):
            if "/Inputs/" not in name:
                yield name

    def pages(self):
        """What browsers are given: scripts, styles and markup."""
        return self.select(("lib",), (".js", ".css", ".html"))

    @functools.cached_property
    def config(self):
        """tools/dev/lint.json, of this tree or else of the rules' own."""
        own = self.root / "tools/dev/lint.json"
        if not own.exists():
            own = pathlib.Path(__file__).resolve().parents[1] / "lint.json"
        return json.loads(own.read_text())
