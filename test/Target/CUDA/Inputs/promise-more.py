# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lets the text of a file of kernels promise accesses that its machine code lacks:
# in each kernel without one, of the first operand.
import re
import sys

path = sys.argv[1]
text = open(path).read()


def promise(found):
    kernel = found.group(0)
    name = re.search(r"float \*(?:__restrict__ )?(\w+)", kernel)
    if not name or "load4" in kernel:
        return kernel
    return kernel.replace("{\n", "{\n  load4(%s);\n" % name.group(1), 1)


open(path, "w").write(re.sub(r"extern \"C\".*?\n}\n", promise, text, flags=re.S))
