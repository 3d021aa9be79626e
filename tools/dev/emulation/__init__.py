# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of --target=cuda-host under the eye of a sanitizer: their kernels, run
# as they are, changed on purpose, or counted.
