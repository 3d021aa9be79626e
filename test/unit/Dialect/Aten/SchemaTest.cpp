// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schema table: every string of the ODS files reads, names are found as
// texts and exported programs write them, and defaults, lists and aliases are
// what PyTorch's schemas say.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

class SchemaTest : public ::testing::Test {
protected:
  SchemaTest() : table(SchemaTable::get(&context)), builder(&context) {}

  const Schema &get(StringRef name) {
    const Schema *schema = table.lookup(name);
    EXPECT_NE(schema, nullptr) << name.str();
    return *schema;
  }
  const SchemaParam &param(StringRef op, StringRef name) {
    const Schema &schema = get(op);
    int i = schema.find(name);
    EXPECT_GE(i, 0) << name.str();
    return schema.params[i];
  }

  MLIRContext context;
  const SchemaTable &table;
  Builder builder;
};

TEST_F(SchemaTest, EverySchemaReads) {
  EXPECT_GT(table.all().size(), 500u);
  for (const Schema *schema : table.all()) {
    EXPECT_NE(schema->infer, nullptr) << schema->op.getStringRef().str();
    EXPECT_EQ(table.lookup(schema->op), schema);
  }
}

TEST_F(SchemaTest, AllOpsOfTheDialectAreInTheTable) {
  EXPECT_EQ(table.all().size(),
            context.getRegisteredOperationsByDialect("aten").size());
}

TEST_F(SchemaTest, NamesAreFoundAsTextsWriteThem) {
  EXPECT_EQ(get("aten.mul.Tensor").op.getStringRef(), "aten.mul.Tensor");
  EXPECT_EQ(get("aten.mm.default").op.getStringRef(), "aten.mm");
  EXPECT_EQ(&get("aten.mm"), &get("aten.mm.default"));
  EXPECT_EQ(get("prims.iota.default").op.getStringRef(), "aten.prims.iota");
  EXPECT_EQ(get("operator.mul").op.getStringRef(), "aten.sym.mul");
  EXPECT_EQ(&get("_operator.mul"), &get("operator.mul"));
  EXPECT_EQ(get("torch.sym_float").op.getStringRef(), "aten.sym.float");
  EXPECT_EQ(&get("torch._sym_sqrt"), &get("torch.sym_sqrt"));
  EXPECT_EQ(get("_c10d_functional.all_reduce.default").op.getStringRef(),
            "aten.c10d.all_reduce");
  EXPECT_EQ(table.lookup("aten.mul"), nullptr);
  EXPECT_EQ(table.lookup("aten.no_such_op.default"), nullptr);
  EXPECT_EQ(table.lookup(OperationName("func.func", &context)), nullptr);
}

TEST_F(SchemaTest, PacketAndOverloadAreApart) {
  EXPECT_EQ(get("aten.mul.Tensor").packet, "aten.mul");
  EXPECT_EQ(get("aten.mul.Tensor").overload, "Tensor");
  EXPECT_EQ(get("operator.mul").packet, "operator.mul");
  EXPECT_EQ(get("operator.mul").overload, "");
}

TEST_F(SchemaTest, DefaultsAreAttributesOfTheParametersKind) {
  EXPECT_EQ(param("aten.add.Tensor", "alpha").defaultValue,
            builder.getI64IntegerAttr(1));
  EXPECT_EQ(param("aten.clone", "memory_format").defaultValue,
            joint::NoneAttr::get(&context));
  EXPECT_EQ(param("aten.contiguous", "memory_format").defaultValue,
            builder.getStringAttr("contiguous_format"));
  EXPECT_EQ(param("aten.gelu", "approximate").defaultValue,
            builder.getStringAttr("none"));
  EXPECT_EQ(param("aten.layer_norm", "eps").defaultValue,
            builder.getF64FloatAttr(1e-5));
  EXPECT_EQ(
      param("aten.scaled_dot_product_attention", "is_causal").defaultValue,
      builder.getBoolAttr(false));
  EXPECT_EQ(param("aten.randperm", "dtype").defaultValue,
            TypeAttr::get(builder.getI64Type()));
  EXPECT_EQ(param("aten.avg_pool2d", "padding").defaultValue,
            builder.getI64ArrayAttr({0, 0}));
  EXPECT_EQ(param("aten.avg_pool2d", "stride").defaultValue,
            builder.getArrayAttr({}));
  EXPECT_EQ(param("aten.roll", "dims").defaultValue, builder.getArrayAttr({}));
  EXPECT_FALSE(param("aten.roll", "shifts").defaultValue);
}

