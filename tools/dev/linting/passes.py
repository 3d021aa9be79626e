# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Passes.td is the manual: each pass has a summary, a description and an
# example, and the example is part of a test.

import functools
import json
import re
import shutil
import subprocess

from .tree import Finding

TBLGEN = "/usr/lib/llvm-22/bin/llvm-tblgen"
INCLUDES = "/usr/lib/llvm-22/include"


def _records(tree, name):
    # Not mlir-tblgen: it cannot dump JSON.
    tool = shutil.which("llvm-tblgen-22") or shutil.which(TBLGEN)
    if tool is None:
        raise RuntimeError("llvm-tblgen-22 is not there;"
                           " run tools/dev/bootstrap")
    run = subprocess.run([tool, "--dump-json", "-I", "include", "-I", INCLUDES,
                          name], cwd=tree.root, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip().splitlines()[0])
    return json.loads(run.stdout)


def _squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def _example(description):
    found = re.search(r"```mlir\n(.*?)```", description, re.S)
    return found.group(1) if found else None


def _doc_test(tree, argument):
    short = re.sub(r"^cutback-", "", argument)
    for name in tree.select(("test",), ("-doc.mlir",)):
        if name.rsplit("/", 1)[1] in (argument + "-doc.mlir",
                                      short + "-doc.mlir"):
            return name
    return None


def _check_example(tree, argument, description, report):
    example = _example(description)
    if example is None:
        return report("has no example (a ```mlir block)")
    test = _doc_test(tree, argument)
    if test is None:
        return report("no test '%s-doc.mlir' holds its example"
                      % re.sub(r"^cutback-", "", argument))
    text = tree.text(test)
    if argument not in text:
        return report("%s does not run it" % test)
    have = {_squeezed(line) for line in text.splitlines()}
    for line in map(_squeezed, example.splitlines()):
        if line and line not in have:
            return report("%s lacks this line of its example: %s"
                          % (test, line))
    return None


def passes(tree):
    """Every pass has summary, description, and an example that is tested."""
    for name in tree.select(("include",), ("/Passes.td",)):
        try:
            records = _records(tree, name)
        except RuntimeError as problem:
            yield Finding(name, 1, str(problem))
            continue
        for key in records["!instanceof"].get("PassBase", []):
            record = records[key]
            argument = record["argument"]
            line = 1 + tree.text(name).count("\n", 0,
                                             tree.text(name).find(key))
            findings = []
            report = lambda what: findings.append(
                Finding(name, line, "pass '%s': %s" % (argument, what)))
            if not argument.startswith("cutback-"):
                report("its name does not start with 'cutback-'")
            if not record["summary"].strip():
                report("has no summary")
            if not record["description"].strip():
                report("has no description")
            for option in record["options"]:
                option = records[option["def"]]
                if not option["description"].strip():
                    report("option '%s' has no description"
                           % option["argument"])
            _check_example(tree, argument, record["description"], report)
            yield from findings


RULES = {"passes": passes}
