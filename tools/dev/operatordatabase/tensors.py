# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of tensors as `cutback run` reads and writes them: safetensors, and
complex numbers beside, of which that library knows those of two float32."""

import json
import struct

import torch

TYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16,
    "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
    "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16,
    "BOOL": torch.bool, "C32": torch.complex32, "C64": torch.complex64,
    "C128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in TYPES.items()}


def save(tensors, path):
    header, data, place = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
        raw = bytes(tensor.reshape(-1).view(torch.uint8).numpy()) \
            if tensor.numel() else b""
        header[name] = {"dtype": NAMES[tensor.dtype],
                        "shape": list(tensor.shape),
                        "data_offsets": [place, place + len(raw)]}
        data.append(raw)
        place += len(raw)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def load(path):
    raw = path.read_bytes()
    length, = struct.unpack("<Q", raw[:8])
    data = bytearray(raw[8 + length:])
    tensors = {}
    for name, entry in json.loads(raw[8:8 + length]).items():
        begin, end = entry["data_offsets"]
        dtype = TYPES[entry["dtype"]]
        tensors[name] = (
            torch.frombuffer(data[begin:end], dtype=dtype) if end > begin
            else torch.empty(0, dtype=dtype)).reshape(entry["shape"])
    return tensors
