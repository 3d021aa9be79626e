// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The certificate's lists: saved values, arguments, gradients, signatures by
// name; and ops of other dialects.

#include "CertificateFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

using CertificateListsTest = CertificateTest;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

TEST_F(CertificateListsTest, RefusesAnotherOrderOfSavedValues) {
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "\"h\", \"m\"", "\"m\", \"h\"")),
         "saved value 1 is called 'm', the backward's argument 'h'");
}

TEST_F(CertificateListsTest, RefusesSavedValuesThatAreExchanged) {
  refuse(
      check(kJoint, with(kForward, "%h, %m, %v :", "%m, %h, %v :"), kBackward),
      "the gradient of 'w' is not what the joint graph computes: operand 1 "
      "of 'g0' (aten.mul.Tensor) is 'h' (aten.mm), in the joint graph 'm' "
      "(aten.bernoulli)");
}

TEST_F(CertificateListsTest, RefusesAWrongNumberOfSizes) {
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "num_saved_sizes = 1", "num_saved_sizes = 2")),
         "saved value 'h' is a tensor, but 2 sizes come first");
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "num_saved_sizes = 1", "num_saved_sizes = 0")),
         "saved value 's' is a size, but 0 sizes come first");
}

TEST_F(CertificateListsTest, RefusesWrongCountsInTheLink) {
  refuse(
      check(kJoint, kForward, kBackward,
            with(kLink, "num_forward_results = 1", "num_forward_results = 2")),
      "counts 2 forward results, the forward returns 1");
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "array<i32: 0, 1>", "array<i32: 0>")),
         "returns 2 values, but 1 are accounted for");
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "array<i32: 0, 1>", "array<i32: 0, 0>")),
         "returns the gradient of 'w' 2 times, not once | the joint graph "
         "computes it");
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "array<i32: 0, 1>", "array<i32: 0, 3>")),
         "result 1 is said to be the gradient of argument 3, which has none "
         "in the joint graph");
}

