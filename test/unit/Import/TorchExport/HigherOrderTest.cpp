// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs in graphs: gradient modes, autocast regions, both together, and what
// is refused.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

const std::string kX = tensorArg("x");

std::string importJson(const ExportText &text) {
  Imported in(text.json());
  EXPECT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(!in.isGood || in.isValid) << in.errors();
  return in.isGood ? in.ir() : in.errors();
}

std::string errorOf(const ExportText &text) {
  Imported in(text.json());
  EXPECT_FALSE(in.isGood);
  return in.errors();
}

/// `relu` of its input, in a graph of its own.
ExportText reluGraph(const std::string &out) {
  ExportText graph;
  graph.input("x", "f32[2]")
      .node("aten.relu.default", {{"self", kX}}, {{out, "f32[2]"}})
      .output(out);
  return graph;
}

const char *const kGradMode = "higher_order.wrap_with_set_grad_enabled";
const char *const kAutocast = "higher_order.wrap_with_autocast";

std::string autocastCall(ExportText &text, const std::string &dtype,
                         bool enabled, bool cache, const ExportText &graph,
                         const ExportText::Named &operands,
                         const ExportText::Named &results) {
  ExportText::Named args = {{"", arg("as_string", "\"cpu\"")},
                            {"", dtype},
                            {"", arg("as_bool", enabled ? "true" : "false")},
                            {"", arg("as_bool", cache ? "true" : "false")},
                            {"", graph.graphArg()}};
  args.insert(args.end(), operands.begin(), operands.end());
  text.node(kAutocast, args, results);
  return text.json();
}

} // namespace

TEST(GradientRegion, ResultsAreDetached) {
  ExportText text;
  text.input("x", "f32[2]!")
      .node(kGradMode,
            {{"", arg("as_bool", "false")},
             {"", reluGraph("relu").graphArg()},
             {"", kX}},
            {{"getitem", "f32[2]"}})
      .output("getitem");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%relu = aten.relu(%x)"));
  EXPECT_TRUE(has(ir, "%relu_detached = aten.detach(%relu)"));
  EXPECT_TRUE(has(ir, "joint.output %relu_detached"));
}

TEST(GradientRegion, WhatWasThereBeforeKeepsItsGradient) {
  ExportText graph;
  graph.input("x", "f32[2]").output("x");
  ExportText text;
  text.input("x", "f32[2]!")
      .node(kGradMode,
            {{"", arg("as_bool", "false")}, {"", graph.graphArg()}, {"", kX}},
            {{"getitem", "f32[2]"}})
      .output("getitem");
  EXPECT_TRUE(has(importJson(text), "joint.output %x"));
}

// A loss that is only looked at broadcasts what it takes: the names of the
// region stand for the same tensors, whose gradients stay.
TEST(GradientRegion, WhatIsHandedThroughKeepsItsGradient) {
  ExportText graph;
  graph.input("x", "f32[2]").input("y", "f32[1]");
  graph
      .rawNode(R"({"target": "torch.ops.aten.broadcast_tensors.default", )"
               R"("inputs": [{"name": "tensors", "arg": {"as_tensors": )"
               R"([{"name": "x"}, {"name": "y"}]}, "kind": 1}], "outputs": )"
               R"([{"as_tensors": [{"name": "a"}, {"name": "b"}]}], )"
               R"("metadata": {}, "name": "broadcast_tensors"})")
      .declare("a", "f32[2]")
      .declare("b", "f32[2][0]")
      .output("a")
      .output("b");
  ExportText text;
  text.input("x", "f32[2]!")
      .input("y", "f32[1]!")
      .node(kGradMode,
            {{"", arg("as_bool", "false")},
             {"", graph.graphArg()},
             {"", kX},
             {"", tensorArg("y")}},
            {{"same", "f32[2]"}, {"other", "f32[2][0]"}})
      .output("same")
      .output("other");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%b_detached = aten.detach(%b)"));
  EXPECT_TRUE(has(ir, "joint.output %x, %b_detached"));
}

