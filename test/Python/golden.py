#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models through torch.compile with Cutback's plan, against PyTorch's results.

    golden.py [--compiler=eager|inductor] [--shard=I/N] FOLDER [NAME...]

One line a model; exit status 1 if a value differs or PyTorch had to decide.
Such a line goes to stderr too, past whoever reads the output.
Both cost models with the compiler `eager`, the default one with `inductor`.
"""

import argparse
import sys
import warnings

import torch

import cutback
from models import Model, all_models, step


def run(model, compiler, cost_model):
    """What is wrong with one model, as sentences."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = model.module()
    compiled = torch.compile(module, backend="cutback", options={
        "compiler": compiler, "cost_model": cost_model})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = step(compiled, module, model.inputs())
    found = model.differences(results)
    found += [str(warning.message) for warning in caught
              if issubclass(warning.category, cutback.FallbackWarning)]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="eager")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    index, count = map(int, given.shard.split("/"))
    models = [Model(given.folder + "/" + name) for name in given.names]
    models = models or all_models(given.folder)
    cost_models = ("roofline", "pytorch")
    if given.compiler == "inductor":
        cost_models = cost_models[:1]
    failed = 0
    for model in models[index::count]:
        for cost_model in cost_models:
            wrong = run(model, given.compiler, cost_model)
            failed += bool(wrong)
            line = "%s %s %s: %s" % (model.name, given.compiler, cost_model,
                                     "; ".join(wrong) or "equal")
            print(line, flush=True)
            if wrong:
                print(line, file=sys.stderr, flush=True)
    print("%d of %d models" % (len(models[index::count]), len(models)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
