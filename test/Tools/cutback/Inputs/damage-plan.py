# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes each kind of value in a stored plan.json, and asks for each change
whether `cutback verify` refuses it by name.

    damage-plan.py FOLDER SCRATCH [every]

Lists of like entries (saved values, storages) are represented by their first,
middle and last entry, unless `every` is given. A change is a path, what is done
there, and the name that the error must hold."""

import copy
import json
import pathlib
import shutil
import subprocess
import sys

folder, scratch = map(pathlib.Path, sys.argv[1:3])
every = len(sys.argv) > 3
shutil.rmtree(scratch, ignore_errors=True)
shutil.copytree(folder, scratch)
plan = json.loads((folder / "plan.json").read_text())


def chosen(entries):
    """Indices of a list that are tried."""
    if every or len(entries) <= 3:
        return range(len(entries))
    return [0, len(entries) // 2, len(entries) - 1]


def leaves(value, path=()):
    """Paths of all values, containers too."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], path + (key,))
    elif isinstance(value, list):
        for index in chosen(value):
            yield from leaves(value[index], path + (index,))


def spell(path):
    """As the error names it: 'saved[3].bytes'."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else "." + step
    return text.lstrip(".")


def others(value):
    """What may stand in place of a value."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, (int, float)):
        return [value + 1, -value - 1, str(value), None]
    if isinstance(value, str):
        return [value + "x", value[1:] if value else "y", 1]
    if isinstance(value, list):
        out = [value + [1], {}]
        if value:
            out += [value[:-1], value[1:], value + value[:1]]
        if value[::-1] != value:
            out.append(value[::-1])
        return out
    return [{**value, "mine": 1}, [value], None]


def verify():
    """Exit code and errors of `cutback verify`."""
    done = subprocess.run(
        ["cutback", "verify", str(scratch)], capture_output=True, text=True
    )
    return done.returncode, done.stderr


def expect(what, name, text):
    """A plan.json of this text is refused, by the name of what was changed."""
    (scratch / "plan.json").write_text(text)
    code, errors = verify()
    if code not in (1, 3) or "plan.json" not in errors or name not in errors:
        sys.exit(f"{what}: exit {code}, expected '{name}' in:\n{errors}")


def at(document, path):
    """What holds the value of `path`."""
    for step in path[:-1]:
        document = document[step]
    return document


count = 0
seen = set()
for path in leaves(plan):
    shape = tuple("*" if isinstance(step, int) else step for step in path)
    is_new = shape not in seen
    seen.add(shape)
    value = at(plan, path)[path[-1]]
    # All changes of the first of its kind, one of the others.
    for other in others(value)[: None if is_new or every else 1]:
        changed = copy.deepcopy(plan)
        at(changed, path)[path[-1]] = other
        expect(f"{spell(path)} = {other!r}"[:200], spell(path), json.dumps(changed))
        count += 1
    if isinstance(path[-1], str) and is_new:
        changed = copy.deepcopy(plan)
        del at(changed, path)[path[-1]]
        expect(f"without {spell(path)}", spell(path), json.dumps(changed))
        count += 1

# The text itself.
text = (folder / "plan.json").read_text()
twice = text.replace('"schema":1', '"schema":1,"schema":1', 1)
expect("a key that is there twice", "'schema' is there twice", twice)
for length in (0, 1, len(text) // 2, len(text) - 3):
    expect(f"the first {length} bytes", "no JSON", text[:length])
expect("two values", "no JSON", text + text)
expect("50,000 brackets", "nest deeper", "[" * 50000)

# Layout and the order of keys say nothing.
(scratch / "plan.json").write_text(json.dumps(plan, indent=1, sort_keys=True))
code, errors = verify()
if code != 0:
    sys.exit(f"another layout: exit {code}\n{errors}")
print(f"{count} changes of {len(seen)} kinds of values, all refused by name")
