// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every refusal of a rule (a VJP, a decomposition) says: the op, the place
// in the model, and a next step. The rules themselves say what is wrong.
#ifndef CUTBACK_DIALECT_ATEN_RULEERRORS_H
#define CUTBACK_DIALECT_ATEN_RULEERRORS_H

#include "cutback/Dialect/Aten/CallOp.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cutback::aten {

/// Runs `rule`, which builds what `op` asks for. Its errors get the op's name,
/// where they do not name it, and the note `next`, where they have none; where
/// a size of an operand is not known, the note speaks of that.
llvm::LogicalResult runRule(CallOp op, llvm::StringRef next,
                            llvm::function_ref<llvm::LogicalResult()> rule);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_RULEERRORS_H
