# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes corpus/mlp/train.*: trainings of the corpus' MLP by torch.optim.

train.safetensors has batches (`input.N`, one row a step) and, for each of the
trainings below, the parameters behind it (`NAME.param.FQN`); train.json has the
losses and the norms of the gradients.

usage: train-data.py CORPUS/mlp
"""

import json
import math
import pathlib
import sys

import torch
from safetensors.torch import save_file

STEPS = 6
TRAININGS = {
    "sgd": (torch.optim.SGD, {}, 0.0, False),
    "nesterov": (torch.optim.SGD,
                 {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, 0.0, False),
    "adamw": (torch.optim.AdamW, {}, 0.0, False),
    "clipped": (torch.optim.AdamW, {"betas": (0.8, 0.95), "eps": 1e-6,
                                    "weight_decay": 0.1}, 0.1, True),
    "groups": (torch.optim.AdamW, {"weight_decay": 0.5}, 0.0, False),
    "accumulated": (torch.optim.AdamW, {}, 0.1, False),
}
# Micro-batches of a step, from the first batch again after the last; and steps.
ACCUMULATED = (4, 3)


def train(model, batches, name, kind, options, clip, cosine):
    parameters = list(model.parameters())
    groups = [{"params": parameters}]
    if name == "groups":
        groups = [{"params": [p for p in parameters if p.dim() >= 2]},
                  {"params": [p for p in parameters if p.dim() < 2],
                   "weight_decay": 0.0}]
    optimizer = kind(groups, lr=0.01, **options)
    losses, norms = [], []
    count, steps = ACCUMULATED if name == "accumulated" else (1, STEPS)
    for k in range(steps):
        if cosine:
            rate = 0.01 * min(1, (k + 1) / 3) * (1 + math.cos(math.pi * k / STEPS)) / 2
            optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        total = 0.0
        for i in range(k * count, (k + 1) * count):
            loss = model(*[batch[i % STEPS] for batch in batches])
            loss = loss[0] if isinstance(loss, tuple) else loss
            (loss / count).backward()
            total += loss.item() / count
        if clip:
            norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, clip)))
        optimizer.step()
        losses.append(total)
    return {"loss": losses, "norm": norms}


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(7)
    batches = [torch.randn(STEPS, 32, 16), torch.randn(STEPS, 32, 8)]
    tensors = {"input.%d" % i: batch for i, batch in enumerate(batches)}
    curves = {}
    for name, settings in TRAININGS.items():
        model = torch.export.load(str(folder / "model.pt2")).module()
        curves[name] = train(model, batches, name, *settings)
        for key, value in model.named_parameters():
            tensors["%s.param.%s" % (name, key)] = value.detach().contiguous()
    save_file(tensors, str(folder / "train.safetensors"))
    (folder / "train.json").write_text(json.dumps(curves, indent=1) + "\n")


if __name__ == "__main__":
    main()
