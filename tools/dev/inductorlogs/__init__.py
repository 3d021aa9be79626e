# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Logs of Inductor over small models (tools/dev/inductor-logs)."""
