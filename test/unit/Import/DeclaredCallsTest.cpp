// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of known ops that contradict what is known of them: they are taken as
// the text declares them. What is an error all the same is in ErrorsTest.cpp.

#include "ExportText.h"
#include "ImportTestSupport.h"

#include "cutback/Dialect/Joint/Declared.h"

using namespace cutback;
using namespace cutback::test;

namespace {

/// Imports `body` behind the product of jointText, and expects `ir` in what
/// comes out, and a note that is `note`.
void expectDeclared(const std::string &body, const std::string &ir,
                    const std::string &note) {
  Imported in(jointText(body));
  ASSERT_TRUE(in.isGood) << body << in.errors();
  EXPECT_TRUE(in.isValid) << body << in.errors();
  EXPECT_TRUE(has(in.ir(), ir));
  ASSERT_EQ(in.diagnostics.size(), 1u) << in.errors();
  EXPECT_TRUE(has(in.diagnostics[0], note));
  EXPECT_EQ(in.module.counts.asDeclared, 1u);
  EXPECT_TRUE(in.module.counts.opaque.empty());
}

joint::OpaqueOp firstOpaque(Imported &in) {
  joint::OpaqueOp first;
  in.module.module->walk([&](joint::OpaqueOp op) {
    if (!first)
      first = op;
  });
  return first;
}

} // namespace

TEST(DeclaredCalls, KeepNameArgumentsAndDeclaredType) {
  expectDeclared(
      "        x: \"f32[2, 9]\" = torch.ops.aten.sin.default(mm)\n",
      "%x = joint.opaque \"aten.sin.default\"(%mm) {joint.declared = {place = "
      "\"in.txt:14\", why = \"'x' is declared as tensor<2x9xf32>, but aten.sin "
      "gives tensor<2x8xf32>\"}} : (tensor<2x8xf32>) -> tensor<2x9xf32>",
      "14:13: 1 op taken as declared: aten.sin.default: 'x' is declared as "
      "tensor<2x9xf32>, but aten.sin gives tensor<2x8xf32> (--strict makes it "
      "an error)");
}

TEST(DeclaredCalls, AreThoseOfOtherSignatures) {
  for (const char *call :
       {"aten.sin.default(mm, 1)", "aten.sum.default(mm, keepdim = True)",
        "aten.mul.Tensor(mm)", "aten.permute.default(mm, 'no')",
        "aten.view.default(mm, [mm])", "aten.mm.default(mm, mm)",
        "aten.sym_size.int(mm, 0)"})
    expectDeclared(std::string("        x: \"f32[2, 8]\" = torch.ops.") + call +
                       "\n",
                   "%x = joint.opaque \"aten.", "1 op taken as declared: aten");
}

TEST(DeclaredCalls, AreThoseWhoseElementsDiffer) {
  std::string split = "        split = torch.ops.aten.split.Tensor(mm, 4, 1)\n";
  expectDeclared(split + "        a: \"f32[2, 4]\" = split[0]\n"
                         "        b: \"f32[2, 3]\" = split[1]\n",
                 "%a, %b = joint.opaque \"aten.split.Tensor\"(%mm, 4, 1) "
                 "{joint.call = \"split\"",
                 "16:13: 1 op taken as declared: aten.split.Tensor: 'b' is "
                 "declared as tensor<2x3xf32>, but aten.split gives "
                 "tensor<2x4xf32>");
  expectDeclared(split + "        a: \"f32[2, 4]\" = split[2]\n",
                 "%a = joint.opaque \"aten.split.Tensor\"",
                 "'a' is element 2 of 'split', but aten.split gives 2 tensors");
  expectDeclared(
      "        x: \"f32[2, 8]\" = torch.ops.aten.split.Tensor(mm, 4, "
      "1)\n",
      "%x = joint.opaque \"aten.split.Tensor\"",
      "'x' is declared as one value, but aten.split gives a tuple "
      "of 2");
  expectDeclared("        x = torch.ops.aten.sin.default(mm)\n"
                 "        a: \"f32[2, 8]\" = x[0]\n",
                 "%a = joint.opaque \"aten.sin.default\"",
                 "'a' is element 0 of 'x', but aten.sin gives one value");
}

/// The same call is typed once; that it does not type is found each time.
TEST(DeclaredCalls, AreCountedAndTheFirstIsNamed) {
  Imported in(jointText(
      "        x: \"f32[2, 9]\" = torch.ops.aten.mm.default(mm, mm)\n"
      "        y: \"f32[2, 9]\" = torch.ops.aten.mm.default(mm, mm)\n"
      "        z: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm, 1)\n"
      "        w: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm, 1)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_EQ(in.module.counts.asDeclared, 4u);
  EXPECT_TRUE(has(in.errors(), "14:26: 4 ops taken as declared, the first: "
                               "aten.mm.default: this call does not type"));
}

TEST(DeclaredCalls, AreErrorsWithoutADeclaration) {
  Imported in(jointText("        x = torch.ops.aten.sin.default(mm, 1)\n"));
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(), "aten.sin takes at most 1 arguments"));
}

