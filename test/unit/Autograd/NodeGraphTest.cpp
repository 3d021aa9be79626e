// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the backward, rule by rule, and random graphs against a naive
// engine that looks at all nodes at every step.

#include "cutback/Autograd/NodeGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>

using namespace cutback;
using llvm::ArrayRef;

namespace {

/// Gradients are strings that say how they were made: "(a+b)".
struct Recorder {
  explicit Recorder(const NodeGraph &graph) : graph(graph) {}

  GradientRef make(std::string text) {
    texts.push_back(std::move(text));
    return &texts.back();
  }
  static std::string read(GradientRef gradient) {
    return gradient ? *static_cast<const std::string *>(gradient) : "-";
  }

  bool run(ArrayRef<BackwardRoot> roots, ArrayRef<uint32_t> targets = {}) {
    auto add = [&](GradientRef a, GradientRef b, GradientRef &sum) {
      sum = make("(" + read(a) + "+" + read(b) + ")");
      return true;
    };
    auto runNode = [&](uint32_t node, ArrayRef<GradientRef> inputs,
                       ArrayRef<bool> wanted,
                       llvm::MutableArrayRef<GradientRef> outputs) {
      order.push_back(node);
      std::string call = "n" + std::to_string(node) + "[";
      for (GradientRef input : inputs)
        call += read(input) + ",";
      call.back() = ']';
      calls.push_back(call);
      for (size_t i = 0; i < outputs.size(); ++i) {
        asked.push_back({node, unsigned(i), wanted[i]});
        if (wanted[i] && !silent.count({node, unsigned(i)}))
          outputs[i] = make(call + std::to_string(i));
      }
      return node != failAt;
    };
    auto accumulate = [&](uint32_t node, GradientRef gradient) {
      order.push_back(node);
      leaves[node] = read(gradient);
      return true;
    };
    return runBackward(graph, roots, targets, {add, runNode, accumulate});
  }

  struct Asked {
    uint32_t node;
    unsigned output;
    bool wanted;
  };
  const NodeGraph &graph;
  std::deque<std::string> texts;
  std::vector<uint32_t> order;
  std::vector<std::string> calls;
  std::vector<Asked> asked;
  std::map<uint32_t, std::string> leaves;
  std::map<std::pair<uint32_t, unsigned>, bool> silent; ///< give null
  uint32_t failAt = NodeEdge::kNone;
};

TEST(NodeGraph, SequenceNumbersGrowWithCreation) {
  NodeGraph graph;
  uint32_t a = graph.addNode(1), leaf = graph.addAccumulate(),
           b = graph.addNode(1);
  EXPECT_EQ(graph.getSequence(a), 0u);
  EXPECT_EQ(graph.getSequence(b), 1u);
  EXPECT_EQ(graph.getSequence(leaf), NodeGraph::kAccumulate);
}

TEST(NodeGraph, AnOverriddenNumberStillCounts) {
  NodeGraph graph;
  uint32_t a = graph.addNode(1, 77), b = graph.addNode(1);
  EXPECT_EQ(graph.getSequence(a), 77u);
  EXPECT_EQ(graph.getSequence(b), 1u);
}

TEST(NodeGraph, AccumulateNodesHaveTheHighestNumber) {
  NodeGraph graph;
  uint32_t leaf = graph.addAccumulate();
  EXPECT_TRUE(graph.isAccumulate(leaf));
  EXPECT_FALSE(graph.isAccumulate(graph.addNode(1, 1000000)));
}

TEST(NodeGraph, ATopologicalNumberIsTheLongestPathToALeaf) {
  NodeGraph graph;
  uint32_t leaf = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1), c = graph.addNode(1);
  EXPECT_TRUE(graph.addNextEdge(a, {leaf, 0}));
  EXPECT_TRUE(graph.addNextEdge(b, {a, 0}));
  EXPECT_TRUE(graph.addNextEdge(c, {leaf, 0}));
  EXPECT_TRUE(graph.addNextEdge(c, {b, 0}));
  EXPECT_TRUE(graph.addNextEdge(c, {}));
  EXPECT_EQ(graph.getTopologicalNumber(leaf), 0u);
  EXPECT_EQ(graph.getTopologicalNumber(a), 1u);
  EXPECT_EQ(graph.getTopologicalNumber(b), 2u);
  EXPECT_EQ(graph.getTopologicalNumber(c), 3u);
}

