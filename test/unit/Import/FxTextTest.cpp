// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FX text in all its forms becomes the IR that it says.

#include "ImportTestSupport.h"

#include "mlir/Parser/Parser.h"

using namespace cutback;
using namespace cutback::test;

TEST(FxText, ReadsTodaysForm) {
  Imported in(jointText(
      "        mul: \"f32[2, 8][8, 1]cpu\" = "
      "torch.ops.aten.mul.Tensor(tangents_1, 0.5);  tangents_1 = None\n"
      "        t_1: \"f32[8, 2][1, 8]cpu\" = "
      "torch.ops.aten.permute.default(mul, [1, 0]);  mul = None\n"
      "        mm_1: \"f32[8, 4][4, 1]cpu\" = "
      "torch.ops.aten.mm.default(t_1, primals_2);  t_1 = primals_2 = None\n",
      "            mm,  # PlainAOTOutput(idx=0)\n"
      "            mm_1,  # GradAOTOutput(grad_of="
      "ParamAOTInput(target='fc.weight'))\n"
      "            None,  # None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_EQ(in.module.format, InputFormat::FxText);
  EXPECT_EQ(in.module.info.kind, GraphKind::Joint);
  EXPECT_EQ(in.module.counts.ops, 5u);
  EXPECT_EQ(in.module.counts.arguments, 3u);
  EXPECT_TRUE(in.module.counts.opaque.empty());
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%primals_1: tensor<8x4xf32> {joint.role = "
                      "#joint.role<param \"fc.weight\">}"));
  EXPECT_TRUE(has(ir, "%primals_2: tensor<2x4xf32> {joint.role = "
                      "#joint.role<input>}"));
  EXPECT_TRUE(has(ir, "%tangents_1: tensor<2x8xf32> {joint.role = "
                      "#joint.role<tangent of 0>}"));
  EXPECT_TRUE(has(ir, "-> (tensor<2x8xf32>) gradients (tensor<8x4xf32>)"));
  EXPECT_TRUE(has(ir, "%t = aten.permute(%primals_1, [1, 0]) {joint.strides = "
                      "array<i64: 1, 4>}"));
  EXPECT_TRUE(has(ir, "%mul = aten.mul.Tensor(%tangents_1, 5.000000e-01)"));
  EXPECT_TRUE(has(ir, "joint.output %mm gradients(%mm_1 of 0)"));
}

TEST(FxText, PlacesAreThoseOfTheModel) {
  Imported in(jointText(""));
  ASSERT_TRUE(in.isGood) << in.errors();
  mlir::Operation &first = in.module.graph.getBlock().front();
  auto name = mlir::dyn_cast<mlir::NameLoc>(first.getLoc());
  ASSERT_TRUE(name);
  EXPECT_EQ(name.getName(), "forward");
  auto place = mlir::dyn_cast<mlir::FileLineColLoc>(name.getChildLoc());
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getFilename(), "model.py");
  EXPECT_EQ(place.getLine(), 7u);
}

