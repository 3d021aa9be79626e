// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device holds is laid out before a step runs, so a value whose size is
// known only then has no place, and is an error that names its op and where
// that is from. For a CPU such values are held apart (InterpretedCall.h).
//
// Linear in ops.

#include "StepSizes.h"

#include "MissingKernels.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Lowering/KernelBody.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

LogicalResult cuda::sayNoMemory(Value value) {
  Operation *op = kernel::insideOf(value).getDefiningOp();
  auto diag = op->emitError("'")
              << shortOpName(op) << "' makes '"
              << joint::getValueName(kernel::insideOf(value))
              << "', whose size depends on data: a compiled step has no "
                 "memory for it";
  std::string where = whereText(op->getLoc());
  if (!where.empty())
    diag.attachNote() << "it stands in " << where;
  diag.attachNote() << "run the step with cutback run --target=cpu or "
                       "--reference, or leave the op out of the model";
  return diag;
}

LogicalResult cuda::checkSizes(func::FuncOp function) {
  WalkResult result = function.walk([](kernel::LaunchOp launch) {
    for (auto [value, at] :
         llvm::zip_equal(launch.getYield().getOperands(), launch.getAt())) {
      if (at != kernel::LaunchOp::kOwn)
        continue;
      (void)sayNoMemory(value);
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
