// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers where an op takes a number.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

const std::string kX = tensorArg("x");
const std::string kI = arg("as_complex", R"({"real": 0.0, "imag": 1.0})");

/// The program of one call on x, a tensor of two c64; its IR.
std::string irOf(const std::string &op, const ExportText::Named &args,
                 const std::string &type = "c64[2]") {
  ExportText text;
  text.input("x", "c64[2]").input("m", "b8[2]");
  text.node(op, args, {{"r", type}}).output("r");
  Imported in(text.json());
  EXPECT_TRUE(in.isGood && in.isValid) << op << ": " << in.errors();
  EXPECT_TRUE(in.diagnostics.empty()) << op << ": " << in.errors();
  return in.isGood ? in.ir() : "";
}

} // namespace

TEST(ComplexNumbers, TakeTheOverloadForTensors) {
  EXPECT_TRUE(has(irOf("aten.masked_fill.Scalar",
                       {{"self", kX}, {"mask", tensorArg("m")}, {"value", kI}}),
                  "%r = aten.masked_fill.Tensor(%x, %m, %complex_s2)"));
  EXPECT_TRUE(
      has(irOf("aten.where.ScalarSelf",
               {{"condition", tensorArg("m")}, {"self", kI}, {"other", kX}}),
          "%r = aten.where.self(%m, %complex_s2, %x)"));
  EXPECT_TRUE(
      has(irOf("aten.eq.Scalar", {{"self", kX}, {"other", kI}}, "b8[2]"),
          "%r = aten.eq.Tensor(%x, %complex_s2)"));
  EXPECT_TRUE(
      has(irOf("aten.pow.Tensor_Scalar", {{"self", kX}, {"exponent", kI}}),
          "%r = aten.pow.Tensor_Tensor(%x, %complex_s2)"));
  EXPECT_TRUE(
      has(irOf("aten.linspace.default", {{"start", arg("as_int", "0")},
                                         {"end", kI},
                                         {"steps", arg("as_int", "2")}}),
          "%r = aten.linspace.Scalar_Tensor(0, %complex_s2, 2"));
}

TEST(ComplexNumbers, AreFilledInAfterwards) {
  std::string ir = irOf("aten.full.default",
                        {{"size", arg("as_ints", "[2]")}, {"fill_value", kI}});
  EXPECT_TRUE(has(ir, "%complex_s3 = aten.full([2], 0, dtype = complex<f32>)"));
  EXPECT_TRUE(has(ir, "%r = aten.fill.Tensor(%complex_s3, %complex_s2)"));
  EXPECT_TRUE(
      has(irOf("aten.full_like.default", {{"self", kX}, {"fill_value", kI}}),
          "%r = aten.fill.Tensor("));
}

TEST(ComplexNumbers, OfFactorsMultiplyBefore) {
  std::string ir =
      irOf("aten.addcmul.default",
           {{"self", kX}, {"tensor1", kX}, {"tensor2", kX}, {"value", kI}});
  EXPECT_TRUE(has(ir, "%complex_s3 = aten.mul.Tensor(%x, %complex_s2)"));
  EXPECT_TRUE(has(ir, "%r = aten.addcmul(%x, %complex_s3, %x)"));
}

TEST(ComplexNumbers, AreRefusedWhereNothingTakesThem) {
  ExportText text;
  text.input("x", "c64[2]");
  text.node("aten.threshold.default",
            {{"self", kX}, {"threshold", kI}, {"value", arg("as_int", "0")}},
            {{"r", "c64[2]"}});
  text.output("r");
  Imported in(text.json());
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(),
                  "'aten.threshold.default' takes a complex number for its "
                  "parameter 'threshold', which is not read | give it a "
                  "tensor: torch.tensor(1j) for 1j, and export the model "
                  "again"));
}