TEST(NodeGraph, AnEdgeAfterAParentIsAnError) {
  NodeGraph graph;
  uint32_t leaf = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1);
  EXPECT_TRUE(graph.addNextEdge(b, {a, 0}));
  EXPECT_FALSE(graph.addNextEdge(a, {leaf, 0}));
  EXPECT_TRUE(graph.getNextEdges(a).empty());
  EXPECT_FALSE(graph.addNextEdge(b, {b, 0})) << "an edge to itself";
}

TEST(NodeGraph, PathsAreFoundAndTheirAbsenceToo) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), y = graph.addAccumulate(),
           a = graph.addNode(1), b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {y, 0});
  graph.addNextEdge(c, {a, 0});
  EXPECT_TRUE(graph.reaches(c, x));
  EXPECT_TRUE(graph.reaches(c, c));
  EXPECT_FALSE(graph.reaches(c, y));
  EXPECT_FALSE(graph.reaches(a, c));
  EXPECT_FALSE(graph.reaches(c, b));
}

TEST(RunBackward, ADeepGraphNeedsNoStack) {
  constexpr uint32_t depth = 300'000;
  NodeGraph graph;
  uint32_t last = graph.addAccumulate();
  for (uint32_t i = 0; i < depth; ++i) {
    uint32_t node = graph.addNode(1);
    graph.addNextEdge(node, {last, 0});
    last = node;
  }
  EXPECT_TRUE(graph.reaches(last, 0));
  uint32_t runs = 0;
  GradientRef given = &graph, arrived = nullptr;
  auto add = [](GradientRef, GradientRef, GradientRef &) { return false; };
  auto run = [&](uint32_t, ArrayRef<GradientRef> inputs, ArrayRef<bool>,
                 llvm::MutableArrayRef<GradientRef> outputs) {
    ++runs;
    outputs[0] = inputs[0];
    return true;
  };
  auto accumulate = [&](uint32_t, GradientRef gradient) {
    arrived = gradient;
    return true;
  };
  EXPECT_TRUE(
      runBackward(graph, {{{last, 0}, given}}, {0}, {add, run, accumulate}));
  EXPECT_EQ(runs, depth);
  EXPECT_EQ(arrived, given);
}

TEST(RunBackward, LaterForwardOpsRunEarlier) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {x, 0});
  graph.addNextEdge(c, {a, 0});
  graph.addNextEdge(c, {b, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{c, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{c, b, a, x}));
}

TEST(RunBackward, AnOverrideChangesTheOrder) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1, 50),
           b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {x, 0});
  graph.addNextEdge(c, {a, 0});
  graph.addNextEdge(c, {b, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{c, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{c, a, b, x}));
}

TEST(RunBackward, AGradientIsAccumulatedAsSoonAsItIsComplete) {
  NodeGraph graph;
  uint32_t w = graph.addAccumulate(), x = graph.addAccumulate(),
           a = graph.addNode(1), b = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {a, 0});
  graph.addNextEdge(b, {w, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{b, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{b, w, a, x}));
}

TEST(RunBackward, GradientsAreSummedInTheOrderOfTheirArrival) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {x, 0});
  graph.addNextEdge(c, {x, 0}); // arrives first
  graph.addNextEdge(c, {a, 0});
  graph.addNextEdge(c, {b, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{c, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.leaves[x], "((n3[g]0+n2[n3[g]2]0)+n1[n3[g]1]0)");
}

TEST(RunBackward, OneValueUsedTwiceByAnOpArrivesOperandByOperand) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(a, {x, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{a, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.leaves[x], "(n1[g]0+n1[g]1)");
}

TEST(RunBackward, AnInvalidEdgeIsNotAskedFor) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1);
  graph.addNextEdge(a, {});
  graph.addNextEdge(a, {x, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{a, 0}, recorder.make("g")}}));
  ASSERT_EQ(recorder.asked.size(), 2u);
  EXPECT_FALSE(recorder.asked[0].wanted);
  EXPECT_TRUE(recorder.asked[1].wanted);
}

TEST(RunBackward, EdgesOutsideEveryPathToATargetAreTrimmed) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), y = graph.addAccumulate(),
           a = graph.addNode(1), b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {y, 0});
  graph.addNextEdge(c, {a, 0});
  graph.addNextEdge(c, {b, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{c, 0}, recorder.make("g")}}, {x}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{c, a, x}));
  EXPECT_FALSE(recorder.asked[1].wanted);
  EXPECT_EQ(recorder.leaves.size(), 1u);
}

