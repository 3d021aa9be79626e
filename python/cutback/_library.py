# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libcutback.so as Python objects, through its C interface and ctypes.

Every call runs without Python's lock, on a context of its own: two threads may
plan at the same time. What fails raises `CutbackError` with the diagnostics.
"""

import ctypes
import dataclasses
import functools
import json
import os
import pathlib

_API_VERSION = 1
_SEVERITIES = ("note", "warning", "error", "remark")


class _Diagnostic(ctypes.Structure):
    _fields_ = [
        ("severity", ctypes.c_int),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint),
        ("column", ctypes.c_uint),
        ("message", ctypes.c_char_p),
    ]


_Callback = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(_Diagnostic), ctypes.c_void_p
)
_Strings = ctypes.POINTER(ctypes.c_char_p)
_Out = ctypes.POINTER(ctypes.c_void_p)
_TextOut = ctypes.POINTER(ctypes.c_char_p)
_SIGNATURES = {
    "cutbackVersion": (ctypes.c_char_p, []),
    "cutbackApiVersion": (ctypes.c_int, []),
    "cutbackContextCreate": (ctypes.c_void_p, [_Callback, ctypes.c_void_p]),
    "cutbackContextDestroy": (None, [ctypes.c_void_p]),
    "cutbackGraphReadFile": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, _Strings, _Out],
    ),
    "cutbackGraphReadMemory": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
         ctypes.c_size_t, _Strings, _Out],
    ),
    "cutbackGraphDestroy": (None, [ctypes.c_void_p]),
    "cutbackPlanCreate": (
        ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t, _Strings, _Out]
    ),
    "cutbackPlanDestroy": (None, [ctypes.c_void_p]),
    "cutbackPlanJson": (
        ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, _TextOut]
    ),
    "cutbackPlanReport": (ctypes.c_int, [ctypes.c_void_p, _TextOut]),
    "cutbackPlanWrite": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
}


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message; `line` and `column` are 0 where they are not known."""

    severity: str  # "note", "warning", "error", "remark"
    file: str
    line: int
    column: int
    message: str

    def __str__(self):
        place = [self.file or "cutback"]
        place += [str(number) for number in (self.line, self.column) if number]
        return "%s: %s: %s" % (":".join(place), self.severity, self.message)


class CutbackError(Exception):
    """A call of libcutback.so that failed.

    `status` is what the command line would end with: 1 the input is wrong, 2
    an option is, 3 there is no plan, 4 a defect of ours. `diagnostics` says
    why.
    """

    def __init__(self, status, diagnostics):
        self.status = status
        self.diagnostics = tuple(diagnostics)
        super().__init__(
            "\n".join(map(str, self.diagnostics)) or "status %d" % status
        )


def input_error(text):
    """That the input is wrong."""
    return CutbackError(1, [Diagnostic("error", "", 0, 0, text)])


class LibraryMissing(CutbackError):
    """libcutback.so is not there, or is of another version. One sentence."""

    def __init__(self, path, reason,
                 step="ninja CutbackShared, or name it in CUTBACK_LIBRARY"):
        super().__init__(4, [Diagnostic(
            "error", str(path), 0, 0,
            "this library cannot be used (%s): build the one of this version,"
            " %s" % (reason, step))])


def library_path():
    """The library: $CUTBACK_LIBRARY, else the one that the package holds."""
    given = os.environ.get("CUTBACK_LIBRARY")
    if given:
        return pathlib.Path(given)
    return pathlib.Path(__file__).with_name("libcutback.so")


@functools.lru_cache(maxsize=None)
def _library():
    path = library_path()
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        raise LibraryMissing(path, error) from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name, None)
        if function is None:
            raise LibraryMissing(path, "it has no function " + name)
        function.restype, function.argtypes = result, arguments
    found = library.cutbackApiVersion()
    if found != _API_VERSION:
        raise LibraryMissing(
            path, "it has version %d of the C interface, this package needs %d"
            % (found, _API_VERSION))
    return library


def check_library():
    """Raises `LibraryMissing` where every call would."""
    _library()


def version():
    """The version of the library, such as "0.1.0"."""
    return _library().cutbackVersion().decode()


def _strings(texts):
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


class _Context:
    """A context, and the diagnostics that were reported in it."""

    def __init__(self):
        self._library = _library()
        self.diagnostics = []

        def keep(diagnostic, _):
            given = diagnostic.contents
            self.diagnostics.append(Diagnostic(
                _SEVERITIES[given.severity],
                given.file.decode(errors="replace"), given.line, given.column,
                given.message.decode(errors="replace")))

        self._keep = _Callback(keep)
        self.handle = self._library.cutbackContextCreate(self._keep, None)
        if not self.handle:
            raise MemoryError("no memory for a context of cutback")

    def call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise CutbackError(status, self.diagnostics)

    def make(self, name, *arguments):
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    def text(self, name, *arguments):
        out = ctypes.c_char_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out.value.decode()

    def __del__(self):
        if getattr(self, "handle", None):
            self._library.cutbackContextDestroy(self.handle)


class Plan:
    """What is saved between the halves of a graph, and what is computed twice.

    `saved` and `recomputed` are names of values of the graph that was read.
    """

    def __init__(self, graph, options):
        self._graph = graph
        self._context = graph._context
        self._handle = self._context.make(
            "cutbackPlanCreate", graph._handle, len(options), _strings(options)
        )

    @functools.cached_property
    def json(self):
        """The object of `cutback report --json`, without other strategies."""
        return json.loads(
            self._context.text("cutbackPlanJson", self._handle, 0)
        )

    @property
    def saved(self):
        return [entry["value"] for entry in self.json["saved"]]

    @property
    def recomputed(self):
        return list(self.json["recomputed"])

    def report(self):
        """The text of `cutback report`."""
        return self._context.text("cutbackPlanReport", self._handle)

    def write(self, folder):
        """Writes what `cutback compile --to=partition` writes."""
        self._context.call(
            "cutbackPlanWrite", self._handle, os.fsencode(folder)
        )

    def __del__(self):
        if getattr(self, "_handle", None):
            self._context._library.cutbackPlanDestroy(self._handle)


class Graph:
    """A joint graph, or a forward program that was differentiated."""

    def __init__(self, context, handle):
        self._context = context
        self._handle = handle

    @classmethod
    def read(cls, path, options=()):
        """Reads any file that `cutback report` reads."""
        context = _Context()
        return cls(context, context.make(
            "cutbackGraphReadFile", context.handle, os.fsencode(path),
            len(options), _strings(options)))

    @classmethod
    def parse(cls, text, name="<memory>", options=()):
        """The same from memory: text, or the bytes of a file."""
        context = _Context()
        data = text.encode() if isinstance(text, str) else bytes(text)
        return cls(context, context.make(
            "cutbackGraphReadMemory", context.handle, data, len(data),
            name.encode(), len(options), _strings(options)))

    def plan(self, options=()):
        """Plans by options of the command line: ["--strategy=precompute"]."""
        return Plan(self, list(options))

    def __del__(self):
        if getattr(self, "_handle", None):
            self._context._library.cutbackGraphDestroy(self._handle)
