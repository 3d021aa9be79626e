# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library from Python, without PyTorch."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import cutback

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "corpus"
TEXT = CORPUS / "gpt2" / "joint.txt"


class Library(unittest.TestCase):
    def test_importing_needs_no_pytorch(self):
        self.assertNotIn("torch", sys.modules)
        self.assertRegex(cutback.version(), r"^\d+\.\d+\.\d+$")
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            cutback.nothing

    def test_a_release_that_was_not_tested_is_told_once(self):
        from cutback import releases

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for tested in cutback.TESTED_TORCH:
                releases.check_release(tested + ".1+cpu")
            self.assertEqual(caught, [])
            for _ in range(2):
                releases.check_release("3.7.0")
        self.assertEqual([str(one.message) for one in caught], [
            "cutback was tested with PyTorch 2.13 and 2.14; this is 3.7.0, and"
            " cutback goes on"])
        self.assertIs(caught[0].category, cutback.ReleaseWarning)

    def test_a_file_and_its_text_have_one_plan(self):
        one = cutback.Graph.read(TEXT).plan()
        other = cutback.Graph.parse(TEXT.read_text()).plan()
        self.assertEqual(one.saved, other.saved)
        self.assertEqual(one.recomputed, other.recomputed)
        self.assertTrue(one.saved and one.recomputed)
        self.assertTrue(one.json["verified"])

    def test_options_are_those_of_the_command_line(self):
        graph = cutback.Graph.read(CORPUS / "dynamic_llama" / "trace.log",
                                   ["--graph=0"])
        all_saved = graph.plan(["--strategy=precompute"]).json["saved_bytes"]
        self.assertLess(graph.plan().json["saved_bytes"], all_saved)
        former = graph.plan(["--strategy=save-all"]).json
        self.assertEqual(former["strategy"], "precompute")
        self.assertEqual(former["saved_bytes"], all_saved)
        torch = graph.plan(["--cost-model=pytorch", "--rules=torch-2.3"])
        self.assertEqual(torch.json["rules"], "torch-2.3")

    def test_eager_pytorch_stands_beside_the_plan(self):
        """Of a program without a backward, at the sizes of each plan."""
        plan = cutback.Graph.read(CORPUS / "gpt2" / "model.pt2").plan()
        self.assertEqual(plan.json["eager_pytorch"]["saved_bytes"], 594692)
        self.assertRegex(plan.report(), r"\n  eager PyTorch +580\.8 +693\.0 ")
        graph = cutback.Graph.read(
            CORPUS / "families" / "llama" / "batch" / "model.pt2")
        kept = [graph.plan(sizes).json["eager_pytorch"]["saved_bytes"]
                for sizes in ([], ["--sym=s87=4"], ["--sym=s87=6"])]
        self.assertEqual(kept[0], 109252)
        self.assertEqual(kept[2] - kept[1], kept[1] - kept[0])
        joint = cutback.Graph.read(TEXT).plan()
        self.assertNotIn("eager_pytorch", joint.json)

    def test_an_archive_from_memory(self):
        data = (CORPUS / "mlp" / "model.pt2").read_bytes()
        plan = cutback.Graph.parse(data, "mlp.pt2").plan()
        self.assertGreater(plan.json["saved_bytes"], 0)
        self.assertIn("saved", plan.report())

    def test_partitions_as_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            cutback.Graph.read(TEXT).plan().write(out)
            self.assertEqual(
                sorted(path.name for path in out.iterdir()),
                ["backward.mlir", "forward.mlir", "joint.mlir", "plan.json"])
            self.assertEqual(
                json.loads((out / "plan.json").read_text())["schema"], 1)

    def test_a_folder_has_the_plan_that_is_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            cutback.Graph.read(TEXT).plan(["--strategy=recompute-all"]).write(
                out)
            stored = cutback.Graph.read(out)
            plan = stored.plan()
            self.assertEqual(plan.json["strategy"], "recompute-all")
            self.assertIn("plan: recompute-all", plan.report())
            with self.assertRaisesRegex(
                    cutback.CutbackError,
                    "--strategy has no effect on a plan that is stored"):
                stored.plan(["--strategy=min-cut"])
            again = cutback.Graph.read(out / "joint.mlir").plan()
            self.assertEqual(again.json["strategy"], "min-cut")
            text = (out / "plan.json").read_text()
            (out / "plan.json").write_text(text.replace("recompute-all",
                                                        "precompute"))
            with self.assertRaisesRegex(cutback.CutbackError,
                                        "does not belong") as caught:
                cutback.Graph.read(out)
            self.assertEqual(caught.exception.status, 3)

    def test_an_error_has_a_place_and_a_next_step(self):
        broken = TEXT.read_text().replace("aten.mm.default(",
                                          "aten.mm.default((", 1)
        with self.assertRaises(cutback.CutbackError) as caught:
            cutback.Graph.parse(broken, "broken.txt")
        self.assertEqual(caught.exception.status, 1)
        first = caught.exception.diagnostics[0]
        self.assertEqual((first.severity, first.file), ("error", "broken.txt"))
        self.assertGreater(first.line, 1)
        self.assertIn("broken.txt:%d:%d: error: %s" % (
            first.line, first.column, first.message), str(caught.exception))

    def test_a_wrong_option(self):
        graph = cutback.Graph.read(TEXT)
        with self.assertRaisesRegex(cutback.CutbackError,
                                    "--rules needs --cost-model=pytorch") as e:
            graph.plan(["--rules=torch-2.3"])
        self.assertEqual(e.exception.status, 2)
        self.assertTrue(graph.plan().saved)

    def test_options_are_all_of_the_driver(self):
        """The fields of Options against the help of the commands that plan:
        what all of these take, and `import`, which does not plan, does not."""
        def options(command):
            text = subprocess.run(["cutback", command, "--help"], text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            return set(re.findall(r"^ +--([a-z-]+)", text, re.M))

        plan = (options("report") & options("explain") & options("compile")
                ) - options("import")
        from cutback.options import FIELDS, FROM_PYTORCH
        self.assertEqual(plan, {option for option, _ in FIELDS.values()}
                         | set(FROM_PYTORCH))
        self.assertEqual(
            [field.name for field in dataclasses.fields(cutback.Options)],
            list(FIELDS))

    def test_every_field_reaches_the_library(self):
        graph = cutback.Graph.read(TEXT)
        base = cutback.Options(
            cost_model="pytorch", device="cpu", policy={},
            torch_config={"aggressive_recomputation": True})
        self.assertEqual(hash(base), hash(dataclasses.replace(base)))
        self.assertTrue(graph.plan(base.arguments()).saved)
        with self.assertRaisesRegex(cutback.CutbackError, "no op of yours"):
            graph.plan(dataclasses.replace(
                base, recomputable=["aten.cumsum"]).arguments())
        regions = cutback.Options(checkpoint_policy="save:matmul")
        self.assertIn("--checkpoint-policy=save:matmul", regions.arguments())
        with self.assertRaisesRegex(cutback.CutbackError, "checkpoint"):
            with cutback.options.python_names():
                graph.plan(cutback.Options(checkpoint="nowhere").arguments())
        peak = cutback.Options(minimize="peak")
        self.assertTrue(graph.plan(peak.arguments("cpu")).saved)
        limit = cutback.Options(memory_limit=1.0, effort=2)
        self.assertIn("--memory-limit=1.0", limit.arguments())
        self.assertTrue(graph.plan(limit.arguments("cpu")).saved)
        with self.assertRaisesRegex(cutback.CutbackError, "no plan was found"):
            graph.plan(cutback.Options(memory_limit="1KiB").arguments("cpu"))

    def test_errors_have_the_names_of_python(self):
        from cutback.options import python_names
        graph = cutback.Graph.read(TEXT)
        for options, message in (
                (cutback.Options(cost_model="pytorch", byte_price=1.5),
                 "byte_price needs cost_model=roofline"),
                (cutback.Options(torch_config={"cse": True}),
                 "torch_config needs cost_model=pytorch"),
                (cutback.Options(minimize="peak", byte_price=1.5),
                 "leave out byte_price")):
            with self.assertRaisesRegex(cutback.CutbackError, message):
                with python_names():
                    graph.plan(options.arguments())

    def test_a_missing_or_old_library_is_one_sentence(self):
        code = ("import cutback\n"
                "try: cutback.version()\n"
                "except cutback.LibraryMissing as error:"
                " print(len(error.diagnostics), error)")
        import ctypes.util
        for path, message in (
                ("/nowhere/libcutback.so", "cannot be used (/nowhere"),
                (ctypes.util.find_library("c"), "it has no function cutback")):
            run = subprocess.run(
                [sys.executable, "-c", code], text=True, check=True,
                stdout=subprocess.PIPE,
                env={**os.environ, "CUTBACK_LIBRARY": path})
            self.assertTrue(run.stdout.startswith("1 "), run.stdout)
            self.assertIn(message, run.stdout)
            self.assertEqual(run.stdout.count("\n"), 1)

    def test_options_of_options(self):
        options = cutback.Options.of({"cost_model": "pytorch"})
        self.assertEqual(cutback.Options.of(options), options)
        self.assertIn("--free-parameters=1,3",
                      options.arguments("cpu", [1, 3]))
        self.assertIn("--device=cpu", cutback.Options().arguments("cpu"))
        self.assertIn("--device=a100",
                      cutback.Options(device="a100").arguments("cpu"))
        self.assertIn("--byte-price=0.25",
                      cutback.Options(byte_price=0.25).arguments())
        with self.assertRaisesRegex(TypeError, "no option 'speed' of a plan;"
                                    " there are strategy, cost_model,"):
            cutback.Options.of({"speed": 11})

    def test_threads_plan_side_by_side(self):
        saved = [None] * 4

        def plan(index):
            saved[index] = cutback.Graph.read(TEXT).plan().saved

        threads = [threading.Thread(target=plan, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(saved, [cutback.Graph.read(TEXT).plan().saved] * 4)


if __name__ == "__main__":
    unittest.main()
