# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a compiled step runs: on the device that the model's tensors are on."""

import contextlib
import ctypes

import torch

from ._library import input_error
from .graph_text import device_of


class Place:
    """A CPU."""

    target = "cpu"
    on_device = False  # whether steps take addresses of a GPU

    def __init__(self, device):
        self.device = torch.device(device)

    def __str__(self):
        return "a CPU"

    def arguments(self, graph, options):
        """Of `cutback compile`, for a program's graph."""
        return ["--target=" + self.target, *options.arguments(
            device=self.description(graph), runs_elsewhere=False)]

    def description(self, graph):
        """The device that a plan is priced for; None for the default one."""
        return "cpu"

    def stream(self):
        """The stream that PyTorch works on; None without one."""

    def on_stream(self, stream):
        """In it PyTorch works on that stream."""
        return contextlib.nullcontext()

    def bytes_at(self, pointer, size):
        """Memory of the step as a tensor of bytes."""
        return torch.frombuffer((ctypes.c_char * size).from_address(pointer),
                                dtype=torch.uint8)


class CudaPlace(Place):
    """Device 0 of those that CUDA_VISIBLE_DEVICES leaves."""

    target = "cuda"
    on_device = True

    def __str__(self):
        return str(self.device)

    def arguments(self, graph, options):
        major, minor = torch.cuda.get_device_capability(self.device)
        return super().arguments(graph, options) + [
            "--arch=sm_%d%d" % (major, minor)]

    def description(self, graph):
        return device_of(graph)

    def stream(self):
        return torch.cuda.current_stream(self.device).cuda_stream

    def on_stream(self, stream):
        return torch.cuda.stream(torch.cuda.ExternalStream(
            stream, device=self.device))

    def bytes_at(self, pointer, size):
        return torch.as_tensor(_Array(pointer, size), device=self.device)


class _Array:
    def __init__(self, pointer, size):
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (pointer, False),
            "version": 2}


def place_of(tensors):
    """The place of a model with these tensors, its inputs among them."""
    devices = {}
    for one in tensors:
        devices.setdefault(str(one.device), one.device)
    if len(devices) > 1:
        raise input_error("the model and its inputs are on %s: put all of them"
                          " on one device" % " and ".join(sorted(devices)))
    device = next(iter(devices.values()), torch.device("cpu"))
    if device.type == "cpu":
        return Place(device)
    if device.type != "cuda":
        raise input_error("the model is on %s: a step is compiled for a CPU, or"
                          " for a GPU with CUDA" % device)
    if device.index not in (None, 0):
        raise input_error("the model is on %s: a step runs on device 0 of those"
                          " that CUDA_VISIBLE_DEVICES leaves" % device)
    return CudaPlace(torch.device("cuda", 0))

