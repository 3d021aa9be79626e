// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets, tags, bans and capacities, one rule at a time, on graphs of a few
// nodes. In all of them `t` is the tangent and `g` a gradient.
#include "TestGraphs.h"

#include <limits>

using namespace cutback;
using namespace cutback::fxtext;

namespace {

const std::string x = "placeholder x tensor 400 role=primal\n";
const std::string t = "placeholder t tensor 400 role=tangent\n";

/// "a: reason, b: reason" for all banned calls.
std::string bans(const std::string &text, const TorchRulesOptions &options) {
  FxGraph graph = parse(text);
  TorchNetwork network = build(graph, options);
  std::string result;
  for (FxNodeId n = 0; n < graph.size(); ++n)
    if (network.banned[n] != BanReason::None && graph.nodes[n].isCall()) {
      result += result.empty() ? "" : ", ";
      result += std::string(graph.name(n)) + ": " +
                std::string(describeBanReason(network.banned[n]));
    }
  return result;
}

/// The capacity of an arc; -2 if there is none.
int64_t capacity(const TorchNetwork &network, uint32_t from, uint32_t to) {
  for (const TorchArc &arc : network.arcs)
    if (arc.from == from && arc.to == to)
      return arc.capacity;
  return -2;
}
int64_t save(const TorchNetwork &network, FxNodeId n) {
  return capacity(network, TorchNetwork::in(n), TorchNetwork::out(n));
}

TEST(Network, ClassifiesForwardBackwardAndTheRest) {
  FxGraph graph = parse(x +
                        "placeholder unused tensor 4 role=primal\n"
                        "placeholder s symint 0 role=fwdseed\n"
                        "placeholder b symint 0 role=bwdseed\n" +
                        t +
                        "call f tensor 400 aten.mul.Tensor %x %x\n"
                        "call y tensor 400 aten.neg.default %x\n"
                        "call d tensor 400 aten.mul.Tensor %t %y\n"
                        "output 1 f d\n");
  TorchNetwork network = build(graph, torch213());
  auto set = [&](const char *name) { return network.sets[find(graph, name)]; };
  EXPECT_EQ(set("x"), torchset::Forward);
  EXPECT_EQ(set("unused"), torchset::Forward);
  EXPECT_EQ(set("s"), torchset::Forward);
  EXPECT_EQ(set("b"), 0);
  EXPECT_EQ(set("t"), torchset::TangentClosure);
  EXPECT_EQ(set("f"), torchset::Forward);
  EXPECT_EQ(set("y"), 0);
  EXPECT_EQ(set("d"), torchset::TangentClosure | torchset::GradientResult);
  EXPECT_EQ(set("output"), 0);
  EXPECT_EQ(network.forwardOrder[find(graph, "f")], 3u);
  // Returned in 2.3: the return is at distance 0; 2.13: it is far away.
  EXPECT_EQ(network.distance[find(graph, "f")], 1000000000);
  EXPECT_EQ(build(graph, torch23()).distance[find(graph, "f")], 1);
  EXPECT_EQ(network.distance[find(graph, "x")], 1);
}

TEST(Network, WithoutABackwardTheNetworkIsEmpty) {
  TorchNetwork network =
      build(parse(x + "call f tensor 4 aten.neg.default %x\noutput 1 f None\n"),
            torch213());
  EXPECT_TRUE(network.emptyBackward);
  EXPECT_TRUE(network.arcs.empty());
}

TEST(Network, GradientsThatNeedNoTangent) {
  FxGraph graph = parse(x + t +
                        "call f tensor 400 aten.neg.default %x\n"
                        "call k tensor 400 aten.sin.default %x\n"
                        "output 1 f k x t\n");
  FxNodeId k = find(graph, "k"), input = find(graph, "x");
  TorchNetwork old = build(graph, torch23()), now = build(graph, torch213());
  // 2.3 recomputes them, 2.13 may save them.
  EXPECT_EQ(capacity(old, TorchNetwork::in(k), 1), infiniteCapacity);
  EXPECT_EQ(save(old, k), -2);
  EXPECT_EQ(capacity(now, TorchNetwork::in(k), 1), -2);
  EXPECT_EQ(capacity(now, TorchNetwork::out(k), 1), infiniteCapacity);
  EXPECT_GT(save(now, k), 0);
  // An input that is returned as a gradient stays an input.
  for (const TorchNetwork *network : {&old, &now}) {
    EXPECT_EQ(capacity(*network, TorchNetwork::out(input), 1),
              infiniteCapacity);
    EXPECT_GT(save(*network, input), 0);
  }
}

TEST(Network, CapacitiesByKindOfValue) {
  FxGraph graph =
      parse("placeholder p tensor 400 role=primal static\n"
            "placeholder i symint 0 role=primal\n" +
            x + t +
            "call f symfloat 0 torch.sym_float %i\n"
            "call b symbool 0 operator.gt %i i:1\n"
            "call u tuple 800 aten.split.Tensor %x i:1\n"
            "getitem u0 tensor 400 operator.getitem %u i:0\n"
            "getattr k none 0 self.k\n"
            "call v tensor 400 aten.view.default %x [ i:1 ]\n"
            "call m tensor 400 aten.mul.Tensor %v %f\n"
            "call g tensor 400 my.op.default %p %t %u0 %m %b %k %i\n"
            "output 1 x g\n");
  auto at = [&](const TorchRulesOptions &options, const char *name) {
    return save(build(graph, options), find(graph, name));
  };
  TorchRulesOptions options = torch213();
  EXPECT_EQ(at(options, "i"), 1);
  EXPECT_EQ(at(options, "b"), 1);
  EXPECT_EQ(at(options, "f"), 4);
  EXPECT_EQ(at(options, "u"), infiniteCapacity);
  EXPECT_EQ(at(options, "k"), infiniteCapacity);
  // trunc(400 * 1.1); v is not written anyway, m is read by a custom op.
  EXPECT_EQ(at(options, "m"), 440);
  EXPECT_EQ(at(options, "v"), 880);
  EXPECT_EQ(at(options, "p"), 440);
  options.freeParameters = true;
  EXPECT_EQ(at(options, "p"), 0);
  EXPECT_EQ(at(options, "x"), 440);
  options.recomputeViews = true;
  EXPECT_EQ(at(options, "v"), infiniteCapacity);
  TorchRulesOptions old = torch23();
  old.freeParameters = old.recomputeViews = true;
  EXPECT_EQ(at(old, "p"), 440);
  EXPECT_EQ(at(old, "v"), 880);
}

/// A chain of `length` forward calls, the last one returned.
std::string chain(unsigned length, const char *bytes) {
  std::string text = x + t, last = "x";
  for (unsigned i = 0; i < length; ++i) {
    std::string name = "c" + std::to_string(i);
    text += "call " + name + " tensor " + bytes + " aten.sin.default %" + last +
            "\n";
    last = name;
  }
  return text + "call g tensor 4 aten.mul.Tensor %" + last + " %t\noutput 1 " +
         last + " g\n";
}

TEST(Network, DistanceCountsUpTo100Steps) {
  FxGraph graph = parse(chain(150, "400"));
  TorchNetwork network = build(graph, torch213());
  // The C library's pow, cut once: 2 * trunc(400 * 1.1^k).
  EXPECT_EQ(save(network, find(graph, "c149")), 440);
  EXPECT_EQ(save(network, find(graph, "c148")), 2 * 484);
  EXPECT_EQ(save(network, find(graph, "c50")), 2 * 5512244);
  EXPECT_EQ(save(network, find(graph, "c0")), 2 * 5512244);
}

TEST(Network, ReportsWeightsThatDoNotFit) {
  FxGraph graph = parse(chain(3, "4000000000000000000"));
  TorchNetwork network = classifyTorchGraph(graph, torch213());
  auto error = buildTorchNetwork(graph, torch213(), network);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "the weight of 'c0', 4000000000000000000 bytes at "
                            "distance 3, does not fit 64 bits");
  EXPECT_EQ(error->node, find(graph, "c0"));
  EXPECT_EQ(error->note,
            "the cost model pytorch multiplies bytes by up to 27561");

