# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixes the files of two stored plans of one graph, and damages single files;
each folder that comes of it must be refused, with the checksums that are there
and with fresh ones.

    swap-parts.py ONE OTHER SCRATCH"""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

one, other, scratch = map(pathlib.Path, sys.argv[1:4])
FILES = ["joint.mlir", "forward.mlir", "backward.mlir", "plan.json"]


def verify():
    """Exit code and errors of `cutback verify`."""
    done = subprocess.run(
        ["cutback", "verify", str(scratch)], capture_output=True, text=True
    )
    return done.returncode, done.stderr


def freshen():
    """Writes the checksums that `verify` has computed into plan.json."""
    for _ in range(8):
        code, errors = verify()
        found = re.search(
            r"'files\.(\w+\.mlir)\.(\w+)' is .*; computed again, it is (.*)", errors
        )
        if not found:
            return code, errors
        path = scratch / "plan.json"
        plan = json.loads(path.read_text())
        plan["files"][found[1]][found[2]] = json.loads(found[3])
        path.write_text(json.dumps(plan))
    sys.exit("checksums do not settle")


def make(sources):
    """A folder of the four files in `sources`."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for name, source in zip(FILES, sources):
        shutil.copy(source / name, scratch / name)


def expect(what, codes=(3,)):
    """The folder is refused, freshly summed too."""
    for way, (code, errors) in (("stale", verify()), ("fresh", freshen())):
        if code not in codes or "error: " not in errors:
            sys.exit(f"{what}, {way} checksums: exit {code}\n{errors}")


def damage(name, pattern, to):
    """Changes the first match of a pattern in one file of the plan."""
    make([one] * 4)
    text, count = re.subn(pattern, to, (scratch / name).read_text(), count=1)
    if count != 1:
        sys.exit(f"{name} has no {pattern}")
    (scratch / name).write_text(text)


tried = 0
for mix in itertools.product((one, other), repeat=4):
    if len(set(mix)) > 1:
        make(mix)
        expect("mixed: " + ", ".join(map(str, mix)))
        tried += 1
for name, pattern, to in (
    ("joint.mlir", r'options = \[[^\]]*\]', 'options = ["--strategy=save-all"]'),
    ("joint.mlir", r"byte_price_ps = [0-9.e+-]+", "byte_price_ps = 3.5"),
    ("joint.mlir", r"torch_graph = false", "torch_graph = true"),
    ("joint.mlir", r"( = aten.*) loc\(.*", r"\1 loc(unknown)"),
    ("forward.mlir", r"( = aten.*) loc\(.*", r"\1 loc(unknown)"),
    ("backward.mlir", r"( = aten.*) loc\(.*", r"\1 loc(unknown)"),
    ("backward.mlir", r"joint.recompute = 0", "joint.recompute = 99"),
    ("joint.mlir", r"joint\.plan = ", "joint.plain = "),
    ("joint.mlir", r"byte_price_ps", "byte_prize_ps"),
    ("joint.mlir", r'strategy = "[a-z-]+"', 'strategy = "worst"'),
    ("joint.mlir", r"recompute = \[\]", 'recompute = ["no_such_value"]'),
    ("joint.mlir", r"recompute = \[\]", "recompute = [7]"),
    ("joint.mlir", r'options = \[[^\]]*\]', 'options = ["--strategy=worst"]'),
    ("joint.mlir", r'options = \[[^\]]*\]', "options = [7]"),
):
    damage(name, pattern, to)
    expect(f"{name}: {pattern}")
    tried += 1

# Files that are cut, missing, or no files.
for name in FILES:
    make([one] * 4)
    (scratch / name).write_text((one / name).read_text()[:-300])
    expect(f"{name}, cut", (1, 3))
    for what, replace in (
        ("missing", lambda path: None),
        ("a folder", lambda path: path.mkdir()),
        ("a link to a device", lambda path: path.symlink_to("/dev/zero")),
        ("a dangling link", lambda path: path.symlink_to("nowhere")),
    ):
        make([one] * 4)
        (scratch / name).unlink()
        replace(scratch / name)
        code, errors = verify()
        if code != 1 or name not in errors:
            sys.exit(f"{name}, {what}: exit {code}\n{errors}")
        tried += 1

# A link to the file itself is the file.
make([one] * 4)
for name in FILES:
    (scratch / name).unlink()
    (scratch / name).symlink_to((one / name).resolve())
code, errors = verify()
if code != 0:
    sys.exit(f"links: exit {code}\n{errors}")
print(f"{tried} folders that are not one plan, all refused")
