// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step with collectives is planned as any other: each is a call that runs
// once, in its order. Nothing here has a group to run it in, so whoever runs
// or compiles a step for this machine asks first, and says where it can run.

#include "cutback/Dialect/Aten/Collectives.h"

#include "cutback/Dialect/Aten/CallOp.h"

using namespace mlir;
using namespace cutback;

bool aten::isCollective(Operation *op) {
  return op->getName().getStringRef().starts_with("aten.c10d.");
}

bool aten::runsInOneProcess(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!isCollective(op))
      return WalkResult::advance();
    auto diagnostic = op->emitError("'")
                      << cast<CallOp>(op).getInfo().torchName
                      << "' is for a group of processes, and this is one";
    diagnostic.attachNote()
        << "plan the step here (cutback report, cutback compile "
           "--to=partition), and run it in its group by "
           "torch.compile(backend=\"cutback\"), or cut in stages (cutback "
           "split) by cutback-run --group";
    return WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}
