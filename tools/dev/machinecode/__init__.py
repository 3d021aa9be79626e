# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What tools/dev/machine-code knows of devices, and of PTX.
