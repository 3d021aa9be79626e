# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How many threads of a multiprocessor a kernel keeps busy, by its registers, its
# shared memory and the size of its blocks.

import json
import re

# Of one multiprocessor, from NVIDIA's table of compute capabilities: threads,
# blocks, bytes of shared memory. All have 65,536 registers, which a warp takes in
# steps of 256, and take 1,024 bytes of shared memory for each block.
DEVICES = {
    "sm_80": (2048, 32, 164 * 1024),
    "sm_86": (1536, 16, 100 * 1024),
    "sm_89": (1536, 24, 100 * 1024),
    "sm_90": (2048, 32, 228 * 1024),
    "sm_100": (2048, 32, 228 * 1024),
    "sm_120": (1536, 24, 100 * 1024),
}


def occupancy(architecture, registers, shared, threads):
    """Of 1: resident threads."""
    most, blocks, memory = DEVICES[architecture]
    warps = (threads + 31) // 32
    by_registers = 65536 // (warps * ((max(registers, 1) * 32 + 255) // 256 * 256))
    by_shared = memory // (1024 + (shared + 127) // 128 * 128)
    return min(blocks, by_registers, by_shared, most // (warps * 32)) * warps * 32 / most


def kernels_of_step(folder):
    """By name: threads of a block, dynamic shared bytes, schedule. Calls have the
    schedule "call"."""
    manifest = json.loads((folder / "manifest.json").read_text())
    schedules = {}
    for line in (folder / "kernels.mlir").read_text().splitlines():
        found = re.search(r"kernel\.func @(\w+)\(.* schedule \"(\w+)\"", line)
        if found:
            schedules[found.group(1)] = found.group(2)
    kernels = {}
    for launch in (one for segment in manifest["segments"]
                   for one in segment["launches"]):
        threads = 1
        for size in launch["block"]:
            threads *= size
        _, shared, _ = kernels.get(launch["kernel"], (0, 0, ""))
        kernels[launch["kernel"]] = (
            threads, max(shared, launch.get("shared_bytes", 0)),
            schedules.get(launch["op"], "call"))
    return kernels