TEST(FxText, ArgumentsLieWhereTheyAreDeclared) {
  Imported in(jointText("        _tensor_constant0: \"i64[][]cpu\" = "
                        "self._tensor_constant0\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  std::vector<std::pair<unsigned, unsigned>> places;
  for (mlir::BlockArgument argument :
       in.module.graph.getBody().getArguments()) {
    auto place = mlir::dyn_cast<mlir::FileLineColLoc>(argument.getLoc());
    ASSERT_TRUE(place);
    places.emplace_back(place.getLine(), place.getColumn());
  }
  EXPECT_EQ(places, (std::vector<std::pair<unsigned, unsigned>>{
                        {7, 9}, {8, 9}, {9, 9}, {14, 9}}));
}

TEST(FxText, OpsWithoutAPlaceLieWhereTheGraphBegins) {
  Imported in(jointText(
      "        # No stacktrace found for following nodes\n"
      "        sin: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  mlir::Operation *sin =
      in.module.graph.getBlock().getTerminator()->getPrevNode();
  auto place = mlir::dyn_cast<mlir::FileLineColLoc>(sin->getLoc());
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getFilename(), "in.txt");
}

TEST(FxText, ReadsTheFormOf2023) {
  Imported in("from __future__ import annotations\n\n\n\n"
              "def forward(self, primals, tangents):\n"
              "    primals_1: \"f32[8, 4]\"; primals_2: \"f32[2, 4]\"; "
              "tangents_1: \"f32[2, 8]\"; \n\n"
              "    primals_1, primals_2, tangents_1, = "
              "fx_pytree.tree_flatten_spec([primals, tangents], "
              "self._in_spec)\n"
              "    # File: /home/user/m.py:843, code: x = self.fc(x)\n"
              "    t: \"f32[4, 8]\" = torch.ops.aten.permute.default(primals_1,"
              " [1, 0]);  primals_1 = None\n"
              "    mm: \"f32[2, 8]\" = torch.ops.aten.mm.default(primals_2, "
              "t);  primals_2 = t = None\n"
              "    return pytree.tree_unflatten([mm, None, None], "
              "self._out_spec)\n    ");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid);
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%primals_1: tensor<8x4xf32> {joint.role = "
                      "#joint.role<input>}"));
  EXPECT_TRUE(has(ir, "#joint.role<tangent of 0>"));
  auto place = in.module.graph.getBlock()
                   .front()
                   .getLoc()
                   ->findInstanceOf<mlir::FileLineColLoc>();
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getLine(), 843u);
}

TEST(FxText, TokensOfOpsWithEffectsHaveNoGradient) {
  Imported in("===== Joint graph 0 =====\n"
              "def forward(self, primals_1: \"f32[0]\",  # "
              "ForwardTokenAOTInput(idx=0)\n"
              "            primals_2: \"f32[4]\",  # PlainAOTInput(idx=0)\n"
              "            tangents_1: \"f32[4]\",  # TangentAOTInput(output="
              "PlainAOTOutput(idx=0))\n"
              "            ):\n"
              "    sin: \"f32[4]\" = torch.ops.aten.sin.default(primals_2)\n"
              "    g: \"f32[4]\" = torch.ops.aten.neg.default(tangents_1)\n"
              "    return [primals_1, sin, g]\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "joint.output %primals_1, %sin gradients(%g of 1)"))
      << in.ir();
}

static std::string tokenText(const std::string &input,
                             const std::string &gradient) {
  return "===== Joint graph 0 =====\n"
         "def forward(self, primals_1: \"f32[4]\",  # PlainAOTInput(idx=0)\n"
         "            tangents_1: \"f32[4]\",  # TangentAOTInput(output="
         "PlainAOTOutput(idx=0))\n"
         "            tangents_token: \"f32[0]\",  # " +
         input +
         "\n            ):\n"
         "    sin: \"f32[4]\" = torch.ops.aten.sin.default(primals_1)\n"
         "    neg: \"f32[4]\" = torch.ops.aten.neg.default(tangents_1)\n"
         "    next: \"f32[0]\" = torch.ops.aten.clone.default("
         "tangents_token)\n"
         "    return [\n        sin,  # PlainAOTOutput(idx=0)\n        neg,  "
         "# " +
         gradient + "\n        next,  # BackwardTokenAOTOutput(idx=0)\n    ]\n";
}

TEST(FxText, ATokenOfTheBackwardIsWrittenBack) {
  for (std::string gradient :
       {"GradAOTOutput(grad_of=PlainAOTInput(idx=0))", "SomethingElse()"}) {
    Imported in(tokenText("BackwardTokenAOTInput(idx=0)", gradient));
    ASSERT_TRUE(in.isGood && in.isValid) << in.errors();
    EXPECT_TRUE(has(in.ir(), "joint.write %tangents_token, %next {side = "
                             "#joint.side<backward>}"));
    EXPECT_TRUE(has(in.ir(), "joint.output %sin gradients(%neg of 0)"));
  }
  Imported in(tokenText("BackwardTokenAOTInput(idx=1)",
                        "GradAOTOutput(grad_of=PlainAOTInput(idx=0))"));
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(), "this is the value of a token that no input "
                               "has"));
}

