# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models: blocks of `blocks.py` and `pieces.py`, and layers of PyTorch,
one behind the other, with a loss at the end.

A block is a text `KIND>KIND | STATE | STATEMENT`. KIND is S (a sequence: batch,
6, 8), I (an image: batch, 4, 8, 8), V (a vector: batch, 8) or T (tokens: batch,
6). In STATE and STATEMENT {m} is the name of the module, {h} the value in front.
[[a|b]] is one of the texts, <<a|b>> too, of such that have brackets.
"""

import random
import re

from .program import (CHOICE, Program, Region, Statement, eager, is_tame,
                      load)

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from randomprograms.blocks import *
from randomprograms.pieces import *

DTYPE = torch.%s
torch.set_default_dtype(torch.float32)
"""

BOOL = "[[True|False]]"

SEQUENCE = """
S>S | Residual(Attention(8, 2, [[1|2]], '[[|half|stack|write|complex]]', '[[none|causal|inf|window|slopes|table]]', %(b)s, %(b)s), [[nn.LayerNorm(8)|RMSNorm(8)|RMSNorm(8, True)|nn.RMSNorm(8)|nn.Identity()]], '[[plus|add_|iadd|scaled|lerp]]')
S>S | Residual([[GatedMLP(8, '[[silu|gelu|tanh|relu2]]')|Experts(8, 4, [[1|2]], '[[dense|gather|index_add|scatter]]')]], [[nn.LayerNorm(8)|RMSNorm(8)|nn.LayerNorm(8, bias=False)]], '[[plus|add_|iadd|scaled|lerp]]')
S>S | Experts(8, 4, [[1|2]], '[[dense|gather|index_add|scatter]]')
S>S | Recurrent(8, '[[lstm|gru|rnn]]', [[1|2]], %(b)s)
S>S | Cells(8, '[[lstm|gru|rnn]]', '[[stack|cat|write]]')
S>S | Scan(8, 3, '[[loop|cumsum]]')
S>S | LinearAttention(8, %(b)s)
S>S | Low(8, 2, %(b)s)
S>S | Modulate(8)
S>S | Codebook(8, 5, '[[loss|average]]')
S>S | Masked(8, '[[index|where|fill|scatter|rows|put|first|mean]]')
S>S | Shift(8, '[[pad|write|cat]]')
S>S | Messages(8, '[[attention|mean|amax|degree|plain]]')
S>S | Statistics(8, '[[lerp|assign|ring|pointer|copy|data]]')
S>S | Fourier(8, '[[mix|filter|mark]]')
S>S | Backward('[[reverse|round|hard|sign|scale]]')
S>S | constrained(nn.Linear(8, 8), '[[weight|weight1|spectral|orthogonal|old|symmetric]]')
S>S | nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, activation='[[relu|gelu]]', batch_first=True, norm_first=%(b)s)
S>S | nn.MultiheadAttention(8, 2, batch_first=True, bias=%(b)s, add_bias_kv=%(b)s) | self.{m}({h}, {h}, {h}, need_weights=%(b)s)[0]
S>S | nn.MultiheadAttention(8, 2) | self.{m}({h}, {h}, {h}, average_attn_weights=%(b)s)[0]
S>S | nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, batch_first=True) | self.{m}({h}, {h}.flip(1))
S>S | nn.Sequential(nn.Linear(8, 12), [[nn.ReLU(inplace=True)|nn.GELU()|nn.SiLU(inplace=True)|nn.Softplus()|nn.Mish(inplace=True)]], nn.Dropout(0.0), nn.Linear(12, 8))
S>S | nn.Bilinear(8, 8, 8) | self.{m}({h}, {h}.roll(1, 1))
S>S | nn.BatchNorm1d([[6|6, momentum=None|6, track_running_stats=False|6, affine=False]]) | self.{m}({h})
S>S | nn.Conv1d(8, 8, 3, padding=[[1|'same']], groups=[[1|2|8]], padding_mode='[[zeros|circular|replicate]]') | self.{m}({h}.transpose(1, 2)).mT
S>S | nn.ConvTranspose1d(8, 8, 3, padding=1) | self.{m}({h}.permute(0, 2, 1)).permute(0, 2, 1)
S>S | constrained(nn.Conv1d(8, 8, 3, padding=1), '[[weight|spectral|old]]') | self.{m}({h}.mT).mT
S>S | nn.GroupNorm(2, 6)
S>S | nn.InstanceNorm1d(6, affine=%(b)s, track_running_stats=%(b)s)
S>S | nn.LayerNorm([6, 8])
S>S | nn.GLU() | self.{m}(torch.cat([{h}, {h}.cos()], -1))
S>S | nn.AvgPool1d(3, 1, 1)
S>S | nn.MaxPool1d(3, 1, 1)
S>S | nn.Identity() | {h} + F.softmax({h} @ {h}.mT, -1) @ {h}
S>S | nn.Identity() | torch.cummax({h}, 1)[0] + {h}.cumsum(1)
S>S | nn.Identity() | ({h} - {h}.mean((0, 1))) / ({h}.var((0, 1), unbiased=False) + 1e-5).sqrt()
S>S | nn.Identity() | torch.utils.checkpoint.checkpoint(lambda v: F.gelu(v).mul_(2), {h}, use_reentrant=False)
S>S | nn.Linear(8, 8) | torch.utils.checkpoint.checkpoint(self.{m}, {h}, use_reentrant=False)
S>V | Pool(8, '[[query|class|max|power|last|statistics|topk|sorted|mean]]')
S>V | Recurrent(8, 'gru') | self.{m}({h})[:, -1]
S>I | nn.Linear(8, 43) | self.{m}({h})[..., :43].flatten(1)[:, :256].unflatten(1, (4, 8, 8))
T>S | Tokens(8, '[[learned|table|waves|none]]', [[padding_idx=0|padding_idx=-1|scale_grad_by_freq=True|max_norm=1.0|max_norm=0.5, norm_type=1.0|sparse=False|padding_idx=2, max_norm=0.7]])
T>S | Bags(8, '[[sum|mean|max]]')
T>S | nn.Linear(10, 8) | self.{m}(F.one_hot({h}, 10).to(self.{m}.weight.dtype))
""" % {"b": BOOL}

