// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops that are run again with a saved state: halves as PyTorch makes
// them under a checkpoint with dropout, and the same with one place changed.

#include "CertificateFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

const char *const kRandom = R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %m = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.sub.Tensor(%g, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%h of 0) : tensor<4xf32>, tensor<4xf32>
}
)mlir";

const char *const kRandomForward = R"mlir(
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<?xui8>, tensor<?xui8>) {
  %s0 = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
  %m = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s1 = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
  %n = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %x, %s0, %s1 : tensor<4xf32>, tensor<4xf32>, tensor<?xui8>, tensor<?xui8>
}
)mlir";

const char *const kRandomBackward = R"mlir(
func.func @g_backward(%x: tensor<4xf32> {joint.name = "x"},
                      %r0: tensor<?xui8> {joint.name = "rng_state_output_0"},
                      %r1: tensor<?xui8> {joint.name = "rng_state_output_1"},
                      %t: tensor<4xf32> {joint.name = "t"})
    -> tensor<4xf32> {
  joint.opaque "higher_order.run_with_rng_state"(%r1) {effects} : (tensor<?xui8>) -> ()
  %n = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  joint.opaque "higher_order.run_with_rng_state"(%r0) {effects} : (tensor<?xui8>) -> ()
  %m = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = aten.sub.Tensor(%g, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
)mlir";

class CertificateReplayTest : public CertificateTest {
protected:
  Verdict judge(const std::string &forward, const std::string &backward) {
    return check(kRandom, forward, backward, /*link=*/"");
  }
  void refuseBackward(const std::string &from, const std::string &to,
                      const std::string &message) {
    refuse(judge(kRandomForward, with(kRandomBackward, from, to)), message);
  }
};

const std::string kAgain =
    " is run again with a random state that was not saved for it";

TEST_F(CertificateReplayTest, AcceptsASavedStateForItsOp) {
  Verdict verdict = judge(kRandomForward, kRandomBackward);
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  EXPECT_EQ(verdict.stats.recomputedOps, 2u);
}

TEST_F(CertificateReplayTest, StatesThatAreExchangedGiveOtherGradients) {
  std::string backward = with(kRandomBackward, "(%r0) {", "(%rX) {");
  backward = with(with(backward, "(%r1) {", "(%r0) {"), "(%rX) {", "(%r1) {");
  refuse(judge(kRandomForward, backward),
         "the gradient of 'x' is not what the joint graph computes");
  std::string forward = with(kRandomForward, "%x, %s0, %s1", "%x, %s1, %s0");
  refuse(judge(forward, kRandomBackward),
         "the gradient of 'x' is not what the joint graph computes");
}

TEST_F(CertificateReplayTest, OneStateIsNotTwo) {
  std::string backward = with(kRandomBackward, "(%r1) {", "(%r0) {");
  refuse(judge(kRandomForward, backward),
         "the gradient of 'x' is not what the joint graph computes");
}

TEST_F(CertificateReplayTest, WithoutAStateADrawIsAnother) {
  EXPECT_FALSE(
      judge(kRandomForward,
            with(kRandomBackward,
                 "joint.opaque \"higher_order.run_with_rng_state\"(%r0) "
                 "{effects} : (tensor<?xui8>) -> ()\n",
                 ""))
          .accepted);
}

TEST_F(CertificateReplayTest, TheStateMustBeThatOfTheSameCall) {
  const std::string draw = "(%r0) {effects} : (tensor<?xui8>) -> ()\n"
                           "  %m = aten.bernoulli(%x)";
  refuseBackward(draw,
                 "(%r0) {effects} : (tensor<?xui8>) -> ()\n"
                 "  %m = aten.rand_like(%x)",
                 "the gradient of 'x' is not what the joint graph computes");
  EXPECT_FALSE(
      judge(kRandomForward, with(kRandomBackward, "%m = aten.bernoulli(%x)",
                                 "%m = aten.bernoulli(%t)"))
          .accepted);
  // A parameter of the same type is no saved state.
  refuseBackward("(%r0) {effects} : (tensor<?xui8>) -> ()",
                 "(%x) {effects} : (tensor<4xf32>) -> ()",
                 "'m' (aten.bernoulli)" + kAgain +
                     " | no half has saved the state in front of a random op");
}

TEST_F(CertificateReplayTest, AStateOfAnotherCallIsNamed) {
  auto other = [](const char *text) {
    return with(text, "%n = aten.bernoulli(%x)", "%n = aten.rand_like(%x)");
  };
  std::string backward = with(other(kRandomBackward), "(%r1) {", "(%r0) {");
  EXPECT_TRUE(
      check(other(kRandom), other(kRandomForward), other(kRandomBackward), "")
          .accepted);
  refuse(check(other(kRandom), other(kRandomForward), backward, ""),
         "'n' (aten.rand_like)" + kAgain +
             " | the state is that of 'm' (aten.bernoulli)");
}

TEST_F(CertificateReplayTest, AMarkIsForTheNextOpOnly) {
  const std::string between =
      "%c = aten.cos(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  %m = ";
  EXPECT_FALSE(
      judge(kRandomForward, with(kRandomBackward, "%m = ", between)).accepted);
  // The state in front of %c is not that in front of %m.
  refuse(judge(with(kRandomForward, "%m = ", between), kRandomBackward),
         "'m' (aten.bernoulli)" + kAgain);
}

TEST_F(CertificateReplayTest, AMarkInFrontOfNothingIsAnUnknownEffect) {
  EXPECT_FALSE(
      judge(kRandomForward,
            with(kRandomBackward, "return %h",
                 "joint.opaque \"higher_order.run_with_rng_state\"(%r0) "
                 "{effects} : (tensor<?xui8>) -> ()\n  return %h"))
          .accepted);
  EXPECT_FALSE(
      judge(kRandomForward,
            with(kRandomBackward,
                 "joint.opaque \"higher_order.run_with_rng_state\"(%r0)",
                 "joint.opaque \"higher_order.run_with_rng_state\"(%r1) "
                 "{effects} : (tensor<?xui8>) -> ()\n"
                 "joint.opaque \"higher_order.run_with_rng_state\"(%r0)"))
          .accepted);
}

TEST_F(CertificateReplayTest, AForwardThatDrawsTwiceIsRefused) {
  EXPECT_FALSE(
      judge(with(kRandomForward, "%y = ",
                 "%o = aten.bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                 "  %y = "),
            kRandomBackward)
          .accepted);
}

TEST_F(CertificateReplayTest, WhatDrawsNothingNeedsNoState) {
  std::string joint = with(kRandom, "%m = aten.bernoulli", "%m = aten.sin");
  std::string forward =
      with(kRandomForward, "%m = aten.bernoulli", "%m = aten.sin");
  std::string backward =
      with(kRandomBackward, "%m = aten.bernoulli", "%m = aten.sin");
  EXPECT_TRUE(check(joint, forward, backward, "").accepted);
  EXPECT_FALSE(check(joint, forward,
                     with(backward, "%m = aten.sin(%x)", "%m = aten.cos(%x)"),
                     "")
                   .accepted);
}

//===----------------------------------------------------------------------===//
// Draws with a number
//===----------------------------------------------------------------------===//

const char *const kNumbered = R"mlir(
joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>},
               %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %m = aten.bernoulli(%x) {joint.replay = 0} : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%x) {joint.replay = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%g of 0) : tensor<4xf32>, tensor<4xf32>
}
)mlir";

