// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported programs become graphs: roles, sizes, places, tags, gradients,
// writes, arguments of all kinds.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace cutback;
using namespace cutback::test;

namespace {

std::string importJson(const ExportText &text) {
  Imported in(text.json());
  EXPECT_TRUE(in.isGood) << in.errors();
  if (!in.isGood)
    return in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(in.module.graph);
  return in.ir();
}

std::string errorOf(const std::string &text) {
  Imported in(text);
  EXPECT_FALSE(in.isGood);
  return in.errors();
}

const std::string kX = tensorArg("x");

} // namespace

TEST(ExportedProgram, AForwardProgramIsAGraphWithoutGradients) {
  Imported in(linearProgram().json());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid);
  EXPECT_EQ(in.module.format, InputFormat::Pt2);
  EXPECT_EQ(in.module.info.kind, GraphKind::Forward);
  EXPECT_FALSE(in.module.weights);
  EXPECT_EQ(in.module.counts.ops, 2u);
  EXPECT_EQ(in.module.counts.arguments, 2u);
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "joint.graph @model(%p_fc_weight: tensor<3x4xf32> "
                      "{joint.requires_grad, joint.role = "
                      "#joint.role<param \"fc.weight\">}, %x: tensor<2x4xf32> "
                      "{joint.role = #joint.role<input>}) -> (tensor<f32>) "
                      "gradients ()"));
  EXPECT_TRUE(has(ir, "%linear = aten.linear(%x, %p_fc_weight)"));
  EXPECT_TRUE(has(ir, "joint.output %mean : tensor<f32>"));
}

TEST(ExportedProgram, OutputsOfAJointProgramSayWhatTheyAre) {
  ExportText text;
  text.param("w", "p_w", "f32[2]!")
      .buffer("seen", "b_seen", "f32[]")
      .constant("one", "c_one", "f32[]")
      .input("x", "f32[2]!")
      .node("aten.mul.Tensor", {{"self", kX}, {"other", tensorArg("p_w")}},
            {{"mul", "f32[2]"}})
      .node("aten.sum.default", {{"self", tensorArg("mul")}},
            {{"sum_1", "f32[]"}})
      .node("aten.add.Tensor",
            {{"self", tensorArg("b_seen")}, {"other", tensorArg("c_one")}},
            {{"add", "f32[]"}})
      .node("aten.full_like.default",
            {{"self", tensorArg("sum_1")}, {"fill_value", arg("as_int", "1")}},
            {{"full_like", "f32[]"}})
      .node("aten.mul.Tensor",
            {{"self", tensorArg("full_like")}, {"other", kX}},
            {{"mul_1", "f32[2]"}})
      .node("aten.mul.Tensor",
            {{"self", tensorArg("full_like")}, {"other", tensorArg("p_w")}},
            {{"mul_2", "f32[2]"}})
      .mutation("add", "seen")
      .loss("sum_1")
      .inputGradient("mul_2", "x")
      .gradient("mul_1", "w");
  Imported in(text.json());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid);
  EXPECT_EQ(in.module.info.kind, GraphKind::Joint);
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "#joint.role<buffer \"seen\">"));
  EXPECT_TRUE(has(ir, "#joint.role<constant \"one\">"));
  EXPECT_TRUE(has(ir, "joint.write %b_seen, %add"));
  // Who recomputes `add` in the backward must not find the new value.
  EXPECT_TRUE(has(ir, "%b_seen_old = aten.clone(%b_seen) {joint.policy = "
                      "#joint.policy<must_save>}"));
  EXPECT_TRUE(has(ir, "%add = aten.add.Tensor(%b_seen_old, %c_one)"));
  EXPECT_TRUE(has(ir, "joint.output %sum_1 gradients(%mul_1 of 0, %mul_2 of "
                      "3)"));
}

