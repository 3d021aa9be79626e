// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of a compiled step that the interpreter runs: functions as text, each
// on the memory of its tensors.
#ifndef CUTBACK_INTERPRETER_STOREDCALLS_H
#define CUTBACK_INTERPRETER_STOREDCALLS_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Interpreter/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace cutback::interpreter {

/// Of an argument or a result of such a function: where its elements lie in
/// the memory of its root, the first one, then strides.
inline constexpr const char *kCallLayout = "call.layout";

/// Of an argument or a result in its place: the name of a value that is held
/// from call to call, of any type.
inline constexpr const char *kCallHeld = "call.held";

class StoredCalls {
public:
  static mlir::Attribute describe(const Layout &layout, mlir::Builder &builder);

  /// Reads functions; `context` lives on. Null, with why in `error`.
  static std::unique_ptr<StoredCalls>
  read(mlir::MLIRContext &context, llvm::StringRef text, std::string &error);
  ~StoredCalls();

  /// Runs the function `name`: `operands` are the addresses of the roots of its
  /// arguments, then of its results, but for those that are held. An empty
  /// string, or what went wrong.
  std::string run(llvm::StringRef name, void *const *operands);

private:
  struct Function;
  StoredCalls();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<std::unique_ptr<Function>> functions;
  llvm::StringMap<RuntimeValue> held;
};

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_STOREDCALLS_H