IMAGE = """
I>I | ConvBlock(4, '[[batch|instance|group|plain|average|none]]', '[[relu|silu|leaky|hard|elu]]', [[1|2|4]], %(b)s)
I>I | Squeeze(4)
I>I | ConvNext(4)
I>I | UNet(4, '[[nearest|bilinear|transpose|shuffle|bicubic]]')
I>I | Transformer2d(4)
I>I | Windows(4)
I>I | constrained(nn.Conv2d(4, 4, 3, padding=1), '[[weight|spectral|old]]')
I>I | nn.Sequential(nn.Conv2d(4, 4, 3, [[1|2]], 1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Upsample((8, 8)))
I>I | nn.Sequential(nn.Unfold(2, stride=2), nn.Fold((8, 8), 2, stride=2))
I>I | nn.[[MaxPool2d(3, 1, 1)|AvgPool2d(3, 1, 1)|LPPool2d(2, 1)|LocalResponseNorm(2)|Dropout2d(0.0)|Hardtanh(-1, 1)|ChannelShuffle(2)]]
I>I | nn.Identity() | F.max_unpool2d(*F.max_pool2d({h}, 2, return_indices=True), 2)
I>I | nn.Identity() | {h} * {h}.mean((2, 3), keepdim=True).sigmoid_()
I>I | nn.Conv2d(4, 4, 1) | checkpoint(lambda v: F.relu(self.{m}(v), inplace=True), {h}, use_reentrant=False)
I>S | nn.Conv2d(4, 8, 4, 4) | torch.cat([self.{m}({h}).flatten(2).transpose(1, 2), {h}.reshape({h}.shape[0], -1, 8)[:, :2]], 1)
I>V | nn.Linear(4, 8) | self.{m}(F.adaptive_avg_pool2d({h}, 1).flatten(1))
I>V | nn.Linear(16, 8) | self.{m}(F.adaptive_max_pool2d({h}, 2).flatten(1))
""" % {"b": BOOL}

