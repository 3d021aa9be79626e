// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that no schema describes, or not so: they keep what the text says of
// them, as joint.opaque.

#include "ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

TEST(OpaqueCalls, UnknownOpsKeepWhatTheTextSays) {
  Imported in(jointText(
      "        one: \"f32[2, 8]\" = torch.ops.mylib.one.default(mm, [1, mm], "
      "mode = 'fast', lut = {'a': mm, 'b': (1, True)}, of = slice(None, 3, "
      "None), op = torch.ops.aten.mm.default, x = -inf)\n"
      "        one_1: \"f32[2, 8]\" = torch.ops.mylib.one.default(mm)\n"
      "        two = torch.ops.mylib.two.default(mm)\n"
      "        getitem: \"f32[2, 8]\" = two[0]\n"
      "        getitem_1 = two[2]\n"
      "        getitem_2: \"i64[3]\" = getitem_1[1];  getitem_1 = None\n"
      "        getitem_9 = two[9]\n"
      "        three = torch.ops.higher_order.three(mm);  three = None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%one = joint.opaque \"mylib.one.default\"(%mm, [1, %mm],"
                      " mode = \"fast\", lut = [[\"a\", %mm], [\"b\", [1, true]"
                      "]], of = [\"slice\", none, 3, none], op = "
                      "\"aten.mm.default\", x = -inf)"));
  EXPECT_TRUE(has(ir, "%getitem, %getitem_2 = joint.opaque "
                      "\"mylib.two.default\"(%mm) {joint.call = \"two\", "
                      "tuple} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, "
                      "tensor<3xi64>)"));
  EXPECT_TRUE(has(ir, "joint.opaque \"higher_order.three\"(%mm) {effects, "
                      "joint.call = \"three\", tuple}"));
  ASSERT_EQ(in.module.counts.opaque.size(), 3u);
  EXPECT_EQ(in.module.counts.opaque[0].callee, "mylib.one.default");
  EXPECT_EQ(in.module.counts.opaque[0].count, 2u);
}

TEST(OpaqueCalls, ACallWithAComplexNumberIsOpaque) {
  Imported in(jointText(
      "        a: \"c64[2, 8]\" = torch.ops.aten.mul.Tensor(mm, 1j)\n"
      "        b: \"c64[2, 8]\" = torch.ops.aten.add.Tensor(a, (-0-1e-05j))\n"
      "        c: \"c64[2, 8]\" = torch.ops.aten.add.Tensor(b, 2)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%a = joint.opaque \"aten.mul.Tensor\"(%mm, \"1j\") "
                      "{joint.repeatable}"));
  EXPECT_TRUE(
      has(ir, "%b = joint.opaque \"aten.add.Tensor\"(%a, \"(-0-1e-05j)\")"));
  EXPECT_FALSE(has(ir, "%c = joint.opaque"));
}

TEST(OpaqueCalls, AnOpThatRunsANestedGraphIsOpaque) {
  Imported in(jointText(
      "        true_graph_0 = self.true_graph_0\n"
      "        cond = torch.ops.higher_order.cond(mm, true_graph_0, (mm,));  "
      "true_graph_0 = None\n"
      "        getitem: \"f32[2, 8]\" = cond[0];  cond = None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "%getitem = joint.opaque \"higher_order.cond\"(%mm, "
                           "\"true_graph_0\", [%mm]) {effects"))
      << in.ir();
  ASSERT_EQ(in.module.counts.opaque.size(), 1u);
  EXPECT_EQ(in.module.counts.opaque[0].callee, "higher_order.cond");
}
