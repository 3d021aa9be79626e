#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a model for benchmarks/pipeline/makespan: a perceptron whose layers are all
# alike, or a decoder with tied embeddings. A phase of half of it takes some tens of
# milliseconds on one core. Needs PyTorch.
#
#   torch-venv/bin/python benchmarks/pipeline/models.py mlp mlp.pt2

import argparse


def make_mlp(torch, width, layers, rows):
    """The module, and its arguments for one micro-batch."""
    nn = torch.nn

    class Perceptron(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(*(
                layer for _ in range(layers)
                for layer in (nn.Linear(width, width), nn.GELU())))

        def forward(self, x, target):
            return nn.functional.mse_loss(self.layers(x), target)

    return Perceptron(), (torch.randn(rows, width), torch.randn(rows, width))


def make_gpt(torch, width, layers, rows):
    nn = torch.nn
    vocabulary, length = 1000, 64

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x):
            heads = (width // 64, 64)
            q, k, v = (part.unflatten(-1, heads).transpose(1, 2) for part in
                       self.qkv(self.norms[0](x)).chunk(3, -1))
            attended = nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).flatten(2))
            return x + self.down(
                nn.functional.gelu(self.up(self.norms[1](x))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.places = nn.Parameter(0.02 * torch.randn(length, width))
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm = nn.LayerNorm(width)

        def forward(self, tokens, targets):
            x = self.blocks(self.tokens(tokens) + self.places)
            logits = self.norm(x) @ self.tokens.weight.t()
            return nn.functional.cross_entropy(
                logits.flatten(0, 1), targets.flatten())

    size = (max(1, rows // length), length)
    return Decoder(), (torch.randint(vocabulary, size),
                       torch.randint(vocabulary, size))


def main():
    models = {"mlp": make_mlp, "gpt": make_gpt}
    parser = argparse.ArgumentParser(description="exports a model")
    parser.add_argument("model", choices=models)
    parser.add_argument("out")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--rows", type=int, default=256,
                        help="of a micro-batch: examples, or tokens")
    given = parser.parse_args()

    import torch

    torch.manual_seed(0)
    module, arguments = models[given.model](torch, given.width, given.layers,
                                            given.rows)
    torch.export.save(torch.export.export(module, arguments), given.out)


main()