TEST(FxText, GradientsWithoutDescriptorsFollowTheForwardResults) {
  std::string text =
      "def forward(self, primals, tangents):\n"
      "    primals_1: \"f32[4]\"; primals_2: \"i64[4]\"; primals_3: \"f32[4]\";"
      " tangents_1: \"f32[4]\"; tangents_2: \"f32[4]\"; \n"
      "    primals_1, primals_2, primals_3, tangents_1, tangents_2, = "
      "fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
      "    mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(primals_1, primals_3)\n"
      "    neg: \"i64[4]\" = torch.ops.aten.neg.default(primals_2)\n"
      "    sin: \"f32[4]\" = torch.ops.aten.sin.default(mul)\n"
      "    g: \"f32[4]\" = torch.ops.aten.mul.Tensor(tangents_1, tangents_2)\n"
      "    return [mul, neg, sin, None, None, g]\n";
  Imported in(text);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid);
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%tangents_1: tensor<4xf32> {joint.role = "
                      "#joint.role<tangent of 0>}"));
  EXPECT_TRUE(has(ir, "%tangents_2: tensor<4xf32> {joint.role = "
                      "#joint.role<tangent of 2>}"));
  EXPECT_TRUE(has(ir, "joint.output %mul, %neg, %sin gradients(%g of 2)"));

  ImportOptions options;
  options.forwardOutputs = 5;
  Imported other(text, options);
  ASSERT_TRUE(other.isGood) << other.errors();
  EXPECT_TRUE(has(other.ir(), "joint.output %mul, %neg, %sin gradients(%g of "
                              "0)"));
}

TEST(FxText, TuplesHaveOneResultEachAndNoGetitem) {
  Imported in(jointText(
      "        var_mean = torch.ops.aten.var_mean.correction(mm, [1], "
      "correction = 0, keepdim = True)\n"
      "        getitem: \"f32[2, 1][1, 1]cpu\" = var_mean[0]\n"
      "        add: \"f32[2, 1]\" = torch.ops.aten.add.Tensor(getitem, 1e-05)\n"
      "        split = torch.ops.aten.split.Tensor(mm, 4, 1);  mm = None\n"
      "        getitem_3: \"f32[2, 4][8, 1]cpu\" = split[1];  split = None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid);
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "aten.var_mean.correction(%mm, [1], correction = 0, "
                      "keepdim = true) {joint.call = \"var_mean\"}"));
  EXPECT_TRUE(has(ir, "aten.add.Tensor(%getitem#0, 1.000000e-05)"));
  EXPECT_TRUE(has(ir, "{joint.call = \"split\", joint.strides = [unit, "
                      "array<i64: 8, 1>]}"));
  EXPECT_FALSE(has(ir, "aten.getitem"));
  mlir::Operation *split =
      in.module.graph.getBlock().getTerminator()->getPrevNode();
  auto names = split->getAttrOfType<mlir::ArrayAttr>("names");
  ASSERT_TRUE(names && names.size() == 2);
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(names[0]).getValue(), "");
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(names[1]).getValue(), "getitem_3");
}

