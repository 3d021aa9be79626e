// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By symbol; saved values are the last results of the forward and the first
// arguments of the backward.

#include "StepHalves.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::kernel;

std::optional<StepHalves> kernel::findHalves(joint::PartitionOp partition) {
  auto lookUp = [&](FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(partition, name);
  };
  StepHalves halves;
  halves.forward = lookUp(partition.getForwardAttr());
  halves.backward = lookUp(partition.getBackwardAttr());
  auto &[forward, backward, handed] = halves;
  if (!forward || !backward || forward.isExternal() || backward.isExternal())
    return std::nullopt;
  Operation *output = forward.front().getTerminator();
  size_t saved = partition.getSaved().size();
  if (output->getNumOperands() < saved || backward.getNumArguments() < saved)
    return std::nullopt;
  for (size_t i = 0; i < saved; ++i)
    handed[backward.getArgument(i)] =
        output->getOperand(output->getNumOperands() - saved + i);
  return halves;
}
