// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When the engine runs hooks, rule by rule, and random graphs with a recording
// hook of each kind against a naive engine, which keeps hooks in lists of its
// nodes and looks at all nodes at every step.

#include "cutback/Autograd/NodeGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>

using namespace cutback;
using llvm::ArrayRef;

namespace {

/// Where a hook is: kind, node, input or output of it.
using Place = std::tuple<HookKind, uint32_t, unsigned>;

std::string textOf(HookKind kind, uint32_t node, unsigned index,
                   const std::string &gradient) {
  return std::string(nameOf(kind)) + " " + std::to_string(node) + "." +
         std::to_string(index) + " " + gradient;
}

/// Runs the engine; gradients are strings that say how they were made. Hooks
/// in `replacing` put a mark around what they see.
struct Recorder {
  const NodeGraph &graph;
  std::set<Place> hooks, replacing;
  std::set<std::pair<uint32_t, unsigned>> silent; ///< outputs that are none
  std::vector<std::string> log;
  std::deque<std::string> texts;

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
      std::string call = "n" + std::to_string(node) + "[";
      for (GradientRef input : inputs)
        call += read(input) + ",";
      log.push_back("run " + call);
      for (unsigned i = 0; i < outputs.size(); ++i)
        if (wanted[i] && !silent.count({node, i}))
          outputs[i] = make(call + "]" + std::to_string(i));
      return true;
    };
    auto accumulate = [&](uint32_t node, GradientRef gradient) {
      log.push_back("accumulate " + std::to_string(node) + " " +
                    read(gradient));
      return true;
    };
    auto hook = [&](HookKind kind, uint32_t node, unsigned index,
                    GradientRef &gradient) {
      if (!hooks.count({kind, node, index}))
        return true;
      log.push_back(textOf(kind, node, index, read(gradient)));
      if (replacing.count({kind, node, index}))
        gradient = make("h" + read(gradient));
      return true;
    };
    auto capture = [&](uint32_t node, ArrayRef<GradientRef> inputs) {
      std::string line = "capture " + std::to_string(node);
      for (GradientRef input : inputs)
        line += " " + read(input);
      log.push_back(line);
      return true;
    };
    return runBackward(graph, roots, targets,
                       {add, runNode, accumulate, hook, capture});
  }
};

/// Hooks of all kinds at the nodes 0 (a leaf) and 1 (an op on it).
struct NodeHooks : testing::Test {
  NodeHooks() {
    leaf = graph.addAccumulate();
    node = graph.addNode(1);
    graph.addNextEdge(node, {leaf, 0});
    for (uint32_t at : {leaf, node})
      for (size_t kind = 0; kind < kHookKinds.size(); ++kind)
        recorder.hooks.insert({static_cast<HookKind>(kind), at, 0});
  }
  std::vector<std::string> log(ArrayRef<uint32_t> targets = {}) {
    EXPECT_TRUE(recorder.run({{{node, 0}, recorder.make("g")}}, targets));
    return recorder.log;
  }

  NodeGraph graph;
  uint32_t leaf, node;
  Recorder recorder{graph, {}, {}, {}, {}, {}};
};

TEST_F(NodeHooks, RunInTheOrderOfTheEngine) {
  EXPECT_EQ(log(),
            (std::vector<std::string>{
                "tensor_pre 1.0 g", "retains_grad 1.0 g", "node_pre 1.0 g",
                "run n1[g,", "node_post 1.0 n1[g,]0", "tensor_pre 0.0 n1[g,]0",
                "retains_grad 0.0 n1[g,]0", "node_pre 0.0 n1[g,]0",
                "post_accumulate 0.0 n1[g,]0", "accumulate 0 n1[g,]0"}));
}

TEST_F(NodeHooks, OfTensorsRunThoughTheNodeDoesNot) {
  EXPECT_EQ(log({node}),
            (std::vector<std::string>{"tensor_pre 1.0 g", "retains_grad 1.0 g",
                                      "capture 1 g"}));
}

TEST_F(NodeHooks, ATargetOnTheWayToAnotherOneRuns) {
  EXPECT_EQ(log({node, leaf})[2], "capture 1 g");
  EXPECT_EQ(log({node, leaf})[4], "run n1[g,");
}

TEST_F(NodeHooks, OfRetainedGradientsSeeWhatOthersHaveMade) {
  recorder.replacing.insert({HookKind::TensorPre, node, 0});
  EXPECT_EQ(log()[1], "retains_grad 1.0 hg");
}

