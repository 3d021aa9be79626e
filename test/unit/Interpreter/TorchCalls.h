// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with their operands and what PyTorch made of them, in
// test/unit/Interpreter/Kernels/*.calls, written by tools/dev/kernel-calls. A
// file has two lines a call:
//
//   aten.mm(%0, %1) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
//   BASE64 BASE64 -> BASE64
//
// with the bytes of each operand and result; `-` is a result that nobody
// compares.
#ifndef CUTBACK_TEST_UNIT_INTERPRETER_TORCHCALLS_H
#define CUTBACK_TEST_UNIT_INTERPRETER_TORCHCALLS_H

#include "cutback/Interpreter/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace cutback::test {

/// A call as the one op of a function, and what goes in and comes out.
struct TorchCall {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<interpreter::RuntimeValue> arguments;
  /// Nothing for a result that nobody compares.
  std::vector<std::optional<interpreter::Tensor>> expected;
};

/// "func.func @f(...)" around a call that names its operands %0, %1, ...
std::string functionAround(llvm::StringRef call);

/// What is wrong with the two lines; empty if nothing is. Errors of the parser
/// go to the context's handlers.
std::string readTorchCall(llvm::StringRef call, llvm::StringRef data,
                          mlir::MLIRContext &context, TorchCall &read);

/// The pairs of lines of a file; empty if it cannot be read.
std::vector<std::pair<std::string, std::string>>
readCallFile(llvm::StringRef path);
/// Where `name`.calls is, and all such names in their order.
std::string callFile(llvm::StringRef name);
std::vector<std::string> callFileNames();
/// The path that CUTBACK_KERNEL_CALLS names, if it does.
std::vector<std::string> moreCallFiles();

/// What differs most; empty if both agree: floats within a part of the largest
/// magnitude, integers and booleans exactly.
std::string differenceOf(const interpreter::Tensor &expected,
                         const interpreter::Tensor &actual);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_INTERPRETER_TORCHCALLS_H