TEST(DeclaredCalls, StayWhatTheirNameStandsFor) {
  Imported in(jointText(
      "        x: \"f32[2, 9]\" = torch.ops.aten.mm.default(mm, mm)\n"
      "        y: \"f32[2, 9]\" = torch.ops.aten.rand_like.default(mm)\n"
      "        z: \"f32[2, 9]\" = torch.ops.aten.dropout.default(mm, 0.5, "
      "False)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  std::vector<joint::OpaqueOp> ops;
  in.module.module->walk([&](joint::OpaqueOp op) { ops.push_back(op); });
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_TRUE(ops[0].isComputeIntensive());
  EXPECT_TRUE(ops[0].usesMatrixUnits());
  EXPECT_TRUE(ops[0].isRecomputable());
  // Two for each multiplication of [2, 8] with 8 columns.
  EXPECT_EQ(ops[0].getFlops({{2, 8}, {2, 8}, {2, 9}}), 2.0 * 8 * 18);
  EXPECT_TRUE(ops[1].isRandom());
  EXPECT_TRUE(ops[1].hasOrderedEffects());
  EXPECT_FALSE(ops[1].isRecomputable());
  EXPECT_FALSE(ops[2].isRandom()); // not in training
  EXPECT_FALSE(ops[2].isComputeIntensive());
}

TEST(DeclaredCalls, KnownResultsOfOtherReleasesAreNone) {
  std::string body =
      "        q: \"f32[1, 2, 4, 8]\" = torch.ops.aten.full.default([1, 2, 4, "
      "8], 1.0)\n"
      "        flash = torch.ops.aten._scaled_dot_product_flash_attention."
      "default(q, q, q)\n"
      "        getitem: \"f32[1, 2, 4, 8]\" = flash[0]\n"
      "        getitem_3: \"i32[]\" = flash[2]\n"
      "        getitem_1: \"i64[]\" = flash[6]\n"
      "        getitem_2: \"i64[]\" = flash[7]\n";
  Imported in(jointText(body));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(in.diagnostics.empty()) << in.errors();
  EXPECT_FALSE(has(in.ir(), "joint.opaque"));
}

TEST(DeclaredCalls, OfExportedPrograms) {
  ExportText text;
  text.param("w", "p_w", "f32[2, 8]!");
  text.node("aten.sin.default", {{"self", tensorArg("p_w")}},
            {{"sin", "f32[2, 9]"}});
  text.node("aten.view.default",
            {{"self", tensorArg("p_w")}, {"size", arg("as_ints", "[16]")}},
            {{"view", "f32[16]"}});
  text.output("sin");
  Imported in(text.json());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(has(in.errors(), "1 op taken as declared: aten.sin.default: "
                               "'sin' is declared as tensor<2x9xf32>"));
  EXPECT_TRUE(joint::isTakenAsDeclared(firstOpaque(in)));
  ImportOptions strict;
  strict.strict = true;
  Imported refused(text.json(), strict);
  EXPECT_FALSE(refused.isGood);
  EXPECT_TRUE(has(refused.errors(), " | the program is of a release whose op "
                                    "is another: export the model again"));
}

/// A program may write through a view: what it is a view of must be known.
TEST(DeclaredCalls, AreNoViewsOfExportedPrograms) {
  ExportText text;
  text.param("w", "p_w", "f32[2, 8]!");
  text.node("aten.view.default",
            {{"self", tensorArg("p_w")}, {"size", arg("as_ints", "[16]")}},
            {{"view", "f32[17]"}});
  text.output("view");
  Imported in(text.json());
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(), "'view' is declared as tensor<17xf32>"));
}

/// What was stored keeps the attribute, and strictness holds for it too.
TEST(DeclaredCalls, OfStoredGraphs) {
  Imported first(
      jointText("        x: \"f32[2, 9]\" = torch.ops.aten.sin.default(mm)\n"));
  ASSERT_TRUE(first.isGood) << first.errors();
  Imported again(first.ir());
  EXPECT_TRUE(again.isGood) << again.errors();
  EXPECT_TRUE(again.diagnostics.empty()) << again.errors();
  ImportOptions strict;
  strict.strict = true;
  Imported refused(first.ir(), strict);
  EXPECT_FALSE(refused.isGood);
  EXPECT_TRUE(has(refused.errors(),
                  "'aten.sin.default' is taken as in.txt:14 declares it ('x' "
                  "is declared as tensor<2x9xf32>, but aten.sin gives "
                  "tensor<2x8xf32>) | without --strict it is planned so"));
}