TEST_F(NodeHooks, ReplaceWhatANodeGetsAndGives) {
  recorder.replacing = {{HookKind::NodePre, node, 0},
                        {HookKind::NodePost, node, 0},
                        {HookKind::PostAccumulate, leaf, 0}};
  std::vector<std::string> lines = log();
  EXPECT_EQ(lines[3], "run n1[hg,");
  EXPECT_EQ(lines[5], "tensor_pre 0.0 hn1[hg,]0");
  EXPECT_EQ(lines.back(), "accumulate 0 hhn1[hg,]0");
}

TEST_F(NodeHooks, WhereNoGradientArrivesNoneRuns) {
  recorder.silent.insert({node, 0});
  EXPECT_EQ(log().back(), "run n1[g,");
}

//===----------------------------------------------------------------------===//
// Random graphs
//===----------------------------------------------------------------------===//

/// An engine that is slow and plain: each node has lists of hooks.
struct NaiveEngine {
  struct Node {
    std::vector<NodeEdge> next;
    uint64_t number = 0;
    bool isLeaf = false;
    std::vector<std::string> inputs;
    std::map<HookKind, std::vector<std::pair<unsigned, bool>>> hooks;
    bool isWanted = false, isDone = false, isReached = false;
    int64_t readySince = -1;
  };
  std::vector<Node> nodes;
  std::vector<uint32_t> targets;
  std::set<std::pair<uint32_t, unsigned>> silent;
  std::vector<std::string> log;
  int64_t clock = 0;

  bool leadsToTarget(uint32_t at) const {
    if (targets.empty() || llvm::is_contained(targets, at))
      return true;
    return llvm::any_of(nodes[at].next, [&](NodeEdge edge) {
      return edge.isValid() && leadsToTarget(edge.node);
    });
  }
  void reach(uint32_t at) {
    if (nodes[at].isReached || !nodes[at].isWanted)
      return;
    nodes[at].isReached = true;
    for (NodeEdge edge : nodes[at].next)
      if (edge.isValid())
        reach(edge.node);
  }
  void give(NodeEdge edge, const std::string &gradient) {
    std::string &slot = nodes[edge.node].inputs[edge.input];
    if (gradient != "-")
      slot = slot == "-" ? gradient : "(" + slot + "+" + gradient + ")";
  }
  void settle(uint32_t at) {
    if (!nodes[at].isReached || nodes[at].readySince >= 0)
      return;
    for (const Node &node : nodes)
      if (node.isReached && !node.isDone)
        for (NodeEdge edge : node.next)
          if (edge.node == at)
            return;
    nodes[at].readySince = clock++;
  }
  void runHooks(HookKind kind, uint32_t at,
                std::vector<std::string> &gradients) {
    for (auto [index, replaces] : nodes[at].hooks[kind]) {
      if (index >= gradients.size() || gradients[index] == "-")
        continue;
      log.push_back(textOf(kind, at, index, gradients[index]));
      if (replaces)
        gradients[index] = "h" + gradients[index];
    }
  }
  std::vector<std::string> runNode(uint32_t at) {
    Node &node = nodes[at];
    std::vector<std::string> given(node.next.size(), "-"), in = node.inputs;
    bool any =
        llvm::any_of(in, [](const std::string &text) { return text != "-"; });
    if (!any)
      return given;
    runHooks(HookKind::TensorPre, at, in);
    runHooks(HookKind::RetainsGrad, at, in);
    bool isTarget = llvm::is_contained(targets, at);
    if (isTarget && !node.isLeaf) {
      std::string line = "capture " + std::to_string(at);
      for (const std::string &text : in)
        line += " " + text;
      log.push_back(line);
    }
    auto isAsked = [&](NodeEdge edge) {
      return edge.isValid() && nodes[edge.node].isWanted;
    };
    if (isTarget && !node.isLeaf && llvm::none_of(node.next, isAsked))
      return given;
    runHooks(HookKind::NodePre, at, in);
    if (node.isLeaf) {
      runHooks(HookKind::PostAccumulate, at, in);
      log.push_back("accumulate " + std::to_string(at) + " " + in.front());
      return given;
    }
    std::string call = "n" + std::to_string(at) + "[";
    for (const std::string &text : in)
      call += text + ",";
    log.push_back("run " + call);
    for (unsigned i = 0; i < given.size(); ++i)
      if (isAsked(node.next[i]) && !silent.count({at, i}))
        given[i] = call + "]" + std::to_string(i);
    runHooks(HookKind::NodePost, at, given);
    return given;
  }