TEST(GradientRegion, GradientsComeBackInside) {
  ExportText graph;
  graph.input("x", "f32[2]")
      .node("aten.neg.default", {{"self", kX}}, {{"neg", "f32[2]"}})
      .node(kGradMode,
            {{"", arg("as_bool", "true")},
             {"", reluGraph("relu").graphArg()},
             {"", tensorArg("neg")}},
            {{"inner", "f32[2]"}})
      .output("inner")
      .output("neg");
  ExportText text;
  text.input("x", "f32[2]!")
      .node(kGradMode,
            {{"", arg("as_bool", "false")}, {"", graph.graphArg()}, {"", kX}},
            {{"a", "f32[2]"}, {"b", "f32[2]"}})
      .output("a")
      .output("b");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%neg_detached = aten.detach(%neg)"));
  EXPECT_TRUE(has(ir, "%relu = aten.relu(%neg_detached)"));
  EXPECT_TRUE(has(ir, "joint.output %relu, %neg_detached"));
}

TEST(GradientRegion, WritesInPlaceLeaveNoHistory) {
  ExportText graph;
  graph.input("b", "f32[2]").input("x", "f32[2]");
  graph
      .node("aten.add_.Tensor",
            {{"self", tensorArg("b")}, {"other", tensorArg("x")}},
            {{"add_", "f32[2]"}})
      .output("add_");
  ExportText text;
  text.buffer("ema", "b_ema", "f32[2]")
      .input("x", "f32[2]!")
      .node(kGradMode,
            {{"", arg("as_bool", "false")},
             {"", graph.graphArg()},
             {"", tensorArg("b_ema")},
             {"", kX}},
            {{"getitem", "f32[2]"}})
      .output("getitem");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%x_detached = aten.detach(%x)"));
  EXPECT_TRUE(has(ir, "%add_ = aten.add_.Tensor(%b_ema, %x_detached)"));
}

TEST(GradientRegion, OtherSizesInPlaceKeepTheHistory) {
  ExportText::Named axes = {{"a", arg("as_int", "0")},
                            {"b", arg("as_int", "1")}};
  auto dims = [](ExportText::Named more) {
    more.insert(more.begin(), {"self", kX});
    return more;
  };
  const std::tuple<const char *, ExportText::Named, const char *> cases[] = {
      {"unsqueeze_.default", {{"dim", arg("as_int", "0")}}, "f32[1, 1, 2]"},
      {"squeeze_.dim", {{"dim", arg("as_int", "0")}}, "f32[2]"},
      {"t_.default", {}, "f32[2, 1]"},
      {"transpose_.default", axes, "f32[2, 1]"},
      {"swapaxes_.default", axes, "f32[2, 1]"},
      {"swapdims_.default", axes, "f32[2, 1]"},
      {"as_strided_.default",
       {{"size", arg("as_ints", "[2]")}, {"stride", arg("as_ints", "[1]")}},
       "f32[2]"},
  };
  for (const auto &[op, more, type] : cases) {
    SCOPED_TRACE(op);
    ExportText graph;
    graph.input("x", "f32[1, 2]")
        .node(std::string("aten.") + op, dims(more), {{"y", type}})
        .output("y");
    ExportText text;
    text.input("w", "f32[1, 2]!")
        .node("aten.exp.default", {{"self", tensorArg("w")}},
              {{"e", "f32[1, 2]"}})
        .node(kGradMode,
              {{"", arg("as_bool", "false")},
               {"", graph.graphArg()},
               {"", tensorArg("e")}},
              {{"a", type}})
        .output("a");
    std::string ir = importJson(text);
    EXPECT_FALSE(has(ir, "joint.no_grad"));
    EXPECT_TRUE(has(ir, "joint.output %y :"));
  }
}

TEST(GradientRegion, NamesOfInnerGraphsAreMadeUnique) {
  ExportText text;
  text.input("x", "f32[2]")
      .node("aten.neg.default", {{"self", kX}}, {{"relu", "f32[2]"}})
      .node("higher_order.invoke_subgraph",
            {{"", reluGraph("relu").graphArg()},
             {"", arg("as_string", "\"block\"")},
             {"", tensorArg("relu")}},
            {{"getitem", "f32[2]"}})
      .output("getitem");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%relu = aten.neg(%x)"));
  EXPECT_TRUE(has(ir, "%relu_s1 = aten.relu(%relu)"));
  EXPECT_TRUE(has(ir, "joint.output %relu_s1"));
}

