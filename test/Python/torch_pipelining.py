# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled stages under PyTorch's schedules: two processes with gloo, and the
methods of a stage in one."""

import copy
import logging
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
import weakref
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import pipelining as theirs
from torch.distributed.pipelining import schedules
from torch.nn import functional as F

import cutback
from cutback import pipelining

MICRO_BATCHES = 4
ROWS = 3  # of a micro-batch


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.mixed = nn.Linear(size, 3 * size)
        self.joined = nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 32), nn.Linear(32, size)

    def forward(self, x):
        parts = self.mixed(self.before(x)).unflatten(
            -1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        looked = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.joined(looked.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.between(x))))


class Gpt(nn.Module):
    """Its loss is inside, its head tied to the embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(24, 16)
        self.blocks = nn.ModuleList(Block(16, 2) for _ in range(2))
        self.head = nn.Linear(16, 24, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return loss, logits

    def batch(self, count):
        return tuple(torch.randint(24, (count, 5)) for _ in range(2))


class Skips(nn.Module):
    """The loss is outside. The last stage reads what the first one makes, and
    an input; integers and flags cross; the batch norms write."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.norms = nn.ModuleList(nn.BatchNorm1d(6) for _ in range(4))
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x, weight, flag=True):
        first = self.norms[0](self.parts[0](x)).tanh()
        column, positive = first.argmax(1), first > 0
        x = self.norms[1](self.parts[1](first)).relu() * self.scale
        x = self.norms[2](self.parts[2](x * positive)) + first
        x = self.norms[3](self.parts[3](x)) + first.square() * self.scale
        return x * weight, x.gather(1, column[:, None])

    def batch(self, count):
        return torch.randn(count, 6), torch.rand(count, 6)


def outside(output, target):
    return F.mse_loss(output[0], target) + output[1].square().mean()


CASES = {
    "gpt": (Gpt, {2: ["blocks.1"], 4: ["blocks.0", "blocks.1", "head"]}),
    "skips": (Skips, {2: ["parts.2"], 4: ["parts.1", "parts.2", "parts.3"]}),
}
SCHEDULES = {
    "GPipe": (2, schedules.ScheduleGPipe),
    "1F1B": (2, schedules.Schedule1F1B),
    "InterleavedZeroBubble": (4, schedules.ScheduleInterleavedZeroBubble),
    "ZBVZeroBubble": (4, schedules.ScheduleZBVZeroBubble),
    "DualPipeV": (4, schedules.ScheduleDualPipeV),
}


def made(name):
    torch.manual_seed(3)
    return CASES[name][0]()


def split(name, count, folder=None):
    model = made(name)
    with torch.random.fork_rng():
        args = model.batch(ROWS)
    return pipelining.split(
        model, args, split_spec={one: "begin" for one in CASES[name][1][count]},
        folder=folder)


def batch_of(model):
    torch.manual_seed(5)
    batch = model.batch(MICRO_BATCHES * ROWS)
    return batch, torch.randn(MICRO_BATCHES * ROWS, 6)


def eager(name):
    """Losses and outputs of micro-batches, and the model after them."""
    model = made(name)
    batch, target = batch_of(model)
    losses, outputs = [], []
    for i in range(MICRO_BATCHES):
        rows = slice(i * ROWS, (i + 1) * ROWS)
        given = model(*(one[rows] for one in batch))
        loss = given[0] if name == "gpt" else outside(given, target[rows])
        (loss / MICRO_BATCHES).backward()
        losses.append(loss.detach())
        outputs.append(given)
    return losses, [torch.cat([one.reshape(one.shape or 1) for one in parts])
                    for parts in zip(*outputs)], model


def check_module(stage, model):
    """Gradients and buffers of a stage against the model's."""
    theirs_by_name = dict(model.named_parameters(remove_duplicate=False))
    for name, one in stage.submod.named_parameters():
        torch.testing.assert_close(one.grad, theirs_by_name[name].grad,
                                   rtol=1e-4, atol=1e-6, msg=lambda text:
                                   "%s: %s" % (name, text))
    buffers = dict(model.named_buffers())
    for name, one in stage.submod.named_buffers():
        torch.testing.assert_close(one, buffers[name])


def stages_of(schedule, rank, build):
    count, kind = SCHEDULES[schedule]
    if count == 2:
        return [build(rank)]
    last = 3 - rank if "V" in schedule else rank + 2
    return [build(rank), build(last)]


def run_schedule(schedule, name, stages, rank):
    loss_fn = pipelining.first_output if name == "gpt" else outside
    kind = SCHEDULES[schedule][1]
    runs = kind(stages if SCHEDULES[schedule][0] == 4 else stages[0],
                MICRO_BATCHES, loss_fn=loss_fn)
    batch, target = batch_of(made(name))
    losses = []
    given = batch if any(one.is_first for one in stages) else ()
    for one in stages:
        one.submod.zero_grad()
    output = runs.step(*given, target=target, losses=losses)
    pipelining.sync_replicated_grads(stages)
    return losses, output


def run_rank(rank, folder):
    dist.init_process_group("gloo", rank=rank, world_size=2,
                            store=dist.FileStore(folder + "/store", 2))
    for name in CASES:
        losses, outputs, model = eager(name)
        for schedule, (count, _) in SCHEDULES.items():
            stages = stages_of(schedule, rank, lambda k: pipelining.build_stage(
                "%s/%s%d" % (folder, name, count), k, "cpu"))
            got, output = run_schedule(schedule, name, stages, rank)
            for stage in stages:
                check_module(stage, model)
            if any(one.is_last for one in stages):
                torch.testing.assert_close(got, losses)
                torch.testing.assert_close(list(output), outputs)
            print("rank", rank, schedule, "of", name, "is eager's")
    dist.destroy_process_group()


class TwoProcesses(unittest.TestCase):
    def test_schedules_have_eager_gradients(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in CASES:
                for count in (2, 4):
                    split(name, count, "%s/%s%d" % (folder, name, count))
            ranks = [subprocess.Popen(
                [sys.executable, "-B", os.path.abspath(__file__), str(rank),
                 folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                for rank in range(2)]
            said = [rank.communicate(timeout=200) for rank in ranks]
            for out, errors in said:
                self.assertEqual(out.count("is eager's"),
                                 2 * len(SCHEDULES), said)


class Parts(nn.Module):
    """Of two stages; how they go together is said outside."""

    def __init__(self, how):
        super().__init__()
        self.first, self.second = nn.Linear(6, 6), nn.Linear(6, 6)
        self.how = how

    def forward(self, *args, **kwargs):
        return self.how(self, *args, **kwargs)


def reads_twice(self, x, y):
    early = self.first(x).tanh()
    theirs.pipe_split()
    return {"late": self.second(early) * x + y, "early": early, "flag": 7}


def with_keyword(self, x, *, scale, times=2):
    x = self.first(x).tanh() * times
    theirs.pipe_split()
    return (self.second(x) * scale).square().mean()


def drops(self, x):
    x = F.dropout(self.first(x).tanh(), 0.5)
    theirs.pipe_split()
    return F.dropout(self.second(x), 0.3).square().sum()


class OneProcess(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        dist.init_process_group("gloo", rank=0, world_size=1,
                                store=dist.HashStore())
        # Which says of each error at which action it came.
        logging.getLogger(schedules.__name__).setLevel(logging.CRITICAL)

    @classmethod
    def tearDownClass(cls):
        dist.destroy_process_group()

    def check_error(self, text, call, kind=cutback.CutbackError):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(text, str(raised.exception))

    def stages(self, pipe):
        return [pipe.build_stage(k) for k in range(pipe.num_stages)]

    def step(self, stages, args, kwargs=None, loss_fn=pipelining.first_output,
             target=None, kind=schedules.ScheduleInterleavedZeroBubble,
             **options):
        losses = []
        count = options.pop("count", 2)
        schedule = kind(stages, count, loss_fn=loss_fn, **options)
        output = schedule.step(
            *args, target=torch.zeros(count) if target is None else target,
            losses=losses, **(kwargs or {}))
        return losses, output

    def check_gradients(self, model, other):
        for (name, one), two in zip(model.named_parameters(),
                                    other.parameters()):
            self.assertEqual(one.grad is None, two.grad is None, name)
            if one.grad is not None:
                torch.testing.assert_close(one.grad, two.grad, rtol=1e-4,
                                           atol=1e-5)

    def test_the_unsplit_compiled_step_has_the_same_bits(self):
        model = made("gpt")
        batch, _ = batch_of(model)
        pipe = split("gpt", 2)
        stages = self.stages(pipe)
        losses, _ = self.step(stages, batch, count=MICRO_BATCHES,
                              scale_grads=False)
        pipelining.sync_replicated_grads(stages)
        step = cutback.compile(model, [one[:ROWS] for one in batch])
        for i, loss in enumerate(losses):
            own, _ = step(*(one[i * ROWS:(i + 1) * ROWS] for one in batch))
            own.backward()
            self.assertTrue(torch.equal(own, loss))
        found = {name: one for stage in stages
                 for name, one in stage.submod.named_parameters()}
        for name, one in model.named_parameters(remove_duplicate=False):
            # The tied one's two gradients are added in another order.
            if name in found and one is not model.head.weight:
                self.assertTrue(torch.equal(found.pop(name).grad, one.grad),
                                name)
        self.assertEqual(list(found), ["embedding.weight"])
        torch.testing.assert_close(found["embedding.weight"].grad,
                                   model.head.weight.grad)
        self.assertIn("head.weight", stages[1].submod.state_dict())

    def test_an_optimizer_of_the_model_trains_its_stages(self):
        other, (batch, target) = made("skips"), batch_of(made("skips"))
        pipe = split("skips", 4)
        model = pipe._model
        stages = self.stages(pipe)
        self.assertEqual(pipe.info().replicated_params, {"scale": (1, 3)})
        self.assertIs(stages[1].submod.scale, model.scale)
        optimizers = [torch.optim.SGD(one.parameters(), 0.1, momentum=0.9)
                      for one in (model, other)]
        schedule = schedules.ScheduleInterleaved1F1B(stages, MICRO_BATCHES,
                                                     loss_fn=outside)
        for step in range(3):
            schedule.step(*batch, target=target)
            if step == 1:
                for call in (optimizers[0].step,
                             lambda: schedule.step(*batch, target=target)):
                    self.check_error("call sync_replicated_grads(stages)", call)
            pipelining.sync_replicated_grads(stages)
            for i in range(MICRO_BATCHES):
                rows = slice(i * ROWS, (i + 1) * ROWS)
                loss = outside(other(*(one[rows] for one in batch)),
                               target[rows])
                (loss / MICRO_BATCHES).backward()
            self.check_gradients(model, other)
            for one in optimizers:
                one.step()
                one.zero_grad()
        torch.testing.assert_close(model.state_dict(), other.state_dict(),
                                   rtol=1e-4, atol=1e-5)
        model.eval()
        self.check_error("split it again", lambda: schedule.step(
            *batch, target=target))
        self.check_error("call eval() on the model", stages[0].submod.eval)

    def test_inputs_and_outputs_of_any_stage(self):
        model = Parts(reads_twice)
        other = copy.deepcopy(model)
        x, y = torch.randn(6, 6, requires_grad=True), torch.randn(6, 6)

        def loss_fn(output, target):
            return (output["late"] * output["early"] * target).sum()

        pipe = pipelining.split(model, (x[:3], y[:3]))
        self.assertEqual(pipe.info().stages[0].sends,
                         ("value.args_0", "value.tanh", "input.1", "output.1"))
        target = torch.randn(6, 6)
        for kind in (schedules.ScheduleInterleavedZeroBubble,
                     schedules.ScheduleInterleaved1F1B):
            losses, output = self.step(
                self.stages(pipe), (x, y), loss_fn=loss_fn, target=target,
                kind=kind, scale_grads=False, output_merge_spec={
                    "late": theirs.microbatch.TensorChunkSpec(0),
                    "early": theirs.microbatch.TensorChunkSpec(0),
                    "flag": None})
            given = x.detach().clone().requires_grad_()
            wanted = other(given, y)
            loss_fn(wanted, target).backward()
            torch.testing.assert_close(output, {
                name: one.detach() if name != "flag" else one
                for name, one in wanted.items()})
            torch.testing.assert_close(x.grad, given.grad)
            self.check_gradients(model, other)
            x.grad = None
            model.zero_grad(), other.zero_grad()

    def test_keyword_arguments_and_what_is_frozen(self):
        model = Parts(with_keyword)
        model.first.requires_grad_(False)
        other = copy.deepcopy(model)
        x, scale = torch.randn(6, 6), torch.randn(6, 6, requires_grad=True)
        pipe = pipelining.split(model, (x[:3],), {"scale": scale[:3],
                                                  "times": 3})
        stages = self.stages(pipe)
        self.assertEqual(list(stages[0]._phases), ["forward"])
        keywords = {"scale": scale, "times": 3}
        losses, output = self.step(stages, (x,), keywords)
        torch.testing.assert_close(list(output), losses)
        gradient, scale.grad = scale.grad, None
        for i in (0, 3):
            (other(x[i:i + 3], scale=scale[i:i + 3], times=3) / 2).backward()
        self.check_gradients(model, other)
        torch.testing.assert_close(gradient, 2 * scale.grad)
        for text, args, kwargs in (
                ("the argument 'scale' is missing", (x,), {"times": 3}),
                ("the argument times is 4, and was 3", (x,),
                 {**keywords, "times": 4}),
                ("no keyword argument 'other'", (x,), {"other": 1}),
                ("the first stage takes 1 arguments, and is given 2", (x, x),
                 keywords),
                ("is torch.float32 of [2, 6], and the model was split for"
                 " micro-batches of torch.float32 of [3, 6]", (x[:4],),
                 {"scale": scale[:4], "times": 3})):
            self.check_error(text, lambda: self.step(stages, args, kwargs))
        given = x.clone().requires_grad_()
        self.check_error("requires a gradient, and the model was split for one"
                         " that does not",
                         lambda: self.step(stages, (given,), keywords))
        model.first.requires_grad_(True)
        self.check_error("'first.weight' requires a gradient, and did not",
                         lambda: pipe.build_stage(0))

    def test_random_numbers_are_those_of_the_micro_batch(self):
        model, x = Parts(drops), torch.randn(6, 6)
        gradients = []
        for backward in ("split", "whole"):
            pipe = pipelining.split(model, (x[:3],), backward=backward)
            for kind in (schedules.ScheduleInterleavedZeroBubble,
                         schedules.ScheduleInterleaved1F1B):
                torch.manual_seed(1)
                model.zero_grad()
                losses, _ = self.step(self.stages(pipe), (x,), kind=kind)
                gradients.append([*losses, *(one.grad for one in
                                             model.parameters())])
        self.assertNotEqual(*losses)
        for one in gradients[1:]:
            torch.testing.assert_close(one, gradients[0])

    def test_a_micro_batch_keeps_what_its_next_phase_reads(self):
        pipe = split("skips", 4)
        stages = self.stages(pipe)
        schedule = schedules.ScheduleInterleavedZeroBubble(
            stages, MICRO_BATCHES, loss_fn=outside)
        batch, target = batch_of(pipe._model)
        schedule.step(*batch, target=target)
        stage, last = stages[2], stages[3]
        values = tuple(torch.randn(one.sizes) if one.dtype == "f32"
                       else torch.zeros(one.sizes, dtype=torch.int64)
                       for one in stage._in)
        stage.set_local_fwd_input(values, 0)
        del values
        output = stage.forward_one_chunk(0, ())
        kept = {name: weakref.ref(one)
                for name, one in stage._kept[0].tensors.items()}
        self.assertTrue(kept)
        stage.set_local_bwd_input(tuple(
            torch.ones_like(one) if passed.gradient else None
            for one, passed in zip(output, stage._out)), 0)
        del output
        stage.backward_one_chunk(0, full_backward=False)
        for name, one in kept.items():
            self.assertEqual(one() is None, name not in stage._for_weight, name)
        self.assertTrue(set(kept) - set(stage._for_weight))
        later = [weakref.ref(one)
                 for one in stage._kept_for_weight[0].tensors.values()]
        stage.get_local_bwd_output(0)
        stage.backward_weight_one_chunk(0)
        self.assertEqual([one() for one in later + list(kept.values())],
                         [None] * (len(later) + len(kept)))
        self.assertFalse(stage._kept or stage._kept_for_weight)
        self.check_error("no forward of micro-batch 1",
                         lambda: stage.backward_one_chunk(1))
        self.check_error("come after", lambda: stage.backward_weight_one_chunk(
            1), AssertionError)
        with torch.no_grad():
            output = schedule.eval(*batch, target=target)
        self.assertEqual(output[0].shape, (MICRO_BATCHES * ROWS, 6))
        self.assertFalse(stage._kept or last._kept)

    def test_what_is_wrong_is_named(self):
        pipe = split("skips", 2)
        stages = self.stages(pipe)
        args = pipe._model.batch(ROWS)
        for one in stages:
            one.has_backward, one.chunks = True, 1
        stages[0].forward_one_chunk(0, args)
        with torch.no_grad():
            stages[0].submod.get_parameter("parts.1.weight").add_(1)
        self.check_error("'param.parts.1.weight' was changed between",
                         lambda: stages[0].backward_one_chunk(0))
        stages[1].submod = nn.Sequential(stages[1].submod)
        self.check_error("stage 1 is wrapped, in Sequential",
                         stages[1].clear_runtime_states)
        folder = str(pipe.folder)
        self.check_error("they are of another model", lambda:
                         pipelining.build_stage(folder, 0, model=made("gpt")))
        other = made("skips")
        other.parts[0] = nn.Linear(6, 6).double()
        self.check_error("'parts.0.weight' is torch.float64", lambda:
                         pipelining.build_stage(folder, 0, model=other))
        tied = made("skips")
        tied.parts[3] = tied.parts[0]
        self.check_error("'parts.0.weight' and 'parts.3.weight' are one",
                         lambda: pipelining.build_stage(folder, 0, model=tied))
        self.check_error("there is no stage 2", lambda: pipe.build_stage(2))
        self.check_error("was split for a CPU",
                         lambda: pipe.build_stage(0, "cuda"))
        with mock.patch.object(dist, "get_world_size", lambda _: 3):
            self.check_error("3 processes, and the pipeline 2 stages",
                             lambda: pipe.build_stage(0))
        manifest = pipe.folder / "pipeline.json"
        text = manifest.read_text()
        for what, change in (
                ("is not as it was written", text.replace("tanh", "tank")),
                ("is no manifest", text[:-9]),
                ("is of version 9", text.replace(": 1,", ": 9,", 1))):
            manifest.write_text(change)
            self.check_error(what, lambda: pipelining.build_stage(folder, 0))
        manifest.write_text(text)
        call = pipe.folder / "python.json"
        written = call.read_text()
        call.write_text(written.replace('"pipeline": "', '"pipeline": "0'))
        self.check_error("is of another split, or of another version",
                         lambda: pipelining.build_stage(folder, 0))
        call.write_text(written)
        phase = pipe.folder / "stage0" / "input"
        (phase / "manifest.json").write_bytes(
            (pipe.folder / "stage0" / "weight" / "manifest.json").read_bytes())
        self.check_error("is of another split",
                         lambda: pipelining.build_stage(folder, 0))
        self.check_error("both say where", lambda: pipelining.split(
            other, args, stages=2, split_spec={"parts.2": "begin"}))
        self.check_error("has no markers", lambda: pipelining.split(
            made("skips"), args))

    def test_a_folder_of_the_program(self):
        model = made("skips")
        args = model.batch(ROWS)
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(torch.export.export(model, args),
                              folder + "/model.pt2")
            for target in ("cpu", "reference"):
                subprocess.run(
                    [cutback.program_path(), "split", folder + "/model.pt2",
                     "-o", "%s/%s" % (folder, target), "--stages=2",
                     "--target=" + target], check=True, capture_output=True)
            stages = [pipelining.build_stage(folder + "/cpu", k, model=model)
                      for k in range(2)]
            batch, target = batch_of(model)
            losses, _ = self.step(stages, batch, loss_fn=outside, target=target,
                                  count=MICRO_BATCHES)
            torch.testing.assert_close(losses, eager("skips")[0])
            self.check_error(
                "split the model with --target=cpu",
                lambda: pipelining.build_stage(folder + "/reference", 0))
            rows = torch.export.Dim("rows", min=2, max=64)
            torch.export.save(
                torch.export.export(torch.nn.Linear(4, 4), (
                    torch.ones(4, 4),), dynamic_shapes=({0: rows},)),
                folder + "/rows.pt2")
            subprocess.run(
                [cutback.program_path(), "split", folder + "/rows.pt2", "-o",
                 folder + "/sizes", "--stages=1", "--batch=9",
                 "--micro-batches=4"], check=True, capture_output=True)
            self.check_error(
                "is for micro-batches of two sizes",
                lambda: pipelining.build_stage(folder + "/sizes", 0))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_rank(int(sys.argv[1]), sys.argv[2])
