# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training of the golden data with several micro-batches, and PyTorch's.

usage: torch-accumulation.py GOLDEN NAME STEPS N [IGNORED...]

Of GOLDEN/train/NAME the first STEPS steps, each of N rows, without a schedule. The
labels of row i, counted modulo their number, lose IGNORED of their elements (-100);
then losses are means over the others. Prints the largest differences of losses and
parameters.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file

RATE = 0.01


def rows_of(folder, count, ignored):
    rows = {name: tensor[:count].clone()
            for name, tensor in load_file(folder / "batches.safetensors").items()}
    labels = rows["input.1"]
    for i in range(count if ignored else 0):
        labels[i].view(-1)[:ignored[i % len(ignored)]] = -100
    return rows


def theirs(model, rows, settings, steps, count):
    """Losses of the steps and the state after them, by a plain loop."""
    model = torch.export.load(str(model)).module()
    parameters = [p for p in model.parameters() if p.requires_grad]
    decay = settings["weight_decay"]
    optimizer = (
        torch.optim.AdamW(parameters, RATE, tuple(settings["betas"]),
                          settings["eps"], decay)
        if settings["optimizer"] == "adamw" else
        torch.optim.SGD(parameters, RATE, settings["momentum"],
                        weight_decay=decay))
    losses = []
    for step in range(steps):
        batches = [[rows[name][step * count + i] for name in sorted(rows)]
                   for i in range(count)]
        valid = [int((batch[1] != -100).sum()) for batch in batches]
        optimizer.zero_grad()
        losses.append(0.0)
        for batch, own in zip(batches, valid):
            loss = model(*batch)
            loss = loss if isinstance(loss, torch.Tensor) else loss[0]
            loss = loss * (own / sum(valid))
            loss.backward()
            losses[-1] += loss.item()
        torch.nn.utils.clip_grad_norm_(parameters, settings["clip_grad_norm"])
        optimizer.step()
    return losses, dict(model.state_dict())


def ours(model, rows, settings, steps, count, ignored, folder):
    save_file(rows, folder / "rows")
    options = ["--optimizer=" + settings["optimizer"],
               "--clip-norm=%r" % settings["clip_grad_norm"],
               "--weight-decay=%r" % settings["weight_decay"]]
    if settings["optimizer"] == "adamw":
        options += ["--betas=%r,%r" % tuple(settings["betas"]),
                    "--eps=%r" % settings["eps"]]
    else:
        options.append("--momentum=%r" % settings["momentum"])
    if ignored:
        options.append("--valid-tokens=input.1")
    log, state = folder / "log", folder / "state"
    subprocess.run(["cutback", "train", str(model), "--inputs=%s" % (folder / "rows"),
                    "--accumulate=%d" % count, "--steps=%d" % steps,
                    "--lr=%r" % RATE, "--log=%s" % log, "--state=%s" % state,
                    *options], check=True, stdout=subprocess.DEVNULL)
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    return losses, load_file(state)


def main():
    golden, name, steps, count = sys.argv[1:5]
    ignored = [int(one) for one in sys.argv[5:]]
    steps, count, golden = int(steps), int(count), pathlib.Path(golden)
    settings = json.loads(
        (golden / "train" / name / "curve.json").read_text())["settings"]
    model = golden / "small" / name.rsplit("_", 1)[0] / "model.pt2"
    rows = rows_of(golden / "train" / name, steps * count, ignored)
    losses, parameters = theirs(model, rows, settings, steps, count)
    with tempfile.TemporaryDirectory() as folder:
        own, state = ours(model, rows, settings, steps, count, ignored,
                          pathlib.Path(folder))
    off = max(abs(a - b) for a, b in zip(losses, own, strict=True))
    worst = (0.0, "")
    for key, value in parameters.items():
        mine = state.get("param." + key, state.get("buffer." + key))
        if mine is None:  # tied, or a constant
            continue
        # The gradient of a bias of keys is zero but for rounding.
        if key.endswith("qkv.bias"):
            third = len(mine) // 3
            mine[third:2 * third] = value[third:2 * third]
        worst = max(worst, (float((mine - value).abs().max()), key))
    print("%s: %d steps of %d, losses off by %.1e, parameters by %.1e (%s): %s" % (
        name, steps, count, off, *worst,
        "agree" if off <= 1e-4 and worst[0] <= 1e-3 else "WRONG"))


if __name__ == "__main__":
    main()