TEST(ExportedProgram, SymbolsHaveHintsAndRanges) {
  ExportText text;
  text.ranges = R"({"s0": {"min_val": 2, "max_val": 64}})";
  text.input("x", "f32[s0, 4]")
      .node("aten.sym_size.int", {{"self", kX}, {"dim", arg("as_int", "0")}},
            {{"sym_size", "Sym(s0)"}})
      .node("_operator.mul",
            {{"a", arg("as_sym_int", R"({"as_name": "sym_size"})")},
             {"b", arg("as_int", "4")}},
            {{"mul", "Sym(Mul(Integer(4), Symbol('s0', positive=True, "
                     "integer=True)))"}})
      .node("aten.view.default",
            {{"self", kX},
             {"size", arg("as_sym_ints", R"([{"as_name": "mul"}])")}},
            {{"view", "f32[4*s0]"}})
      .node("aten.view.default",
            {{"self", kX},
             {"size", arg("as_sym_ints", R"([{"as_int": 4}, {"as_name": )"
                                         R"("sym_size"}])")}},
            {{"view_1", "f32[4, s0]"}})
      .output("view")
      .output("view_1");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "s0 = #joint.symbol<hint = 24, min = 2, max = 64>"));
  EXPECT_TRUE(has(ir, "joint.dims = [\"s0\", \"4\"]"));
  EXPECT_TRUE(has(ir, "aten.sym.mul"));
  EXPECT_TRUE(has(ir, "aten.view(%x, [4, %sym_size])"));
}

TEST(ExportedProgram, AsStridedCountsWhereItsOperandLies) {
  ExportText text;
  auto strided = [&](const std::string &of, const std::string &offset,
                     const std::string &name) {
    text.node("aten.as_strided.default",
              {{"self", tensorArg(of)},
               {"size", arg("as_ints", "[2, 2]")},
               {"stride", arg("as_ints", "[2, 1]")},
               {"storage_offset", offset}},
              {{name, "f32[2, 2][2, 1]"}});
  };
  text.input("x", "f32[2, 3][1, 2]").input("y", "f32[2, 2]@4");
  strided("x", arg("as_none", "true"), "permuted");
  strided("y", arg("as_int", "4"), "shifted");
  text.output("permuted").output("shifted");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%x_permuted = aten.permute(%x, [1, 0])"));
  EXPECT_TRUE(has(ir, "aten.as_strided(%x_permuted, [2, 2], [2, 1])"));
  EXPECT_TRUE(has(ir, "aten.as_strided(%y, [2, 2], [2, 1]) :") ||
              has(ir, "aten.as_strided(%y, [2, 2], [2, 1], 0) :"));
}

TEST(ExportedProgram, InputsThatAreNoTensors) {
  ExportText text;
  auto literal = [&](const std::string &argument, const std::string &name) {
    text.rawInput(argument, "{\"constant_input\": {\"name\": \"" + name +
                                "\", \"value\": " + argument + "}}");
  };
  literal(arg("as_int", "3"), "n");
  literal(arg("as_none", "true"), "mask");
  text.rawInput(arg("as_float", "0.5"),
                "{\"user_input\": {\"arg\": {\"as_float\": 0.5}}}");
  text.input("n0", "Sym(s0)").input("x", "f32[2]");
  text.node("aten.full.default",
            {{"size", arg("as_sym_ints", R"([{"as_name": "n0"}])")},
             {"fill_value", arg("as_float", "1.0")}},
            {{"full", "f32[s0]"}})
      .output("full")
      .rawOutput(arg("as_none", "true"),
                 R"({"user_output": {"arg": {"as_none": true}}})");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "@model(%n0: index {joint.dims = [\"s0\"], joint.role = "
                      "#joint.role<size>}, %x: tensor<2xf32>"));
  EXPECT_TRUE(has(ir, "joint.output %full :"));
}

TEST(ExportedProgram, PlacesModulesAndTags) {
  ExportText text;
  text.input("x", "f32[2]");
  text.node(
      "aten.relu.default", {{"self", kX}}, {{"relu", "f32[2]"}},
      R"({"stack_trace": "File \"models.py\", line 62, in forward\n    h\n  )"
      R"(File \"torch/nn/modules/linear.py\", line 134, in forward", )"
      R"("nn_module_stack": "L__self__,,models.Net;L__self__a,a.b,my.F[x, y]", )"
      R"("custom": "{\"recompute\": \"PREFER_RECOMPUTE\", \"ac_graph_id\": 3}"})");
  text.node("aten.relu.default", {{"self", tensorArg("relu")}},
            {{"relu_1", "f32[2]"}},
            R"({"stack_trace": "File \"<eval_with_key>.42 from x.py:1 in y\", )"
            R"(line 7, in forward", "custom": "not json"})");
  text.output("relu_1");
  Imported in(text.json());
  ASSERT_TRUE(in.isGood) << in.errors();
  std::string ir;
  llvm::raw_string_ostream os(ir);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/false);
  in.module.module->print(os, flags);
  EXPECT_TRUE(has(ir, "\"models.py\":62:0"));
  EXPECT_TRUE(has(ir, "fused<\"a.b\">"));
  EXPECT_FALSE(has(ir, "eval_with_key"));
  EXPECT_TRUE(has(ir, "loc(\"in.txt\":1:593)"));
  EXPECT_TRUE(has(ir, "joint.policy = #joint.policy<prefer_recompute, region = "
                      "3>"));
}

