# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled step as a Python object: libcutback-step.so through ctypes.

Needs no PyTorch. Memory of arguments is the caller's; calls run without
Python's lock. What fails raises `CutbackError` with the step's message.
"""

import ctypes
import dataclasses
import functools
import os
import pathlib
import shutil

from ._library import CutbackError, Diagnostic, LibraryMissing, library_path

_API_VERSION = 1


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_size_t),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_size_t),
        ("written", ctypes.c_int),
        ("required", ctypes.c_int),
        ("fill", ctypes.c_char),
    ]


class _HookPoint(ctypes.Structure):
    _fields_ = [
        ("gradient", _Tensor),
        ("kind", ctypes.c_char_p),
        ("replaces", ctypes.c_int),
    ]


class _Layout(ctypes.Structure):
    _fields_ = [
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_size_t),
    ]


_Hook = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p,
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p,
    ctypes.c_void_p)
_Step = ctypes.c_void_p
_SIGNATURES = {
    "cutbackStepApiVersion": (ctypes.c_int, []),
    "cutbackStepOpenFor": (
        ctypes.c_int,
        [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(_Step)],
    ),
    "cutbackStepSetStream": (ctypes.c_int, [_Step, ctypes.c_void_p]),
    "cutbackStepDestroy": (None, [_Step]),
    "cutbackStepMessage": (ctypes.c_char_p, [_Step]),
    "cutbackStepArenaBytes": (ctypes.c_size_t, [_Step]),
    "cutbackStepNumArguments": (ctypes.c_size_t, [_Step]),
    "cutbackStepArgument": (_Tensor, [_Step, ctypes.c_size_t]),
    "cutbackStepNumResults": (ctypes.c_size_t, [_Step]),
    "cutbackStepResult": (_Tensor, [_Step, ctypes.c_size_t]),
    "cutbackStepSetThreads": (None, [_Step, ctypes.c_uint]),
    "cutbackStepNumSegments": (ctypes.c_size_t, [_Step]),
    "cutbackStepSegment": (ctypes.c_char_p, [_Step, ctypes.c_size_t]),
    "cutbackStepRunSegment": (
        ctypes.c_int,
        [_Step, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)],
    ),
    "cutbackStepRead": (
        ctypes.c_int, [_Step, ctypes.c_size_t, ctypes.c_void_p]
    ),
    "cutbackStepKeep": (
        ctypes.c_int, [_Step, ctypes.c_size_t, ctypes.c_void_p]
    ),
    "cutbackStepFetch": (ctypes.c_int, [_Step, ctypes.c_size_t]),
    "cutbackStepLayout": (_Layout, [_Step, ctypes.c_size_t]),
    "cutbackStepReadLying": (
        ctypes.c_int, [_Step, ctypes.c_size_t, ctypes.c_void_p]
    ),
    "cutbackStepNumHookPoints": (ctypes.c_size_t, [_Step]),
    "cutbackStepHookPoint": (_HookPoint, [_Step, ctypes.c_size_t]),
    "cutbackStepAddHook": (
        ctypes.c_int,
        [_Step, ctypes.c_size_t, _Hook, ctypes.c_void_p,
         ctypes.POINTER(ctypes.c_uint64)],
    ),
    "cutbackStepDeleteHook": (ctypes.c_int, [_Step, ctypes.c_uint64]),
}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An argument or a result, in row-major order without gaps.

    `fill`: what an argument holds that is not `required`: "0", "1", or "s" for
    the seed of random numbers.
    """

    name: str  # "input.0", "param.fc.weight", "loss"; "" without one
    dtype: str  # "f32", "bf16", "i64", "i1" (a byte)
    sizes: tuple
    bytes: int
    written: bool
    required: bool
    fill: str


@dataclasses.dataclass(frozen=True)
class HookPoint:
    """Where functions run on a gradient, which has the name of what it is of.

    `kind`: "tensor_pre", "retains_grad", "node_pre", "node_post" or
    "post_accumulate". `replaces`: whether functions may change the gradient.
    """

    gradient: Tensor
    kind: str
    replaces: bool


def step_library_path():
    """$CUTBACK_STEP_LIBRARY, else libcutback-step.so beside libcutback.so."""
    given = os.environ.get("CUTBACK_STEP_LIBRARY")
    if given:
        return pathlib.Path(given)
    return library_path().with_name("libcutback-step.so")


def program_path():
    """The program `cutback`: $CUTBACK_PROGRAM, that of the wheel, that of PATH,
    or None."""
    own = pathlib.Path(__file__).parent / "bin" / "cutback"
    return os.environ.get("CUTBACK_PROGRAM") or (
        str(own) if own.is_file() else shutil.which("cutback"))


@functools.lru_cache(maxsize=None)
def _library():
    path = step_library_path()
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise _missing(path, error) from None
    found = library.cutbackStepApiVersion()
    if found != _API_VERSION:
        raise _missing(path, "it has version %d of the interface of steps, this"
                       " package needs %d" % (found, _API_VERSION))
    return library


def _missing(path, reason):
    return LibraryMissing(
        path, reason, "ninja CutbackStepShared, or name it in CUTBACK_STEP_LIBRARY")