TEST(Checkpoint, WhatIsInsideGetsTheTagsOfAllAroundIt) {
  ExportText inner = reluGraph("b");
  ExportText outer;
  outer.input("x", "f32[2]")
      .node("aten.neg.default", {{"self", kX}}, {{"a", "f32[2]"}})
      .node("higher_order.tag_activation_checkpoint",
            {{"", inner.graphArg()},
             {"", tensorArg("a")},
             {"preserve_rng_state", arg("as_bool", "false")}},
            {{"c", "f32[2]"}})
      .node("aten.sin.default", {{"self", tensorArg("c")}}, {{"d", "f32[2]"}})
      .output("d");
  ExportText text;
  text.input("x", "f32[2]")
      .node("higher_order.tag_activation_checkpoint",
            {{"", outer.graphArg()},
             {"", kX},
             {"use_reentrant", arg("as_bool", "false")},
             {"early_stop", arg("as_bool", "false")}},
            {{"e", "f32[2]"}})
      .node("higher_order.tag_activation_checkpoint",
            {{"", reluGraph("f").graphArg()}, {"", tensorArg("e")}},
            {{"g", "f32[2]"}})
      .node("aten.cos.default", {{"self", tensorArg("g")}}, {{"h", "f32[2]"}})
      .output("h");
  std::string ir = importJson(text);
  auto policy = [](const std::string &region) {
    return "{joint.policy = #joint.policy<prefer_recompute, region = " +
           region + ">}";
  };
  EXPECT_TRUE(has(ir, "aten.neg(%x) " + policy("0"))) << ir;
  EXPECT_TRUE(has(ir, "aten.relu(%a) " + policy("[0, 0]")));
  EXPECT_TRUE(has(ir, "aten.sin(%c) " + policy("0")) ||
              has(ir, "aten.sin(%b) " + policy("0")));
  EXPECT_TRUE(has(ir, policy("1")));
  EXPECT_FALSE(has(ir, policy("2")));
  EXPECT_TRUE(has(ir, "joint.regions = {\"0\" = {early_stop = false}, "
                      "\"0.0\" = {preserve_rng = false}}"));
}

TEST(Effects, ACallOnATokenIsTheCallAlone) {
  ExportText text;
  text.declare("token", "f32[0]");
  text.rawInput(tensorArg("token"), R"({"token": {"arg": {"name": "token"}}})")
      .param("w", "p_w", "f32[2, 2]!")
      .node("aten.linalg_inv_ex.default", {{"A", tensorArg("p_w")}},
            {{"inverse", "f32[2, 2]"}, {"info", "i32[]"}})
      .node("higher_order.with_effects",
            {{"", tensorArg("token")},
             {"", arg("as_operator",
                      "\"torch.ops.aten._linalg_check_errors.default\"")},
             {"", tensorArg("info")},
             {"", arg("as_string", "\"linalg.inv\"")},
             {"is_matrix", arg("as_bool", "true")}},
            {{"token_1", "f32[0]"}, {"none", ""}})
      .rawOutput(tensorArg("token_1"),
                 R"({"token": {"arg": {"name": "token_1"}}})")
      .output("inverse");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "joint.graph @model(%p_w: tensor<2x2xf32>"));
  EXPECT_TRUE(has(ir, "aten._linalg_check_errors(%info, \"linalg.inv\", "
                      "is_matrix = true)"));
  EXPECT_TRUE(has(ir, "joint.output %inverse"));
}

TEST(AutocastRegion, OperandsAreCastAndWeightsOnce) {
  ExportText graph;
  graph.input("x", "f32[2, 4]").input("w", "f32[4, 4]");
  std::string w = tensorArg("w");
  graph
      .node("aten.linear.default", {{"input", kX}, {"weight", w}},
            {{"linear", "bf16[2, 4]"}})
      .node("aten.linear.default",
            {{"input", tensorArg("linear")}, {"weight", w}},
            {{"linear_1", "bf16[2, 4]"}})
      .node("aten.mse_loss.default",
            {{"self", tensorArg("linear_1")}, {"target", kX}},
            {{"mse_loss", "f32[]"}})
      .output("mse_loss");
  for (bool cache : {true, false}) {
    ExportText text;
    text.param("w", "p_w", "f32[4, 4]!").input("x", "f32[2, 4]");
    autocastCall(text, arg("as_scalar_type", "13"), true, cache, graph,
                 {{"", kX}, {"", tensorArg("p_w")}}, {{"out", "f32[]"}});
    text.output("out");
    std::string ir = importJson(text);
    EXPECT_TRUE(has(ir, "%x_bf16 = aten._to_copy(%x, dtype = bf16)"));
    EXPECT_TRUE(has(ir, "%linear = aten.linear(%x_bf16, %p_w_bf16)"));
    EXPECT_EQ(llvm::StringRef(ir).count("_to_copy(%p_w,"), cache ? 1u : 2u);
    EXPECT_TRUE(has(ir, "%linear_1_f32 = aten._to_copy(%linear_1, dtype = "
                        "f32)"));
    EXPECT_TRUE(has(ir, "aten.mse_loss(%linear_1_f32, %x)"));
  }
}

