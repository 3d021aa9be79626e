// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The certificate on hand-written halves: what it accepts, what it refuses,
// and what it says. Each case is a valid partition with one place changed.

#include "../Transforms/RandomGraph.h"

#include "cutback/Partition/Certificate.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

const char *const kJoint = R"mlir(
joint.graph @g(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">},
               %v: tensor<4x4xf32> {joint.role = #joint.role<param "v">},
               %b: tensor<4x4xf32> {joint.role = #joint.role<buffer>},
               %x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %s: index {joint.role = #joint.role<size>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = aten.sub.Tensor(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = aten.mul.Tensor(%a, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = joint.opaque "my.mean"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = joint.opaque "my.check"(%y) {effects} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b_1 = joint.write %b, %u : tensor<4x4xf32>, tensor<4x4xf32>
  %k = aten.sym.mul(%s, 2) : (index) -> index
  %g0 = aten.mul.Tensor(%t, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = aten.sin(%h) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = aten.mul.Tensor(%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g3 = aten.mul.Tensor(%g2, %k) : (tensor<4x4xf32>, index) -> tensor<4x4xf32>
  %g4 = aten.sub.Tensor(%g2, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %y gradients(%g3 of 0, %g4 of 1) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

const char *const kForward = R"mlir(
func.func @g_forward(%w: tensor<4x4xf32> {joint.name = "w"}, %v: tensor<4x4xf32> {joint.name = "v"},
                     %b: tensor<4x4xf32> {joint.name = "b"}, %x: tensor<4x4xf32> {joint.name = "x"},
                     %s: index {joint.name = "s"})
    -> (tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = aten.sub.Tensor(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = aten.mul.Tensor(%a, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = joint.opaque "my.mean"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = joint.opaque "my.check"(%y) {effects} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b_1 = joint.write %b, %u : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %s, %h, %m, %v : tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

const char *const kBackward = R"mlir(
func.func @g_backward(%s: index {joint.name = "s"}, %h: tensor<4x4xf32> {joint.name = "h"},
                      %m: tensor<4x4xf32> {joint.name = "m"}, %v: tensor<4x4xf32> {joint.name = "v"},
                      %t: tensor<4x4xf32> {joint.name = "t"})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %k_recompute = aten.sym.mul(%s, 2) {joint.recompute = 3} : (index) -> index
  %g0 = aten.mul.Tensor(%t, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = aten.sin(%h) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = aten.mul.Tensor(%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g3 = aten.mul.Tensor(%g2, %k_recompute) : (tensor<4x4xf32>, index) -> tensor<4x4xf32>
  %g4 = aten.sub.Tensor(%g2, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g3, %g4 : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

const char *const kLink = R"mlir(
joint.partition @g_partition forward @g_forward backward @g_backward saved ["s", "h", "m", "v"]
    {num_saved_sizes = 1 : i64, num_forward_results = 1 : i64, gradient_of = array<i32: 0, 1>}
)mlir";

/// Replaces the only place of `from`.
std::string with(std::string text, const std::string &from,
                 const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class CertificateTest : public ::testing::Test {
protected:
  CertificateTest() { loadDialects(context); }

  struct Verdict {
    bool accepted = false;
    std::string messages; ///< errors, notes behind " | "
    CertificateStats stats;
  };

  Verdict check(const std::string &joint, const std::string &forward,
                const std::string &backward, const std::string &link = kLink) {
    Verdict verdict;
    OwningOpRef<ModuleOp> module =
        parse(context, joint + forward + backward + link);
    EXPECT_TRUE(module);
    if (!module)
      return verdict;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      verdict.messages += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        verdict.messages += " | " + note.str();
    });
    auto fw = module->lookupSymbol<func::FuncOp>("g_forward");
    auto bw = module->lookupSymbol<func::FuncOp>("g_backward");
    if (!link.empty()) {
      auto partition = *module->getOps<joint::PartitionOp>().begin();
      verdict.accepted = succeeded(
          verifyHalves(graphOf(*module), fw, bw, partition, &verdict.stats));
      return verdict;
    }
    FailureOr<HalvesSignature> signature =
        deriveSignature(graphOf(*module), fw, bw);
    verdict.accepted = succeeded(signature) &&
                       succeeded(verifyHalves(graphOf(*module), fw, bw,
                                              *signature, &verdict.stats));
    return verdict;
  }

  /// Refused, with these words at the beginning.
  void refuse(const Verdict &verdict, const std::string &message) {
    EXPECT_FALSE(verdict.accepted);
    EXPECT_EQ(verdict.messages.substr(0, message.size()), message)
        << verdict.messages;
  }

  MLIRContext context;
};

//===----------------------------------------------------------------------===//
// Accepted
//===----------------------------------------------------------------------===//

TEST_F(CertificateTest, AcceptsAValidPartition) {
  Verdict verdict = check(kJoint, kForward, kBackward);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  EXPECT_EQ(verdict.messages, "");
  EXPECT_EQ(verdict.stats.classes, 6u + 13u);
  EXPECT_EQ(verdict.stats.recomputedOps, 0u);
}

TEST_F(CertificateTest, CountsWhatBothHalvesCompute) {
  std::string forward = with(kForward, "return %y, %s, %h",
                             "%k = aten.sym.mul(%s, 2) : (index) -> index\n"
                             "return %y, %s, %h");
  EXPECT_EQ(check(kJoint, forward, kBackward).stats.recomputedOps, 1u);
}

TEST_F(CertificateTest, IgnoresDeadOpsNamesPoliciesAndOrder) {
  std::string backward =
      with(kBackward, "%g1 = aten.sin(%h)",
           "%dead = aten.cos(%t) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
           "%other = aten.sin(%h) {joint.policy = #joint.policy<must_save>}");
  backward = with(backward, "(%g0, %g1)", "(%g0, %other)");
  EXPECT_TRUE(check(kJoint, kForward, backward).accepted);
}

TEST_F(CertificateTest, TheBackwardMayTakeAParameterThatIsNotSaved) {
  std::string forward = with(with(kForward, "%m, %v : ", "%m : "),
                             "index, tensor<4x4xf32>, tensor<4x4xf32>, "
                             "tensor<4x4xf32>) {",
                             "index, tensor<4x4xf32>, tensor<4x4xf32>) {");
  forward = with(forward,
                 ": tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, "
                 "tensor<4x4xf32>\n",
                 ": tensor<4x4xf32>, index, tensor<4x4xf32>, "
                 "tensor<4x4xf32>\n");
  std::string link = with(kLink, ", \"v\"", "");
  Verdict verdict = check(kJoint, forward, kBackward, link);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  refuse(check(with(kJoint, "param \"v\"", "input"), forward, kBackward, link),
         "argument 3 is 'v', which is neither saved nor there after the "
         "forward");
}

TEST_F(CertificateTest, FindsTheSignatureByNames) {
  Verdict verdict = check(kJoint, kForward, kBackward, "");
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
}

TEST_F(CertificateTest, AGradientListMayHaveAPlaceForEveryArgument) {
  std::string backward =
      with(kBackward, "return %g3, %g4 : ", "return %g3, %g4, %v, %v, %s : ");
  backward = with(backward, ": tensor<4x4xf32>, tensor<4x4xf32>\n}",
                  ": tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, "
                  "tensor<4x4xf32>, index\n}");
  backward = with(backward, "-> (tensor<4x4xf32>, tensor<4x4xf32>) {",
                  "-> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, "
                  "tensor<4x4xf32>, index) {");
  Verdict verdict = check(kJoint, kForward, backward, "");
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
}

//===----------------------------------------------------------------------===//
// Other values
//===----------------------------------------------------------------------===//

TEST_F(CertificateTest, RefusesAWrongOperand) {
  refuse(
      check(kJoint, kForward, with(kBackward, "aten.sin(%h)", "aten.sin(%m)")),
      "the gradient of 'w' is not what the joint graph computes: operand 0 "
      "of 'g1' (aten.sin) is 'm' (aten.bernoulli), in the joint graph 'h' "
      "(aten.mm) | the joint graph's op");
}

TEST_F(CertificateTest, RefusesAnotherOp) {
  refuse(
      check(kJoint, kForward, with(kBackward, "aten.sin(%h)", "aten.cos(%h)")),
      "the gradient of 'w' is not what the joint graph computes: operand 1 "
      "of 'g2' (aten.mul.Tensor) is 'g1' (aten.cos), in the joint graph "
      "'g1' (aten.sin)");
}

TEST_F(CertificateTest, RefusesOtherAttributes) {
  refuse(check(kJoint,
               with(kForward, "aten.sub.Tensor(%h, %v)",
                    "aten.sub.Tensor(%h, %v, alpha = 2)"),
               kBackward),
         "'c' (joint.opaque) has an effect that the joint graph does not have "
         "| operand 0 of 'y' (aten.mul.Tensor) is 'a' (aten.sub.Tensor), with "
         "other attributes or types than in the joint graph");
  refuse(check(kJoint, kForward,
               with(kBackward, "aten.sin(%h) :", "aten.sin(%h) {test = 1} :")),
         "the gradient of 'w' is not what the joint graph computes: operand 1 "
         "of 'g2' (aten.mul.Tensor) is 'g1' (aten.sin), with other");
}

TEST_F(CertificateTest, RefusesSwappedGradients) {
  refuse(check(kJoint, kForward, with(kBackward, "%g3, %g4", "%g4, %g3")),
         "the gradient of 'w' is not what the joint graph computes: it is "
         "'g4' (aten.sub.Tensor), in the joint graph 'g3' (aten.mul.Tensor)");
}

TEST_F(CertificateTest, RefusesAWrongForwardResult) {
  refuse(check(kJoint, with(kForward, "return %y", "return %x"), kBackward),
         "forward result 0 is not what the joint graph computes: it is "
         "argument 'x', in the joint graph 'y' (aten.mul.Tensor)");
}

//===----------------------------------------------------------------------===//
// Effects and random draws
//===----------------------------------------------------------------------===//

const char *const kCheck = "%c = joint.opaque \"my.check\"(%y) {effects} : "
                           "(tensor<4x4xf32>) -> tensor<4x4xf32>\n";
const char *const kWrite =
    "%b_1 = joint.write %b, %u : tensor<4x4xf32>, tensor<4x4xf32>\n";

TEST_F(CertificateTest, RefusesAMissingWrite) {
  refuse(check(kJoint, with(kForward, kWrite, ""), kBackward),
         "the write to argument 'b' runs in neither half | the forward");
}

TEST_F(CertificateTest, RefusesAMissingEffect) {
  refuse(check(kJoint, with(kForward, kCheck, ""), kBackward),
         "the effect of 'joint.opaque' runs in neither half | the forward");
}

TEST_F(CertificateTest, RefusesEffectsInAnotherOrder) {
  refuse(check(kJoint,
               with(with(kForward, kCheck, ""), kWrite,
                    std::string(kWrite) + kCheck),
               kBackward),
         "this effect comes later than in the joint graph: another one that "
         "follows it there precedes it here | the effect in the joint graph");
}

TEST_F(CertificateTest, RefusesAnEffectOnOtherValues) {
  refuse(check(kJoint,
               with(kForward, "joint.write %b, %u", "joint.write %b, %y"),
               kBackward),
         "'b_1' (joint.write) has an effect that the joint graph does not "
         "have | operand 1 of 'b_1' (joint.write) is 'y' (aten.mul.Tensor), in "
         "the joint graph 'u' (joint.opaque)");
}

TEST_F(CertificateTest, RefusesAnEffectWithOtherAttributes) {
  refuse(
      check(kJoint, with(kForward, "\"my.check\"", "\"my.chek\""), kBackward),
      "'c' (joint.opaque) has an effect that the joint graph does not have "
      "| the joint graph has this one, with other attributes");
}

TEST_F(CertificateTest, RefusesAnEffectOfItsOwn) {
  Verdict verdict =
      check(kJoint, kForward,
            with(kBackward, "return %g3",
                 "joint.assert %k_recompute, \"positive\" : index\n"
                 "return %g3"));
  refuse(verdict, "'joint.assert' has an effect that the joint graph does not "
                  "have");
  EXPECT_EQ(verdict.messages.find('|'), std::string::npos);
}

TEST_F(CertificateTest, RefusesAnEffectThatRunsTwice) {
  refuse(check(kJoint,
               with(kForward, kCheck,
                    std::string(kCheck) + "%d = joint.opaque \"my.check\"(%y) "
                                          "{effects} : (tensor<4x4xf32>) -> "
                                          "tensor<4x4xf32>\n"),
               kBackward),
         "'d' (joint.opaque) runs twice: it may run only as often as in the "
         "joint graph | save its result instead");
}

TEST_F(CertificateTest, RefusesARandomOpThatRunsTwice) {
  std::string backward = with(
      kBackward, "%g0 = aten.mul.Tensor(%t, %m)",
      "%a = aten.sub.Tensor(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
      "tensor<4x4xf32>\n"
      "%m_recompute = aten.bernoulli(%a) : (tensor<4x4xf32>) -> "
      "tensor<4x4xf32>\n"
      "%g0 = aten.mul.Tensor(%t, %m_recompute)");
  refuse(check(kJoint, kForward, backward),
         "'m_recompute' (aten.bernoulli) runs twice: its random numbers would "
         "differ from those of the first run | save its result instead");
}

TEST_F(CertificateTest, RefusesAnUnknownOpThatRunsTwice) {
  std::string forward =
      with(kForward, kWrite,
           std::string("%d = joint.opaque \"my.mean\"(%y) : (tensor<4x4xf32>) "
                       "-> tensor<4x4xf32>\n") +
               kWrite);
  refuse(check(kJoint, forward, kBackward),
         "'d' (joint.opaque) runs twice: it may run only as often as in the "
         "joint graph");
}

TEST_F(CertificateTest, TellsTwoDrawsApart) {
  std::string two =
      "%m2 = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
      "%y = aten.mul.Tensor";
  std::string joint = with(kJoint, "%y = aten.mul.Tensor", two);
  std::string forward = with(kForward, "%y = aten.mul.Tensor", two);
  EXPECT_TRUE(check(joint, forward, kBackward).accepted);
  refuse(check(joint, with(forward, "%y, %s, %h, %m,", "%y, %s, %h, %m2,"),
               kBackward),
         "the gradient of 'w' is not what the joint graph computes: operand 1 "
         "of 'g0' (aten.mul.Tensor) is another run of 'm' (aten.bernoulli)");
}

TEST_F(CertificateTest, ADrawThatNobodyReadsMayGo) {
  std::string joint =
      with(kJoint, "%y = aten.mul.Tensor",
           "%m2 = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
           "%y = aten.mul.Tensor");
  EXPECT_TRUE(check(joint, kForward, kBackward).accepted);
}

//===----------------------------------------------------------------------===//
// Written arguments
//===----------------------------------------------------------------------===//

TEST_F(CertificateTest, RefusesAWrittenArgumentInTheBackward) {
  std::string joint =
      with(with(kJoint, "%u = joint.opaque",
                "%q = aten.sin(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                "%u = joint.opaque"),
           "(%g0, %g1)", "(%g0, %q)");
  std::string forward = with(kForward, "%y, %s, %h,", "%y, %s, %b,");
  std::string backward =
      with(with(kBackward, "%h: tensor<4x4xf32> {joint.name = \"h\"}",
                "%b: tensor<4x4xf32> {joint.name = \"b\"}"),
           "aten.sin(%h)", "aten.sin(%b)");
  refuse(check(joint, forward, backward, with(kLink, "\"h\"", "\"b\"")),
         "the gradient of 'w' is not what the joint graph computes: operand 0 "
         "of 'g1' (aten.sin) reads argument 'b' after its write");
}

TEST_F(CertificateTest, RefusesAWrittenArgumentThatIsNotSaved) {
  std::string backward =
      with(kBackward, "%t: tensor<4x4xf32> {joint.name = \"t\"}",
           "%t: tensor<4x4xf32> {joint.name = \"t\"}, %b: tensor<4x4xf32> "
           "{joint.name = \"b\"}");
  refuse(check(kJoint, kForward, backward),
         "argument 5 is 'b', which the forward has written");
}

TEST_F(CertificateTest, RefusesASavedViewOfAnArgumentThatIsWritten) {
  std::string view = "%q = aten.t(%b) : (tensor<4x4xf32>) -> "
                     "tensor<4x4xf32>\n%u = joint.opaque";
  std::string joint = with(with(kJoint, "%u = joint.opaque", view),
                           "aten.sin(%h)", "aten.sin(%q)");
  std::string forward = with(with(kForward, "%u = joint.opaque", view),
                             "%y, %s, %h,", "%y, %s, %q,");
  std::string backward =
      with(with(kBackward, "%h: tensor<4x4xf32> {joint.name = \"h\"}",
                "%q: tensor<4x4xf32> {joint.name = \"q\"}"),
           "aten.sin(%h)", "aten.sin(%q)");
  refuse(check(joint, forward, backward, with(kLink, "\"h\"", "\"q\"")),
         "saves 'q' (aten.t), which shares the storage of argument 'b' that is "
         "written before the backward reads it | save a copy, or the values it "
         "is computed from");
  // A view that is made after the write shows what it should.
  auto late = [](std::string text) {
    size_t at = text.find("%q = aten.t(%b)");
    std::string line = text.substr(at, text.find('\n', at) + 1 - at);
    text.erase(at, line.size());
    size_t write = text.find("%b_1 = joint.write");
    return text.insert(text.find('\n', write) + 1, line);
  };
  Verdict verdict = check(late(joint), late(forward), backward,
                          with(kLink, "\"h\"", "\"q\""));
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
}

TEST_F(CertificateTest, AcceptsTheNewValueOfAWrittenArgument) {
  std::string joint = with(kJoint, "aten.sin(%h)", "aten.sin(%b)");
  std::string backward =
      with(with(kBackward, "%h: tensor<4x4xf32> {joint.name = \"h\"}",
                "%b: tensor<4x4xf32> {joint.name = \"b\"}"),
           "aten.sin(%h)", "aten.sin(%b)");
  Verdict verdict = check(joint, with(kForward, "%y, %s, %h,", "%y, %s, %b,"),
                          backward, with(kLink, "\"h\"", "\"b\""));
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

TEST_F(CertificateTest, RefusesAnotherOrderOfSavedValues) {
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "\"h\", \"m\"", "\"m\", \"h\"")),
         "saved value 1 is called 'm', the backward's argument 'h'");
}

TEST_F(CertificateTest, RefusesSavedValuesThatAreExchanged) {
  refuse(
      check(kJoint, with(kForward, "%h, %m, %v :", "%m, %h, %v :"), kBackward),
      "the gradient of 'w' is not what the joint graph computes: operand 1 "
      "of 'g0' (aten.mul.Tensor) is 'h' (aten.mm), in the joint graph 'm' "
      "(aten.bernoulli)");
}

TEST_F(CertificateTest, RefusesAWrongNumberOfSizes) {
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "num_saved_sizes = 1", "num_saved_sizes = 2")),
         "saved value 'h' is a tensor, but 2 sizes come first");
  refuse(check(kJoint, kForward, kBackward,
               with(kLink, "num_saved_sizes = 1", "num_saved_sizes = 0")),
         "saved value 's' is a size, but 0 sizes come first");
}

TEST_F(CertificateTest, RefusesWrongCountsInTheLink) {
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

TEST_F(CertificateTest, RefusesALinkOfOtherFunctions) {
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

TEST_F(CertificateTest, RefusesArgumentsThatTheJointGraphDoesNotHave) {
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

TEST_F(CertificateTest, RefusesHalvesWithoutABody) {
  refuse(check(kJoint, kForward,
               "func.func private @g_backward(index, tensor<4x4xf32>, "
               "tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> "
               "(tensor<4x4xf32>, tensor<4x4xf32>)"),
         "a half must have one block that ends with func.return");
}

//===----------------------------------------------------------------------===//
// Signatures by name
//===----------------------------------------------------------------------===//

TEST_F(CertificateTest, SaysWhatTheNamesDoNotGive) {
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

TEST_F(CertificateTest, SaysWhichCountsCannotBeSignatures) {
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
joint.partition @p forward @g_forward backward @g_backward saved ["x"]
    {num_saved_sizes = 0 : i64, num_forward_results = 1 : i64, gradient_of = array<i32: 0>}
)mlir";

TEST_F(CertificateTest, ComparesRegionsOpByOp) {
  Verdict verdict = check(kRegions, "", "", kRegionsLink);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  EXPECT_EQ(verdict.stats.recomputedOps, 2u);
  refuse(check(with(kRegions, "%r = math.sin", "%r = math.cos"), "", "",
               kRegionsLink),
         "the gradient of 'x' is not what the joint graph computes: operand 0 "
         "of 'arith.mulf' is 'linalg.generic', with other attributes or types "
         "than in the joint graph");
  refuse(check(with(kRegions, "%r = math.sin %arg", "%r = math.sin %o"), "", "",
               kRegionsLink),
         "the gradient of 'x' is not what the joint graph computes: operand 0 "
         "of 'arith.mulf' is 'linalg.generic', with other");
}

TEST_F(CertificateTest, ValuesReadFromOutsideCountAsOperands) {
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

TEST_F(CertificateTest, OpsWithoutModelsGoByTheirEffects) {
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
