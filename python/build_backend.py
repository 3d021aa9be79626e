#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the Python package and the built libraries into a wheel.

A build backend for pip (PEP 517) that needs nothing but Python:

    cmake --build build/release --target cutback-wheel
    pip install build/release/wheel/*.whl        # or: pip install ./python

They are $CUTBACK_LIBRARY and libcutback-step.so beside it, else those of
build/release; so is the program that cutback.compile runs: $CUTBACK_PROGRAM,
without symbols. With $CUTBACK_LIBRARY alone the wheel has no program. As a
program, this file writes the wheel into the folder that it is given.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
_PROGRAM = "cutback/bin/cutback"


def _libraries():
    """Of plans and of steps, beside each other."""
    given = os.environ.get("CUTBACK_LIBRARY")
    plans = pathlib.Path(
        given or HERE.parent / "build" / "release" / "lib" / "libcutback.so")
    steps = plans.with_name("libcutback-step.so")
    for path, target in (plans, "CutbackShared"), (steps, "CutbackStepShared"):
        if not path.is_file():
            raise SystemExit(
                "cutback: error: there is no library '%s'\ncutback: note: build"
                " it: cmake --build build/release --target %s" % (path, target))
    return {"cutback/libcutback.so": plans.read_bytes(),
            "cutback/libcutback-step.so": steps.read_bytes()}


def _program():
    """What cutback.compile runs, by its name in the wheel."""
    given = os.environ.get("CUTBACK_PROGRAM")
    if not given and os.environ.get("CUTBACK_LIBRARY"):
        return {}
    path = pathlib.Path(
        given or HERE.parent / "build" / "release" / "bin" / "cutback")
    if not path.is_file():
        raise SystemExit(
            "cutback: error: there is no program '%s'\ncutback: note: build it:"
            " cmake --build build/release --target cutback" % path)
    return {_PROGRAM: _stripped(path)}


def _stripped(path):
    """The program without symbols, where there is a tool that removes them."""
    tool = shutil.which("strip") or shutil.which("llvm-strip")
    if tool:
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "cutback"
            done = subprocess.run([tool, "-o", made, path], check=False,
                                  capture_output=True)
            if done.returncode == 0:
                return made.read_bytes()
    return path.read_bytes()


def _version():
    text = (HERE.parent / "CMakeLists.txt").read_text()
    return re.search(r"project\(Cutback VERSION ([\d.]+)", text).group(1)


def _metadata(project, version):
    entries = ["[%s]\n%s" % (group, "".join(
        "%s = %s\n" % item for item in names.items()))
        for group, names in project["entry-points"].items()]
    tag = _tag()
    return {
        "METADATA": "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s"
                    "\nLicense: %s\nRequires-Python: %s\n" % (
                        project["name"], version, project["description"],
                        project["license"]["text"],
                        project["requires-python"]),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: cutback\nRoot-Is-Purelib:"
                 " false\nTag: %s\n" % tag,
        "entry_points.txt": "\n".join(entries),
    }


def _tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return "py3-none-" + platform


def _digest(data):
    digest = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    version = _version()
    info = "cutback-%s.dist-info/" % version
    files = {"cutback/" + path.name: path.read_bytes()
             for path in sorted((HERE / "cutback").glob("*.py"))}
    files.update(_libraries())
    files.update(_program())
    for name, text in _metadata(project, version).items():
        files[info + name] = text.encode()
    record = "".join("%s,%s,%d\n" % (name, _digest(data), len(data))
                     for name, data in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    name = "cutback-%s-%s.whl" % (version, _tag())
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed date: equal contents give equal bytes.
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (
                0o100755 if path == _PROGRAM else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source is the whole project: build a wheel")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: build_backend.py FOLDER")
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