TEST(ExportedProgram, TuplesNamesAndUndefinedResults) {
  ExportText text;
  text.input("x", "f32[4, 3]");
  text.node("aten.max.dim", {{"self", kX}, {"dim", arg("as_int", "1")}},
            {{"getitem", "f32[4]"}, {"max_1_unused_1", "i64[4]"}});
  text.declare("a", "f32[2, 3]").declare("b", "f32[2, 3]");
  text.rawNode(
      R"({"target": "torch.ops.aten.split.Tensor", "inputs": [{"name": "self", )"
      R"("arg": {"as_tensor": {"name": "x"}}}, {"name": "split_size", "arg": )"
      R"({"as_int": 2}}], "outputs": [{"as_tensors": [{"name": "a"}, {"name": )"
      R"("b"}]}], "metadata": {}})");
  text.output("getitem").output("b");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%getitem:2 = aten.max.dim(%x, 1)"));
  EXPECT_TRUE(
      has(ir, "%a, %b = aten.split.Tensor(%x, 2) {joint.call = \"a\"}"));
}

TEST(ExportedProgram, ArgumentsOfAllKinds) {
  ExportText text;
  text.input("x", "f32[2, 3, 4, 4]").input("i", "i64[5]");
  text.node("aten._to_copy.default",
            {{"self", kX},
             {"dtype", arg("as_scalar_type", "13")},
             {"layout", arg("as_layout", "7")},
             {"device", arg("as_device", R"({"type": "cuda", "index": 0})")},
             {"memory_format", arg("as_memory_format", "4")}},
            {{"copy", "bf16[2, 3, 4, 4]"}});
  text.node("aten.where.ScalarOther",
            {{"condition", tensorArg("c")},
             {"self", kX},
             {"other", arg("as_float", "\"-Infinity\"")}},
            {{"where", "f32[2, 3, 4, 4]"}});
  text.node("aten.index.Tensor",
            {{"self", kX},
             {"indices", arg("as_optional_tensors",
                             R"([{"as_none": true}, {"as_none": true}, )"
                             R"({"as_tensor": {"name": "i"}}])")}},
            {{"index", "f32[2, 3, 5, 4]"}});
  text.node("aten.einsum.default",
            {{"equation", arg("as_string", "\"abcd->ab\"")},
             {"tensors", arg("as_tensors", R"([{"name": "x"}])")}},
            {{"einsum", "f32[2, 3]"}});
  text.node("mylib.thing.default",
            {{"x", kX},
             {"flags", arg("as_bools", "[true, false]")},
             {"sizes", arg("as_int_lists", "[[1, 2], [3]]")},
             {"scales", arg("as_floats", "[0.5, 2]")},
             {"words", arg("as_strings", "[\"a\"]")},
             {"groups", arg("as_nested_tensors", R"([[{"name": "x"}]])")}},
            {{"thing", "f32[7]"}});
  text.input("c", "b8[2, 3, 4, 4]").output("thing");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "aten._to_copy(%x, dtype = bf16, layout = \"strided\", "
                      "device = \"cuda:0\", memory_format = "
                      "\"preserve_format\")"));
  EXPECT_TRUE(has(ir, "aten.where.ScalarOther(%c, %x, -inf)"));
  EXPECT_TRUE(has(ir, "aten.index.Tensor(%x, [none, none, %i])"));
  EXPECT_TRUE(has(ir, "aten.einsum(\"abcd->ab\", [%x])"));
  EXPECT_TRUE(has(ir, "joint.opaque \"mylib.thing.default\"(%x, [true, false], "
                      "[[1, 2], [3]], [5.000000e-01, 2.000000e+00], [\"a\"], "
                      "[[%x]])"));
}

