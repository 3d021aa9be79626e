// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every message of the import of a graph, with the place it names.

#include "ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

/// One wrong statement behind the product of jointText: line 14.
struct Case {
  const char *statement;
  const char *error; ///< what the diagnostic holds, with "LINE:COL: "
};

/// What a contradiction is, and not taken as declared (DeclaredCallsTest.cpp).
ImportOptions strict() {
  ImportOptions options;
  options.strict = true;
  return options;
}

void expectErrors(llvm::ArrayRef<Case> cases) {
  for (const Case &wrong : cases) {
    Imported in(jointText(std::string("        ") + wrong.statement + "\n"),
                strict());
    EXPECT_FALSE(in.isGood) << wrong.statement;
    EXPECT_EQ(in.diagnostics.size(), 1u) << wrong.statement;
    EXPECT_TRUE(has(in.errors(), wrong.error)) << wrong.statement;
    EXPECT_TRUE(has(in.errors(), " | ")) << "no next step: " << wrong.error;
  }
}

void expectError(const std::string &text, const std::string &error) {
  Imported in(text, strict());
  EXPECT_FALSE(in.isGood) << text;
  EXPECT_TRUE(has(in.errors(), error)) << text;
  EXPECT_TRUE(has(in.errors(), " | ")) << "no next step: " << error;
}

} // namespace

TEST(ImportErrors, OfArguments) {
  expectErrors(
      {{"x = torch.ops.aten.sum.default(dtype = None, mm)",
        "14:54: a positional argument follows keyword 'dtype'"},
       {"x = torch.ops.aten.sin.default(mm mm)",
        "14:43: expected ',' or ')' in an argument list"},
       {"x = torch.ops.mylib.f.default('mm)",
        "14:39: this string does not end"},
       {"x = torch.ops.aten.sin.default(*mm)", "14:40: expected an argument"},
       {"x = torch.ops.aten.sin.default(99999999999999999999)",
        "14:40: number '99999999999999999999' does not read, or does not fit "
        "64 bits"},
       {"x = torch.ops.aten.sin.default(torch.quint4x2)",
        "'torch.quint4x2' is not an argument that a graph can have | known are "
        "dtypes, layouts, memory formats and operators of torch.ops"},
       {"x = torch.ops.aten.sin.default(float('inf'))",
        "14:40: 'float' is not an argument that a graph can have | known calls "
        "in arguments are slice() and device()"},
       {"x = torch.ops.mylib.f.default([mm", "expected ',' or ']' in a list"},
       {"x = torch.ops.mylib.f.default({'a' mm})",
        "expected ':' in a dictionary"},
       {"x = torch.ops.mylib.f.default({'a': mm mm})",
        "expected ',' or '}' in a dictionary"},
       {"x = torch.ops.mylib.f.default(device(kind='cuda'))",
        "this device does not read | expected device(type='cuda', index=0)"},
       {"x = torch.ops.aten.sin.default(primals)",
        "'primals' is not one value | a call with several results is used "
        "through NAME[INDEX]"}});
  std::string deep(40, '['), braces;
  for (int i = 0; i < 40; ++i)
    braces += "{'a': ";
  expectErrors({{("x = torch.ops.mylib.f.default(" + deep + ")").c_str(),
                 "lists nest deeper than 16 levels"}});
  expectErrors({{("x = torch.ops.mylib.f.default(" + braces + ")").c_str(),
                 "dictionaries nest deeper than 16 levels"}});
}