TEST(FxText, TagsBecomePolicies) {
  Imported in(jointText(
      "        # ac_graph_id: 3 - PREFER_RECOMPUTE File: model.py:9 in "
      "<lambda>,"
      " code: x\n"
      "        a: \"f32[2, 8]\" = torch.ops.aten.sin.default(mm)\n"
      "        # ac_graph_id: 4 - MUST_SAVE File: model.py:9 in f, code: x\n"
      "        b: \"f32[2, 8]\" = torch.ops.aten.sin.default(a)\n"
      "        # recompute: PREFER_SAVE File: model.py:9 in f, code: x\n"
      "        c: \"f32[2, 8]\" = torch.ops.aten.sin.default(b)\n"
      "        # Annotation: {'a': 1} # recompute: MUST_RECOMPUTE\n"
      "        d: \"f32[2, 8]\" = torch.ops.aten.sin.default(c)\n"
      "        # ac_graph_id: 5 File: model.py:9 in f, code: MUST_SAVE\n"
      "        e: \"f32[2, 8]\" = torch.ops.aten.sin.default(d)\n"
      "        # File: model.py:10 in f, code: x # recompute: MUST_SAVE\n"
      "        f: \"f32[2, 8]\" = torch.ops.aten.sin.default(e)\n"
      "        # Annotation: {'s': {'t': '}'}} ac_graph_id: 6 - MUST_SAVE "
      "File: "
      "model.py:9 in f, code: x\n"
      "        g: \"f32[2, 8]\" = torch.ops.aten.sin.default(f)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%a = aten.sin(%mm) {joint.policy = "
                      "#joint.policy<prefer_recompute, region = 3>}"));
  EXPECT_TRUE(has(ir, "%b = aten.sin(%a) {joint.policy = "
                      "#joint.policy<must_save, region = 4>}"));
  EXPECT_TRUE(has(ir, "%c = aten.sin(%b) {joint.policy = "
                      "#joint.policy<prefer_save>}"));
  EXPECT_TRUE(has(ir, "%d = aten.sin(%c) {joint.policy = "
                      "#joint.policy<must_recompute>}"));
  EXPECT_TRUE(has(ir, "%e = aten.sin(%d) :"));
  EXPECT_TRUE(has(ir, "%f = aten.sin(%e) :"));
  EXPECT_TRUE(has(ir, "%g = aten.sin(%f) {joint.policy = "
                      "#joint.policy<must_save, region = 6>}"));
}

TEST(FxText, WritesAndChecksKeepTheirPlace) {
  Imported in(jointText(
      "        gt: \"b8[2, 8]\" = torch.ops.aten.gt.Scalar(mm, 0)\n"
      "        any_1: \"b8[]\" = torch.ops.aten.any.default(gt)\n"
      "        _assert_async = torch.ops.aten._assert_async.msg(any_1, "
      "'it\\'s wrong');  any_1 = _assert_async = None\n"
      "        _pipe_split = torch.ops.pippy._pipe_split.default();  "
      "_pipe_split = None\n"
      "        _assert_tensor_metadata = "
      "torch.ops.aten._assert_tensor_metadata.default(mm, dtype = "
      "torch.float32, device = device(type='cpu'), layout = torch.strided)\n"
      "        sin: \"f32[2, 4]\" = torch.ops.aten.sin.default(primals_2)\n"
      "        copy_: \"f32[2, 4]\" = torch.ops.aten.copy_.default(primals_2, "
      "sin)\n"
      "        mm_1: \"f32[2, 4]\" = torch.ops.aten.mm.default(tangents_1, "
      "primals_1)\n"
      "        copy__1: \"f32[2, 4]\" = torch.ops.aten.copy_.default(primals_2,"
      " mm_1);  copy__1 = None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "joint.assert %any_1, \"it's wrong\" {callee = "
                      "\"aten._assert_async.msg\", joint.call = "
                      "\"_assert_async\"}"));
  EXPECT_TRUE(has(ir, "%copy_ = joint.write %primals_2, %sin :"));
  EXPECT_TRUE(has(ir, "%copy__1 = joint.write %primals_2, %mm_1 {side"));
  EXPECT_TRUE(has(ir, "aten.pipe_split() {joint.call = \"_pipe_split\"}"));
  EXPECT_TRUE(has(ir, "aten._assert_tensor_metadata(%mm, none, none, "));
}

TEST(FxText, APartOfASubclassIsWhatTheWholeIs) {
  Imported in("def forward(self, primals, tangents):\n"
              "    primals_1: \"f32[4][1]cpu\"  # SubclassGetAttrAOTInput("
              "base=PlainAOTInput(idx=0), attr='a')\n"
              "    tangents_1: \"f32[4][1]cpu\"  # SubclassGetAttrAOTInput("
              "base=TangentAOTInput(output=PlainAOTOutput(idx=0)), attr='a')\n"
              "    primals_1, tangents_1, = fx_pytree.tree_flatten_spec("
              "[primals, tangents], self._in_spec)\n"
              "    sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default("
              "primals_1)\n"
              "    mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor("
              "tangents_1, sin)\n"
              "    return (sin, mul)\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%tangents_1: tensor<4xf32> {joint.role = "
                      "#joint.role<tangent of 0>}"))
      << ir;
  EXPECT_TRUE(has(ir, "%primals_1: tensor<4xf32> {joint.role = "
                      "#joint.role<input>}"))
      << ir;
}