TEST(AutocastRegion, AnInnerRegionTurnsItOff) {
  ExportText inner;
  inner.input("x", "f32[2, 4]")
      .node("aten.mm.default", {{"self", kX}, {"mat2", tensorArg("w")}},
            {{"mm", "f32[2, 4]"}})
      .input("w", "f32[4, 4]")
      .output("mm");
  ExportText outer;
  outer.input("x", "f32[2, 4]").input("w", "f32[4, 4]");
  autocastCall(outer, arg("as_none", "true"), false, true, inner,
               {{"", kX}, {"", tensorArg("w")}}, {{"a", "f32[2, 4]"}});
  outer.node("aten.mm.default",
             {{"self", tensorArg("a")}, {"mat2", tensorArg("w")}},
             {{"mm_1", "bf16[2, 4]"}});
  outer.output("mm_1");
  ExportText text;
  text.input("x", "f32[2, 4]").input("w", "f32[4, 4]");
  autocastCall(text, arg("as_none", "true"), true, true, outer,
               {{"", kX}, {"", tensorArg("w")}}, {{"out", "bf16[2, 4]"}});
  text.output("out");
  std::string ir = importJson(text);
  EXPECT_TRUE(has(ir, "%mm = aten.mm(%x, %w)"));
  EXPECT_TRUE(has(ir, "%mm_1 = aten.mm(%mm_bf16, %w_bf16)"));
}

TEST(AutocastRegion, ACastWhereGradientsAreOffIsNotKeptForWhereTheyAreOn) {
  std::string w = tensorArg("w");
  ExportText silent;
  silent.input("x", "f32[2, 4]").input("w", "f32[4, 4]");
  silent
      .node("aten.mm.default", {{"self", kX}, {"mat2", w}},
            {{"mm", "bf16[2, 4]"}})
      .output("mm");
  ExportText graph;
  graph.input("x", "f32[2, 4]").input("w", "f32[4, 4]");
  graph
      .node(kGradMode,
            {{"", arg("as_bool", "false")},
             {"", silent.graphArg()},
             {"", kX},
             {"", w}},
            {{"a", "bf16[2, 4]"}})
      .node("aten.mm.default", {{"self", tensorArg("a")}, {"mat2", w}},
            {{"mm_1", "bf16[2, 4]"}})
      .output("mm_1");
  ExportText text;
  text.param("w", "p_w", "f32[4, 4]!").input("x", "f32[2, 4]");
  autocastCall(text, arg("as_scalar_type", "13"), true, true, graph,
               {{"", kX}, {"", tensorArg("p_w")}}, {{"out", "bf16[2, 4]"}});
  text.output("out");
  std::string ir = importJson(text);
  EXPECT_EQ(llvm::StringRef(ir).count("_to_copy(%p_w,"), 2u);
  EXPECT_TRUE(has(ir, "aten.mm(%mm_detached, %p_w_bf16_s1)"));
}

TEST(HigherOrder, ControlFlowIsRefusedByName) {
  ExportText text;
  text.input("x", "f32[2]")
      .node("higher_order.associative_scan",
            {{"", reluGraph("relu").graphArg()}, {"", kX}}, {{"out", "f32[2]"}},
            R"({"stack_trace": "File \"models.py\", line 9, in forward"})");
  text.output("out");
  EXPECT_TRUE(has(errorOf(text),
                  "'associative_scan' from models.py:9 cannot be "
                  "differentiated here | write it without "
                  "torch.associative_scan (a Python loop, say), and export the "
                  "model again"));
}

static ExportText branches(const ExportText::Named &args) {
  ExportText text;
  text.input("x", "f32[2]").input("p", "b8[]");
  text.node("higher_order.cond", args, {{"out", "f32[2]"}});
  return text.output("out");
}

