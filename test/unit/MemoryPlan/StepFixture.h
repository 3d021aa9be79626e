// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small steps as text, and what was said about them.
#ifndef CUTBACK_TEST_UNIT_MEMORYPLAN_STEPFIXTURE_H
#define CUTBACK_TEST_UNIT_MEMORYPLAN_STEPFIXTURE_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/MemoryPlan/MemoryPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace cutback::test {

class StepFixture : public testing::Test {
protected:
  StepFixture()
      : handler(&context, [&](mlir::Diagnostic &diag) {
          messages += diag.str() + "\n";
          for (mlir::Diagnostic &note : diag.getNotes())
            messages += note.str() + "\n";
          return mlir::success();
        }) {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        mlir::func::FuncDialect>();
  }

  /// A graph of tensors `f32[shape]` with input %x, buffer %w and tangent %t.
  joint::GraphOp graph(const std::string &body,
                       const std::string &results = "%y",
                       const std::string &gradients = "%dx",
                       const std::string &shape = "64") {
    std::string type = "tensor<" + shape + "xf32>";
    std::string text = "joint.graph @g(%x: " + type +
                       " {joint.role = #joint.role<input>}, %w: " + type +
                       " {joint.role = #joint.role<buffer>}, %t: " + type +
                       " {joint.role = #joint.role<tangent of 0>}) -> (" +
                       type + ") gradients (" + type + ") {\n" + body +
                       "  joint.output " + results + " gradients(" + gradients +
                       " of 0) : " + type + ", " + type + "\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages << text;
    return *module->getOps<joint::GraphOp>().begin();
  }

  StepView program(const std::string &body, const std::string &results = "%y",
                   const std::string &gradients = "%dx",
                   const std::string &shape = "64") {
    auto built = StepView::ofGraph(graph(body, results, gradients, shape), {});
    EXPECT_TRUE(mlir::succeeded(built)) << messages;
    return mlir::succeeded(built) ? std::move(*built) : StepView();
  }

  static uint32_t valueOf(const StepView &program, llvm::StringRef name) {
    for (uint32_t value = 0; value < program.values.size(); ++value)
      if (program.name(value) == name)
        return value;
    ADD_FAILURE() << "no value " << name.str();
    return 0;
  }
  static uint32_t storageOf(const StepView &program, llvm::StringRef name) {
    return program.values[valueOf(program, name)].storage;
  }

  mlir::MLIRContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_MEMORYPLAN_STEPFIXTURE_H
