// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls without machine code, which a step for a CPU has the interpreter run.
#ifndef CUTBACK_TARGET_CUDA_INTERPRETEDCALLS_H
#define CUTBACK_TARGET_CUDA_INTERPRETEDCALLS_H

#include "cutback/Target/CUDA/EmitStep.h"

namespace cutback {

/// The function of a PrecompiledCall that the interpreter runs; its description
/// is a line with the types of the operands, then a func.func named @call
/// (Interpreter/StoredCalls.h).
inline constexpr const char *kInterpreter = "interpreter";

inline bool isInterpreted(const PrecompiledCall &call) {
  return call.function == kInterpreter;
}
/// "(12x16xbf16, 4xi32)"
std::string operandTypesOf(const PrecompiledCall &call);
/// The function, named `name`.
std::string functionOf(const PrecompiledCall &call, const std::string &name);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_INTERPRETEDCALLS_H
