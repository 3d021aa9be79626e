# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The doors through which a step can go, each a function of an exported folder
(see exports.py) that gives a kind and its text:

    agree     with eager PyTorch
    refused   by our own error
    wrong     something differs
    crash     a signal, a traceback, a defect
    hang      no end in time

Each runs in a process of its own.
"""

import contextlib
import importlib
import json
import multiprocessing
import pathlib
import signal
import subprocess
import tempfile
import warnings

from . import exports

# Models fix types of their own (rotary angles, masks): parts of a step in
# float64 are in float32.
TOLERANCE = 2e-4


class Tools:
    def __init__(self, build, timeout):
        self.cutback = build / "bin/cutback"
        self.runner = build / "bin/cutback-run"
        self.timeout = timeout


class Refused(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def _call(tools, *arguments):
    try:
        done = subprocess.run(list(map(str, arguments)), capture_output=True,
                              text=True, timeout=tools.timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Refused("hang", "after %d s" % tools.timeout) from None
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    errors = [line for line in lines if "error:" in line] or lines[-1:]
    text = errors[0].partition("error:")[2] or errors[0] if errors else ""
    crashed = done.returncode < 0 or done.returncode == 4
    raise Refused("crash" if crashed else "refused",
                  ("exit %d: " % done.returncode if crashed else "")
                  + text.strip())


def _tensors(path, folder):
    """The inputs alone: results are no arguments."""
    inputs, results = exports.expected(path)
    given = folder / "inputs.safetensors"
    exports.save_file({"input.%d" % i: one.contiguous()
                       for i, one in enumerate(inputs)}, given)
    return given, results


def _compare(path, ours):
    none = path.with_name("none").read_text().split()
    rounding = json.loads(path.with_name("rounding.json").read_text())
    found = exports.wrong(ours, exports.expected(path)[1], none, rounding,
                          TOLERANCE)
    if found:
        raise Refused("wrong", "; ".join(found[:4]))


def _files(exported):
    """What to run: the exported sizes, then others."""
    return [path for path in (exported / "expected.safetensors",
                              exported / "other.safetensors") if path.exists()]


def _run(tools, exported, how):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path in _files(exported):
            given, _ = _tensors(path, folder)
            out = folder / "out"
            _call(tools, tools.cutback, "run", exported / "model.pt2", how,
                  "--inputs=%s" % given, "--outputs=%s" % out)
            _compare(path, exports.load_file(out))


def reference(tools, exported):
    _run(tools, exported, "--reference")


def run_cpu(tools, exported):
    _run(tools, exported, "--target=cpu")


def cpu(tools, exported):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = exported / "expected.safetensors"
        given, _ = _tensors(path, folder)
        out = folder / "out"
        _call(tools, tools.cutback, "compile", exported / "model.pt2",
              "--target=cpu", "--weights", "-o", folder / "step")
        _call(tools, tools.runner, folder / "step", "--inputs=%s" % given,
              "--outputs=%s" % out)
        _compare(path, exports.load_file(out))


def python(_, exported):
    import torch
    import cutback
    # Mixtures of experts have an op of the library, which this makes known.
    with contextlib.suppress(ImportError):
        importlib.import_module("transformers.integrations.moe")
    program = torch.export.load(exported / "model.pt2")
    try:
        step = cutback.compile(program)
        for path in _files(exported):
            inputs, theirs = exports.expected(path)
            _compare_step(path, step, program, inputs)
    except cutback.CutbackError as failure:
        raise Refused("refused", _first_line(failure)) from None


def _compare_step(path, step, program, inputs):
    kept = {name: one.clone() for name, one in program.state_dict.items()}
    for one in program.parameters():
        one.grad = None
    loss = step(*inputs)
    loss = loss[0] if isinstance(loss, (tuple, list)) else loss
    loss.backward()
    ours = {"loss": loss.detach()}
    # A program that was loaded has a Parameter for each name of a tied one, and
    # reads one of them.
    grads = {one.data_ptr(): one.grad for one in program.parameters()
             if one.grad is not None and one.numel()}
    for name, one in program.named_parameters():
        grad = one.grad if one.grad is not None else grads.get(one.data_ptr())
        if grad is not None and grad.shape == one.shape:
            ours["grad." + name] = grad
    for name, one in program.named_buffers():
        ours["buffer." + name] = one.detach().clone()
    _compare(path, ours)
    for name, one in program.state_dict.items():
        one.detach().copy_(kept[name])


def _in_compile(exported, compiler):
    """In torch.compile, with the plans of this package: PyTorch's kernels one by
    one (eager), or Inductor's."""
    import torch
    import cutback
    from cutback.backend import compile_graph

    path = exported / "expected.safetensors"
    inputs, theirs = exports.expected(path)
    module = torch.export.load(exported / "model.pt2").module()
    kept = {name: one.clone() for name, one in module.named_buffers()}
    for options in ({}, {"cost_model": "pytorch"},
                    {"strategy": "recompute-all"}):
        torch._dynamo.reset()
        for name, one in module.named_buffers():
            one.copy_(kept[name])  # observers of quantization follow steps
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", cutback.FallbackWarning)
            compiled = torch.compile(module, backend=compile_graph, options={
                "compiler": compiler, **options})
            module.zero_grad(set_to_none=True)
            loss = compiled(*inputs)[0]
            loss.backward()
        for one in caught:
            if issubclass(one.category, cutback.FallbackWarning):
                raise Refused("refused", _first_line(one.message))
        _compare(path, {"loss": loss.detach(), **{
            "grad." + name: one.grad for name, one in module.named_parameters()
            if one.grad is not None}, **{
            name: one for name, one in theirs.items()
            if name.startswith("buffer.")}})


def backend(_, exported):
    _in_compile(exported, "eager")


def inductor(_, exported):
    _in_compile(exported, "inductor")


DOORS = {"reference": reference, "cpu": cpu, "python": python,
         "run-cpu": run_cpu, "backend": backend, "inductor": inductor}


def _first_line(failure):
    lines = str(failure).strip().splitlines()
    lines = [line for line in lines if "error:" in line] or lines
    return lines[0].partition("error: ")[2] or lines[0] if lines else ""


def _child(function, arguments, pipe):
    import torch
    torch.set_num_threads(1)
    try:
        pipe.send(("agree", "") if function(*arguments) is None else None)
    except Refused as refused:
        pipe.send((refused.kind, str(refused)))
    except Exception as failure:  # whatever comes out of it
        pipe.send(("crash", "%s: %s" % (type(failure).__name__,
                                        _first_line(failure))))


def apart(function, *arguments, timeout):
    """Runs it in another process; its kind and text."""
    fork = multiprocessing.get_context("fork")
    reader, writer = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(function, arguments, writer))
    child.start()
    writer.close()
    try:
        if not reader.poll(timeout):
            child.kill()
            return "hang", "after %d s" % timeout
        return reader.recv()
    except EOFError:
        child.join()
        code = child.exitcode or 0
        return "crash", (signal.Signals(-code).name if code < 0
                         else "exit %d" % code)
    finally:
        child.join()
