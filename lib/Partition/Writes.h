// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops write arguments.
#ifndef CUTBACK_LIB_PARTITION_WRITES_H
#define CUTBACK_LIB_PARTITION_WRITES_H

#include "cutback/Analysis/GraphView.h"

namespace cutback {

/// The argument that `op` writes, or kNone.
inline uint32_t writtenArgument(const GraphView &view, uint32_t op) {
  if (!view.traits[op].ordered || !llvm::isa<joint::WriteOp>(view.ops[op]))
    return GraphView::kNone;
  uint32_t arg = view.operands(op).front();
  return view.isArg(arg) ? arg : GraphView::kNone;
}

/// By argument: whether an op writes it. Linear.
inline std::vector<uint8_t> findWrittenArguments(const GraphView &view) {
  std::vector<uint8_t> isWritten(view.numArgs, 0);
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (uint32_t arg = writtenArgument(view, op); arg != GraphView::kNone)
      isWritten[arg] = 1;
  return isWritten;
}

} // namespace cutback

#endif // CUTBACK_LIB_PARTITION_WRITES_H
