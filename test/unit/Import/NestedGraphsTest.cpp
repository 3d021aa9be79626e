// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs in graphs of a text: read in place of their calls, with names that
// say by which call, however deep; and what is wrong with such texts.

#include "ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

/// A class of a nested graph with `body`, indented by 4 * `level`.
std::string nestedClass(unsigned level, const std::string &name,
                        const std::string &parameters,
                        const std::string &body) {
  std::string indent(4 * level, ' ');
  return indent + "class " + name + "(torch.nn.Module):\n" + indent +
         "    def forward(self, " + parameters + "):\n" + body + "\n";
}

const char *const kX = "arg0_1: \"f32[2, 8][8, 1]cpu\"";

std::string call(const std::string &name, const std::string &graph,
                 const std::string &operands, const std::string &result,
                 const std::string &hop = "invoke_subgraph") {
  std::string id = hop == "invoke_subgraph" ? "'id', " : "";
  return "        " + graph + "_of_" + name + " = self." + graph +
         "\n        " + name + " = torch.ops.higher_order." + hop + "(" +
         graph + "_of_" + name + ", " + id + operands + ");  " + graph +
         "_of_" + name + " = None\n        " + result +
         ": \"f32[2, 8]\" = " + name + "[0];  " + name + " = None\n";
}

/// A joint graph with two equal regions and `classes` behind it.
std::string text(const std::string &classes, const std::string &calls) {
  return jointText(calls) + "\n" + classes;
}

std::string reluClass(unsigned level = 1, const std::string &name = "region0") {
  return nestedClass(level, name, kX,
                     "            # File: model.py:30 in block, code: relu\n"
                     "            relu: \"f32[2, 8][8, 1]cpu\" = "
                     "torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                     "            return (relu, None)");
}

std::string irOf(const std::string &input) {
  Imported in(input);
  EXPECT_TRUE(in.isGood && in.isValid) << in.errors();
  return in.isGood ? in.ir() : in.errors();
}

std::string errorOf(const std::string &input) {
  Imported in(input);
  EXPECT_FALSE(in.isGood);
  return in.errors();
}

} // namespace

/// What an op that chooses a graph at run time says of its graph, whose body
/// calls `op`: the name and a digest.
static std::string chosenGraph(const std::string &op,
                               const std::string &comment) {
  std::string ir =
      irOf(text(nestedClass(1, "region0", kX,
                            "            # " + comment +
                                "\n            relu = torch.ops.aten." + op +
                                ".default(arg0_1);  arg0_1 = None\n"
                                "            return (relu, None)"),
                call("first", "region0", "mm", "getitem", "cond")));
  size_t begin = ir.find("\"region0_of_first");
  return begin == std::string::npos
             ? ir
             : ir.substr(begin, ir.find('"', begin + 1) + 1 - begin);
}

TEST(NestedGraphs, ThatStayOpaqueAreToldApartByWhatTheyCompute) {
  std::string relu = chosenGraph("relu", "File: model.py:30");
  EXPECT_EQ(relu.size(), std::string("\"region0_of_first \"").size() + 16)
      << relu;
  EXPECT_EQ(relu, chosenGraph("relu", "File: model.py:31"));
  EXPECT_NE(relu, chosenGraph("sin", "File: model.py:30"));
}

TEST(NestedGraphs, AreReadInPlaceOfEachCall) {
  std::string ir = irOf(
      text(reluClass(), call("first", "region0", "mm", "getitem") +
                            call("second", "region0", "getitem", "getitem_1")));
  EXPECT_TRUE(has(ir, "%getitem = aten.relu(%mm)"));
  EXPECT_TRUE(has(ir, "%getitem_1 = aten.relu(%getitem)"));
  EXPECT_FALSE(has(ir, "joint.opaque"));
}