TEST_F(SchemaTest, KindsListsAndNoneAreRead) {
  const SchemaParam &indices = param("aten.index.Tensor", "indices");
  EXPECT_TRUE(indices.isList && indices.elementOptional);
  EXPECT_FALSE(indices.isOptional);
  const SchemaParam &dim = param("aten.sum.dim_IntList", "dim");
  EXPECT_TRUE(dim.isList && dim.isOptional);
  EXPECT_EQ(dim.listSize, 1u);
  EXPECT_EQ(get("aten.add.Tensor").getNumPositional(), 2u);
  EXPECT_TRUE(param("aten.add.Tensor", "alpha").keywordOnly);
  EXPECT_EQ(get("aten.var_mean.correction").results.size(), 2u);
  EXPECT_TRUE(get("aten.var_mean.correction").returnsTuple());
  EXPECT_TRUE(get("aten.split.Tensor").returnsTuple());
  EXPECT_FALSE(get("aten.mm").returnsTuple());
  EXPECT_TRUE(get("pippy._pipe_split.default").results.empty());
}

TEST_F(SchemaTest, AliasAnnotationsAreRead) {
  EXPECT_EQ(param("aten.view", "self").aliasSet, 'a');
  EXPECT_EQ(get("aten.view").results.front().aliasSet, 'a');
  EXPECT_EQ(param("aten.split.Tensor", "self").aliasSet, 'a');
  EXPECT_EQ(get("aten.split.Tensor").results.front().aliasSet, 'a');
  EXPECT_EQ(get("aten.clone").results.front().aliasSet, 0);
}

TEST_F(SchemaTest, ArgumentsTakeTheFormOfTheirParameter) {
  Attribute two = builder.getI64IntegerAttr(2);
  Attribute none = joint::NoneAttr::get(&context);
  Attribute operand = joint::OperandAttr::get(&context);
  EXPECT_EQ(canonicalizeArg(param("aten.layer_norm", "eps"), two),
            builder.getF64FloatAttr(2.0));
  EXPECT_EQ(canonicalizeArg(param("aten.conv2d", "stride"), two),
            builder.getArrayAttr({two, two}));
  EXPECT_EQ(canonicalizeArg(param("aten.sum.dim_IntList", "dim"), operand),
            builder.getArrayAttr({operand}));
  EXPECT_EQ(canonicalizeArg(param("aten.mul.Tensor", "other"), two), two);
  EXPECT_FALSE(canonicalizeArg(param("aten.view", "size"), two));
  EXPECT_FALSE(canonicalizeArg(param("aten.mm", "self"), none));
  EXPECT_FALSE(canonicalizeArg(param("aten.gelu", "approximate"), two));
  EXPECT_FALSE(canonicalizeArg(param("aten.gelu", "approximate"), operand));
  EXPECT_FALSE(canonicalizeArg(param("aten.cat", "tensors"),
                               builder.getArrayAttr({none})));
  EXPECT_TRUE(canonicalizeArg(param("aten.index.Tensor", "indices"),
                              builder.getArrayAttr({none, operand})));
}

TEST_F(SchemaTest, InferenceRefusesACallThatDoesNotFit) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  SmallVector<Type> types;
  CallProperties properties;
  EXPECT_TRUE(failed(CallOp::inferReturnTypes(
      &context, UnknownLoc::get(&context), {}, {}, &properties, {}, types)));
  EXPECT_EQ(message, "the call does not have the form of its schema");
}

} // namespace
