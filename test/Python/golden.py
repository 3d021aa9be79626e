#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models through torch.compile with Cutback's plan, against PyTorch's results.

    golden.py [--compiler=eager|inductor|both] [--inductor=NAME,...]
              [--share=K/N] FOLDER [NAME...]

With --share each N-th model, from the K-th on. One line a model; exit status 1 if a value differs or PyTorch had to decide.
Such a line goes to stderr too, past whoever reads the output.

With `eager` both cost models, with `inductor` the default one. `both` does the
same in one process and traces each model once: the plan of PyTorch's cost model
runs beside the other one, on the same values, and must give the same bits;
`inductor` is for the models of --inductor.
"""

import argparse
import copy
import sys
import warnings

import torch
from torch._dynamo.backends.common import aot_autograd

import cutback
from models import Model, all_models, step


class SideBySide:
    """A backend with PyTorch's kernels: halves by two cost models, of which the
    first ones' results are taken, and the others' compared with them."""

    def __init__(self, *cost_models):
        self.options = [{"cost_model": name} for name in cost_models]
        self.differences = ["the halves did not run"] * 2
        self.backend = aot_autograd(
            fw_compiler=self.forward, bw_compiler=self.backward,
            partition_fn=self.partition, keep_inference_input_mutations=True)

    def partition(self, joint, inputs, **more):
        first, self.other = (
            cutback.partition_fn(graph, inputs, options=options, **more)
            for graph, options in zip((copy.deepcopy(joint), joint),
                                      self.options))
        self.results = more["num_fwd_outputs"]
        return first

    def compare(self, half, ours, theirs):
        self.differences[half] = None
        for one, other in zip(ours, theirs, strict=True):
            if isinstance(one, torch.Tensor):
                same = torch.equal(one, other)
            else:
                same = one == other
            if not same:
                self.differences[half] = "the cost models differ"

    def forward(self, graph, _):
        def run(args):
            copies = [one.detach().clone() if isinstance(one, torch.Tensor)
                      else one for one in args]
            with torch.random.fork_rng():
                results = self.other[0](*copies)
            names = _names(self.other[0].graph.output_node().args[0])
            self.saved = dict(zip(names[self.results:],
                                  results[self.results:]))
            ours = graph(*args)
            self.compare(0, ours[:self.results], results[:self.results])
            return ours

        return _boxed(run)

    def backward(self, graph, _):
        def run(args):
            # What is not saved: tangents, by the name that both have for them.
            known = dict(zip(_names(graph.graph.find_nodes(op="placeholder")),
                             args))
            known.update(self.saved)
            names = _names(self.other[1].graph.find_nodes(op="placeholder"))
            results = self.other[1](*(known[name] for name in names))
            ours = graph(*args)
            self.compare(1, ours, results)
            return ours

        return _boxed(run)


def _names(nodes):
    return [getattr(node, "name", None) for node in nodes]


def _boxed(run):
    def call(args):
        taken = list(args)
        args.clear()
        return run(taken)

    call._boxed_call = True
    return call


def run(model, backend, options=None):
    """What is wrong with one model, as sentences."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = model.module()
    compiled = torch.compile(module, backend=backend, options=options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = step(compiled, module, model.inputs())
    found = model.differences(results)
    found += [str(warning.message) for warning in caught
              if issubclass(warning.category, cutback.FallbackWarning)]
    return found


def lines(model, compiler, inductor):
    """(compiler, cost models, what is wrong) of each way to run a model."""
    names = ("roofline", "pytorch")
    if compiler == "both":
        pair = SideBySide(*names)
        wrong = run(model, pair.backend)
        yield "eager", " ".join(names), wrong + [
            text for text in pair.differences if text]
    elif compiler == "eager":
        for name in names:
            yield "eager", name, run(model, "cutback", {
                "compiler": "eager", "cost_model": name})
    if compiler == "inductor" or model.name in inductor:
        yield "inductor", names[0], run(model, "cutback", {
            "compiler": "inductor", "cost_model": names[0]})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="eager",
                        choices=("eager", "inductor", "both"))
    parser.add_argument("--inductor", default="")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    models = [Model(given.folder + "/" + name) for name in given.names]
    part, parts = map(int, given.share.split("/"))
    models = (models or all_models(given.folder))[part::parts]
    failed = 0
    for model in models:
        for compiler, cost_models, wrong in lines(
                model, given.compiler, given.inductor.split(",")):
            failed += bool(wrong)
            line = "%s %s %s: %s" % (model.name, compiler, cost_models,
                                     "; ".join(wrong) or "equal")
            print(line, flush=True)
            if wrong:
                print(line, file=sys.stderr, flush=True)
    print("%d models, %d lines with a fault" % (len(models), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
