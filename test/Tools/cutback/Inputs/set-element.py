# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# set-element.py FROM TO NAME I VALUE: a copy of a safetensors file in which
# element I of the int64 tensor NAME is VALUE. A batch with one wrong token is
# what the errors about indices are for, and the format is simple enough to need
# no library: eight bytes with the size of a JSON header, the header, the data.

import json
import struct
import sys

source, target, name, element, value = sys.argv[1:]
data = bytearray(open(source, "rb").read())
size = struct.unpack("<Q", data[:8])[0]
tensor = json.loads(data[8 : 8 + size])[name]
assert tensor["dtype"] == "I64", tensor
begin = 8 + size + tensor["data_offsets"][0] + 8 * int(element)
data[begin : begin + 8] = struct.pack("<q", int(value))
open(target, "wb").write(data)