  graph = parse(chain(4, "1500000000000000000"));
  network = classifyTorchGraph(graph, torch213());
  error = buildTorchNetwork(graph, torch213(), network);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "the sum of all weights does not fit 64 bits at "
                            "'c2'");
}

TEST(Bans, InOrderOfTheRules) {
  std::string text =
      x + t +
      "call soft tensor 400 aten._softmax.default %x i:1\n"
      "call v tensor 400 aten.view.default %x [ i:1 ]\n"
      "call seen tensor 400 aten.sin.default %x\n"
      "call red tensor 4 aten.sum.default %x\n"
      "call lift tensor 400 aten.lift_fresh_copy.default %x\n"
      "call ok tensor 400 aten.cos.default %x\n"
      "call cat tensor 400 aten.cat.default [ %soft %v %seen %red %lift %ok ]\n"
      "call e tensor 400 aten.mul.Tensor %red %ok\n"
      "call g tensor 400 aten.mul.Tensor %t %e\n"
      "call h tensor 400 aten.mm.default %t %seen\n"
      "call k tensor 400 aten.mm.default %t %v\n"
      "call l tensor 400 aten.mm.default %t %lift\n"
      "output 2 cat e g h k l\n";
  EXPECT_EQ(bans(text, torch23()),
            "soft: not in recomputable allowlist, v: materialized in backward, "
            "seen: materialized in backward, red: reduction op, "
            "cat: not in recomputable allowlist, e: materialized in backward");
  EXPECT_EQ(bans(text, torch213()),
            "soft: not in recomputable allowlist, "
            "seen: materialized in backward, red: reduction op, "
            "cat: not in recomputable allowlist, e: materialized in backward");
  TorchRulesOptions options = torch213();
  options.aggressiveRecomputation = true;
  EXPECT_EQ(bans(text, options), "red: reduction op");
  options.banReductions = false;
  EXPECT_EQ(bans(text, options), "");
  options = torch213();
  options.banNotInAllowList = options.banMaterializedBackward = false;
  EXPECT_EQ(bans(text, options), "red: reduction op");
  TorchRulesOptions old = torch23();
  old.aggressiveRecomputation = true;
  EXPECT_EQ(bans(text, old), "soft: compute intensive op");
}

