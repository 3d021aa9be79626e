// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cast of each operand under each policy, by device and type.

#include "../../../../lib/Import/TorchExport/Autocast.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::pt2;

namespace {

class AutocastRules : public testing::Test {
protected:
  AutocastRules() : builder(&context) {
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }

  mlir::Type type(llvm::StringRef name) {
    if (name == "bf16")
      return builder.getBF16Type();
    if (name == "f16")
      return builder.getF16Type();
    if (name == "f64")
      return builder.getF64Type();
    return name == "i64" ? mlir::Type(builder.getI64Type())
                         : builder.getF32Type();
  }

  /// The types that operands of `types` on `device` get in `op`, "-" where
  /// they stay.
  std::string castsOf(llvm::StringRef op, llvm::ArrayRef<const char *> types,
                      llvm::StringRef device = "cpu",
                      llvm::StringRef dtype = "",
                      llvm::StringRef declared = "") {
    const aten::Schema *schema =
        aten::SchemaTable::get(&context).lookup(("aten." + op).str());
    if (!schema)
      return "no such op";
    std::vector<Autocast::Operand> operands;
    for (const char *name : types)
      operands.push_back(
          {block.addArgument(mlir::RankedTensorType::get({2}, type(name)),
                             builder.getUnknownLoc()),
           device, false});
    llvm::SmallVector<mlir::Attribute> args(schema->params.size(),
                                            joint::NoneAttr::get(&context));
    if (!dtype.empty())
      args[schema->find("dtype")] = mlir::TypeAttr::get(type(dtype));
    std::string text;
    for (mlir::Type cast :
         autocast.casts(*schema, builder.getArrayAttr(args), operands,
                        declared.empty() ? mlir::Type() : type(declared))) {
      llvm::raw_string_ostream os(text);
      os << (text.empty() ? "" : " ");
      cast ? os << cast : os << "-";
    }
    return text;
  }

  mlir::MLIRContext context;
  mlir::Builder builder;
  mlir::Block block;
  Autocast autocast;
};

} // namespace

TEST_F(AutocastRules, OnTheCpu) {
  autocast.enter({"cpu", type("bf16"), true, true});
  EXPECT_EQ(castsOf("linear.default", {"f32", "bf16", "f32"}), "bf16 - bf16");
  EXPECT_EQ(castsOf("scaled_dot_product_attention.default",
                    {"f32", "f32", "bf16", "i64"}),
            "bf16 bf16 - -");
  EXPECT_EQ(castsOf("mse_loss.default", {"bf16", "f32"}), "f32 -");
  EXPECT_EQ(castsOf("cat.default", {"bf16", "f32", "bf16"}), "f32 - f32");
  EXPECT_EQ(castsOf("cat.default", {"bf16", "bf16"}), "- -");
  EXPECT_EQ(castsOf("layer_norm.default", {"bf16", "f32"}), "- -");
  EXPECT_EQ(castsOf("softmax.int", {"bf16"}), "-");
  EXPECT_EQ(castsOf("mm.default", {"f64", "f32"}), "- bf16");
  // With a contraction, and without.
  EXPECT_EQ(castsOf("einsum.default", {"f32", "bf16"}, "cpu", "", "bf16"),
            "bf16 -");
  EXPECT_EQ(castsOf("einsum.default", {"f32", "bf16"}, "cpu", "", "f32"),
            "- f32");
  // Reflected, and with zeros.
  EXPECT_EQ(castsOf("pad.default", {"bf16"}, "cpu", "", "f32"), "f32");
  EXPECT_EQ(castsOf("pad.default", {"bf16"}, "cpu", "", "bf16"), "-");
  // Their products are cast, their states are what they were.
  EXPECT_EQ(castsOf("rnn_tanh_cell.default", {"bf16", "bf16", "f32"}, "cpu", "",
                    "bf16"),
            "- - bf16");
  EXPECT_EQ(castsOf("gru.input", {"bf16", "f32"}, "cpu", "", "f32"), "f32 -");
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}, "cuda"), "- -");
}

TEST_F(AutocastRules, OnCuda) {
  autocast.enter({"cuda", type("f16"), true, true});
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}, "cuda"), "f16 f16");
  EXPECT_EQ(castsOf("layer_norm.default", {"f16", "f32"}, "cuda"), "f32 -");
  EXPECT_EQ(castsOf("pow.Tensor_Scalar", {"f16"}, "cuda"), "f32");
  EXPECT_EQ(castsOf("softmax.int", {"f16"}, "cuda"), "f32");
  EXPECT_EQ(castsOf("softmax.int", {"f16"}, "cuda", "f16"), "-");
  EXPECT_EQ(castsOf("sum.dim_IntList", {"f16"}, "cuda"), "f32");
  EXPECT_EQ(castsOf("addcmul.default", {"f16", "f32", "f16"}, "cuda"),
            "f32 - f32");
  EXPECT_EQ(castsOf("cat.default", {"f16", "f32"}, "cuda"), "- -");
  EXPECT_EQ(castsOf("add.Tensor", {"f16", "f32"}, "cuda"), "- -");
}

TEST_F(AutocastRules, TheInnermostRegionOfADeviceCounts) {
  autocast.enter({"cpu", type("bf16"), true, true});
  autocast.enter({"cuda", type("f16"), true, true});
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}), "bf16 bf16");
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}, "cuda"), "f16 f16");
  autocast.enter({"cpu", type("bf16"), false, true});
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}), "- -");
  autocast.leave();
  EXPECT_EQ(castsOf("mm.default", {"f32", "f32"}), "bf16 bf16");
}

TEST_F(AutocastRules, OpsOfOtherDialectsAreLeftAlone) {
  EXPECT_EQ(castPolicyOf("cpu", "no_such_op"), CastPolicy::None);
  EXPECT_EQ(castPolicyOf("cpu", "prod.dim_int"), CastPolicy::Float32);
  EXPECT_EQ(castPolicyOf("cuda", "prod.dim_int"), CastPolicy::FirstFloat32);
  EXPECT_EQ(castPolicyOf("xpu", "linear"), CastPolicy::Lower);
}
