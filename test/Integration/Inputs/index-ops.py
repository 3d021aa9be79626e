# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the cases of index-ops.json: each one index that PyTorch was given.

    index-ops.py CUTBACK... [--share=K/N]

The rest of the command line runs the step; it gets --inputs and --outputs. A
case that PyTorch computes has its loss and its gradient of x, any other is an
error that names index and size: no case has another value. Prints how many
were right and each one that was not. With --share, one case of N from the K-th on.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def read(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])


def floats(header, data, name):
    begin, end = header[name]["data_offsets"]
    return list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))


def problem_of(case, command, folder):
    name, number, value, size, expected = case
    header, data = read(HERE / "index-ops.safetensors")
    begin = header[f"input.{number}"]["data_offsets"][0]
    data[begin : begin + 8] = struct.pack("<q", value)
    text = json.dumps(header).encode()
    inputs, outputs = folder / "in", folder / "out"
    inputs.write_bytes(struct.pack("<Q", len(text)) + text + data)
    done = subprocess.run(
        command + [f"--inputs={inputs}", f"--outputs={outputs}"],
        capture_output=True, text=True)
    if expected is None:
        if done.returncode == 0:
            return "has a value, and PyTorch raises"
        first = done.stderr.splitlines()[0] if done.stderr else ""
        if f"index {value}" not in first and "class" not in first:
            return f"is refused as: {first}"
        return "" if str(size) in first else f"has no size: {first}"
    if done.returncode:
        return f"is refused: {done.stderr.splitlines()[:1]}"
    header, data = read(outputs)
    actual = floats(header, data, "loss") + floats(header, data, "grad.x")
    for a, b in zip(actual, expected, strict=True):
        if a != a and b != b:
            continue
        if not math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4):
            return f"has {a} for {b}"
    return ""


def main():
    part, parts = 0, 1
    command = []
    for argument in sys.argv[1:]:
        if argument.startswith("--share="):
            part, parts = map(int, argument[8:].split("/"))
        else:
            command.append(argument)
    cases = json.loads((HERE / "index-ops.json").read_text())
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases[part::parts]:
            problem = problem_of(case, command, pathlib.Path(folder))
            right += not problem
            if problem:
                print(f"{case[0]}, index {case[2]} of {case[3]}: {problem}")
    print(f"{right} of {len(cases[part::parts])} cases as in PyTorch")


if __name__ == "__main__":
    main()