VECTOR = """
V>V | nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True))
V>V | constrained(nn.Linear(8, 8), '[[weight|spectral|orthogonal|old|symmetric]]')
V>V | Low(8, 2, %(b)s)
V>V | Backward('[[reverse|round|hard|sign|scale]]')
V>V | Statistics(8, '[[lerp|assign|ring|pointer|copy|data]]')
V>V | nn.[[GRUCell(8, 8)|RNNCell(8, 8)]] | self.{m}({h}, {h}.tanh())
V>V | nn.LSTMCell(8, 8) | self.{m}({h})[0]
V>V | nn.Linear(8, 8) | torch.where({h} > 0, self.{m}({h}), {h})
V>V | nn.Linear(8, 8) | F.normalize(self.{m}({h}), dim=-1) * 3
V>V | nn.Linear(8, 8) | F.linear({h}, self.{m}.weight / self.{m}.weight.norm(), self.{m}.bias)
V>V | nn.Identity() | {h} @ torch.linalg.inv(torch.eye(8).to({h}) * 9 + ({h}.T @ {h}).tanh())
V>S | nn.Linear(8, 48) | self.{m}({h}).view(-1, 6, 8)
V>S | nn.Identity() | {h}.unsqueeze(1).expand(-1, 6, -1)
""" % {"b": BOOL}

# Behind a sequence or vector; `x1` are labels (batch,), `x2` tokens (batch, 6).
LOSSES = """
V | nn.Linear(8, 4) | F.cross_entropy(self.{m}({h}), x1<<|, label_smoothing=0.1|, ignore_index=1|, reduction='sum'|, weight=torch.tensor([0.5, 1, 2, 0]).to({h})>>)
V | nn.Linear(8, 4) | F.cross_entropy(self.{m}({h}), F.one_hot(x1, 4).to({h}) * 0.9 + 0.025)
V | nn.<<CrossEntropyLoss(label_smoothing=0.2, ignore_index=2)|NLLLoss()|MultiMarginLoss()|CrossEntropyLoss(torch.tensor([0.5, 1, 2, 0.2]))>> | self.{m}(F.log_softmax({h}[:, :4], 1), x1)
V | nn.BCEWithLogitsLoss(<<|pos_weight=torch.tensor([1.0, 2, 3, 0.5])>>) | self.{m}({h}[:, :4], F.one_hot(x1, 4).to({h}))
V | nn.Linear(8, 4) | [[focal|preference|clipped]](self.{m}({h}), x1)
V | nn.Identity() | [[contrast|bounded|balanced]]({h})
V | nn.Linear(1, 1) | [[pairs|sigmoid_pairs]]({h}, self.{m}.bias)
V | nn.Identity() | F.[[mse_loss|smooth_l1_loss|huber_loss|l1_loss]]({h}, x1[:, None].to({h}).expand_as({h}))
V | nn.Identity() | F.[[poisson_nll_loss|soft_margin_loss]]({h}, (x1[:, None] * 2 - 3).to({h}).expand_as({h}).abs())
V | nn.Identity() | (({h} - x1[:, None]).square() / {h}.exp().clamp(min=1e-3) + {h}).sum() * 0.1
V | nn.Identity() | F.<<triplet_margin_loss({h}, {h}.roll(1, 0), {h}.flip(1))|cosine_embedding_loss({h}, {h}.roll(1, 0), x1 * 0 - 1)>>
V | nn.Identity() | F.multilabel_soft_margin_loss({h}, F.one_hot(x1 * 2, 8).to({h}))
V | nn.Identity() | F.margin_ranking_loss({h}[:, 0], {h}[:, 1], (x1 % 2 * 2 - 1).to({h}), margin=0.3)
V | nn.Identity() | F.kl_div(F.log_softmax({h}, 1), F.log_softmax({h}.detach().flip(1), 1), reduction='batchmean', log_target=True)
V | nn.Identity() | F.binary_cross_entropy({h}.sigmoid(), F.one_hot(x1, 8).to({h}), weight={h}.detach().abs())
V | nn.Identity() | torch.cdist({h}, {h}).triu(1).clamp(max=2).sum()
S | nn.Linear(8, 10, bias=False) | [[next_token|masked_token]](self.{m}({h}), x2)
S | nn.Linear(8, 10) | next_token(self.{m}({h}), x2, [[ignore_index=3|label_smoothing=0.1|reduction='sum']])
S | nn.Linear(8, 10) | F.nll_loss(self.{m}({h}).log_softmax(-1).permute(0, 2, 1), x2, ignore_index=0)
S | nn.Linear(8, 8) | chain({h}, self.{m}.weight)
S | nn.Identity() | ({h} ** 2).mean() + {h}.abs().amax(1).sum() * 0.1
I | nn.Identity() | overlap({h}, x2[:, :1, None].expand(-1, 8, 8) % 4)
I | nn.Identity() | F.cross_entropy({h}, x2[:, :1, None].expand(-1, 8, 8) % 4<<|, ignore_index=1|, label_smoothing=0.1|, weight=torch.tensor([0.5, 1, 2, 0]).to({h})>>)
I | nn.Identity() | F.mse_loss({h}, {h}.detach().flip(-1)) + ({h}[..., 1:] - {h}[..., :-1]).abs().mean()
"""