const char *const kNumberedForward = R"mlir(
func.func @g_forward(%x: tensor<4xf32> {joint.name = "x"})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %m = aten.bernoulli(%x) {joint.replay = 0} : (tensor<4xf32>) -> tensor<4xf32>
  %n = aten.bernoulli(%x) {joint.replay = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aten.sub.Tensor(%m, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}
)mlir";

const char *const kNumberedBackward = R"mlir(
func.func @g_backward(%x: tensor<4xf32> {joint.name = "x"},
                      %t: tensor<4xf32> {joint.name = "t"})
    -> tensor<4xf32> {
  %a = aten.bernoulli(%x) {joint.replay = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %g = aten.mul.Tensor(%t, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
)mlir";

TEST_F(CertificateReplayTest, ANumberedDrawIsTheSameInBothHalves) {
  Verdict verdict = check(kNumbered, kNumberedForward, kNumberedBackward, "");
  EXPECT_TRUE(verdict.accepted) << verdict.messages;
  EXPECT_EQ(verdict.stats.recomputedOps, 1u);
}

TEST_F(CertificateReplayTest, AnotherNumberIsAnotherDraw) {
  for (const char *number : {"= 0", "= 2"})
    EXPECT_FALSE(check(kNumbered, kNumberedForward,
                       with(kNumberedBackward, "= 1", number), "")
                     .accepted)
        << number;
  EXPECT_FALSE(check(kNumbered, kNumberedForward,
                     with(kNumberedBackward, " {joint.replay = 1}", ""), "")
                   .accepted);
  EXPECT_FALSE(check(kNumbered,
                     with(kNumberedForward, " {joint.replay = 1}", ""),
                     kNumberedBackward, "")
                   .accepted);
}

TEST_F(CertificateReplayTest, ANumberedDrawHasItsOperands) {
  EXPECT_FALSE(check(kNumbered, kNumberedForward,
                     with(kNumberedBackward, "%a = aten.bernoulli(%x)",
                          "%a = aten.bernoulli(%t)"),
                     "")
                   .accepted);
}

} // namespace
