# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of models through the doors of Cutback (tools/dev/model-families)."""
