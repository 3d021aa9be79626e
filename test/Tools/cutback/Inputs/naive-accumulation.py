# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains by a naive loop, without what adds up gradients in `cutback train`.

usage: naive-accumulation.py MODEL WEIGHTS INPUTS OUT --accumulate=N --steps=K
           --lr=X [--scale=X] [--valid=NAME:NUMBER] [--parts=A,B,... --sym=S]
           OPTION...

A graph whose loss is that of MODEL times an input, the share of a micro-batch
(times the scale), is run for each; the gradients are added up here, rounded to
their type; a graph that has the sums for its gradients is trained for one step,
with the OPTIONs. OUT gets the state; the losses of the steps are printed. A row of
INPUTS is a micro-batch; with --parts it is a batch, of which they have so many rows,
under the symbol S.
"""

import array
import json
import re
import struct
import subprocess
import sys
import tempfile


def read(path):
    """By name: type, sizes, bytes."""
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    return {name: (entry["dtype"], entry["shape"],
                   data[8 + size + entry["data_offsets"][0]:
                        8 + size + entry["data_offsets"][1]])
            for name, entry in json.loads(data[8:8 + size]).items()
            if name != "__metadata__"}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def add(one, other):
    """The sum of two tensors of F32 or BF16: rounded once, to even."""
    dtype, shape, a = one
    if dtype == "F32":
        sums = array.array("f", (x + y for x, y in zip(
            array.array("f", a), array.array("f", other[2]))))
        return dtype, shape, sums.tobytes()
    assert dtype == "BF16", dtype
    wide = [array.array("f", b"".join(b"\0\0" + bits[i:i + 2] for i in
                                      range(0, len(bits), 2)))
            for bits in (a, other[2])]
    # The sum of two is exact in a double, and is rounded from there.
    sums = b""
    for x, y in zip(*wide):
        (bits,) = struct.unpack("<I", struct.pack("<f", x + y))
        low, high = bits & 0xffff, bits >> 16
        up = low > 0x8000 or (low == 0x8000 and high & 1)
        sums += struct.pack("<H", high + up)
    return dtype, shape, sums


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(words), done.stderr))
    return done.stdout


class Naive:
    def __init__(self, given, model, weights, inputs, folder):
        self.given, self.folder, self.weights = given, folder, weights
        text = run("cutback", "import", model)
        self.rows = {name: value for name, value in read(inputs).items()
                     if name.startswith("input.")}
        scaled = self.scaled(text)
        for rows in set(given.get("parts", [0])):
            run("cutback", "compile", scaled, "--target=cpu", "-o",
                folder + "/made%d" % rows,
                *(["--sym=%s=%d" % (given["sym"], rows)] if rows else []))
        first = self.step(0, 1.0, weights)
        # Of a tied tensor the gradient is whole under each of its names.
        self.tied = dict(re.findall(
            r'param "([^"]*)">, joint\.tied = "([^"]*)"', text))
        self.sizes = {  # in the order of arguments, in which norms add up
            name: first["grad." + name]
            for name in re.findall(r'#joint.role<param "([^"]*)"', text)
            if "grad." + name in first and name not in self.tied}

    def scaled(self, text):
        """The graph with its loss times an input more, and beside it the loss."""
        name, others, kind, types = re.search(
            r"joint\.output (%\w+)(.*) : (tensor<f32>)(.*)", text).groups()
        text = text.replace(
            "joint.output %s%s : %s" % (name, others, kind),
            "%%kept.loss = aten.detach(%s) : (%s) -> %s\n"
            "%%share.loss = aten.mul.Tensor(%s, %%share) : (%s, %s) -> %s\n"
            "joint.output %%share.loss, %%kept.loss%s : %s, %s" % (
                name, kind, kind, name, kind, kind, kind, others, kind, kind))
        text = text.replace(
            ") -> (%s%s) gradients" % (kind, types),
            ", %%share: %s {joint.role = #joint.role<input>}) -> (%s, %s%s) "
            "gradients" % (kind, kind, kind, types))
        path = self.folder + "/scaled.mlir"
        open(path, "w").write(text)
        return path

    def cut(self, name, number):
        """An input of a micro-batch: type, sizes, bytes."""
        parts, (dtype, shape, data) = self.given.get("parts"), self.rows[name]
        row, part = divmod(number, len(parts)) if parts else (number, 0)
        length = len(data) // shape[0]
        at, sizes = row % shape[0] * length, shape[1:]
        if parts:
            one = length // shape[1]
            at, length = at + sum(parts[:part]) * one, parts[part] * one
            sizes = [parts[part]] + shape[2:]
        return dtype, sizes, data[at:at + length]

    def step(self, number, share, weights):
        """What a micro-batch gives."""
        share = struct.pack("<f", share * self.given["scale"])
        cut = {"input.%d" % len(self.rows): ("F32", [], share)}
        parts = self.given.get("parts")
        part = number % len(parts) if parts else 0
        for name in self.rows:
            cut[name] = self.cut(name, number)
        write(self.folder + "/row", cut)
        made = self.folder + "/made%d" % (parts[part] if parts else 0)
        run("cutback-run", made, "--weights=" + weights,
            "--inputs=" + self.folder + "/row", "--seed=%d" % number,
            "--outputs=" + self.folder + "/out")
        return read(self.folder + "/out")

    def valid(self, number):
        """How many labels count in a micro-batch."""
        name, _, ignored = self.given["valid"].partition(":")
        labels = array.array("q", self.cut(name, number)[2])
        return sum(label != int(ignored or -100) for label in labels)

    def shares(self, step):
        count = self.given["accumulate"]
        if "valid" not in self.given:
            return [1 / count] * count
        counts = [self.valid(step * count + i) for i in range(count)]
        return [one / sum(counts) for one in counts]

    def updater(self, options):
        """A step whose gradients are its inputs."""
        kinds = {"F32": "f32", "BF16": "bf16"}
        arguments, given, gradients, types = [], [], [], []
        for i, (name, (dtype, shape, _)) in enumerate(self.sizes.items()):
            kind = "tensor<%s>" % "x".join([*map(str, shape), kinds[dtype]])
            arguments.append('%%p%d: %s {joint.role = #joint.role<param "%s">}'
                             % (i, kind, name))
            given.append("%%g%d: %s {joint.role = #joint.role<input>}"
                         % (i, kind))
            gradients.append("%%g%d of %d" % (i, i))
            types.append(kind)
        text = ("joint.graph @update(%s, %%t: tensor<f32> {joint.role = "
                "#joint.role<tangent of 0>}) -> (tensor<f32>) gradients (%s) {\n"
                "%%l = aten.zeros([]) : () -> tensor<f32>\n"
                "joint.output %%l gradients(%s) : tensor<f32>, %s\n}\n" % (
                    ", ".join(arguments + given), ", ".join(types),
                    ", ".join(gradients), ", ".join(types)))
        path = self.folder + "/update.mlir"
        open(path, "w").write(text)
        run("cutback", "compile", path, "--target=cpu", *options, "-o",
            self.folder + "/update")

    def train(self, options, out):
        count, state = self.given["accumulate"], self.folder + "/state"
        weights = self.weights
        self.updater(options)
        kept = {}
        for step in range(self.given["steps"]):
            sums, loss = {}, 0.0
            for i, share in enumerate(self.shares(step)):
                if share == 0:
                    continue
                made = self.step(step * count + i, share, weights)
                loss += share * array.array("f", made["output.1"][2])[0]
                buffers = {name: value for name, value in made.items()
                           if name.startswith("buffer.")}
                for name in self.sizes:
                    gradient = made["grad." + name]
                    sums[name] = (add(sums[name], gradient) if name in sums
                                  else gradient)
                if buffers:
                    kept = {**read(weights), **buffers}
                    weights = self.folder + "/weights"
                    write(weights, kept)
            print("loss %.9g" % loss)
            rows = {"input.%d" % i: (sums[name][0], [1] + sums[name][1],
                                     sums[name][2])
                    for i, name in enumerate(self.sizes)}
            write(self.folder + "/sums", rows)
            scale = self.given["scale"]
            run("cutback", "train", self.folder + "/update",
                "--inputs=" + self.folder + "/sums", "--weights=" + weights,
                "--steps=%d" % self.given["steps"], "--until=%d" % (step + 1),
                "--lr=" + self.given["lr"], "--state=" + state,
                *(["--loss-scale=%r" % scale] if scale != 1 else []))
            kept = {**kept, **read(weights), **read(state)}
            for name, other in self.tied.items():
                kept["param." + name] = kept["param." + other]
            weights = self.folder + "/weights"
            write(weights, kept)
        write(out, {name: value for name, value in kept.items()
                    if name.split(".")[0] in ("param", "buffer", "optimizer")
                    and name.partition(".")[2] not in self.tied})


def main():
    own = {"accumulate": int, "steps": int, "lr": str, "scale": float,
           "valid": str, "sym": str,
           "parts": lambda text: [int(rows) for rows in text.split(",")]}
    given, options, files = {"scale": 1.0}, [], []
    for word in sys.argv[1:]:
        name, _, value = word[2:].partition("=")
        if not word.startswith("--"):
            files.append(word)
        elif name in own:
            given[name] = own[name](value)
        else:
            options.append(word)
    model, weights, inputs, out = files
    with tempfile.TemporaryDirectory() as folder:
        Naive(given, model, weights, inputs, folder).train(options, out)


if __name__ == "__main__":
    main()