TEST(RunBackward, ANodeWaitsForNullGradientsToo) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1), c = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {a, 0});
  graph.addNextEdge(c, {a, 0});
  graph.addNextEdge(c, {b, 0});
  Recorder recorder(graph);
  recorder.silent[{b, 0}] = true;
  ASSERT_TRUE(recorder.run({{{c, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{c, b, a, x}));
  EXPECT_EQ(recorder.leaves[x], "n1[n3[g]0]0");
}

TEST(RunBackward, ANodeWithoutAnyGradientDoesNotRun) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {a, 0});
  Recorder recorder(graph);
  recorder.silent[{b, 0}] = true;
  ASSERT_TRUE(recorder.run({{{b, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{b}));
  EXPECT_TRUE(recorder.leaves.empty()) << "an unused leaf has no gradient";
}

TEST(RunBackward, AnInputOfANodeMayStayWithoutGradient) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(3);
  graph.addNextEdge(a, {x, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{a, 1}, recorder.make("g")}}));
  EXPECT_EQ(recorder.calls, std::vector<std::string>{"n1[-,g,-]"});
}

TEST(RunBackward, ARootInsideTheGraphArrivesFirst) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {a, 0});
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run(
      {{{a, 0}, recorder.make("g0")}, {{b, 0}, recorder.make("g1")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{b, a, x}));
  EXPECT_EQ(recorder.calls[1], "n1[(g0+n2[g1]0)]");
}

TEST(RunBackward, ALeafMayBeARoot) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate();
  Recorder recorder(graph);
  ASSERT_TRUE(recorder.run({{{x, 0}, recorder.make("g")}, {{}, nullptr}}));
  EXPECT_EQ(recorder.leaves[x], "g");
}

TEST(RunBackward, AFailureStopsTheWalk) {
  NodeGraph graph;
  uint32_t x = graph.addAccumulate(), a = graph.addNode(1),
           b = graph.addNode(1);
  graph.addNextEdge(a, {x, 0});
  graph.addNextEdge(b, {a, 0});
  Recorder recorder(graph);
  recorder.failAt = b;
  EXPECT_FALSE(recorder.run({{{b, 0}, recorder.make("g")}}));
  EXPECT_EQ(recorder.order, (std::vector<uint32_t>{b}));
}

//===----------------------------------------------------------------------===//
// Random graphs against the naive engine
//===----------------------------------------------------------------------===//

/// The rules read aloud: at every step, of all nodes that wait for nothing, the
/// one with the highest number that became so first.
struct Naive {
  const NodeGraph &graph;
  Recorder &recorder; ///< makes the texts
  std::vector<uint32_t> order;
  std::map<uint32_t, std::string> leaves;

  bool onPath(uint32_t node, ArrayRef<uint32_t> targets) const {
    if (targets.empty() || llvm::is_contained(targets, node))
      return true;
    return std::any_of(graph.getNextEdges(node).begin(),
                       graph.getNextEdges(node).end(), [&](NodeEdge edge) {
                         return edge.isValid() && onPath(edge.node, targets);
                       });
  }
  void collect(uint32_t node, ArrayRef<uint32_t> targets,
               std::vector<bool> &live) const {
    if (live[node] || !onPath(node, targets))
      return;
    live[node] = true;
    for (NodeEdge edge : graph.getNextEdges(node))
      if (edge.isValid())
        collect(edge.node, targets, live);
  }

