// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thousands of random graphs: the library and the slow rules of Reference.cpp
// must give the same network, arc by arc, and the same simplified graph.
#include "Reference.h"
#include "TestGraphs.h"

#include <random>

using namespace cutback;
using namespace cutback::fxtext;

namespace {

/// A training-like graph: a forward part, a part behind the tangents that
/// also reads forward values, and getitems, writes, asserts and sizes.
class RandomGraph {
public:
  RandomGraph(unsigned seed, unsigned length) : random(seed) {
    fuse = pick(10);
    reach = 3 + pick(60);
    for (unsigned i = 0, count = 1 + pick(5); i < count; ++i)
      placeholder(pick(4) == 0 ? FxRole::ForwardSeed : FxRole::Primal);
    for (unsigned i = 0; i < length; ++i)
      call();
    FxNodeId border = last();
    for (unsigned i = 0, count = pick(3); i < count; ++i)
      placeholder(FxRole::Tangent);
    for (unsigned i = 0; i < length / 2; ++i)
      call();
    std::vector<FxNodeId> outputs;
    unsigned forward = 1 + pick(2);
    for (unsigned i = 0; i < forward; ++i)
      outputs.push_back(border - std::min(border, pick(4)));
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i)
      outputs.push_back(pick(5) ? last() - std::min(last(), pick(10))
                                : noFxNode);
    graph = builder.finish(std::move(outputs), forward);
  }
  FxGraph graph;

private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  FxNodeId last() const { return static_cast<FxNodeId>(values.size() - 1); }

  void placeholder(FxRole role) {
    FxNode node;
    node.kind = FxKind::Placeholder;
    node.role = role;
    if (pick(8) == 0)
      node.value = FxValue::SymInt;
    node.size = 4 << pick(8);
    if (pick(2))
      node.flags = fxflag::StaticLifetime;
    add(node);
  }

  void add(const FxNode &info) {
    FxNode node = info;
    if (node.value == FxValue::Tensor)
      node.storage = builder.storage(node.size);
    builder.begin("n" + std::to_string(values.size()), node);
    values.push_back(node.value);
  }

  void call() {
    static const char *const names[] = {
        "aten.sin",          "aten.mul",
        "aten.view",         "aten.permute",
        "aten.sum",          "aten.select",
        "aten.rand_like",    "aten.neg",
        "aten.mm",           "aten.cat",
        "aten.embedding",    "aten._softmax",
        "aten.copy_",        "aten.add_",
        "aten.split",        "aten.lift_fresh_copy",
        "aten.sym_size",     "torch.sym_float",
        "aten._assert_async"};
    unsigned which = pick(10) < fuse ? pick(8) : pick(19);
    FxNode node;
    node.size = 4 << pick(8);
    if (which == 14)
      node.value = FxValue::Tuple;
    else if (which == 16)
      node.value = FxValue::SymInt;
    else if (which == 17)
      node.value = FxValue::SymFloat;
    else if (which == 18)
      node.value = FxValue::None;
    if (which == 12 || which == 13)
      node.flags = fxflag::MutableSchema;
    if (values.back() == FxValue::Tuple) {
      node = FxNode();
      node.kind = FxKind::GetItem;
      node.size = 4;
    } else {
      node.packet = builder.packet(names[which]);
    }
    FxNodeId previous = last();
    add(node);
    if (node.kind == FxKind::GetItem) {
      builder.target("operator.getitem");
      builder.argNode(previous);
      builder.argInt(pick(2));
    } else {
      builder.target(names[which]);
      arguments(which == 9, previous);
    }
  }

  void arguments(bool asList, FxNodeId previous) {
    if (asList)
      builder.argListBegin();
    for (unsigned i = 0, count = 1 + pick(2); i < count; ++i)
      builder.argNode(previous - std::min(previous, pick(reach)));
    if (asList)
      builder.argListEnd();
    if (pick(3) == 0)
      builder.argInt(pick(2));
  }

  // The node that begin() opened is ended by the next one.
  struct Ending : FxGraphBuilder {
    bool open = false;
    void begin(const std::string &name, const FxNode &node) {
      close();
      FxGraphBuilder::begin(name, node);
      open = true;
    }
    void close() {
      if (open)
        end();
      open = false;
    }
    FxGraph finish(std::vector<FxNodeId> outputs, uint32_t forward) {
      close();
      return FxGraphBuilder::finish(std::move(outputs), forward);
    }
  };

  std::mt19937 random;
  unsigned fuse = 0, reach = 0;
  Ending builder;
  std::vector<FxValue> values;
};

TorchRulesOptions randomOptions(unsigned seed) {
  std::mt19937 random(seed);
  TorchRulesOptions options;
  options.rules = random() % 2 ? TorchRuleSet::Torch23 : TorchRuleSet::Torch213;
  options.freeParameters = random() % 2;
  if (random() % 2)
    return options;
  options.maxDistance = static_cast<int64_t>(random() % 12) - 1;
  options.aggressiveRecomputation = random() % 3 == 0;
  options.recomputeViews = random() % 3 == 0;
  options.banNotInAllowList = random() % 2;
  options.banMaterializedBackward = random() % 2;
  options.banReductions = random() % 2;
  options.banUsedFarApart = random() % 4;
  options.banLongFusibleChains = random() % 4;
  return options;
}

void compareNetworks(const FxGraph &graph, const TorchRulesOptions &options) {
  TorchNetwork network = build(graph, options);
  reference::Network expected = reference::buildNetwork(graph, options);
  if (network.emptyBackward) {
    EXPECT_TRUE(expected.closure.empty() && expected.gradients.empty());
    return;
  }
  std::map<std::pair<uint32_t, uint32_t>, int64_t> arcs;
  for (const TorchArc &arc : network.arcs)
    EXPECT_TRUE(arcs.insert({{arc.from, arc.to}, arc.capacity}).second)
        << "arc " << arc.from << " -> " << arc.to << " twice";
  EXPECT_EQ(arcs, expected.arcs);
  for (FxNodeId n = 0; n < graph.size(); ++n)
    EXPECT_EQ(network.banned[n] != BanReason::None,
              expected.banned.count(n) == 1)
        << graph.name(n);
}

TEST(RandomGraphs, ShortOnesHaveTheNetworkOfTheSlowRules) {
  for (unsigned seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 5 + seed % 60);
    compareNetworks(random.graph, randomOptions(seed));
  }
}

TEST(RandomGraphs, LongOnesHaveTheNetworkOfTheSlowRules) {
  for (unsigned seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed + 100000, 250);
    TorchRulesOptions options = torch213();
    options.banUsedFarApart = seed % 2;
    compareNetworks(random.graph, options);
  }
}

TEST(RandomGraphs, AreSimplifiedAsByTheSlowRules) {
  unsigned merged = 0;
  for (unsigned seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 10 + seed % 50);
    TorchRulesOptions options = randomOptions(seed);
    FxGraph simple = simplifyFxGraph(random.graph, options);
    EXPECT_EQ(simple.origin, reference::simplify(random.graph, options));
    merged += random.graph.size() - simple.size();
    // Nothing is left to do but what a merge makes equal in turn.
    FxGraph again = simplifyFxGraph(simple, options);
    EXPECT_EQ(again.size(), simple.size());
  }
  EXPECT_GT(merged, 10000u);
}

} // namespace