TEST_F(CertificateListsTest, RefusesALinkOfOtherFunctions) {
  OwningOpRef<ModuleOp> module =
      parse(context, std::string(kJoint) + kForward + kBackward + kLink);
  auto fw = module->lookupSymbol<func::FuncOp>("g_forward");
  auto bw = module->lookupSymbol<func::FuncOp>("g_backward");
  auto link = *module->getOps<joint::PartitionOp>().begin();
  Verdict verdict;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    verdict.messages += diagnostic.str() + "\n";
  });
  EXPECT_TRUE(failed(verifyHalves(graphOf(*module), bw, fw, link)));
  link.setSavedAttr(
      Builder(&context).getStrArrayAttr({"1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_TRUE(failed(verifyHalves(graphOf(*module), fw, bw, link)));
  HalvesSignature signature;
  signature.numForwardResults = 1;
  signature.gradientOf = {0, 1};
  EXPECT_TRUE(failed(verifyHalves(graphOf(*module), fw, bw, signature)));
  signature.saved = {{1, 0}, {2, 1}, {3, 2}, {3, 3}};
  EXPECT_TRUE(failed(verifyHalves(graphOf(*module), fw, bw, signature)));
  signature.saved = {{2, 0}, {1, 1}, {3, 2}, {4, 3}};
  EXPECT_TRUE(failed(verifyHalves(graphOf(*module), fw, bw, signature)));
  EXPECT_EQ(
      verdict.messages,
      "links 'g_forward' and 'g_backward', not 'g_backward' and 'g_forward'\n"
      "saves 7 values, but the forward returns 5 and the backward takes 5\n"
      "returns 5 values, but the joint graph has 1 forward results and 0 "
      "values are saved\n"
      "the saved lists do not agree: forward result 3 and backward argument 3 "
      "are no pair\n"
      "argument 0 has type 'index', the saved value has type "
      "'tensor<4x4xf32>'\n");
}

TEST_F(CertificateListsTest, RefusesArgumentsThatTheJointGraphDoesNotHave) {
  refuse(check(kJoint, with(kForward, "\"x\"", "\"z\""), kBackward),
         "argument 3 ('z') is no argument of the joint graph");
  refuse(check(kJoint, with(kForward, "\"x\"", "\"t\""), kBackward),
         "argument 3 is 't', which only the backward may take");
  refuse(check(kJoint, kForward,
               with(kBackward, "joint.name = \"t\"", "joint.name = \"q\"")),
         "argument 4 ('q') is no argument of the joint graph");
  refuse(check(kJoint, with(kForward, "\"x\"", "\"s\""), kBackward),
         "argument 3 has type 'tensor<4x4xf32>', in the joint graph it has "
         "type 'index'");
}

TEST_F(CertificateListsTest, RefusesHalvesWithoutABody) {
  refuse(check(kJoint, kForward,
               "func.func private @g_backward(index, tensor<4x4xf32>, "
               "tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> "
               "(tensor<4x4xf32>, tensor<4x4xf32>)"),
         "a half must have one block that ends with func.return");
}

//===----------------------------------------------------------------------===//
// Signatures by name
//===----------------------------------------------------------------------===//

TEST_F(CertificateListsTest, SaysWhatTheNamesDoNotGive) {
  refuse(check(kJoint, kForward,
               with(kBackward, "joint.name = \"h\"", "joint.name = \"hh\""),
               ""),
         "argument 1 ('hh') is neither a value that the forward returns nor "
         "an argument of the joint graph");
  refuse(check(kJoint, kForward,
               with(kBackward, "joint.name = \"h\"", "joint.name = \"b\""), ""),
         "saves 'h', which the backward does not take");
  refuse(check(kJoint,
               with(with(kForward, "%y, %s, %h,", "%y, %s, %0,"), "%a = ",
                    "%0 = aten.mm(%x, %w) : (tensor<4x4xf32>, "
                    "tensor<4x4xf32>) -> tensor<4x4xf32>\n%a = "),
               kBackward, ""),
         "result 2 is saved, but has no name to find it by");
}

TEST_F(CertificateListsTest, SavedValuesGoByTheirPlaces) {
  // Names agree, and a step would hand over the wrong ones.
  refuse(check(kJoint, with(kForward, "%h, %m, %v :", "%m, %h, %v :"),
               kBackward, ""),
         "argument 1 is called 'h', but gets 'm', result 2 of the forward | "
         "saved values are handed over by their places");
  refuse(check(kJoint, kForward,
               with(kBackward,
                    "%s: index {joint.name = \"s\"}, "
                    "%h: tensor<4x4xf32> {joint.name = \"h\"}",
                    "%h: tensor<4x4xf32> {joint.name = \"h\"}, "
                    "%s: index {joint.name = \"s\"}"),
               ""),
         "argument 1 ('s') is out of order: saved sizes come first, then saved "
         "tensors, then all others");
  std::string both = with(with(kForward, "%h, %m, %v :", "%m, %h, %v :"),
                          "@g_forward", "@g_forward");
  std::string exchanged =
      with(with(with(kBackward, "%h: tensor<4x4xf32> {joint.name = \"h\"}",
                     "%?: tensor<4x4xf32> {joint.name = \"?\"}"),
                "%m: tensor<4x4xf32> {joint.name = \"m\"}",
                "%h: tensor<4x4xf32> {joint.name = \"h\"}"),
           "%?: tensor<4x4xf32> {joint.name = \"?\"}",
           "%m: tensor<4x4xf32> {joint.name = \"m\"}");
  EXPECT_TRUE(check(kJoint, both, exchanged, "").accepted);
}

TEST_F(CertificateListsTest, SavedKindsComeOneAfterTheOther) {
  std::string between = with(kForward,
                             "%y, %s, %h, %m, %v : tensor<4x4xf32>, "
                             "index, tensor<4x4xf32>",
                             "%y, %h, %s, %m, %v : tensor<4x4xf32>, "
                             "tensor<4x4xf32>, index");
  between = with(between, "-> (tensor<4x4xf32>, index, tensor<4x4xf32>",
                 "-> (tensor<4x4xf32>, tensor<4x4xf32>, index");
  refuse(check(kJoint, between, kBackward, ""),
         "returns saved sizes between saved tensors");
  std::string twice =
      with(kForward, "%h, %m, %v : ", "%h, %m, %v, %v : tensor<4x4xf32>, ");
  twice = with(twice, "-> (", "-> (tensor<4x4xf32>, ");
  twice = with(twice,
               "%y, %s, %h, %m, %v, %v : tensor<4x4xf32>, "
               "tensor<4x4xf32>, index, tensor<4x4xf32>",
               "%y, %s, %h, %m, %v, %v : tensor<4x4xf32>, index, "
               "tensor<4x4xf32>, tensor<4x4xf32>");
  twice = with(twice, "-> (tensor<4x4xf32>, tensor<4x4xf32>, index, ",
               "-> (tensor<4x4xf32>, index, tensor<4x4xf32>, ");
  refuse(check(kJoint, twice, kBackward, ""),
         "takes 1 saved sizes and 3 saved tensors, the forward returns 1 and "
         "4");
}

TEST_F(CertificateListsTest, ArgumentsGoByTheirPlaces) {
  refuse(check(kJoint,
               with(kForward,
                    "%w: tensor<4x4xf32> {joint.name = \"w\"}, "
                    "%v: tensor<4x4xf32> {joint.name = \"v\"}",
                    "%v: tensor<4x4xf32> {joint.name = \"v\"}, "
                    "%w: tensor<4x4xf32> {joint.name = \"w\"}"),
               kBackward),
         "takes 'w' after 'v', in the joint graph it comes before it | "
         "arguments are passed by their places");
  std::string twice =
      with(kBackward, "%t: tensor<4x4xf32> {joint.name = \"t\"})",
           "%t: tensor<4x4xf32> {joint.name = \"t\"}, "
           "%t2: tensor<4x4xf32> {joint.name = \"t\"})");
  refuse(check(kJoint, kForward, twice),
         "takes 't' after 't', in the joint graph it comes once");
}

TEST_F(CertificateListsTest, DrawsOfAHalfKeepTheirOrder) {
  std::string draw = "%m = aten.bernoulli(%a) : (tensor<4x4xf32>) -> "
                     "tensor<4x4xf32>\n";
  std::string other = "%n = aten.bernoulli(%x) : (tensor<4x4xf32>) -> "
                      "tensor<4x4xf32>\n";
  std::string joint = with(kJoint, draw, draw + other);
  EXPECT_TRUE(
      check(joint, with(kForward, draw, draw + other), kBackward).accepted);
  refuse(check(joint, with(kForward, draw, other + draw), kBackward),
         "'m' (aten.bernoulli) draws after 'n' (aten.bernoulli), and before it "
         "in the joint graph: both get other random numbers | the other draw "
         "in the joint graph");
}

TEST_F(CertificateListsTest, SaysWhichCountsCannotBeSignatures) {
  std::string backward = with(
      with(kBackward, "return %g3, %g4 : tensor<4x4xf32>, ", "return %g3 : "),
      "-> (tensor<4x4xf32>, tensor<4x4xf32>) {", "-> (tensor<4x4xf32>) {");
  refuse(check(kJoint, kForward, backward, ""),
         "returns 1 values; the joint graph has 2 gradients and 5 arguments "
         "that could have one");
  refuse(check(kJoint, "func.func @g_forward() { return }", kBackward, ""),
         "returns 0 values, the joint graph has 1 forward results");
  refuse(check(kJoint, "func.func private @g_forward() -> (tensor<4x4xf32>)",
               kBackward, ""),
         "has no body to take the names of its results from");
}

//===----------------------------------------------------------------------===//
// Other dialects
//===----------------------------------------------------------------------===//

const char *const kRegions = R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = math.sin %in : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %d = arith.mulf %y, %t : tensor<4xf32>
  joint.output %y gradients(%d of 0) : tensor<4xf32>, tensor<4xf32>
}
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = math.sin %in : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @g_backward(%x: tensor<4xf32> {joint.name = "x"}, %t: tensor<4xf32> {joint.name = "t"}) -> (tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%arg: f32, %o: f32):
      %r = math.sin %arg : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  %d = arith.mulf %y, %t {joint.recompute = 1} : tensor<4xf32>
  return %d : tensor<4xf32>
}
)mlir";

