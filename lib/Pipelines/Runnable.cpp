// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward program is decomposed before it is differentiated. A joint graph
// has been through PyTorch's decompositions, which leave some composite ops
// whole (`histc`, `linalg_lu_solve`, `cholesky_solve`): they are written in
// terms of others here, by the rules that forward programs have.
//
// Only what has no kernel: an op that runs as it is keeps its name, its cost
// and PyTorch's numbers.

#include "cutback/Pipelines/Runnable.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Interpreter/Kernel.h"

using namespace mlir;
using namespace cutback;

static bool lacksKernel(Operation *op) { return !interpreter::hasKernel(op); }

FailureOr<bool> cutback::makeRunnable(Operation *function) {
  return decomposeOnly(function, lacksKernel, /*keep=*/false);
}

void cutback::decomposeForPlan(joint::GraphOp graph) {
  // What fails is kept, so there is no failure.
  (void)decomposeOnly(graph, lacksKernel, /*keep=*/true);
}
