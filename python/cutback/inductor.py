# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cutback as Inductor's partitioner.

    torch._inductor.config.custom_partitioner_fn = cutback.InductorPartitioner()
"""

import dataclasses
import functools
import pathlib

from torch._inductor.custom_graph_pass import (
    CustomPartitionerFn, get_hash_for_files)

from ._library import (CutbackError, check_library, library_path,
                       version)
from .options import Options
from .partition import partition_fn


@functools.lru_cache(maxsize=None)
def _implementation():
    """Changes with every build of the library and of this package."""
    files = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    try:
        return version(), get_hash_for_files(
            (str(library_path()), *map(str, files)))
    except (CutbackError, OSError):
        return None


class InductorPartitioner(CustomPartitionerFn):
    """Splits what Inductor compiles; takes the fields of `Options`."""

    def __init__(self, options=None):
        check_library()
        self.options = Options.of(options)

    def __call__(self, gm, joint_inputs, **kwargs):
        return partition_fn(gm, joint_inputs, options=self.options, **kwargs)

    def uuid(self):
        """Part of the keys of PyTorch's caches; None, without the library,
        switches them off."""
        implementation = _implementation()
        if implementation is None:
            return None
        return ("cutback", *implementation,
                dataclasses.astuple(self.options))