def table(text):
    """Lists of (to, state, statement) by the kind in front."""
    blocks = {}
    for line in filter(None, text.splitlines()):
        kinds, state, *statement = (part.strip() for part in line.split(" | "))
        before, _, behind = kinds.partition(">")
        blocks.setdefault(before, []).append(
            (behind, state, statement[0] if statement else "self.{m}({h})"))
    return blocks


BLOCKS = table(SEQUENCE + IMAGE + VECTOR)
ENDS = table(LOSSES)

# What decides by comparing numbers: with few bits others win.
DECIDES = r"Experts|Codebook|Masked|'(hard|round|sign|max|topk|sorted)'|[mM]ax"

KINDS = ["float64"] * 6 + ["float32", "bfloat16", "float16", "autocast"]


class ModelMaker:
    """Makes the model of one seed."""

    def __init__(self, seed, ties=True):
        self.random = random.Random(seed)
        kind = self.random.choice(KINDS)
        self.autocast = kind == "autocast"
        self.precise = kind in ("float64", "float32")
        self.program = Program(dynamic=self.random.random() < 0.25)
        self.program.head = HEAD % ("float32" if self.autocast else kind)
        self.program.last = [
            "for p in self.parameters():",
            "    p.data.add_(0.1 * torch.randn(p.shape))",
            "self.to(DTYPE)"]
        self.count = 0

    def make(self):
        draw = self.random
        kind = draw.choice("STTI")
        text = {"S": "torch.randn((batch, 6, 8)).to(DTYPE)",
                "T": "torch.randint(0, 10, (batch, 6))",
                "I": "torch.randn((batch, 4, 8, 8)).to(DTYPE)"}[kind]
        if kind != "T" and draw.random() < 0.4:
            text += ".requires_grad_()"
        self.program.inputs = [text, "torch.randint(0, 4, (batch,))",
                               "torch.randint(0, 10, (batch, 6))"]
        value, steps = "x0", draw.randint(1, 6)
        values = []
        while steps > 0 or kind not in ENDS:
            grown = self.grow(BLOCKS[kind], value)
            if not grown:
                continue
            kind, value = grown
            values.append(value)
            steps -= 1
        losses = [self.grow(ENDS[kind], value) for _ in range(3)]
        self.program.losses = [one[1] for one in losses if one][:draw.choice(
            [1, 1, 2])] or [value]
        draw.shuffle(values)
        self.program.outputs = values[:draw.choice([0, 0, 1, 2])]
        self.touch()
        self.wrap()
        return self.program

    def choose(self, text):
        for choice in (CHOICE, "<<(.*?)>>"):
            while re.search(choice, text):
                text = re.sub(choice, lambda found: self.random.choice(
                    found[1].split("|")), text)
        return text

    def grow(self, blocks, value):
        to, state, text = self.random.choice(blocks)
        names = {"m": "m%d" % self.count, "h": value}
        target = "v%d" % self.count
        self.count += 1
        body, kept = self.program.body, self.program.state
        text = re.sub(r"\{([mh])\}", lambda hole: names[hole[1]],
                      self.choose(text))
        state = self.choose(state)
        if not self.precise and re.search(DECIDES, state + text):
            return None
        self.program.state = kept + ["self.%s = %s" % (names["m"], state)]
        self.program.body = body + [Statement(text, target)]
        if self.steps(target):
            return to, target
        self.program.body, self.program.state = body, kept
        return None

    def touch(self):
        """Frozen, evaluated, unused and shared modules."""
        draw = self.random
        kept = list(self.program.state)
        for line in kept:
            name = line.split(" = ")[0]
            if draw.random() < 0.1:
                self.program.state.append(
                    name + draw.choice([".eval()", ".requires_grad_(False)"]))
        if draw.random() < 0.2:
            self.program.state.append("self.unused = nn.Linear(3, 3)")
        if not self.steps():
            self.program.state = kept
        names = [line.split(" = ")[0] for line in kept if re.search(
            r"= nn.Linear\(8, (8|10|4)|Tokens", line)]
        if len(names) > 1 and draw.random() < 0.5:
            before = list(self.program.state)
            one, other = draw.sample(names, 2)
            self.program.state.append("%s%s.weight = %s%s.weight" % (
                one, ".tokens" * ("Tokens" in str(
                    [x for x in kept if x.startswith(one + " ")])), other,
                ".tokens" * ("Tokens" in str(
                    [x for x in kept if x.startswith(other + " ")]))))
            if not self.steps():
                self.program.state = before

    def steps(self, loss=None):
        kept = self.program.losses
        if loss:
            self.program.losses = [loss]
        try:
            for size in (7, 2, 5) if self.program.dynamic else (5,):
                results = eager(load(self.program.source()), size)
        except Exception:
            return False
        finally:
            self.program.losses = kept
        return all(map(is_tame, results.values()))

    def wrap(self):
        draw = self.random
        kinds = ["torch.autocast('cpu', torch.bfloat16)"] if self.autocast \
            else []
        for _ in range(draw.choice([0, 0, 1])):
            kinds.append(draw.choice(
                ["torch.no_grad()", "checkpoint", "checkpoint"]
                + ["torch.autocast('cpu', enabled=False)"] * self.autocast))
        for kind in reversed(kinds):
            before = list(self.program.body)
            start = draw.randrange(len(before))
            end = draw.randint(start + 1, len(before))
            if "bfloat16" in kind and draw.random() < 0.6:
                start, end = 0, len(before)
            children = before[start:end]
            if kind == "checkpoint":
                # Exports of nested checkpoints have lost their gradients.
                if any(isinstance(one, Region) or "checkpoint(" in one.text
                       for one in children):
                    continue
                region = Region("g%d" % start, children,
                                tuple(one.target for one in children))
            else:
                region = Region(kind, children)
            self.program.body = before[:start] + [region] + before[end:]
            if not self.steps():
                self.program.body = before