TEST(ImportErrors, OfConstantsAndNestedGraphs) {
  expectError(
      jointText(
          "        _tensor_constant0 = self._tensor_constant0\n        add: "
          "\"f32[2, 8]\" = torch.ops.aten.add.Tensor(mm, _tensor_constant0)\n"),
      "15:58: the type of constant '_tensor_constant0' is not known | older "
      "texts do not say it; it is known where the first use is "
      "lift_fresh_copy, clone or detach");
  expectError(jointText("        body_0 = self.body_0\n        x = "
                        "torch.ops.aten.sin.default(body_0)\n"),
              "15:40: this is not an argument for parameter 'self' of "
              "aten.sin");
  expectErrors(
      {{"x: \"DTensor(f32[2, 8])\" = torch.ops.aten.sin.default(mm)",
        "type 'DTensor(f32[2, 8])' is not a plain tensor | distributed "
        "tensors are not read: dump the graph of one rank below "
        "them"}});
  expectErrors({{"x = self.body_0(mm)",
                 "14:13: 'self.body_0' is a nested graph, which is not read"}});
}

TEST(ImportErrors, OfCalls) {
  expectErrors(
      {{"x: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm, 1)",
        "14:57: aten.sin takes at most 1 arguments, and there are 2"},
       {"x: \"f32[]\" = torch.ops.aten.sum.default(mm, keepdim = True)",
        "aten.sum has no parameter 'keepdim'"},
       {"x: \"f32[]\" = torch.ops.aten.sum.default(mm, dtype = None, dtype = "
        "None)",
        "aten.sum is given twice its parameter 'dtype'"},
       {"x: \"f32[2, 8]\" = torch.ops.aten.mul.Tensor(mm)",
        "aten.mul lacks its argument 'other'"},
       {"x: \"f32[2, 8]\" = torch.ops.aten.permute.default(mm, 'no')",
        "14:61: this is not an argument for parameter 'dims' of aten.permute"},
       {"x: \"f32[8]\" = torch.ops.aten.view.default(mm, [mm])",
        "aten.view takes no value of type tensor<2x8xf32> for its parameter "
        "'size'"},
       {"x: \"f32[2, 8]\" = torch.ops.aten.mm.default(mm, mm)",
        "14:26: this call does not type: aten.mm: "},
       {"add_ = torch.ops.aten.add_.Tensor(mm, 1)",
        "'aten.add_.Tensor' changes its operand in place | functionalize the "
        "graph before dumping it: AOTAutograd and run_decompositions() do; "
        "only copy_ onto an input may stay"},
       {"x = torch.ops.mylib.step_.default(mm)",
        "'mylib.step_.default' changes its operand in place"},
       {"x = torch._C._nn.linear(mm, mm)",
        "14:13: 'torch._C._nn.linear' is not a call that an ATen graph has | "
        "this looks like a graph before AOTAutograd"},
       {"x = mm @ mm",
        "'operator.matmul' is not a call that an ATen graph has"}});
}

TEST(ImportErrors, OfTypesThatContradict) {
  expectErrors(
      {{"x: \"f32[2, 9]\" = torch.ops.aten.sin.default(mm)",
        "14:13: 'x' is declared as tensor<2x9xf32>, but aten.sin gives "
        "tensor<2x8xf32> | the text was edited"},
       {"x: \"f16[2, 8]\" = torch.ops.aten.sin.default(mm)",
        "'x' is declared as tensor<2x8xf16>, but aten.sin gives"},
       {"x: \"Sym(s0)\" = torch.ops.aten.sin.default(mm)",
        "'x' is declared as index, but aten.sin gives tensor<2x8xf32>"},
       {"x: \"f32[]\" = torch.ops.aten.sym_size.int(mm, 0)",
        "'x' is declared as tensor<f32>, but aten.sym_size gives index"}});
  expectError(jointText("        split = torch.ops.aten.split.Tensor(mm, 4, "
                        "1)\n        a: \"f32[2, 3]\" = split[0]\n"),
              "15:13: 'a' is declared as tensor<2x3xf32>, but aten.split gives "
              "tensor<2x4xf32>");
}

