// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The certificate on hand-written halves: what it accepts, what it refuses,
// and what it says. Each case is a valid partition with one place changed.

#include "CertificateFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

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
  refuse(
      check(kJoint,
            with(kForward, "aten.sub.Tensor(%h, %v)",
                 "aten.sub.Tensor(%h, %v, alpha = 2)"),
            kBackward),
      "'c' (joint.opaque) has an effect that the joint graph does not have "
      "| operand 0 of 'y' (aten.mul.Tensor) is 'a' (aten.sub.Tensor), in the "
      "joint graph 'a' (aten.sub.Tensor): argument 2 is 2 : i64 instead of "
      "1 : i64");
  refuse(
      check(kJoint, kForward,
            with(kBackward, "aten.sin(%h) :", "aten.sin(%h) {test = 1} :")),
      "the gradient of 'w' is not what the joint graph computes: operand 1 "
      "of 'g2' (aten.mul.Tensor) is 'g1' (aten.sin), in the joint graph 'g1' "
      "(aten.sin): other attributes or regions");
  // A size that one of both does not know.
  std::string unknown =
      with(with(kBackward,
                "aten.sin(%h) : (tensor<4x4xf32>) -> "
                "tensor<4x4xf32>",
                "aten.sin(%h) : (tensor<4x4xf32>) -> tensor<4x?xf32>"),
           "(%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>)",
           "(%g0, %g1) : (tensor<4x4xf32>, tensor<4x?xf32>)");
  refuse(
      check(kJoint, kForward, unknown),
      "the gradient of 'w' is not what the joint graph computes: operand 1 "
      "of 'g2' (aten.mul.Tensor) is 'g1' (aten.sin), in the joint graph 'g1' "
      "(aten.sin): other result types");
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

} // namespace