def _wrong_call(text):
    return CutbackError(2, [Diagnostic("error", "", 0, 0, text)])


def _tensor(one):
    return Tensor(
        one.name.decode(), one.dtype.decode(), tuple(one.sizes[:one.rank]),
        one.bytes, bool(one.written), bool(one.required),
        one.fill.strip(b"\0").decode())


class Step:
    """A step that `cutback compile --target=...` wrote into `folder`.

    Pointers are those of this machine, or with `on_device` addresses of the GPU
    that the step runs on; then parameters and buffers should not move from run
    to run.
    """

    def __init__(self, folder, on_device=False):
        self._library = _library()
        self._handle = _Step()
        self._check(self._library.cutbackStepOpenFor(
            os.fsencode(folder), int(on_device), ctypes.byref(self._handle)))
        self.arguments = self._list("Argument")
        self.results = self._list("Result")
        self.strides = [  # of results, as they lie
            tuple(self._library.cutbackStepLayout(self._handle, i)
                  .strides[:len(one.sizes)])
            for i, one in enumerate(self.results)]
        self.segments = [
            self._library.cutbackStepSegment(self._handle, i).decode()
            for i in range(self._library.cutbackStepNumSegments(self._handle))]
        self.arena_bytes = self._library.cutbackStepArenaBytes(self._handle)
        self.hook_points = [
            HookPoint(_tensor(one.gradient), one.kind.decode(),
                      bool(one.replaces))
            for one in self._all("HookPoint")]
        self._hooks, self._deleted, self._raised = {}, [], None

    def _all(self, kind):
        count = getattr(self._library, "cutbackStepNum%ss" % kind)
        get = getattr(self._library, "cutbackStep" + kind)
        return [get(self._handle, i) for i in range(count(self._handle))]

    def _list(self, kind):
        return [_tensor(one) for one in self._all(kind)]

    def _check(self, status):
        if status != 0:
            message = self._library.cutbackStepMessage(self._handle) or b""
            raise CutbackError(status, [Diagnostic(
                "error", "", 0, 0, message.decode(errors="replace"))])

    def set_threads(self, count):
        """How many threads run a launch; results have the same bits."""
        self._library.cutbackStepSetThreads(self._handle, count)

    def set_stream(self, stream):
        """Of a step `on_device`: runs and reads come behind what was issued to
        this CUstream, and what will be comes behind them. 0 is the default
        stream; without a stream the caller waits before a run."""
        self._check(self._library.cutbackStepSetStream(
            self._handle, ctypes.c_void_p(stream)))

    def keep(self, argument, pointer):
        """Keeps an argument of this number where launches run: it is what lies
        at `pointer`, which lives on, and runs are given None for it."""
        self._check(self._library.cutbackStepKeep(
            self._handle, argument, ctypes.c_void_p(pointer)))

    def fetch(self, argument):
        """Copies what a kept argument is now to the pointer it was kept with.
        """
        self._check(self._library.cutbackStepFetch(self._handle, argument))

    def run(self, segment, pointers):
        """Runs a segment; `pointers`: one an argument, aligned to 16 bytes."""
        if len(pointers) != len(self.arguments):
            raise _wrong_call("%d pointers are given, and the step has %d"
                              " arguments: one for each, None for what the"
                              " segment does not take"
                              % (len(pointers), len(self.arguments)))
        if segment not in self.segments:
            raise _wrong_call("the step has no segment '%s': it has %s" % (
                segment, ", ".join(self.segments)))
        list_of = (ctypes.c_void_p * len(pointers))(*pointers)
        status = self._library.cutbackStepRunSegment(
            self._handle, self.segments.index(segment), list_of)
        self._deleted.clear()
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self._check(status)

    def add_hook(self, point, function):
        """Adds a function to the hook point of this number: it is given the
        pointer of the gradient when the backward is there, on a GPU with the
        stream (a CUstream) that it is to work on, else None, and returns
        whether it changed it. What it raises ends the step. A key, for
        `delete_hook`.
        """
        def call(buffer, size, _type, _rank, _sizes, _data, stream):
            try:
                return size if function(buffer, stream) else 0
            except BaseException as error:  # goes on in run()
                self._raised = error
                return -1

        key, kept = ctypes.c_uint64(), _Hook(call)
        self._check(self._library.cutbackStepAddHook(
            self._handle, point, kept, None, ctypes.byref(key)))
        self._hooks[key.value] = kept
        return key.value

    def delete_hook(self, key):
        """Takes effect at the next run, if the step runs."""
        self._check(self._library.cutbackStepDeleteHook(self._handle, key))
        self._deleted.append(self._hooks.pop(key))

    def read(self, result, pointer):
        """Copies a result, `bytes` of it, to memory of the caller."""
        self._check(self._library.cutbackStepRead(
            self._handle, result, ctypes.c_void_p(pointer)))

    def read_lying(self, result, pointer):
        """Copies a result as it lies: in memory with its `strides`."""
        self._check(self._library.cutbackStepReadLying(
            self._handle, result, ctypes.c_void_p(pointer)))

    def __reduce_ex__(self, protocol):
        raise TypeError("a step is memory and machine code of this process, and"
                        " is neither copied nor pickled: open its folder again")

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.cutbackStepDestroy(self._handle)