TEST(ImportErrors, OfTuples) {
  expectErrors(
      {{"x: \"f32[8]\" = mm[0]",
        "14:23: 'mm' has no elements that can be taken | an ATen graph takes "
        "elements of calls with several results only"},
       {"x = nobody[0]", "14:13: 'nobody' is not defined before its use"}});
  expectError(jointText("        split = torch.ops.aten.split.Tensor(mm, 4, "
                        "1)\n        a: \"f32[2, 3]\" = split[2]\n"),
              "15:13: 'a' is element 2 of 'split', but aten.split gives 2 "
              "tensors");
  expectError(jointText("        split = torch.ops.aten.split.Tensor(mm, 4, "
                        "1)\n        a: \"f32[2, 3]\" = split[-1]\n"),
              "'split' has no elements that can be taken");
  expectErrors({{"x = mm[slice(None, 1, None)]",
                 "expected the number of an element of 'mm' | an ATen graph "
                 "takes elements of calls with several results only; dump "
                 "aot_joint_graph instead of the Dynamo graph"}});
  std::string splits = "        full: \"i64[65536]\" = "
                       "torch.ops.aten.full.default([65536], 0)\n";
  for (int i = 0; i < 4; ++i)
    splits += "        split" + std::to_string(i) +
              " = torch.ops.aten.split.Tensor(full, 1)\n";
  expectError(jointText(splits),
              "calls give more results than a text of this length can use");
}

TEST(ImportErrors, OfWritesAndChecks) {
  expectErrors(
      {{"copy_: \"f32[2, 8]\" = torch.ops.aten.copy_.default(mm, mm)",
        "14:30: copy_ writes to something that is no input of the graph | "
        "functionalize the graph before dumping it: AOTAutograd and "
        "run_decompositions() do"},
       {"copy_: \"f32[2, 4]\" = torch.ops.aten.copy_.default(primals_2, mm)",
        "copy_ writes a value of type tensor<2x8xf32> to an input of type "
        "tensor<2x4xf32>"},
       {"x = torch.ops.aten._assert_async.msg('no', 'message')",
        "a check takes a condition and a message"}});
}

TEST(ImportErrors, OfStatements) {
  expectErrors({{"x: f32", "14:12: expected a type in quotes"},
                {"+", "14:9: expected a statement"},
                {"x y", "14:11: expected ':', ',' or '=' behind 'x'"},
                {"x: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm) mm",
                 "expected the end of the statement"},
                {"x = mm", "14:13: expected a call or an operation on sizes"},
                {"mm: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm)",
                 "14:9: 'mm' is defined twice | its first definition is in "
                 "line 13, column 9; a graph defines each name once"},
                {"primals_1, = fx_pytree",
                 "expected the 3 inputs that were declared, and '='"},
                {"mm, t, = fx_pytree",
                 "14:9: 'mm' is not input number 0 that was declared | each "
                 "input is declared once, in order, before this line"}});
  expectError("def forward(self, arg0_1: \"f32[2]\"):\n    x: \"f32[2]\"\n",
              "2:5: 'x' has a type and no value");
  expectError(jointText("").substr(0, 700),
              "the text ends before the graph's return statement");
}

TEST(ImportErrors, OfHeaders) {
  expectError("class inner_f(torch.nn.Module):\n    pass\n",
              "1:1: there is no 'def forward(' in this text");
  expectError("def forward(self, 1):\n", "1:19: expected a parameter or ')'");
  expectError("def forward(self, x: f32):\n",
              "1:22: expected a type in quotes");
  expectError("def forward(self, x: \"f32[2]\" y):\n",
              "expected ',' or ')' behind a parameter");
  expectError("def forward(self, x: \"f32[2]\", x: \"f32[2]\"):\n",
              "'x' is defined twice");
}

