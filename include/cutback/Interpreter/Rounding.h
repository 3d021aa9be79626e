// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which results of a step have been rounded to a narrow float on their way. A
// gradient in f32 that came through bf16, as under autocast, is no closer to
// another program's than bf16 is, whatever its own type says.
#ifndef CUTBACK_INTERPRETER_ROUNDING_H
#define CUTBACK_INTERPRETER_ROUNDING_H

#include "cutback/Interpreter/Step.h"

namespace cutback::interpreter {

/// Results and written arguments of `graph` that are computed from floats of 16
/// or 8 bits, by name: the distance from 1 to the next number of the coarsest
/// of their types (bf16 2^-7, f16 2^-10). Others have no entry.
llvm::StringMap<double> getRounding(joint::GraphOp graph,
                                    const StepNames &names);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_ROUNDING_H
