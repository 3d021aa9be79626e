// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs for the tests of the reducer.
#ifndef CUTBACK_TEST_UNIT_REDUCE_REDUCEFIXTURE_H
#define CUTBACK_TEST_UNIT_REDUCE_REDUCEFIXTURE_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Reduce/Reduce.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace cutback::test {

/// A layer: y = tanh(x wᵀ), dw, dx; with an op that nothing of it needs.
inline const char *const kLayer = R"(
joint.graph @step(
    %w: tensor<8x16xf32> {joint.role = #joint.role<param "fc.weight">},
    %x: tensor<4x16xf32> {joint.role = #joint.role<input>},
    %z: tensor<4x16xf32> {joint.role = #joint.role<input>},
    %t: tensor<4x8xf32> {joint.role = #joint.role<tangent of 0>},
    %u: tensor<4x16xf32> {joint.role = #joint.role<tangent of 1>})
    -> (tensor<4x8xf32>, tensor<4x16xf32>)
    gradients (tensor<8x16xf32>, tensor<4x16xf32>) {
  %wt = aten.permute(%w, [1, 0]) : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %mm = aten.mm(%x, %wt) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %y = aten.tanh(%mm) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %side = aten.mul.Tensor(%x, %z) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %dside = aten.mul.Tensor(%u, %z) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %dy = aten.tanh_backward(%t, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %dyt = aten.permute(%dy, [1, 0]) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %dw = aten.mm(%dyt, %x) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %dx0 = aten.mm(%dy, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %dx = aten.add.Tensor(%dx0, %dside) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  joint.output %y, %side gradients(%dw of 0, %dx of 1) : tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<4x16xf32>
}
)";

struct Graph {
  explicit Graph(const char *text = kLayer)
      : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module));
  }
  joint::GraphOp graph() { return *module->getOps<joint::GraphOp>().begin(); }
  bool verifies() { return mlir::succeeded(mlir::verify(*module)); }
  std::string text() { return candidateText(*module); }
  bool has(const char *what) { return text().find(what) != std::string::npos; }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_REDUCE_REDUCEFIXTURE_H