const char *const kRegionsLink = R"mlir(
joint.partition @p of @g forward @g_forward backward @g_backward saved ["x"]
    {num_saved_sizes = 0 : i64, num_forward_results = 1 : i64, gradient_of = array<i32: 0>}
)mlir";

TEST_F(CertificateListsTest, ComparesRegionsOpByOp) {
  Verdict verdict = check(kRegions, "", "", kRegionsLink);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  EXPECT_EQ(verdict.stats.recomputedOps, 2u);
  refuse(check(with(kRegions, "%r = math.sin", "%r = math.cos"), "", "",
               kRegionsLink),
         "the gradient of 'x' is not what the joint graph computes: operand 0 "
         "of 'arith.mulf' is 'linalg.generic', in the joint graph "
         "'y' (linalg.generic): other attributes or regions");
  refuse(check(with(kRegions, "%r = math.sin %arg", "%r = math.sin %o"), "", "",
               kRegionsLink),
         "the gradient of 'x' is not what the joint graph computes: operand 0 "
         "of 'arith.mulf' is 'linalg.generic', in the joint graph "
         "'y' (linalg.generic): other attributes or regions");
}

TEST_F(CertificateListsTest, ValuesReadFromOutsideCountAsOperands) {
  std::string captured =
      with(with(kRegions, "%d = arith.mulf %y, %t : tensor",
                "%k = arith.constant 1.0 : f32\n"
                "%l = arith.constant 2.0 : f32\n"
                "%z = tensor.generate {\n^bb0(%i: index):\n"
                "%q = arith.addf %k, %l : f32\ntensor.yield %q : f32\n} : "
                "tensor<4xf32>\n"
                "%d = arith.mulf %y, %z : tensor"),
           "%d = arith.mulf %y, %t {",
           "%l = arith.constant 2.0 : f32\n"
           "%k = arith.constant 1.0 : f32\n"
           "%z = tensor.generate {\n^bb0(%i: index):\n"
           "%q = arith.addf %k, %l : f32\ntensor.yield %q : f32\n} : "
           "tensor<4xf32>\n"
           "%d = arith.mulf %y, %z {");
  Verdict verdict = check(captured, "", "", kRegionsLink);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  size_t last = captured.rfind("%k, %l");
  std::string swapped = captured;
  swapped.replace(last, 6, "%l, %k");
  EXPECT_FALSE(check(swapped, "", "", kRegionsLink).accepted);
}

TEST_F(CertificateListsTest, OpsWithoutModelsGoByTheirEffects) {
  std::string call = "\"test.effect\"(%x) : (tensor<4xf32>) -> ()\n";
  context.allowUnregisteredDialects();
  std::string joint = with(kRegions, "%d = arith.mulf %y, %t : tensor",
                           call + "%d = arith.mulf %y, %t : tensor");
  refuse(check(joint, "", "", kRegionsLink),
         "the effect of 'test.effect' runs in neither half");
  Verdict verdict = check(with(joint, "return %y, %x", call + "return %y, %x"),
                          "", "", kRegionsLink);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
}

} // namespace
