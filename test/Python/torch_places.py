# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cutback.compile for a GPU, without one: which device a model is on; and a step
on the stand-in of a driver, to which memory of PyTorch on a CPU is that of a
device. Arguments: a folder for what is compiled."""

import copy
import ctypes
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

import torch

import cutback
from cutback import exporting, places
from cutback.options import Options
from torch_compiled import Net, batch, largest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tools/dev"))
from artifacts.manifest import name_again  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop())


class StandIn(places.CudaPlace):
    """Work waits until somebody waits for its stream."""

    def __str__(self):
        return "cuda:0"

    def arguments(self, graph, options):
        return places.Place.arguments(self, graph, options)

    def stream(self):
        return None

    def on_stream(self, stream):
        ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(ctypes.c_void_p(stream))
        return mock.MagicMock()

    bytes_at = places.Place.bytes_at


class OnHost(StandIn):
    """The same launches as a library of this machine, for the stand-in."""

    target = "cuda-host"


def write(given, graph, folder, options, hooks, strict, place, update):
    """With empty files for machine code, which the stand-in does not read."""
    host = FOLDER / "host"
    WRITE(given, graph, host, options, hooks, strict, OnHost("cpu"), update)
    WRITE(given, graph, folder, options, hooks, strict, place, update)
    name_again(folder, ["forward.fatbin", "backward.fatbin"])
    os.environ["CUTBACK_STAND_IN"] = str(host)


WRITE = exporting._compile


def on(device):
    return types.SimpleNamespace(device=torch.device(device))


class PlacesTest(unittest.TestCase):
    def test_trains_on_memory_of_the_device(self):
        model = Net()
        eager = copy.deepcopy(model)
        seen, expected = [], []
        with mock.patch.object(exporting, "_compile", write), \
             mock.patch.object(exporting, "place_of",
                               lambda tensors: StandIn("cpu")):
            step = cutback.compile(
                model, batch(), folder=FOLDER / "gpu",
                hooks={"last.bias": lambda g: seen.append(g) or 2 * g})
        eager.last.bias.register_hook(lambda g: expected.append(g) or 2 * g)
        mine = torch.optim.SGD(model.parameters(), 0.1)
        other = torch.optim.SGD(eager.parameters(), 0.1)
        for seed in range(3):
            x, y = batch(seed)
            z = x.detach().clone().requires_grad_()
            mine.zero_grad()
            other.zero_grad()
            loss, h = step(x, y)
            (3 * loss).backward()
            wanted, g = eager(z, y)
            (3 * wanted).backward()
            self.assertLess(largest([loss, h, x.grad], [wanted, g, z.grad]),
                            2e-5)
            self.assertLess(largest(
                [one.grad for one in model.parameters()],
                [one.grad for one in eager.parameters()]), 2e-5)
            self.assertTrue(all(one.grad.is_contiguous()
                                for one in model.parameters()))
            mine.step()
            other.step()
        self.assertLess(largest(model.parameters(), eager.parameters()), 1e-4)
        self.assertLess(largest(model.buffers(), eager.buffers()), 1e-4)
        self.assertLess(largest(seen, expected), 2e-5)
        with self.assertRaisesRegex(
                cutback.CutbackError, r"on meta; the step was compiled for"
                r" torch.float32 of \[8, 16\] on cuda:0"):
            step(batch()[0].to("meta"), batch()[1])

    def test_a_place_is_that_of_all_tensors(self):
        self.assertEqual(str(places.place_of([])), "a CPU")
        self.assertEqual(str(places.place_of([on("cpu"), on("cpu")])), "a CPU")
        self.assertEqual(str(places.place_of([on("cuda:0")] * 2)), "cuda:0")
        for tensors, text in (
                ([on("cuda:0"), on("cpu")], "on cpu and cuda:0: put all of them"
                 " on one device"),
                ([on("cuda:1")], "on cuda:1: a step runs on device 0"),
                ([on("xpu:0")], "on xpu:0: a step is compiled for a CPU, or")):
            with self.assertRaisesRegex(cutback.CutbackError, text):
                places.place_of(tensors)

    def test_modules_on_other_devices_are_refused(self):
        x, y = batch()
        elsewhere = Net().to("meta")
        for model, given, text in (
                (elsewhere, (x, y), "on cpu and meta"),
                (Net(), (x.to("meta"), y), "on cpu and meta"),
                (elsewhere, (x.to("meta"), y.to("meta")), "is on meta")):
            with self.assertRaisesRegex(cutback.CutbackError, text):
                cutback.compile(model, given)

    def test_the_command_line_has_the_device(self):
        graph = torch.export.export(Net(), batch()).graph
        given = Options.of(None)
        self.assertIn("--device=cpu",
                      places.Place("cpu").arguments(graph, given))
        with mock.patch("torch.cuda.get_device_capability",
                        return_value=(9, 0)), \
             mock.patch.object(places, "device_of", return_value="h100"):
            found = places.CudaPlace("cuda:0").arguments(graph, given)
        self.assertEqual(found[0], "--target=cuda")
        self.assertIn("--device=h100", found)
        self.assertIn("--arch=sm_90", found)
        self.assertNotIn("--keep-composites", found)


class UpdatesTest(unittest.TestCase):
    """In a process of its own: the stand-in runs the launches of one folder."""

    def test_updates_parameters_and_states_where_they_are(self):
        model = Net()
        eager = copy.deepcopy(model)
        mine = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        other = torch.optim.SGD(eager.parameters(), 0.1, momentum=0.9)
        with mock.patch.object(exporting, "_compile", write), \
             mock.patch.object(exporting, "place_of",
                               lambda tensors: StandIn("cpu")):
            step = cutback.compile(model, batch(), folder=FOLDER / "updated",
                                   optimizer=mine)
        for seed in range(3):
            x, y = batch(seed)
            step(x.detach(), y)[0].backward()
            other.zero_grad()
            eager(x.detach(), y)[0].backward()
            other.step()
        self.assertLess(largest(model.parameters(), eager.parameters()), 1e-4)
        self.assertLess(largest(
            [one["momentum_buffer"] for one in mine.state.values()],
            [one["momentum_buffer"] for one in other.state.values()]), 1e-4)


if __name__ == "__main__":
    unittest.main()
