# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The releases of PyTorch that this package was tested with.

Another one is used all the same: what of it is not as expected ends in PyTorch's
own decision (partition.py), and what its graphs have that is not known here is
planned as the graph declares it.
"""

import functools
import warnings

TESTED_TORCH = ("2.13", "2.14")


class ReleaseWarning(UserWarning):
    """PyTorch is of a release that this package was not tested with."""


@functools.lru_cache(maxsize=None)
def check_release(version):
    """Warns, once, if `version` ("2.13.0+cpu") is of no release tested."""
    if ".".join(str(version).split(".")[:2]) in TESTED_TORCH:
        return
    warnings.warn(
        "cutback was tested with PyTorch %s; this is %s, and cutback goes on"
        % (" and ".join(TESTED_TORCH), version), ReleaseWarning, stacklevel=3)
