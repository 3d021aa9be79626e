# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what the commands print about each graph of a folder.

Fails at a line that is wider than 80 columns, or that holds a word of our own
where the field has one.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

WIDTH = 80
OURS = re.compile(r"\b(dearer|theirs|lives|nobody|allowlist|deny list|"
                  r"by the network|opaque)\b|^\s+\.\s")


def output(*args):
    done = subprocess.run(["cutback", *args], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"cutback {' '.join(args)}: exit {done.returncode}\n"
                 + done.stderr)
    return done.stdout


def check(args):
    for line in output(*args).splitlines():
        if len(line) > WIDTH or OURS.search(line):
            sys.exit(f"cutback {' '.join(args)}: {len(line)} columns: {line}")


def commands():
    names = ("import", "report", "explain", "compile", "run", "draw", "verify",
             "reduce")
    return [["--help"], ["version"]] + [["help", name] for name in names]


def graphs(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        graph = path / "joint.txt"
        if not graph.exists():
            continue
        yield ["report", str(graph)]
        yield ["report", str(graph), "--cost-model=pytorch"]
        text = graph.read_text()
        for value in re.findall(r"^ {4}(\w+)(?=:| =)", text, re.M)[::97]:
            yield ["explain", str(graph), "--value=" + value]
        yield ["explain", str(graph), "--value=primals_1", "--what-if"]
        yield ["explain", str(graph), "--value=tangents_1"]


def main():
    runs = commands() + list(graphs(sys.argv[1]))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(check, runs))
    print(len(runs), "texts, none wider than", WIDTH, "columns")


main()