TEST(ExportedProgram, ChecksAndMarks) {
  ExportText text;
  text.input("x", "f32[2]").input("c", "b8[]");
  text.node("aten._assert_tensor_metadata.default",
            {{"a", kX}, {"dtype", arg("as_scalar_type", "7")}}, {});
  text.node(
      "aten._assert_async.msg",
      {{"self", tensorArg("c")}, {"assert_msg", arg("as_string", "\"no\"")}},
      {});
  text.node("pippy._pipe_split.default", {}, {});
  text.output("x");
  Imported in(text.json());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_EQ(in.module.counts.droppedChecks, 1u);
  EXPECT_TRUE(has(in.ir(), "joint.assert %c, \"no\""));
}

TEST(ExportedProgram, WhatStridesDecideIsSaid) {
  ExportText text;
  text.input("x", "f32[2, 3, 4]")
      .node("aten.transpose.int",
            {{"self", kX},
             {"dim0", arg("as_int", "1")},
             {"dim1", arg("as_int", "2")}},
            {{"t", "f32[2, 4, 3][12, 1, 4]"}})
      .node("aten.reshape.default",
            {{"self", tensorArg("t")}, {"shape", arg("as_ints", "[8, 3]")}},
            {{"copy", "f32[8, 3]"}})
      .node("aten.reshape.default",
            {{"self", kX}, {"shape", arg("as_ints", "[6, 4]")}},
            {{"alias", "f32[6, 4]"}})
      .node("aten.contiguous.default", {{"self", tensorArg("t")}},
            {{"dense", "f32[2, 4, 3]"}})
      .node("aten.ravel.default", {{"self", kX}}, {{"flat", "f32[24]"}})
      .node("aten.select.int",
            {{"self", kX},
             {"dim", arg("as_int", "2")},
             {"index", arg("as_int", "0")}},
            {{"s", "f32[2, 3][12, 4]"}})
      .node("aten.ravel.default", {{"self", tensorArg("s")}},
            {{"packed", "f32[6]"}})
      .node("aten.contiguous.default", {{"self", kX}},
            {{"same", "f32[2, 3, 4]"}})
      .node("aten.to.dtype",
            {{"self", kX}, {"dtype", arg("as_scalar_type", "7")}},
            {{"to", "f32[2, 3, 4]"}})
      .node("aten.to.dtype",
            {{"self", kX},
             {"dtype", arg("as_scalar_type", "7")},
             {"non_blocking", arg("as_bool", "false")},
             {"copy", arg("as_bool", "true")}},
            {{"to_1", "f32[2, 3, 4]"}})
      .output("copy")
      .output("alias")
      .output("dense")
      .output("flat")
      .output("packed")
      .output("same")
      .output("to")
      .output("to_1");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%copy = aten.reshape(%t, [8, 3]) :"));
  EXPECT_TRUE(has(ir, "%alias = aten.reshape(%x, [6, 4]) {joint.aliases} :"));
  EXPECT_TRUE(has(ir, "%dense = aten.contiguous(%t) :"));
  EXPECT_TRUE(has(ir, "%flat = aten.ravel(%x) {joint.aliases} :"));
  EXPECT_TRUE(has(ir, "%packed = aten.ravel(%s) :"));
  EXPECT_TRUE(has(ir, "%same = aten.contiguous(%x) {joint.aliases} :"));
  EXPECT_TRUE(has(ir, "%to = aten.to.dtype(%x, f32) {joint.aliases} :"));
  EXPECT_TRUE(has(ir, "%to_1 = aten.to.dtype(%x, f32, false, true) :"));
  EXPECT_TRUE(has(ir, "joint.strides = array<i64: 12, 1, 4>"));
}

TEST(ExportedProgram, CallsThatChangeAnOperandAreKept) {
  ExportText text;
  text.input("x", "f32[2]")
      .node("aten.relu.default", {{"self", kX}}, {{"relu", "f32[2]"}})
      .node("aten.add_.Tensor", {{"self", tensorArg("relu")}, {"other", kX}},
            {{"add_", "f32[2]"}})
      .output("add_");
  EXPECT_TRUE(has(importJson(text), "%add_ = aten.add_.Tensor(%relu, %x)"));
  ExportText other;
  other.input("x", "f32[2]")
      .node("mylib.change_.default", {{"self", kX}}, {{"c", "f32[2]"}})
      .output("c");
  EXPECT_TRUE(has(errorOf(other.json()),
                  "'mylib.change_.default' changes its operand in place, and "
                  "is not known | call run_decompositions() on the program "
                  "before it is saved: that makes it functional"));
}