TEST(ImportErrors, OfAnnotations) {
  expectErrors(
      {{"x: \"f32[99999999999999999999]\" = torch.ops.aten.sin.default(mm)",
        "14:13: size 99999999999999999999 does not fit 64 bits"},
       {"x: \"f32[-2]\" = torch.ops.aten.sin.default(mm)",
        "size -2 is negative | an annotation is an element type with sizes, "
        "like 'f32[8, s0][s0, 1]cpu', or 'Sym(s0)'"},
       {"x: \"DTensor(f32[2])\" = torch.ops.aten.sin.default(mm)",
        "type 'DTensor(f32[2])' is not a plain tensor"},
       {"x: \"f32[2, 8\" = torch.ops.aten.sin.default(mm)",
        "sizes and strides of type 'f32[2, 8' do not read"},
       {"x: \"f32[2, 8][1]\" = torch.ops.aten.sin.default(mm)",
        "sizes and strides of type 'f32[2, 8][1]' do not read"},
       {"x: \"f32[2,, 8]\" = torch.ops.aten.sin.default(mm)",
        "sizes and strides of type 'f32[2,, 8]' do not read"},
       {"x: \"f32[4294967296, 4294967296]\" = torch.ops.aten.sin.default(mm)",
        "has more bytes than fit 64 bits"}});
  expectError(jointText("        two = torch.ops.mylib.two.default(mm)\n       "
                        " a: \"q8[1]\" = two[0]\n"),
              "15:13: type 'q8[1]' is not a plain tensor");
}

TEST(ImportErrors, OfResults) {
  auto results = [](const char *text) {
    return jointText("", std::string("            ") + text + "\n");
  };
  expectError(results("mm mm"),
              "15:16: expected ',' or ']' in the graph's results");
  expectError(results("*"), "15:13: expected a result of the graph");
  expectError(results("primals"),
              "15:13: result 'primals' is not one value of known type");
  expectError(results("who"), "15:13: 'who' is not defined before its use");
  expectError(
      results(std::string(40, '[').c_str()),
      "results nest deeper than 16 levels | return a flat list of results");
  expectError(
      results("mm,  # PlainAOTOutput(idx=0)\n mm,  # "
              "GradAOTOutput(grad_of=PlainAOTInput(idx=7))"),
      "this is the gradient of 'PlainAOTInput(idx=7)', which is no input");
}

TEST(ImportErrors, OfRoles) {
  auto results = [](const char *text) {
    return jointText("        mul: \"f32[2, 8]\" = "
                     "torch.ops.aten.mul.Tensor(mm, tangents_1)\n",
                     text);
  };
  expectError(
      results("mm, mm, 4"),
      "16:9: the gradient of 'primals_2' is a number, not a value | forward "
      "results come first; --forward-outputs=N says how many there are");
  expectError(results("mm"),
              "16:1: the graph returns 1 values for 2 inputs, -1 of them "
              "forward results | a joint graph returns its forward results and "
              "then one gradient or None for each input; --forward-outputs=N "
              "says how many results are forward");
  expectError(
      results("mul, None, None"),
      "16:1: forward result 'mul' depends on a tangent | the first 1 results "
      "were taken as the forward's; --forward-outputs=N says how many are");
  expectError(results("mm, None, mm"),
              "16:11: 'mm' of type tensor<2x8xf32> is the gradient of input "
              "'primals_2' of type tensor<2x4xf32> | gradients come behind the "
              "forward results, one for each input; --forward-outputs=N says "
              "how many results are forward");
  expectError(results("mm,  # PlainAOTOutput(idx=0)\nprimals_2,  # "
                      "GradAOTOutput(grad_of=PlainAOTInput(idx=0))\nprimals_2, "
                      " # GradAOTOutput(grad_of=PlainAOTInput(idx=0))\n"),
              "input 'primals_2' has two gradients");
  ImportOptions options;
  options.forwardOutputs = 7;
  Imported in(jointText(""), options);
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(),
                  "returns 3 values for 2 inputs, 7 of them forward results"));
  options.forwardOutputs = -1;
  EXPECT_FALSE(Imported(jointText(""), options).isGood);
}
