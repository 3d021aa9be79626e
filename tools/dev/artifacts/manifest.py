# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checksums of a compiled step, for folders that were changed on purpose."""
import pathlib
import re

MASK = 0xFFFFFFFFFFFFFFFF
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
          0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mix(lane, word):
    return rotate(lane + word * PRIMES[1] & MASK, 31) * PRIMES[0] & MASK


def checksum(data):
    """XXH64, as lib/Support/Checksum.cpp has it."""
    at = 0
    value = PRIMES[4]
    if len(data) >= 32:
        lanes = [PRIMES[0] + PRIMES[1] & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        while len(data) - at >= 32:
            for lane in range(4):
                word = int.from_bytes(data[at:at + 8], "little")
                lanes[lane] = mix(lanes[lane], word)
                at += 8
        value = sum(rotate(lane, bits)
                    for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    value = value + len(data) & MASK
    while len(data) - at >= 8:
        word = int.from_bytes(data[at:at + 8], "little")
        value = (rotate(value ^ mix(0, word), 27) * PRIMES[0] + PRIMES[3]) & MASK
        at += 8
    if len(data) - at >= 4:
        word = int.from_bytes(data[at:at + 4], "little")
        value = rotate(value ^ word * PRIMES[0] & MASK, 23)
        value = (value * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    value = (value ^ value >> 33) * PRIMES[1] & MASK
    value = (value ^ value >> 29) * PRIMES[2] & MASK
    return "%016x" % (value ^ value >> 32)


def sign(text):
    """The text of a manifest with the checksum that it should have."""
    text = text[:text.rindex(',\n  "checksum"')]
    return text + ',\n  "checksum": "%s"\n}\n' % checksum(text.encode())


def name_again(folder, new=()):
    """Gives a manifest the checksums of what is in its folder now. Files in
    `new` are named too, and made, empty, if they are not there."""
    folder = pathlib.Path(folder)
    manifest = folder / "manifest.json"
    text = manifest.read_text()

    def again(match):
        data = (folder / match[1]).read_bytes()
        return '{"name": "%s", "bytes": %d, "checksum": "%s"}' % (
            match[1], len(data), checksum(data))

    for name in new:
        (folder / name).touch()
        text = text.replace('"files": [', '"files": [\n    {"name": "%s", '
                            '"bytes": 0, "checksum": "0"},' % name)
    text = re.sub(r'\{"name": "([^"]+)", "bytes": \d+, "checksum": "\w+"\}',
                  again, text)
    manifest.write_text(sign(text))