TEST(FxText, SizesAreValues) {
  Imported in("def forward(self, primals, tangents):\n"
              "    primals_1: \"Sym(s95)\"  # PlainAOTInput(idx=0)\n"
              "    primals_2: \"f32[s95, s7 + 1][s7 + 1, 1]cuda:0\"  # "
              "PlainAOTInput(idx=1)\n"
              "    tangents_1: \"f32[s7 + 1, s95][1, s7 + 1]cuda:0\"  # "
              "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
              "    primals_1, primals_2, tangents_1, = "
              "fx_pytree.tree_flatten_spec([primals, tangents], "
              "self._in_spec)\n"
              "    sym_size_int: \"Sym(s7 + 1)\" = "
              "torch.ops.aten.sym_size.int(primals_2, 1)\n"
              "    sub: \"Sym(s7)\" = sym_size_int - 1\n"
              "    floordiv: \"Sym(s7//2)\" = sub // 2\n"
              "    neg: \"Sym(-s7)\" = -sub\n"
              "    lt: \"Sym(s7 < 4)\" = sub < 4\n"
              "    sym_not: \"Sym(s7 >= 4)\" = torch.sym_not(lt)\n"
              "    sym_max: \"Sym(Max(2, s7))\" = torch.sym_max(2, sub)\n"
              "    sym_float: \"Sym(ToFloat(s95))\" = "
              "torch.sym_float(primals_1);  primals_1 = None\n"
              "    truediv: \"Sym(FloatTrueDiv(2.0, ToFloat(s95)))\" = 2.0 / "
              "sym_float\n"
              "    trunc: \"Sym(TruncToInt(FloatTrueDiv(2.0, ToFloat(s95))))\""
              " = math.trunc(truediv)\n"
              "    t: \"f32[s7 + 1, s95][1, s7 + 1]cuda:0\" = "
              "torch.ops.aten.permute.default(primals_2, [1, 0])\n"
              "    mul: \"f32[s7 + 1, s95][1, s7 + 1]cuda:0\" = "
              "torch.ops.aten.mul.Tensor(t, truediv)\n"
              "    view: \"f32[s95*(s7 + 1)][1]cuda:0\" = "
              "torch.ops.aten.view.default(primals_2, [-1])\n"
              "    return (mul, None, None)\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "%primals_1: index {joint.dims = [\"s95\"], joint.role = "
                      "#joint.role<size>}"));
  EXPECT_TRUE(has(ir, "%primals_2: tensor<?x?xf32> {joint.dims = [\"s95\", "
                      "\"s7 + 1\"], joint.role = #joint.role<input>}"));
  EXPECT_TRUE(has(ir, "joint.dims = [\"s7 + 1\", \"s95\"], joint.role = "
                      "#joint.role<tangent of 0>, joint.strides = array<i64: "
                      "1, -9223372036854775808>"));
  EXPECT_TRUE(has(ir, "symbols = {s7 = #joint.symbol<>, s95 = "
                      "#joint.symbol<>}"));
  EXPECT_TRUE(has(ir, "%sub = aten.sym.sub(%sym_size_int, 1) : (index) -> "
                      "index"));
  EXPECT_TRUE(has(ir, "%neg = aten.sym.neg(%sub)"));
  EXPECT_TRUE(has(ir, "%lt = aten.sym.lt(%sub, 4) : (index) -> i1"));
  EXPECT_TRUE(has(ir, "%truediv = aten.sym.truediv(2.000000e+00, %sym_float) : "
                      "(f64) -> f64"));
  EXPECT_TRUE(has(ir, "%trunc = aten.sym.trunc(%truediv) : (f64) -> index"));
  EXPECT_TRUE(has(ir, "%view = aten.view(%primals_2, [-1]) : "))
      << "contiguous, and known from operands: no attribute";
}

TEST(FxText, SizesThatDependOnDataKeepTheirExpression) {
  Imported in(jointText(
      "        nonzero: \"i64[u0, 2]\" = "
      "torch.ops.aten.nonzero.default(mm)\n"
      "        mystery: \"f32[u1, 8]\" = torch.ops.mylib.pick.default(mm)\n"
      "        later: \"i64[u0, 2]\" = torch.ops.aten.neg.default(nonzero)\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "%nonzero = aten.nonzero(%mm) {joint.dims = "
                           "[\"u0\", \"2\"]}"));
  EXPECT_TRUE(has(in.ir(), "joint.opaque \"mylib.pick.default\"(%mm) "
                           "{joint.dims = [\"u1\", \"8\"]}"));
  EXPECT_TRUE(has(in.ir(), "symbols = {u0 = #joint.symbol<>, u1 = "
                           "#joint.symbol<>}"));
}

TEST(FxText, ConstantsAreArguments) {
  Imported in(jointText(
      "        _tensor_constant0: \"i64[][]cpu\" = self._tensor_constant0\n"
      "        lift: \"i64[][]cpu\" = torch.ops.aten.lift_fresh_copy.default("
      "_tensor_constant0);  _tensor_constant0 = None\n"
      "        _tensor_constant1 = self._tensor_constant1\n"
      "        lift_1: \"f32[]\" = torch.ops.aten.lift_fresh_copy.default("
      "_tensor_constant1);  _tensor_constant1 = None\n"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(has(in.ir(), "%_tensor_constant0: tensor<i64> {joint.role = "
                           "#joint.role<constant \"_tensor_constant0\">}"));
  EXPECT_TRUE(has(in.ir(), "%_tensor_constant1: tensor<f32> {joint.role = "
                           "#joint.role<constant \"_tensor_constant1\">}"));
}

TEST(FxText, UndefinedResultsAreNone) {
  Imported in("def forward(self, primals_1: \"f32[2, 3, 8, 8]\", primals_2: "
              "\"f32[4, 3, 3, 3]\", tangents_1: \"f32[2, 4, 6, 6]\"):\n"
              "    conv = torch.ops.aten.convolution_backward.default("
              "tangents_1, primals_1, primals_2, [0], [1, 1], [0, 0], [1, 1], "
              "False, [0, 0], 1, [True, True, False])\n"
              "    getitem: \"f32[2, 3, 8, 8]\" = conv[0]\n"
              "    getitem_1: \"f32[4, 3, 3, 3]\" = conv[1]\n"
              "    getitem_2 = conv[2];  conv = None\n"
              "    return [getitem, getitem_1, getitem_2]\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_EQ(in.module.info.kind, GraphKind::Backward);
  EXPECT_TRUE(has(in.ir(), "return %getitem, %getitem_1 :"));
  EXPECT_TRUE(has(in.ir(), "joint.gradient_of = array<i32: 0, 1>"));
}

TEST(FxText, HalvesBecomeFunctions) {
  Imported forward(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(\n        self,\n"
      "        primals_1: \"f32[4][1]cpu\",  # PlainAOTInput(idx=0)\n"
      "    ):\n"
      "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(primals_1)\n"
      "        return (\n            sin,  # PlainAOTOutput(idx=0)\n"
      "            primals_1,  # SavedForBackwardsAOTOutput(idx=0)\n"
      "        )\n");
  ASSERT_TRUE(forward.isGood) << forward.errors();
  EXPECT_TRUE(forward.isValid);
  EXPECT_EQ(forward.module.info.kind, GraphKind::Forward);
  ASSERT_TRUE(forward.module.function);
  EXPECT_TRUE(has(forward.ir(), "func.func @forward(%"));
  EXPECT_TRUE(has(forward.ir(), "joint.num_forward_results = 1"));
  EXPECT_TRUE(has(forward.ir(), "joint.name = \"primals_1\""));

  Imported backward(
      "def forward(self, primals_1: \"f32[4]\", mul: \"Sym(2*s1)\", "
      "tangents_1: \"f32[4]\"):\n"
      "    cos: \"f32[4]\" = torch.ops.aten.cos.default(primals_1)\n"
      "    copy_: \"f32[4]\" = torch.ops.aten.copy_.default(primals_1, cos)\n"
      "    return [None, cos]\n    ");
  ASSERT_TRUE(backward.isGood) << backward.errors();
  EXPECT_TRUE(backward.isValid);
  EXPECT_EQ(backward.module.info.kind, GraphKind::Backward);
  EXPECT_TRUE(has(backward.ir(), "joint.role = #joint.role<saved>"));
  EXPECT_TRUE(has(backward.ir(), "joint.role = #joint.role<tangent>"));
  EXPECT_TRUE(has(backward.ir(), "joint.write %"));
  EXPECT_TRUE(has(backward.ir(), "side = "));
  EXPECT_TRUE(has(backward.ir(), "joint.gradient_of = array<i32: 1>"));

  Imported inference("def forward(self, arg0_1: \"f32[4]\"):\n"
                     "    return (arg0_1,)\n");
  ASSERT_TRUE(inference.isGood) << inference.errors();
  EXPECT_EQ(inference.module.info.kind, GraphKind::Inference);
  ImportOptions options;
  options.kind = GraphKind::Forward;
  Imported asked("def forward(self, arg0_1: \"f32[4]\"):\n"
                 "    return (arg0_1,)\n",
                 options);
  ASSERT_TRUE(asked.isGood) << asked.errors();
  EXPECT_TRUE(has(asked.ir(), "@forward"));
}

TEST(FxText, RandomStateIsReturnedAndWritten) {
  Imported in(
      "def forward(self, primals, tangents):\n"
      "    primals_1: \"f32[4]\"  # PlainAOTInput(idx=0)\n"
      "    tangents_1: \"f32[4]\"  # "
      "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
      "    fwd_seed: \"i64[]\"  # PhiloxForwardSeedAOTInput()\n"
      "    bwd_offset: \"i64[]\"  # PhiloxBackwardBaseOffsetAOTInput()\n"
      "    add: \"i64[]\" = torch.ops.aten.add.Tensor(bwd_offset, 4)\n"
      "    return [\n        primals_1,  # PlainAOTOutput(idx=0)\n"
      "        tangents_1,  # GradAOTOutput(grad_of=PlainAOTInput("
      "idx=0))\n"
      "        add,  # PhiloxUpdatedBackwardOffsetAOTOutput()\n"
      "    ]\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(has(in.ir(), "#joint.role<rng_seed>"));
  EXPECT_TRUE(has(in.ir(), "#joint.role<rng_offset backward>"));
  EXPECT_TRUE(has(in.ir(), "joint.write %bwd_offset, %add {side = "));

  Imported byName("def forward(self, primals, tangents):\n"
                  "    primals_1: \"f32[4]\"; tangents_1: \"f32[4]\"; "
                  "bwd_base_offset_1: \"i64[]\";\n"
                  "    add: \"i64[]\" = torch.ops.aten.add.Tensor("
                  "bwd_base_offset_1, 4)\n"
                  "    return [primals_1, tangents_1, add]\n");
  ASSERT_TRUE(byName.isGood) << byName.errors();
  EXPECT_TRUE(has(byName.ir(), "joint.write %bwd_base_offset_1, %add"));
}

TEST(FxText, LiteralResultsAndNestedListsAreFlattened) {
  Imported in("def forward(self, primals, tangents):\n"
              "    primals_1: \"f32[4]\"; tangents_1: \"f32[4]\";\n"
              "    return ([primals_1, 4], (tangents_1,))\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "joint.output %primals_1 gradients(%tangents_1 of "
                           "0)"));
}

TEST(FxText, AGradientTakesTheKnownSizesOfItsArgument) {
  Imported in("def forward(self, primals, tangents):\n"
              "    primals_1: \"f32[17]\"; tangents_1: \"f32[s0]\";\n"
              "    neg: \"f32[s0]\" = torch.ops.aten.neg.default(tangents_1)\n"
              "    return [neg]\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(has(in.ir(), "-> () gradients (tensor<17xf32>)"));
}

TEST(FxText, AllElementTypesAreKnown) {
  std::string text = "def forward(self";
  unsigned count = 0;
  for (const char *type :
       {"f64",        "f32",        "f16",      "bf16", "i64",      "i32",
        "i16",        "i8",         "u8",       "u16",  "u32",      "u64",
        "b8",         "c32",        "c64",      "c128", "f8e4m3fn", "f8e5m2",
        "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0fnu"})
    text += ", arg" + std::to_string(count++) + ": \"" + type + "[0, 2]\"";
  Imported in(text + "):\n    return (arg0,)\n");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "tensor<0x2xui8>"));
  EXPECT_TRUE(has(in.ir(), "tensor<0x2xcomplex<f32>>"));
  EXPECT_TRUE(has(in.ir(), "tensor<0x2xf8E8M0FNU>"));
}

TEST(FxText, DtypesOfArgumentsBecomeTypes) {
  std::string text = "def forward(self, arg0: \"f32[2]\"):\n";
  unsigned count = 0;
  for (auto [torch, own] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {"float64", "f64"},
           {"float16", "f16"},
           {"bfloat16", "bf16"},
           {"int64", "i64"},
           {"int32", "i32"},
           {"int16", "i16"},
           {"int8", "i8"},
           {"uint8", "u8"},
           {"bool", "b8"},
           {"complex64", "c64"},
           {"float8_e4m3fn", "f8e4m3fn"}}) {
    std::string name = "v" + std::to_string(count++);
    text += "    " + name + ": \"" + own +
            "[2]\" = "
            "torch.ops.prims.convert_element_type.default(arg0, torch." +
            torch + ")\n";
  }
  Imported in(text + "    return (arg0,)\n");
  EXPECT_TRUE(in.isGood) << in.errors();
}

TEST(FxText, IrReadsBackAndPrintsTheSame) {
  for (const char *name : {"gpt2_selective", "dynamic_llama", "moe", "resnet",
                           "resnet18_2023", "lstm"}) {
    Imported in(corpusText(std::string(name) + "/joint.txt"));
    ASSERT_TRUE(in.isGood) << name << ": " << in.errors();
    EXPECT_TRUE(in.isValid) << name << ": " << in.errors();
    std::string text;
    llvm::raw_string_ostream os(text);
    in.module.module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
    Imported again(text);
    ASSERT_TRUE(again.isGood) << name << ": " << again.errors();
    EXPECT_EQ(again.module.format, InputFormat::MlirText);
    EXPECT_EQ(again.module.counts.ops, in.module.counts.ops + 1)
        << "with the terminator";
    std::string second;
    llvm::raw_string_ostream second_os(second);
    again.module.module->print(second_os,
                               mlir::OpPrintingFlags().enableDebugInfo());
    EXPECT_EQ(text, second) << name;
  }
}

TEST(FxText, StatisticsOfANormAreOfTheTypeThatTheTextSays) {
  for (std::string type : {"f32", "bf16"}) {
    Imported in(jointText(
        "        half: \"bf16[2, 8]\" = torch.ops.prims.convert_element_type"
        ".default(mm, torch.bfloat16)\n"
        "        norm = torch.ops.aten.native_layer_norm.default(half, [8], "
        "None, None, 1e-05)\n"
        "        getitem: \"bf16[2, 8]\" = norm[0]\n"
        "        getitem_1: \"" +
        type +
        "[2, 1]\" = norm[1]\n"
        "        getitem_2: \"" +
        type + "[2, 1]\" = norm[2]\n"));
    ASSERT_TRUE(in.isGood) << in.errors();
    EXPECT_TRUE(in.isValid) << in.errors();
    EXPECT_TRUE(has(in.ir(), "tensor<2x1x" + type + ">"));
  }
  Imported in(jointText(
      "        norm = torch.ops.aten.native_layer_norm.default(mm, [8], None, "
      "None, 1e-05)\n"
      "        getitem: \"f32[2, 8]\" = norm[0]\n"
      "        getitem_1: \"f64[2, 1]\" = norm[1]\n"));
  EXPECT_EQ(in.module.counts.asDeclared, 1u);
}