TEST(Bans, TheDenyListHasRandomHeavyAndCustomCalls) {
  std::string text = x + t +
                     "call d tuple 800 flags=random "
                     "aten.native_dropout.default %x f:0.5 b:1\n"
                     "getitem d0 tensor 400 operator.getitem %d i:0\n"
                     "call m tensor 400 aten.mm.default %d0 %x\n"
                     "call c tensor 400 flags=custom my.op.default %m\n"
                     "call e tensor 400 aten.embedding.default %c\n"
                     "call g tensor 400 aten.mul.Tensor %t %e\n"
                     "output 1 x g\n";
  // Nothing of this is needed by the forward; ask for it.
  text.replace(text.find("output 1 x"), 10, "output 1 e");
  TorchRulesOptions options = torch213();
  options.aggressiveRecomputation = true;
  EXPECT_EQ(bans(text, options), "d: random op, m: compute intensive op");
  options.includeNonBuiltin = true;
  EXPECT_EQ(bans(text, options),
            "d: random op, m: compute intensive op, c: non-builtin op");
}

TEST(Bans, DistanceLimits) {
  std::string text = chain(8, "400");
  EXPECT_EQ(bans(text, torch23()),
            "c0: too far from the backward, c1: too far from the backward, "
            "c2: too far from the backward, c3: too far from the backward, "
            "c4: too far from the backward, c7: materialized in backward");
  TorchRulesOptions options = torch213();
  EXPECT_EQ(bans(text, options), "c7: materialized in backward");
  options.maxDistance = 6;
  EXPECT_EQ(bans(text, options),
            "c0: too far from the backward, c1: too far from the backward, "
            "c7: materialized in backward");
  // 2.3 gives up its limit where anything is tagged.
  text.replace(text.find("tensor 400 aten.sin.default %c5"), 10,
               "tensor 400 tag=PREFER_RECOMPUTE:1");
  EXPECT_EQ(bans(text, torch23()), "c7: materialized in backward");
}