TEST(HigherOrder, BranchesBecomeRegions) {
  std::string yes = reluGraph("relu").graphArg();
  std::string no = reluGraph("other").graphArg();
  std::string list = arg("as_tensors", R"([{"name": "x"}])");
  std::string ir = importJson(
      branches({{"", tensorArg("p")}, {"", yes}, {"", no}, {"", list}}));
  EXPECT_TRUE(has(ir, "%out = joint.nested \"higher_order.cond\"(%p, @"));
  EXPECT_EQ(llvm::StringRef(ir).count("aten.relu("), 2u);
  EXPECT_EQ(llvm::StringRef(ir).count("joint.return"), 2u);
}

TEST(HigherOrder, BranchesGiveWhatTheCallDeclares) {
  std::string yes = reluGraph("relu").graphArg();
  std::string list = arg("as_tensors", R"([{"name": "x"}])");
  ExportText::Named args = {
      {"", tensorArg("p")}, {"", yes}, {"", yes}, {"", list}};
  ExportText text;
  text.input("x", "f32[2]").input("p", "b8[]");
  text.node("higher_order.cond", args, {{"a", "f32[2]"}, {"b", "f32[2]"}});
  EXPECT_TRUE(has(errorOf(text.output("a")),
                  "is declared with 2 results, but its graphs give 1"));
}

TEST(HigherOrder, MisformedBranches) {
  std::string yes = reluGraph("relu").graphArg();
  std::string list = arg("as_tensors", R"([{"name": "x"}])");
  EXPECT_TRUE(has(errorOf(branches({{"", tensorArg("p")}, {"", yes}})),
                  "is not called as such calls are"));
  EXPECT_TRUE(has(errorOf(branches({{"", tensorArg("p")},
                                    {"", yes},
                                    {"", yes},
                                    {"", arg("as_tensors", "[]")}})),
                  "a graph of 1 inputs is called with 0"));
  EXPECT_TRUE(has(errorOf(branches({{"", tensorArg("p")},
                                    {"", yes},
                                    {"", yes},
                                    {"", arg("as_ints", "[1]")}})),
                  "a graph is called with a number or None | hand it over as a "
                  "tensor, or write it in the graph"));
  ExportText number;
  number.input("x", "f32[2]").rawOutput(arg("as_int", "3"), "{}");
  EXPECT_TRUE(has(errorOf(branches({{"", tensorArg("p")},
                                    {"", yes},
                                    {"", number.graphArg()},
                                    {"", list}})),
                  "a graph gives a number | let it give a tensor, and export "
                  "the model again"));
}

TEST(HigherOrder, MisformedRegions) {
  auto region = [](const ExportText::Named &args,
                   const char *target = kGradMode) {
    ExportText text;
    text.input("x", "f32[2]").node(target, args, {{"out", "f32[2]"}});
    return text.output("out");
  };
  auto flag = [](const char *value) { return arg("as_bool", value); };
  std::string graph = reluGraph("relu").graphArg();
  EXPECT_TRUE(has(errorOf(region({{"", flag("false")}, {"", kX}})),
                  "'torch.ops.higher_order.wrap_with_set_grad_enabled' has no "
                  "graph"));
  EXPECT_TRUE(has(errorOf(region({{"", graph}, {"", kX}})),
                  "does not say whether gradients are on"));
  EXPECT_TRUE(has(errorOf(region({{"", graph}, {"", kX}}, kAutocast)),
                  "does not say device, type, and whether it is on"));
  EXPECT_TRUE(has(errorOf(region({{"", flag("false")}, {"", graph}})),
                  "a graph of 1 inputs is called with 0"));
  ExportText two;
  two.input("x", "f32[2]").output("x").output("x");
  EXPECT_TRUE(has(
      errorOf(region({{"", flag("false")}, {"", two.graphArg()}, {"", kX}})),
      "'out' is declared with 1 results, but its graph has 2"));
  ExportText twice;
  twice.input("x", "f32[2]").rawInput(kX, "{}").output("x");
  EXPECT_TRUE(has(
      errorOf(region(
          {{"", flag("false")}, {"", twice.graphArg()}, {"", kX}, {"", kX}})),
      "'x' is defined twice"));
}

TEST(HigherOrder, GraphsNestSoDeepAndNoDeeper) {
  ExportText graph = reluGraph("relu");
  for (int i = 0; i < 40; ++i) {
    ExportText outer;
    outer.input("x", "f32[2]")
        .node("higher_order.invoke_subgraph",
              {{"", graph.graphArg()}, {"", kX}}, {{"out", "f32[2]"}})
        .output("out");
    graph = outer;
  }
  EXPECT_TRUE(has(errorOf(graph), "graphs nest deeper than 32 levels"));
}