TEST(NestedGraphs, OfWrappersAreReadToo) {
  for (const char *hop :
       {"wrap", "wrap_activation_checkpoint", "tag_activation_checkpoint"}) {
    std::string ir =
        irOf(text(reluClass(), call("first", "region0", "mm", "x", hop)));
    EXPECT_TRUE(has(ir, "%x = aten.relu(%mm)")) << hop;
  }
}

TEST(NestedGraphs, AreLookedUpInTheGraphThatCalls) {
  // Both have a graph `inner`, and it is not the same.
  std::string first = nestedClass(1, "region0", kX,
                                  call("deep", "inner", "arg0_1", "getitem") +
                                      "        return (getitem,)") +
                      nestedClass(2, "inner", kX,
                                  "        sin: \"f32[2, 8]\" = "
                                  "torch.ops.aten.sin.default(arg0_1)\n"
                                  "        return (sin,)");
  std::string second = nestedClass(1, "region1", kX,
                                   call("deep", "inner", "arg0_1", "getitem") +
                                       "        return (getitem,)") +
                       nestedClass(2, "inner", kX,
                                   "        cos: \"f32[2, 8]\" = "
                                   "torch.ops.aten.cos.default(arg0_1)\n"
                                   "        return (cos,)");
  std::string ir =
      irOf(text(first + second, call("a", "region0", "mm", "x") +
                                    call("b", "region1", "x", "y")));
  EXPECT_TRUE(has(ir, "%x = aten.sin(%mm)"));
  EXPECT_TRUE(has(ir, "%y = aten.cos(%x)"));
}

TEST(NestedGraphs, KeepTuplesConstantsAndUnknownOpsApart) {
  std::string body =
      "        _tensor_constant0: \"f32[8]\" = self._tensor_constant0\n"
      "        max_1 = torch.ops.aten.max.dim(arg0_1, 1)\n"
      "        getitem: \"f32[2]\" = max_1[0]\n"
      "        odd = torch.ops.mine.odd.default(arg0_1)\n"
      "        getitem_1: \"f32[2, 8]\" = odd[0]\n"
      "        add: \"f32[2, 8]\" = torch.ops.aten.add.Tensor(getitem_1, "
      "_tensor_constant0)\n"
      "        return (add, getitem)";
  std::string ir = irOf(
      text(nestedClass(1, "region0", kX, body),
           call("a", "region0", "mm", "x") + call("b", "region0", "x", "y")));
  EXPECT_TRUE(has(ir, "%a._tensor_constant0"));
  EXPECT_TRUE(has(ir, "%b._tensor_constant0"));
  EXPECT_TRUE(has(ir, "%a.getitem:2 = aten.max.dim(%mm, 1) {joint.call = "
                      "\"a.max_1\"}"));
  EXPECT_TRUE(has(ir, "%a.getitem_1 = joint.opaque \"mine.odd.default\""));
  EXPECT_TRUE(has(ir, "%y = aten.add.Tensor(%b.getitem_1, "));
}

TEST(NestedGraphs, TakeAndGiveNone) {
  std::string graph = nestedClass(
      1, "region0", std::string(kX) + ", arg1_1, arg2_1",
      "        clamp: \"f32[2, 8]\" = torch.ops.aten.clamp.default(arg0_1, "
      "arg1_1, arg2_1)\n"
      "        return (clamp, None, arg1_1, arg0_1)");
  std::string ir =
      irOf(text(graph, call("a", "region0", "mm, None, 2.5", "x") +
                           "        y = a[1]\n        z: \"f32[2, 8]\" = a[3]\n"
                           "        w: \"f32[2, 8]\" = "
                           "torch.ops.aten.clamp.default(z, y, 1.5)\n"));
  EXPECT_TRUE(has(ir, "%x = aten.clamp(%mm, none, 2.500000e+00)")) << ir;
  EXPECT_TRUE(has(ir, "%w = aten.clamp(%mm, none, 1.500000e+00)")) << ir;
}