TEST(Bans, LooksThroughViewsOfTheBackward) {
  auto text = [&](const char *result) {
    return x + t +
           "call s tensor 400 aten.sin.default %x\n"
           "call v tensor 400 aten.view.default %s [ i:1 ]\n"
           "call r tensor 400 aten.cos.default %v\n"
           "call h tensor 400 aten.mm.default %t %v\n"
           "output 1 " +
           result + " h\n";
  };
  // v in the backward; then v in the forward, which stops 2.3 only.
  EXPECT_EQ(bans(text("x"), torch213()), "");
  std::string sIsForward = text("s");
  EXPECT_EQ(bans(sIsForward, torch23()), "s: materialized in backward");
  std::string both = text("r");
  EXPECT_EQ(bans(both, torch23()),
            "v: materialized in backward, r: materialized in backward");
  EXPECT_EQ(bans(both, torch213()),
            "s: materialized in backward, r: materialized in backward");
}

TEST(Bans, TagsDecideIn23) {
  std::string text = x + t +
                     "call a tensor 400 tag=MUST_SAVE:1 aten.sin.default %x\n"
                     "call b tensor 400 tag=MUST_RECOMPUTE:1 "
                     "aten.mm.default %a %a\n"
                     "call c tensor 400 tag=PREFER_RECOMPUTE:2 "
                     "aten.mm.default %b %b\n"
                     "call d tensor 400 tag=PREFER_SAVE:2 "
                     "aten.sin.default %c\n"
                     "call f tensor 4 aten.cat.default [ %d ]\n"
                     "call g tensor 400 aten.mul.Tensor %t %f\n"
                     "output 1 f g\n";
  // b feeds a later region.
  EXPECT_EQ(bans(text, torch23()),
            "a: marked MUST_SAVE, b: marked MUST_SAVE, d: marked MUST_SAVE, "
            "f: not in recomputable allowlist");
  EXPECT_EQ(bans(text, torch213()), "a: marked MUST_SAVE, b: marked MUST_SAVE, "
                                    "f: not in recomputable allowlist");
  FxGraph graph = parse(text);
  TorchNetwork network = build(graph, torch213());
  FxNodeId c = find(graph, "c"), d = find(graph, "d");
  EXPECT_EQ(capacity(network, TorchNetwork::in(c), 1), infiniteCapacity);
  EXPECT_EQ(save(network, c), -2);
  EXPECT_EQ(capacity(network, TorchNetwork::out(c), TorchNetwork::in(d)), -2);
  EXPECT_GT(save(build(graph, torch23()), c), 0);
}

TEST(Bans, TagsOf213ThatAreAddedBeforehand) {
  std::string text =
      x + t +
      "call hook tensor 400 tag=PREFER_RECOMPUTE:1 flags=hook "
      "aten.sin.default %x\n"
      "call comm tensor 400 flags=collective aten.cos.default %hook\n"
      "call eff tuple 400 flags=effect aten.var_mean.default %comm\n"
      "getitem e0 tensor 400 operator.getitem %eff i:0\n"
      "call src tensor 400 aten.exp.default %e0\n"
      "call g tensor 400 aten.mul.Tensor %t %src\n"
      "call wf tensor 400 flags=mutable,mustforward dest=x "
      "aten.copy_.default %x %src\n"
      "call wb tensor 400 flags=mutable,mustbackward dest=x "
      "aten.copy_.default %x %g\n"
      "output 1 e0 g\n";
  EXPECT_EQ(bans(text, torch213()),
            "hook: marked MUST_SAVE, comm: marked MUST_SAVE, "
            "src: marked MUST_SAVE, "
            "wf: not in recomputable allowlist");
  FxGraph graph = parse(text);
  EXPECT_EQ(build(graph, torch213()).policy[find(graph, "e0")],
            FxPolicy::MustSave);
  TorchRulesOptions options = torch213();
  options.optimizeCollectives = true;
  EXPECT_EQ(build(graph, options).policy[find(graph, "comm")], FxPolicy::None);
}

