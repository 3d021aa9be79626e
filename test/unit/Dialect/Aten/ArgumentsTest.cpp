// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a parameter that the op does not have is an error, except of an
// optional one; and every name in a schema is one that the compiler knows.

#include "cutback/Dialect/Aten/Arguments.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Aten/RuleErrors.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

class ArgumentsTest : public testing::Test {
protected:
  ArgumentsTest()
      : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {
    context.loadDialect<AtenDialect, joint::JointDialect>();
    builder.setInsertionPointToEnd(module->getBody());
    Value x = module->getBody()->addArgument(
        RankedTensorType::get({2}, builder.getF32Type()),
        builder.getUnknownLoc());
    CallBuilder calls(builder, builder.getUnknownLoc());
    call = calls.call(op::add_Scalar, {x, 2}).getDefiningOp<CallOp>();
  }

  /// The errors of what `read` does, with their notes.
  std::string errorsOf(llvm::function_ref<void()> read) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        text += "; " + note.str();
      return success();
    });
    read();
    return text;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  CallOp call;
};

/// Names that are no literals, so that the compiler does not see them.
TEST_F(ArgumentsTest, AMisspeltParameterIsAnError) {
  CallReader reader(call);
  EXPECT_EQ(reader.integer("other"), 2);
  EXPECT_FALSE(reader.hasMisread());
  EXPECT_EQ(errorsOf([&] { EXPECT_FALSE(reader.integer(StringRef("ohter"))); }),
            "'aten.add' is read for a parameter 'ohter' that it does not have; "
            "this is a defect of the program; report it with this op");
  EXPECT_TRUE(reader.hasMisread());
  EXPECT_EQ(errorsOf([&] { EXPECT_TRUE(reader.isNone(7)); }),
            "'aten.add' is read for a parameter 7 that it does not have; this "
            "is a defect of the program; report it with this op");
}

TEST_F(ArgumentsTest, AnOptionalParameterMayLack) {
  CallReader reader(call);
  EXPECT_EQ(errorsOf([&] {
              EXPECT_FALSE(reader.integer(optional("dim")));
              EXPECT_EQ(reader.integer(optional("other")), 2);
            }),
            "");
  EXPECT_FALSE(reader.hasMisread());
}

/// It would go on with None, and what it builds would be wrong.
TEST_F(ArgumentsTest, ARuleThatMisreadsFails) {
  LogicalResult result = success();
  std::string errors = errorsOf([&] {
    result = runRule(call, "do without", [&] {
      CallReader(call).integer(StringRef("ohter"));
      return success();
    });
  });
  EXPECT_TRUE(failed(result));
  EXPECT_NE(errors.find("'ohter'"), std::string::npos) << errors;
}

TEST_F(ArgumentsTest, TheCompilerKnowsAllParameters) {
  static_assert(isParameter("self") && isParameter("keepdim"));
  static_assert(!isParameter("slef") && !isParameter(""));
  for (const Schema *schema : SchemaTable::get(&context).all())
    for (const SchemaParam &param : schema->params)
      EXPECT_TRUE(isParameter(std::string_view(param.name)))
          << param.name.str();
}

TEST_F(ArgumentsTest, ConstantsNameOps) {
  const SchemaTable &schemas = SchemaTable::get(&context);
  EXPECT_EQ(schemas.lookup(op::add_Scalar), &call.getSchema());
  EXPECT_EQ(schemas.lookup(op::mm)->packet, "aten.mm");
  EXPECT_EQ(schemas.lookup(op::prims_iota)->packet, "prims.iota");
  EXPECT_EQ(schemas.lookup(op::operator_mul)->packet, "operator.mul");
}

} // namespace
