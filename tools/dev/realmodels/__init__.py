# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of public libraries against eager PyTorch."""
