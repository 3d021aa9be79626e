// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lit tests of --cutback-differentiate cannot say: the tables of
// rules name ops, and a rule that answers wrongly is caught.

#include "cutback/Autograd/Differentiate.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Dialect/Aten/CallBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;

namespace {

class DifferentiateTest : public ::testing::Test {
protected:
  DifferentiateTest() {
    DialectRegistry registry;
    registry.insert<aten::AtenDialect, joint::JointDialect>();
    registerAtenVjps(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context;
};

TEST_F(DifferentiateTest, EveryRuleNamesAnOpOnce) {
  const aten::SchemaTable &schemas = aten::SchemaTable::get(&context);
  std::set<std::string> seen;
  for (const aten::VjpRule &rule : allAtenVjps()) {
    EXPECT_TRUE(schemas.lookup(rule.torchName)) << rule.torchName;
    EXPECT_TRUE(seen.insert(rule.torchName).second) << rule.torchName;
  }
}

TEST_F(DifferentiateTest, NoRuleBelongsToAnOpWithoutGradients) {
  const aten::SchemaTable &schemas = aten::SchemaTable::get(&context);
  for (const aten::VjpRule &rule : allAtenVjps())
    if (const aten::Schema *schema = schemas.lookup(rule.torchName)) {
      const aten::OpInfo *info = aten::getOpInfo(schema->op);
      EXPECT_FALSE(info->has(aten::kNotDifferentiable)) << rule.torchName;
    }
}

/// Answers with something of another shape.
LogicalResult faulty(aten::CallOp op, joint::VjpContext &vjp) {
  aten::CallBuilder b(vjp.builder, op.getLoc());
  vjp.set(0, b.call("aten.unsqueeze.default", {vjp.gradient(), 0}));
  return success();
}

TEST_F(DifferentiateTest, AFaultyRuleIsCaught) {
  auto *dialect = context.getLoadedDialect<aten::AtenDialect>();
  aten::addVjpRules(*dialect, {{"aten.exp.default", faulty}});
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
    joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
      %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
      joint.output %exp : tensor<4xf32>
    })mlir",
      &context);
  ASSERT_TRUE(module);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(differentiate(*module->getOps<joint::GraphOp>().begin())));
  EXPECT_EQ(message,
            "the gradient of operand 0 has type 'tensor<1x4xf32>', the operand "
            "has type 'tensor<4xf32>'");
}

} // namespace
