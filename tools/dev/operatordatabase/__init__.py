# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps made of PyTorch's own samples for its operators."""
