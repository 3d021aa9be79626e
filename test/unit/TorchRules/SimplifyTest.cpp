// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dead code elimination and CSE, rule by rule.
#include "TestGraphs.h"

using namespace cutback;
using namespace cutback::fxtext;

namespace {

/// The names of the calls that are left.
std::string left(const std::string &text, const TorchRulesOptions &options) {
  FxGraph graph = simplifyFxGraph(parse(text), options);
  std::vector<FxNodeId> calls;
  for (FxNodeId n = 0; n < graph.size(); ++n)
    if (graph.nodes[n].isCall())
      calls.push_back(n);
  return names(graph, calls);
}

const std::string x = "placeholder x tensor 4 s=x:4 role=primal\n";

TEST(Simplify, RemovesDeadCallsButNotEffects) {
  std::string text = x + "call dead tensor 4 aten.mul.Tensor %x %x\n"
                         "call check none 0 flags=assert "
                         "aten._assert_async.msg %x t:m\n"
                         "call put tensor 4 flags=mutable "
                         "aten.add_.Tensor %x %x\n"
                         "call split none 0 flags=sideeffect my.split.default\n"
                         "call token tuple 0 flags=effect "
                         "higher_order.with_effects %x\n"
                         "call draw tensor 4 flags=random aten.rand.default\n"
                         "getattr k tensor 4 self.k\n"
                         "output 1 x\n";
  EXPECT_EQ(left(text, torch23()), "check split");
  EXPECT_EQ(left(text, torch213()), "check put split token");
  TorchRulesOptions fallback = torch213();
  fallback.fallbackRandom = true;
  EXPECT_EQ(left(text, fallback), "check put split token draw");
  EXPECT_EQ(simplifyFxGraph(parse(text), torch23()).size(), 4u);
}

TEST(Simplify, MergesTransitivelyAndRenumbers) {
  FxGraph graph =
      simplifyFxGraph(parse(x + "call a tensor 4 s=a:4 aten.mul.Tensor %x f:2\n"
                                "call b tensor 4 s=b:4 aten.mul.Tensor %x f:2\n"
                                "call c tensor 4 s=c:4 aten.neg.default %a\n"
                                "call d tensor 4 s=d:4 aten.neg.default %b\n"
                                "call e tensor 4 s=e:4 aten.add.Tensor %c %d\n"
                                "output 1 e None d\n"),
                      torch23());
  EXPECT_EQ(names(graph, graph.outputs.size() == 3
                             ? std::vector<FxNodeId>{graph.outputs[0],
                                                     graph.outputs[2]}
                             : graph.outputs),
            "e c");
  FxNodeId e = find(graph, "e"), c = find(graph, "c");
  ASSERT_EQ(graph.inputs[e].size(), 1u);
  EXPECT_EQ(graph.inputs[e][0], c);
  EXPECT_EQ(graph.directArgs(e).size(), 2u);
  EXPECT_EQ(graph.origin[e], 5u);
  EXPECT_EQ(graph.users[c].size(), 2u);
}

TEST(Simplify, KeepsReturnedStoragesApartFrom213On) {
  std::string text = x + "call a tensor 4 s=a:4 aten.neg.default %x\n"
                         "call b tensor 4 s=b:4 aten.neg.default %x\n"
                         "call v tensor 4 s=b:4 aten.view.default %b [ i:1 ]\n"
                         "output 1 a v\n";
  EXPECT_EQ(left(text, torch23()), "a v");
  EXPECT_EQ(left(text, torch213()), "a b v");
}

TEST(Simplify, FindsFloatsByWhatPythonHashes) {
  auto three = [&](const std::string &a, const std::string &b,
                   const std::string &c) {
    return left(x + "call a tensor 4 aten.mul.Tensor %x f:" + a +
                    "\ncall b tensor 4 aten.mul.Tensor %x f:" + b +
                    "\ncall c tensor 4 aten.mul.Tensor %x f:" + c +
                    "\ncall d tensor 4 aten.cat.default [ %a %b %c ]\n"
                    "output 1 d\n",
                torch213());
  };
  EXPECT_EQ(three("-0.025", "0.025", "0.025"), "a b d");
  EXPECT_EQ(three("-inf", "inf", "inf"), "a b d");
  EXPECT_EQ(three("1", "4", "4"), "a b d");
  // hash(-1.0) is hash(-2.0): the second is not remembered.
  EXPECT_EQ(three("-1", "-2", "-2"), "a b c d");
  EXPECT_EQ(three("-2", "-1", "-1"), "a b c d");
  // Modulo 2^61 - 1, 2^61 is 1, and 2^-1 is 2^60.
  EXPECT_EQ(three("1", "2305843009213693952", "2305843009213693952"),
            "a b c d");
  EXPECT_EQ(three("0.5", "1152921504606846976", "1152921504606846976"),
            "a b c d");
}

TEST(Simplify, LooksAtTypesKeywordsAndBrackets) {
  auto two = [&](const std::string &first, const std::string &second) {
    return left(x + "call a tensor 4 aten.add.Tensor " + first +
                    "\ncall b tensor 4 aten.add.Tensor " + second +
                    "\ncall c tensor 4 aten.sub.Tensor %a %b\noutput 1 c\n",
                torch213());
  };
  EXPECT_EQ(two("%x i:1", "%x i:1"), "a c");
  EXPECT_EQ(two("%x i:1", "%x f:1"), "a b c");
  EXPECT_EQ(two("%x i:1", "%x b:1"), "a b c");
  EXPECT_EQ(two("%x f:0.0", "%x f:-0.0"), "a c");
  EXPECT_EQ(two("%x f:nan", "%x f:nan"), "a b c");
  EXPECT_EQ(two("[ %x i:1 ] i:2", "[ %x ] i:1 i:2"), "a b c");
  EXPECT_EQ(two("%x kw:alpha i:2", "%x kw:beta i:2"), "a b c");
  EXPECT_EQ(two("%x kw:dtype t:torch.f32", "%x kw:dtype t:torch.f64"), "a b c");
  EXPECT_EQ(two("%x kw:dtype t:torch.f32", "%x kw:dtype t:torch.f32"), "a c");
}

TEST(Simplify, HasOneCandidatePerHash) {
  // -1 and -2 have one hash in Python, so the second call is not remembered.
  auto three = [&](const char *first, const char *other) {
    return left(x + "call a tensor 4 aten.unsqueeze.default %x i:" + first +
                    "\ncall b tensor 4 aten.unsqueeze.default %x i:" + other +
                    "\ncall c tensor 4 aten.unsqueeze.default %x i:" + other +
                    "\ncall d tensor 4 aten.cat.default [ %a %b %c ]\n"
                    "output 1 d\n",
                torch213());
  };
  EXPECT_EQ(three("-1", "-2"), "a b c d");
  EXPECT_EQ(three("-3", "-2"), "a b d");
}

TEST(Simplify, NeverMergesRandomCallsAndEmpty) {
  auto twice = [&](const std::string &call, const TorchRulesOptions &options) {
    return left(x + "call a tensor 4 " + call + "\ncall b tensor 4 " + call +
                    "\ncall c tensor 4 aten.sub.Tensor %a %b\noutput 1 c\n",
                options);
  };
  for (const char *name :
       {"rand", "rand_like", "native_dropout", "bernoulli", "randperm"})
    EXPECT_EQ(twice("aten." + std::string(name) + ".default %x", torch23()),
              "a b c")
        << name;
  EXPECT_EQ(twice("aten.empty.default [ i:2 ]", torch23()), "a c");
  EXPECT_EQ(twice("aten.empty.default [ i:2 ]", torch213()), "a b c");
  EXPECT_EQ(twice("my.rand.default %x", torch213()), "a c");
  TorchRulesOptions noCse = torch213();
  noCse.cse = false;
  EXPECT_EQ(twice("aten.neg.default %x", noCse), "a b c");
}

TEST(Simplify, StaysWithinAMutationRegion) {
  std::string text = x + "call a tensor 4 aten.neg.default %x\n"
                         "call w tensor 4 s=x:4 flags=mutable dest=x "
                         "aten.copy_.default %x %a\n"
                         "call b tensor 4 aten.neg.default %x\n"
                         "call c tensor 4 aten.neg.default %x\n"
                         "call d tensor 4 aten.cat.default [ %a %b %c ]\n"
                         "output 1 d\n";
  EXPECT_EQ(left(text, torch23()), "a w d");
  // Behind the write the later call is the candidate.
  EXPECT_EQ(left(text, torch213()), "a w b d");
  FxGraph graph = simplifyFxGraph(parse(text), torch213());
  EXPECT_EQ(graph.nodes[find(graph, "w")].destination, find(graph, "x"));
}

} // namespace