  void run(ArrayRef<std::pair<NodeEdge, std::string>> roots) {
    for (uint32_t at = 0; at < nodes.size(); ++at)
      nodes[at].isWanted = leadsToTarget(at);
    for (const auto &[edge, gradient] : roots)
      reach(edge.node);
    for (const auto &[edge, gradient] : roots)
      if (nodes[edge.node].isReached)
        give(edge, gradient);
    for (const auto &[edge, gradient] : roots)
      settle(edge.node);
    for (;;) {
      Node *best = nullptr;
      for (Node &node : nodes)
        if (node.readySince >= 0 && !node.isDone &&
            (!best || node.number > best->number ||
             (node.number == best->number &&
              node.readySince < best->readySince)))
          best = &node;
      if (!best)
        return;
      std::vector<std::string> given =
          runNode(static_cast<uint32_t>(best - nodes.data()));
      best->isDone = true;
      for (auto [edge, gradient] : llvm::zip_equal(best->next, given))
        if (edge.isValid() && nodes[edge.node].isReached)
          give(edge, gradient);
      // The last edge to a node makes it ready.
      std::map<uint32_t, unsigned> last;
      for (unsigned i = 0; i < best->next.size(); ++i)
        if (best->next[i].isValid())
          last[best->next[i].node] = i;
      for (unsigned i = 0; i < best->next.size(); ++i)
        if (best->next[i].isValid() && last[best->next[i].node] == i)
          settle(best->next[i].node);
    }
  }
};

NodeGraph randomGraph(std::mt19937 &random) {
  auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  NodeGraph graph;
  for (unsigned leaves = 1 + below(4); leaves-- > 0;)
    graph.addAccumulate();
  for (unsigned nodes = 1 + below(14); nodes-- > 0;) {
    std::optional<uint64_t> override;
    if (below(5) == 0)
      override = below(20);
    uint32_t node = graph.addNode(1 + below(3), override);
    for (unsigned edges = below(4); edges-- > 0;) {
      uint32_t to = below(node + 1);
      NodeEdge edge;
      if (to != node)
        edge = {to, below(graph.getNumInputs(to))};
      graph.addNextEdge(node, edge);
    }
  }
  return graph;
}

TEST(NodeHooksRandom, LogsAreThoseOfTheNaiveEngine) {
  size_t lines = 0, captures = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    NodeGraph graph = randomGraph(random);
    Recorder recorder{graph, {}, {}, {}, {}, {}};
    NaiveEngine naive;
    naive.nodes.resize(graph.size());
    for (uint32_t node = 0; node < graph.size(); ++node) {
      NaiveEngine::Node &own = naive.nodes[node];
      own.next.assign(graph.getNextEdges(node).begin(),
                      graph.getNextEdges(node).end());
      own.number = graph.getSequence(node);
      own.isLeaf = graph.isAccumulate(node);
      own.inputs.assign(graph.getNumInputs(node), "-");
      for (size_t kind = 0; kind < kHookKinds.size(); ++kind)
        for (unsigned index = 0; index < 3; ++index) {
          Place place(static_cast<HookKind>(kind), node, index);
          bool replaces =
              random() % 2 && std::get<0>(place) != HookKind::RetainsGrad;
          recorder.hooks.insert(place);
          if (replaces)
            recorder.replacing.insert(place);
          own.hooks[std::get<0>(place)].push_back({index, replaces});
        }
      for (unsigned i = 0; i < own.next.size(); ++i)
        if (random() % 8 == 0) {
          recorder.silent.insert({node, i});
          naive.silent.insert({node, i});
        }
      if (random() % 6 == 0)
        naive.targets.push_back(node);
    }
    if (random() % 2)
      naive.targets.clear();
    std::vector<BackwardRoot> roots;
    std::vector<std::pair<NodeEdge, std::string>> naiveRoots;
    for (unsigned i = 0; i < 1 + random() % 2; ++i) {
      uint32_t node = graph.size() - 1 - random() % std::min(3u, graph.size());
      NodeEdge edge = {node, unsigned(random() % graph.getNumInputs(node))};
      std::string gradient = "g" + std::to_string(i);
      roots.push_back({edge, recorder.make(gradient)});
      naiveRoots.emplace_back(edge, gradient);
    }
    naive.run(naiveRoots);
    ASSERT_TRUE(recorder.run(roots, naive.targets));
    ASSERT_EQ(recorder.log, naive.log);
    lines += naive.log.size();
    captures += llvm::count_if(naive.log, [](const std::string &line) {
      return line.rfind("capture", 0) == 0;
    });
  }
  EXPECT_GT(lines, 20000u);
  EXPECT_GT(captures, 100u);
}

} // namespace