TEST(Bans, MemoryBudgetsLiftThemButNotFromCollectives) {
  FxGraph graph = parse(x + t +
                        "call a tensor 400 aten.mm.default %x %x\n"
                        "call c tensor 400 flags=collective my.op.default %a\n"
                        "call g tensor 400 aten.mul.Tensor %t %c\n"
                        "output 1 c g\n");
  std::vector<uint8_t> dontBan(graph.size(), 1);
  TorchNetwork network = classifyTorchGraph(graph, torch213());
  EXPECT_FALSE(buildTorchNetwork(graph, torch213(), network, dontBan));
  EXPECT_EQ(network.banned[find(graph, "a")], BanReason::None);
  EXPECT_EQ(network.banned[find(graph, "x")], BanReason::None);
  EXPECT_EQ(network.banned[find(graph, "c")], BanReason::MustSave);
  network = classifyTorchGraph(graph, torch23());
  EXPECT_FALSE(buildTorchNetwork(graph, torch23(), network, dontBan));
  EXPECT_EQ(network.banned[find(graph, "a")], BanReason::NotInAllowList);
}

TEST(Bans, FloatSymbolsAreNot) {
  EXPECT_EQ(bans("placeholder i symint 0 role=primal\n" + t +
                     "call s symint 0 my.size.default %i\n"
                     "call f symfloat 0 my.float.default %s\n"
                     "call g tensor 400 my.op.default %t %f %s\noutput 1 f g\n",
                 torch213()),
            "s: not in recomputable allowlist");
}

TEST(Bans, ValuesUsedFarApart) {
  // a is read by b at once, and by far only behind a matrix product.
  std::string text = x + t +
                     "call a tensor 400 aten.sin.default %x\n"
                     "call b tensor 400 aten.cos.default %a\n"
                     "call m tensor 400 aten.mm.default %b %b\n"
                     "call far tensor 400 aten.mul.Tensor %m %a\n"
                     "call r tensor 400 aten.cat.default [ %far ]\n"
                     "call g tensor 400 aten.mul.Tensor %t %far\n"
                     "output 1 r g\n";
  EXPECT_EQ(bans(text, torch213()),
            "m: not in recomputable allowlist, far: used far apart, "
            "r: not in recomputable allowlist");
  TorchRulesOptions options = torch213();
  options.banUsedFarApart = false;
  EXPECT_EQ(bans(text, options), "m: not in recomputable allowlist, "
                                 "r: not in recomputable allowlist");
}

TEST(Bans, LongFusibleChains) {
  // Nothing is fused with an input, so walks start at c0, of order 1, and
  // behind each banned call.
  EXPECT_EQ(bans(chain(250, "400"), torch213()),
            "c101: long fusible chain, c203: long fusible chain, "
            "c249: materialized in backward");
  TorchRulesOptions options = torch213();
  options.banLongFusibleChains = false;
  EXPECT_EQ(bans(chain(250, "400"), options), "c249: materialized in backward");
}

TEST(Network, FunctionalWrappersFuseWithWhatTheyClone) {
  // Weights double where a value is not materialized, so they tell.
  auto weight = [&](const std::string &call, const char *name,
                    const TorchRulesOptions &options) {
    FxGraph graph =
        parse(x + t + "call a tensor 400 aten.sin.default %x\n" + call +
              "getitem i tensor 400 operator.getitem %w i:0\n"
              "call n tensor 400 aten.neg.default %i\n"
              "call g tensor 400 aten.mul.Tensor %t %n\n"
              "output 1 x g\n");
    return save(build(graph, options), find(graph, name));
  };
  std::string cloned = "call w tuple 400 flags=wrapper higher.w &a %x\n";
  std::string read = "call w tuple 400 flags=wrapper higher.w %a &x\n";
  std::string triton = "call w tuple 400 flags=triton higher.w &a\n";
  EXPECT_EQ(weight(cloned, "a", torch213()), 880);
  EXPECT_EQ(weight(read, "a", torch213()), 440);
  EXPECT_EQ(weight(cloned, "a", torch23()), 440);
  // A getitem of a Triton kernel is never fused.
  EXPECT_EQ(weight(cloned, "i", torch213()), 880);
  EXPECT_EQ(weight(triton, "i", torch213()), 440);
}

} // namespace
