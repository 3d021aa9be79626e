// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs functions that are given as text, and collects what is said about them.
#ifndef CUTBACK_TEST_UNIT_INTERPRETER_RUNHARNESS_H
#define CUTBACK_TEST_UNIT_INTERPRETER_RUNHARNESS_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace cutback::interpreter {

/// A contiguous tensor of these elements.
inline Tensor tensorOf(DType type, llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<double> values) {
  Tensor tensor = Tensor::zeros(type, sizes);
  tensor.assign(values);
  return tensor;
}
inline Tensor floats(llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<double> values) {
  return tensorOf(DType::F32, sizes, values);
}
/// 0, 1, 2, ... of type f32.
inline Tensor counting(llvm::ArrayRef<int64_t> sizes) {
  Tensor tensor = Tensor::zeros(DType::F32, sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, static_cast<double>(i));
  return tensor;
}

class RunTest : public ::testing::Test {
protected:
  RunTest() {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  }

  /// The first function or graph of `text`; null if it is not parsed.
  mlir::Operation *parse(llvm::StringRef text) {
    mlir::ScopedDiagnosticHandler handler(&context, [&](auto &diagnostic) {
      message += diagnostic.str() + "\n";
      return mlir::success();
    });
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message << text.str();
    return module ? &module->getBody()->front() : nullptr;
  }

  /// What `body` returns, a function from `arguments` ("%x: tensor<2xf32>").
  /// After an error the list is empty and `message` says why.
  std::vector<RuntimeValue> run(const std::string &arguments,
                                const std::string &body,
                                llvm::ArrayRef<RuntimeValue> values,
                                const InterpreterOptions &options = {}) {
    return runText("func.func @f(" + arguments + ") " + body, values, options);
  }
  std::vector<RuntimeValue> runText(const std::string &text,
                                    llvm::ArrayRef<RuntimeValue> values,
                                    const InterpreterOptions &options = {}) {
    message.clear();
    mlir::Operation *function = parse(text);
    return function ? runOn(function, values, options)
                    : std::vector<RuntimeValue>();
  }
  std::vector<RuntimeValue> runOn(mlir::Operation *function,
                                  llvm::ArrayRef<RuntimeValue> values,
                                  const InterpreterOptions &options = {}) {
    mlir::ScopedDiagnosticHandler handler(&context, [&](auto &diagnostic) {
      message += diagnostic.str() + "\n";
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        message += "note: " + note.str() + "\n";
      return mlir::success();
    });
    auto results = interpreter::run(function, values, options);
    return succeeded(results) ? *results : std::vector<RuntimeValue>();
  }
  std::vector<double> runToDoubles(const std::string &arguments,
                                   const std::string &body,
                                   llvm::ArrayRef<RuntimeValue> values) {
    std::vector<RuntimeValue> results = run(arguments, body, values);
    EXPECT_EQ(message, "");
    return results.empty() ? std::vector<double>()
                           : std::get<Tensor>(results[0]).doubles();
  }

  /// `message` holds `part`.
  void expectMessage(llvm::StringRef part) {
    EXPECT_TRUE(llvm::StringRef(message).contains(part))
        << "said: " << message << "wanted: " << part.str();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;
};

} // namespace cutback::interpreter

#endif // CUTBACK_TEST_UNIT_INTERPRETER_RUNHARNESS_H