  void run(ArrayRef<BackwardRoot> roots, ArrayRef<uint32_t> targets) {
    unsigned n = graph.size();
    std::vector<bool> live(n), done(n);
    for (const BackwardRoot &root : roots)
      collect(root.edge.node, targets, live);
    std::vector<std::vector<std::string>> inputs(n);
    std::vector<uint64_t> since(n, ~0ull);
    uint64_t clock = 0;
    for (uint32_t node = 0; node < n; ++node)
      inputs[node].resize(graph.getNumInputs(node), "-");
    auto give = [&](NodeEdge edge, const std::string &g) {
      std::string &slot = inputs[edge.node][edge.input];
      if (g != "-")
        slot = slot == "-" ? g : "(" + slot + "+" + g + ")";
    };
    auto mark = [&](uint32_t node) {
      if (since[node] != ~0ull || !live[node])
        return;
      for (uint32_t other = 0; other < n; ++other)
        if (live[other] && !done[other])
          for (NodeEdge edge : graph.getNextEdges(other))
            if (edge.node == node)
              return;
      since[node] = clock++;
    };
    for (const BackwardRoot &root : roots)
      if (live[root.edge.node])
        give(root.edge, Recorder::read(root.gradient));
    for (const BackwardRoot &root : roots)
      mark(root.edge.node);
    for (;;) {
      uint32_t best = NodeEdge::kNone;
      for (uint32_t node = 0; node < n; ++node) {
        if (since[node] == ~0ull || done[node])
          continue;
        auto key = [&](uint32_t at) {
          return std::make_pair(graph.getSequence(at), ~since[at]);
        };
        if (best == NodeEdge::kNone || key(node) > key(best))
          best = node;
      }
      if (best == NodeEdge::kNone)
        return;
      step(best, inputs, live, give);
      // Edges deliver one by one, so the time of readiness follows them.
      std::vector<NodeEdge> edges(graph.getNextEdges(best).begin(),
                                  graph.getNextEdges(best).end());
      done[best] = true;
      std::map<uint32_t, unsigned> last;
      for (unsigned i = 0; i < edges.size(); ++i)
        if (edges[i].isValid())
          last[edges[i].node] = i;
      for (unsigned i = 0; i < edges.size(); ++i)
        if (edges[i].isValid() && last[edges[i].node] == i)
          mark(edges[i].node);
    }
  }

  template <typename Give>
  void step(uint32_t node, std::vector<std::vector<std::string>> &inputs,
            const std::vector<bool> &live, Give give) {
    bool any = false;
    std::string call = "n" + std::to_string(node) + "[";
    for (const std::string &input : inputs[node]) {
      any |= input != "-";
      call += input + ",";
    }
    call.back() = ']';
    if (!any)
      return;
    order.push_back(node);
    if (graph.isAccumulate(node)) {
      leaves[node] = inputs[node].front();
      return;
    }
    for (auto [i, edge] : llvm::enumerate(graph.getNextEdges(node)))
      if (edge.isValid() && live[edge.node] &&
          !recorder.silent.count({node, unsigned(i)}))
        give(edge, call + std::to_string(i));
  }
};

NodeGraph randomGraph(std::mt19937 &random) {
  auto below = [&](unsigned n) { return random() % n; };
  NodeGraph graph;
  unsigned leaves = 1 + below(4), nodes = 1 + below(12);
  for (unsigned i = 0; i < leaves; ++i)
    graph.addAccumulate();
  for (unsigned i = 0; i < nodes; ++i) {
    std::optional<uint64_t> override;
    if (below(5) == 0)
      override = below(20);
    uint32_t node = graph.addNode(1 + below(2), override);
    for (unsigned edges = below(4); edges-- > 0;) {
      uint32_t to = below(node + 1);
      if (to == node)
        graph.addNextEdge(node, {});
      else
        graph.addNextEdge(node, {to, unsigned(below(graph.getNumInputs(to)))});
    }
  }
  return graph;
}

TEST(RunBackward, RandomGraphsRunAsTheNaiveEngineSays) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    NodeGraph graph = randomGraph(random);
    Recorder recorder(graph);
    for (uint32_t node = 0; node < graph.size(); ++node)
      for (unsigned i = 0; i < graph.getNextEdges(node).size(); ++i)
        if (random() % 8 == 0)
          recorder.silent[{node, i}] = true;
    std::vector<BackwardRoot> roots;
    for (unsigned i = 0; i < 1 + random() % 2; ++i) {
      uint32_t node = graph.size() - 1 - random() % std::min(3u, graph.size());
      roots.push_back({{node, unsigned(random() % graph.getNumInputs(node))},
                       recorder.make("g" + std::to_string(i))});
    }
    std::vector<uint32_t> targets;
    for (uint32_t node = 0; node < graph.size(); ++node)
      if (graph.isAccumulate(node) && random() % 3 == 0)
        targets.push_back(node);
    Naive naive{graph, recorder, {}, {}};
    naive.run(roots, targets);
    ASSERT_TRUE(recorder.run(roots, targets));
    EXPECT_EQ(recorder.order, naive.order);
    EXPECT_EQ(recorder.leaves, naive.leaves);
    for (uint32_t from = 0; from < graph.size(); ++from)
      for (uint32_t to = 0; to < graph.size(); ++to)
        EXPECT_EQ(graph.reaches(from, to), naive.onPath(from, {to}));
    if (HasFailure())
      return;
  }
}

} // namespace
