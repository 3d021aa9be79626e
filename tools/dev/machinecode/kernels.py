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


def find(programs, model, folder):
    """kernels.mlir of a folder with model.pt2, made in `folder`, or the file itself.
    Sizes that are symbols are those that the model was exported with."""
    if model.is_file():
        return model
    graph, made = model / "model.pt2", folder / model.name
    if not graph.exists():
        raise Refused("there is no model.pt2 in it; give folders with one, as in "
                      "test/corpus, or files of kernels")
    compile_it = [programs / "cutback", "compile", graph, "-o", made, "--to=kernels"]
    run(compile_it)
    arena = re.search(r"kernel\.arena .* symbols \{(.*)\}",
                      (made / "kernels.mlir").read_text())
    if arena:
        run(compile_it + ["--sym=%s=%s" % one for one in re.findall(
            r"(\w+) = #joint\.symbol<hint = (\d+)", arena.group(1))])
    return made / "kernels.mlir"


def name_of(model):
    return model.stem if model.is_file() else model.name
