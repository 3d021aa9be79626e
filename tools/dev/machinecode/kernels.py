# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kernels.mlir of a model, for tools that look at kernels without a device.

import re
import subprocess


class Refused(Exception):
    """What a program says in place of a result."""


def run(command, text=None, environment=None):
    """Both outputs of a command."""
    done = subprocess.run([str(word) for word in command], input=text,
                          capture_output=True, text=True, env=environment)
    if done.returncode:
        said = re.search(r"(?:error|ERROR|fatal)\s*: *(.*)", done.stderr)
        raise Refused((said.group(1) if said else done.stderr.strip() or
                       "it ends with %d" % done.returncode)[:200])
    return done.stdout, done.stderr


def find(programs, model, folder, sizes=()):
    """kernels.mlir of a folder with a graph, made in `folder`, or the file itself.
    Sizes that are symbols are those of `sizes` (NAME=SIZE), or those that the model was
    exported with."""
    if model.is_file():
        if not re.search(r"kernel\.func @|\.entry ", model.read_text()):
            raise Refused("there are no kernels in it")
        return model
    graphs = [model / name for name in ("model.pt2", "joint.txt")]
    graph = next((path for path in graphs if path.exists()), None)
    if not graph:
        raise Refused("there is no model.pt2 in it, nor joint.txt; give folders with "
                      "one, as in test/corpus, or files of kernels")
    made = folder / model.name
    given = ["--sym=" + one for one in sizes]
    for _ in range(2):
        run([programs / "cutback", "compile", graph, "-o", made, "--to=kernels", *given])
        text = (made / "kernels.mlir").read_text()
        arena = re.search(r"kernel\.arena .* symbols \{(.*)\}", text)
        if not arena:
            return made / "kernels.mlir"
        given = ["--sym=%s=%s" % one for one in re.findall(
            r"(\w+) = #joint\.symbol<hint = (\d+)", arena.group(1))]
    raise Refused("its sizes are symbols without a value; give them by --sym")


def name_of(model):
    return model.stem if model.is_file() else model.name