TEST(NestedGraphs, OfAForwardKeepTheNamesOfItsResults) {
  std::string graph = nestedClass(1, "region0", kX,
                                  "        sin: \"f32[2, 8]\" = "
                                  "torch.ops.aten.sin.default(arg0_1)\n"
                                  "        return (sin, arg0_1)");
  std::string ir = irOf("class GraphModule(torch.nn.Module):\n"
                        "    def forward(self, primals_1: \"f32[2, 8]\"):\n" +
                        call("a", "region0", "primals_1", "x") +
                        "        y: \"f32[2, 8]\" = a[1]\n"
                        "        return (x, y)\n\n" +
                        graph);
  EXPECT_TRUE(has(ir, "return %x, %arg0"));
  EXPECT_TRUE(has(ir, "joint.result_names = [\"x\", \"y\"]"));
}

TEST(NestedGraphs, ThatCannotBeReadAreNamed) {
  std::string once = call("a", "region0", "mm", "x");
  EXPECT_TRUE(has(errorOf(text("", once)),
                  "nested graph 'region0' is not in the text | the text is cut "
                  "or edited"));
  EXPECT_TRUE(
      has(errorOf(text(reluClass(), call("a", "region0", "mm, mm", "x"))),
          "a nested graph of 1 inputs is called with 2"));
  EXPECT_TRUE(
      has(errorOf(text(reluClass(), once + "        y: \"f32[2]\" = a[2]\n")),
          "element 2 of a nested graph with 2 results"));
  EXPECT_TRUE(
      has(errorOf(text(reluClass(), once + "        y: \"f32[2]\" = a[0]\n")),
          "'y' is declared as tensor<2xf32>, but the nested graph "
          "gives tensor<2x8xf32>"));
  EXPECT_TRUE(has(
      errorOf(text(reluClass(), "        t_1: \"f32[8, 2]\" = "
                                "torch.ops.aten.permute.default(mm, [1, 0])\n" +
                                    call("a", "region0", "t_1", "x"))),
      "'arg0_1' is declared as tensor<2x8xf32>, but its caller "
      "gives tensor<8x2xf32>"));
  EXPECT_TRUE(
      has(errorOf(text(reluClass(), "        a = torch.ops.higher_order."
                                    "invoke_subgraph(mm, 'id', mm)\n")),
          "'higher_order.invoke_subgraph' is not called with a graph"));
  EXPECT_TRUE(
      has(errorOf(text(reluClass(), "        g = self.region0\n"
                                    "        a = torch.ops.higher_order."
                                    "wrap(g, other = mm)\n")),
          "'higher_order.wrap' hands a value to its graph by name | "
          "hand it over by position and dump the graph again"));
  EXPECT_TRUE(has(
      errorOf(text(nestedClass(1, "region0", kX, "        return (arg0_1, 7)"),
                   once)),
      "nested graph 'region0' gives the number '7' | only values "
      "are read from nested graphs; dump the graph again without them"));
  EXPECT_TRUE(has(errorOf(text("    class region0(torch.nn.Module):\n", once)),
                  "there is no 'def forward(' in this nested graph"));
}

TEST(NestedGraphs, ThatGrowWithoutEndAreRefused) {
  // Each level calls the next one twice.
  std::string classes;
  for (unsigned level = 1; level <= 31; ++level)
    classes +=
        nestedClass(level, "region0", kX,
                    call("a", "region0", "arg0_1", "x") +
                        call("b", "region0", "x", "y") + "        return (y,)");
  classes += reluClass(32);
  EXPECT_TRUE(has(errorOf(text(classes, call("a", "region0", "mm", "x"))),
                  "nested graphs call each other so often that the whole is "));
  classes.clear();
  for (unsigned level = 1; level <= 33; ++level)
    classes += nestedClass(level, "region0", kX,
                           call("a", "region0", "arg0_1", "x") +
                               "        return (x,)");
  EXPECT_TRUE(has(errorOf(text(classes, call("a", "region0", "mm", "x"))),
                  "graphs nest deeper than 32 levels"));
}
