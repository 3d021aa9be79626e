// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops as machine code: in this process, or as an object file.
#ifndef CUTBACK_LIB_TARGET_CPU_MACHINE_H
#define CUTBACK_LIB_TARGET_CPU_MACHINE_H

#include "cutback/Runtime/KernelCode.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace cutback::cpu {

class Machine {
public:
  virtual ~Machine() = default;

  /// Compiles the functions `names` of `loops`, which it changes.
  static mlir::FailureOr<std::unique_ptr<Machine>>
  compile(mlir::ModuleOp loops, llvm::ArrayRef<std::string> names);

  /// The function that was number `number` of the names.
  virtual KernelCode function(size_t number) const = 0;
};

/// The functions `names` of `loops`, which it changes, as an object file with
/// symbols NAME.run, to be linked into a shared library; `calls` too.
mlir::FailureOr<std::string> compileObject(mlir::ModuleOp loops,
                                           llvm::ArrayRef<std::string> names,
                                           const NamedCalls &calls);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_MACHINE_H
