// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the models say of one op, as a line of text.
#ifndef CUTBACK_TEST_UNIT_DIALECT_UPSTREAM_UPSTREAMFIXTURE_H
#define CUTBACK_TEST_UNIT_DIALECT_UPSTREAM_UPSTREAMFIXTURE_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace cutback {

class UpstreamFixture : public ::testing::Test {
protected:
  UpstreamFixture() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                    mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                    mlir::memref::MemRefDialect, mlir::tensor::TensorDialect,
                    mlir::tosa::TosaDialect>();
    registerAllExternalModels(registry);
    context.appendDialectRegistry(registry);
  }

  /// The op with the attribute `probe` in a module of text; null with a
  /// failure of the test if there is none.
  mlir::Operation *probe(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    mlir::Operation *found = nullptr;
    if (module)
      module->walk([&](mlir::Operation *op) {
        if (op->hasAttr("probe"))
          found = op;
      });
    EXPECT_TRUE(found) << text;
    return found;
  }

  /// "[sizes] [strides] + offset" of the probe as a view of a contiguous
  /// operand, or "none"; all sizes are static.
  std::string viewOf(const std::string &text) {
    mlir::Operation *op = probe(text);
    int64_t operand = op ? getViewedOperand(op, 0) : -1;
    if (operand < 0)
      return "none";
    auto shapeOf = [](mlir::Value value) {
      return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
    };
    llvm::SmallVector<int64_t> ints(op->getNumOperands(),
                                    mlir::ShapedType::kDynamic);
    std::optional<Layout> layout =
        viewLayout(op, 0, Layout::contiguous(shapeOf(op->getOperand(operand))),
                   shapeOf(op->getResult(0)), ints);
    if (!layout)
      return "none";
    std::string shown;
    llvm::raw_string_ostream out(shown);
    out << "[";
    llvm::interleave(layout->sizes, out, " ");
    out << "] [";
    llvm::interleave(layout->strides, out, " ");
    out << "] + " << layout->offset;
    return shown;
  }

  /// "pointwise, 12 flops", with "once", "effects", "intensive", "matrix",
  /// "literal" and "of N" (the operand whose storage it shares) as they apply.
  std::string describe(mlir::Operation *op) {
    auto model = mlir::dyn_cast<joint::RematerializableOpInterface>(op);
    auto fusible = mlir::dyn_cast<joint::FusibleOpInterface>(op);
    auto cost = mlir::dyn_cast<joint::CostModelOpInterface>(op);
    if (!model || !fusible || !cost)
      return "no model";
    std::string text =
        joint::stringifyFusionKind(fusible.getFusionKind()).str();
    if (int64_t operand = model.getAliasedOperand(0); operand >= 0)
      text += " of " + std::to_string(operand);
    llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes;
    auto add = [&](mlir::Value value) {
      auto type = mlir::dyn_cast<mlir::ShapedType>(value.getType());
      shapes.push_back(type ? type.getShape() : llvm::ArrayRef<int64_t>());
    };
    llvm::for_each(op->getOperands(), add);
    llvm::for_each(op->getResults(), add);
    text += ", " + std::to_string(static_cast<int64_t>(cost.getFlops(shapes))) +
            " flops";
    if (!model.isRecomputable())
      text += ", once";
    if (model.hasOrderedEffects())
      text += ", effects";
    if (model.isRandom())
      text += ", random";
    if (model.isComputeIntensive())
      text += ", intensive";
    if (cost.usesMatrixUnits())
      text += ", matrix";
    auto literal = mlir::dyn_cast<joint::LiteralOpInterface>(op);
    if (literal && literal.isLiteral())
      text += ", literal";
    return text;
  }

  /// Of `%r = OP` in a function with the given arguments.
  std::string describe(const std::string &arguments, const std::string &ops) {
    mlir::Operation *op =
        probe("func.func @f(" + arguments + ") {\n" + ops + "\nreturn\n}");
    return op ? describe(op) : "";
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace cutback

#endif // CUTBACK_TEST_UNIT_DIALECT_UPSTREAM_UPSTREAMFIXTURE_H