TEST(ExportedProgram, CallsOnListsAreCallsOnTheirEntries) {
  auto list = [](const std::string &a, const std::string &b) {
    return arg("as_tensors",
               R"([{"name": ")" + a + R"("}, {"name": ")" + b + R"("}])");
  };
  ExportText text;
  text.input("x", "f32[2]")
      .input("y", "f32[3]")
      .node("aten._foreach_add.List",
            {{"self", list("x", "y")},
             {"other", list("x", "y")},
             {"alpha", arg("as_float", "0.5")}},
            {{"a", "f32[2]"}, {"b", "f32[3]"}})
      .node("aten._foreach_addcmul.ScalarList",
            {{"self", list("a", "b")},
             {"tensor1", list("x", "y")},
             {"tensor2", list("x", "y")},
             {"scalars", arg("as_floats", "[0.25, 4.0]")}},
            {{"c", "f32[2]"}, {"d", "f32[3]"}})
      .node("aten._foreach_maximum_.Scalar",
            {{"self", list("c", "d")}, {"scalar", arg("as_float", "1.5")}}, {})
      .node("aten._foreach_norm.Scalar",
            {{"self", list("c", "d")}, {"ord", arg("as_int", "1")}},
            {{"m", "f32[]"}, {"n", "f32[]"}})
      .output("m");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%a = aten.add.Tensor(%x, %x, alpha = 5.000000e-01)"));
  EXPECT_TRUE(has(ir, "%b = aten.add.Tensor(%y, %y, alpha = 5.000000e-01)"));
  EXPECT_TRUE(has(ir, "%d = aten.addcmul(%b, %y, %y, value = 4.000000e+00)"));
  EXPECT_TRUE(has(ir, "aten.clamp_min_(%d, 1.500000e+00)"));
  EXPECT_TRUE(has(ir, "%n = aten.linalg_vector_norm(%d, 1)"));
}

TEST(ExportedProgram, ATensorWithoutDimensionsSaysHowManyPieces) {
  ExportText text;
  text.input("x", "f32[5]")
      .input("n", "i64[]")
      .node("aten.tensor_split.tensor_indices_or_sections",
            {{"self", kX}, {"tensor_indices_or_sections", tensorArg("n")}},
            {{"a", "f32[3]"}, {"b", "f32[2]"}})
      .output("b");
  EXPECT_TRUE(has(importJson(text), "%a, %b = aten.tensor_split.sections(%x, "
                                    "2)"));
}

TEST(ExportedProgram, TheWrongGradientOfCpuAttentionIsRefused) {
  auto program = [](bool hasForward) {
    ExportText text;
    std::string shape = "f32[1, 2, 8, 4]";
    text.input("q", shape).input("l", "f32[1, 2, 8]");
    std::string q = tensorArg("q"), l = tensorArg("l");
    if (hasForward)
      text.node("aten._scaled_dot_product_flash_attention_for_cpu.default",
                {{"query", q}, {"key", q}, {"value", q}},
                {{"out", shape}, {"lse", "f32[1, 2, 8]"}});
    text.node("aten._scaled_dot_product_flash_attention_for_cpu_backward"
              ".default",
              {{"grad_out", q},
               {"query", q},
               {"key", q},
               {"value", q},
               {"out", q},
               {"logsumexp", l},
               {"dropout_p", arg("as_float", "0.0")},
               {"is_causal", arg("as_bool", "true")}},
              {{"dq", shape}, {"dk", shape}, {"dv", shape}});
    return text.output("dq").json();
  };
  Imported good(program(true));
  EXPECT_TRUE(good.isGood) << good.errors();
  EXPECT_TRUE(has(
      errorOf(program(false)),
      "the gradient of attention is wrong in this program: its "
      "'_scaled_dot_product_flash_attention_for_cpu_backward' takes the "
      "results of a forward that was decomposed | export it under "
      "torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or give the forward "
      "program, which is differentiated here"));
}
