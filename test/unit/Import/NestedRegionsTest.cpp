// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of a text that choose among graphs or repeat them: each graph is a
// region of the call; what cannot be one leaves the call opaque.

#include "ImportTestSupport.h"

#include "mlir/IR/BuiltinOps.h"

using namespace cutback;
using namespace cutback::test;

namespace {

std::string graph(const std::string &name, const std::string &body,
                  const std::string &parameters = "") {
  return "    class " + name +
         "(torch.nn.Module):\n        def forward(self, arg0_1: \"f32[2, 8][8, "
         "1]cpu\"" +
         parameters + "):\n" + body + "\n";
}

std::string unary(const std::string &op) {
  return "            " + op + ": \"f32[2, 8][8, 1]cpu\" = torch.ops.aten." +
         op + ".default(arg0_1);  arg0_1 = None\n            return (" + op +
         ", None)";
}

/// A joint graph with a cond on `operands`, whose branches are `yes` and `no`.
std::string cond(const std::string &yes, const std::string &no,
                 const std::string &operands = "(mm,)") {
  return jointText("        yes = self.yes\n        no = self.no\n"
                   "        sum_9: \"f32[]\" = torch.ops.aten.sum.default(mm)\n"
                   "        gt: \"b8[]\" = torch.ops.aten.gt.Scalar(sum_9, 0)\n"
                   "        cond = torch.ops.higher_order.cond(gt, yes, no, " +
                   operands +
                   ");  yes = no = None\n"
                   "        getitem: \"f32[2, 8]\" = cond[0];  cond = None\n") +
         "\n" + yes + no;
}

std::string irOf(const std::string &text) {
  Imported in(text);
  EXPECT_TRUE(in.isGood && in.isValid) << in.errors();
  return in.isGood ? in.ir() : in.errors();
}

} // namespace

TEST(NestedRegions, BranchesAreRegions) {
  Imported in(cond(graph("yes", unary("sin")), graph("no", unary("cos"))));
  ASSERT_TRUE(in.isGood && in.isValid) << in.errors();
  EXPECT_TRUE(in.module.counts.opaque.empty());
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%getitem:2 = joint.nested \"higher_order.cond\"(%gt, "
                      "@yes, @no, [%mm]) {joint.call = \"cond\", tuple} : "
                      "(tensor<i1>, tensor<2x8xf32>) -> (tensor<2x8xf32>, "
                      "none) {"));
  EXPECT_TRUE(has(ir, "%yes.sin = aten.sin(%arg0)"));
  EXPECT_TRUE(has(ir, "joint.return %yes.sin : tensor<2x8xf32> {places = "
                      "array<i1: true, false>}"));
  EXPECT_TRUE(has(ir, "%no.cos = aten.cos(%arg0)"));
}

TEST(NestedRegions, ALiteralIsKnownInside) {
  std::string body =
      "            mul: \"f32[2, 8][8, 1]cpu\" = "
      "torch.ops.aten.mul.Tensor(arg0_1, arg1_1)\n            return (mul,)";
  std::string n = ", arg1_1: \"Sym(3)\"";
  EXPECT_TRUE(
      has(irOf(cond(graph("yes", body, n), graph("no", body, n), "(mm, 3)")),
          "%yes.mul = aten.mul.Tensor(%arg0, 3)"));
}

TEST(NestedRegions, GraphsNestAndCallEachOther) {
  std::string inner =
      "            region0 = self.region0\n"
      "            invoke = torch.ops.higher_order.invoke_subgraph(region0, "
      "'id', arg0_1)\n"
      "            getitem: \"f32[2, 8]\" = invoke[0]\n"
      "            return (getitem, None)\n"
      "        class region0(torch.nn.Module):\n"
      "            def forward(self, arg0_1: \"f32[2, 8]\"):\n"
      "                relu: \"f32[2, 8]\" = "
      "torch.ops.aten.relu.default(arg0_1)\n"
      "                return (relu,)";
  std::string ir = irOf(cond(graph("yes", inner), graph("no", unary("cos"))));
  EXPECT_FALSE(has(ir, "joint.opaque")) << ir;
}

/// `graph` as the first branch leaves the call opaque, with a digest.
static void expectOpaque(const std::string &yes) {
  std::string ir = irOf(cond(yes, graph("no", unary("cos"))));
  EXPECT_TRUE(has(ir, "joint.opaque \"higher_order.cond\"(%gt, \"yes ")) << ir;
  EXPECT_TRUE(has(ir, "\", \"no ")) << ir;
}

TEST(NestedRegions, AGraphThatWritesLeavesTheCallOpaque) {
  expectOpaque(graph("yes", "            copy_ = torch.ops.aten.copy_.default("
                            "arg0_1, arg0_1)\n            return (copy_,)"));
}

TEST(NestedRegions, AGraphWithAConstantLeavesTheCallOpaque) {
  expectOpaque(graph("yes", "            _tensor_constant0: \"f32[2, 8]\" = "
                            "self._tensor_constant0\n"
                            "            return (_tensor_constant0,)"));
}

TEST(NestedRegions, AGraphThatIsNotInTheTextLeavesTheCallOpaque) {
  std::string ir = irOf(cond("", graph("no", unary("cos"))));
  EXPECT_TRUE(has(ir, "joint.opaque \"higher_order.cond\"(%gt, \"yes\", \"no "))
      << ir;
}

TEST(NestedRegions, GraphsInTuplesOfAnOpaqueCallAreToldApart) {
  auto text = [](const std::string &op) {
    return irOf(
        jointText("        score = self.score\n"
                  "        hop = torch.ops.higher_order.other(mm, (1, score))\n"
                  "        getitem: \"f32[2, 8]\" = hop[0]\n") +
        "\n" + graph("score", unary(op)));
  };
  EXPECT_TRUE(has(text("sin"), "(%mm, [1, \"score "));
  EXPECT_NE(text("sin"), text("cos"));
}

TEST(NestedRegions, WhatDoesNotFitIsAnError) {
  auto errorOf = [](const std::string &text) {
    Imported in(text);
    EXPECT_FALSE(in.isGood);
    return in.errors();
  };
  std::string cos = graph("no", unary("cos"));
  EXPECT_TRUE(has(
      errorOf(cond(graph("yes", "            eq: \"b8[2, 8]\" = torch.ops.aten."
                                "eq.Scalar(arg0_1, 1)\n"
                                "            return (eq, None)"),
                   cos)),
      "this call does not type: 'joint.nested' op has results that its graphs "
      "do not give"));
  EXPECT_TRUE(has(errorOf(cond(graph("yes", "            return (1,)"), cos)),
                  "nested graph 'yes' gives the number '1'"));
  std::string untyped = cos;
  untyped.replace(untyped.find(": \"f32[2, 8][8, 1]cpu\"):"), 23, "):");
  EXPECT_TRUE(has(errorOf(cond(graph("yes", unary("sin")), untyped)),
                  "an input of a nested graph has no type"));
  EXPECT_TRUE(has(
      errorOf(jointText("        f = self.f\n"
                        "        scan = torch.ops.higher_order.scan(f, [mm], "
                        "[], [])\n        getitem: \"f32[2, 8]\" = scan[0]\n") +
              "\n" + graph("f", unary("sin"))),
      "the graphs of 'higher_order.scan' do not give what such a call gives"));
}
