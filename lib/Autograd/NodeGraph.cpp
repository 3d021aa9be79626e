// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The node graph and its walk.
//
//   1. Which nodes lie on a path to a target: one depth-first search from the
//      roots; a node whose topological number is not above the smallest one of
//      the targets cannot reach any and is not entered.
//   2. How many edges each node waits for: those of nodes that (1) kept.
//   3. The walk: a heap of ready nodes by (sequence number, time of arrival).
//
// Edges lead from later forward ops to earlier ones, so no cycle can be built
// through `addNextEdge`: an edge into a node fixes the edges that leave it.

#include "cutback/Autograd/NodeGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>

using namespace cutback;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// NodeGraph
//===----------------------------------------------------------------------===//

uint32_t NodeGraph::addNode(unsigned numInputs,
                            std::optional<uint64_t> override) {
  uint64_t number = nextSequence++;
  Node node;
  node.numInputs = numInputs;
  node.sequence = override.value_or(number);
  nodes.push_back(std::move(node));
  return size() - 1;
}

uint32_t NodeGraph::addAccumulate() {
  Node node;
  node.numInputs = 1;
  node.sequence = kAccumulate;
  nodes.push_back(std::move(node));
  return size() - 1;
}

bool NodeGraph::addNextEdge(uint32_t node, NodeEdge edge) {
  if (nodes[node].hasParent || edge.node == node)
    return false;
  nodes[node].next.push_back(edge);
  if (edge.isValid()) {
    Node &target = nodes[edge.node];
    target.hasParent = true;
    nodes[node].topological =
        std::max(nodes[node].topological, target.topological + 1);
  }
  return true;
}

bool NodeGraph::reaches(uint32_t from, uint32_t to) const {
  uint64_t least = nodes[to].topological;
  if (from == to)
    return true;
  std::vector<bool> seen(nodes.size());
  std::vector<uint32_t> stack;
  if (nodes[from].topological > least)
    stack.push_back(from);
  while (!stack.empty()) {
    uint32_t at = stack.back();
    stack.pop_back();
    for (const NodeEdge &edge : nodes[at].next) {
      if (edge.node == to)
        return true;
      if (!edge.isValid() || seen[edge.node] ||
          nodes[edge.node].topological <= least)
        continue;
      seen[edge.node] = true;
      stack.push_back(edge.node);
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {

struct Ready {
  uint64_t sequence;
  uint64_t arrival;
  uint32_t node;

  /// std::priority_queue gives the largest first.
  bool operator<(const Ready &other) const {
    if (sequence != other.sequence)
      return sequence < other.sequence;
    return arrival > other.arrival;
  }
};

class Walk {
public:
  Walk(const NodeGraph &graph, ArrayRef<uint32_t> targets,
       const BackwardActions &actions)
      : graph(graph), actions(actions), kept(graph.size()),
        isTarget(graph.size()), waiting(graph.size()), inputs(graph.size()) {
    keepTargets(targets);
  }

  bool run(ArrayRef<BackwardRoot> roots);

private:
  void keepTargets(ArrayRef<uint32_t> targets);
  void findKept(ArrayRef<BackwardRoot> roots);
  bool isWanted(const NodeEdge &edge) const {
    return edge.isValid() && kept[edge.node] == Kept::Yes;
  }
  void makeReady(uint32_t node) {
    ready.push({graph.getSequence(node), arrivals++, node});
  }
  bool arrive(NodeEdge edge, GradientRef gradient);
  bool deliver(NodeEdge edge, GradientRef gradient);
  bool runHooks(HookKind kind, uint32_t node,
                llvm::MutableArrayRef<GradientRef> gradients);
  bool accumulate(uint32_t node, GradientRef gradient);
  bool runNode(uint32_t node);

  enum class Kept : uint8_t { Unknown, Entered, No, Yes };

  const NodeGraph &graph;
  const BackwardActions &actions;
  bool onlyTargets = false;
  uint64_t leastTarget = 0;
  std::vector<Kept> kept;
  std::vector<bool> isTarget;
  std::vector<uint32_t> waiting; ///< edges that have not delivered
  std::vector<llvm::SmallVector<GradientRef, 1>> inputs;
  std::priority_queue<Ready> ready;
  uint64_t arrivals = 0;
};

} // namespace

void Walk::keepTargets(ArrayRef<uint32_t> targets) {
  onlyTargets = !targets.empty();
  leastTarget = std::numeric_limits<uint64_t>::max();
  for (uint32_t target : targets) {
    isTarget[target] = true;
    leastTarget = std::min(leastTarget, graph.getTopologicalNumber(target));
  }
}

/// Decides `kept` of all nodes below the roots, without recursion: a node is
/// decided when it leaves the stack, after its successors. Counts the edges
/// that each kept node waits for.
void Walk::findKept(ArrayRef<BackwardRoot> roots) {
  std::vector<uint32_t> stack, order;
  for (const BackwardRoot &root : roots)
    if (root.edge.isValid())
      stack.push_back(root.edge.node);
  while (!stack.empty()) {
    uint32_t node = stack.back();
    if (kept[node] == Kept::Unknown) {
      kept[node] = Kept::Entered;
      if (onlyTargets && graph.getTopologicalNumber(node) <= leastTarget) {
        kept[node] = isTarget[node] ? Kept::Yes : Kept::No;
        continue;
      }
      for (const NodeEdge &edge : graph.getNextEdges(node))
        if (edge.isValid() && kept[edge.node] == Kept::Unknown)
          stack.push_back(edge.node);
      continue;
    }
    stack.pop_back();
    if (kept[node] != Kept::Entered)
      continue;
    bool any = !onlyTargets || isTarget[node];
    for (const NodeEdge &edge : graph.getNextEdges(node))
      any |= isWanted(edge);
    kept[node] = any ? Kept::Yes : Kept::No;
    order.push_back(node);
  }
  for (uint32_t node : order)
    if (kept[node] == Kept::Yes)
      for (const NodeEdge &edge : graph.getNextEdges(node))
        if (isWanted(edge))
          ++waiting[edge.node];
}

/// Adds a gradient to an input; a null one changes nothing.
bool Walk::arrive(NodeEdge edge, GradientRef gradient) {
  auto &slots = inputs[edge.node];
  slots.resize(graph.getNumInputs(edge.node), nullptr);
  GradientRef &slot = slots[edge.input];
  if (!gradient)
    return true;
  if (!slot) {
    slot = gradient;
    return true;
  }
  return actions.add(slot, gradient, slot);
}

bool Walk::deliver(NodeEdge edge, GradientRef gradient) {
  if (!arrive(edge, gradient))
    return false;
  if (--waiting[edge.node] == 0)
    makeReady(edge.node);
  return true;
}

bool Walk::runHooks(HookKind kind, uint32_t node,
                    llvm::MutableArrayRef<GradientRef> gradients) {
  for (unsigned i = 0; actions.hook && i < gradients.size(); ++i)
    if (gradients[i] && !actions.hook(kind, node, i, gradients[i]))
      return false;
  return true;
}

/// Hooks get the gradient before it is a result: they may still replace it.
bool Walk::accumulate(uint32_t node, GradientRef gradient) {
  return runHooks(HookKind::NodePre, node, gradient) &&
         runHooks(HookKind::PostAccumulate, node, gradient) &&
         actions.accumulate(node, gradient);
}

bool Walk::runNode(uint32_t node) {
  llvm::SmallVector<GradientRef, 1> gradients = std::move(inputs[node]);
  bool any = llvm::any_of(gradients, [](GradientRef g) { return g; });
  if (!runHooks(HookKind::TensorPre, node, gradients) ||
      !runHooks(HookKind::RetainsGrad, node, gradients))
    return false;
  if (graph.isAccumulate(node))
    return !any || accumulate(node, gradients.front());
  if (isTarget[node] && any && !actions.capture(node, gradients))
    return false;
  ArrayRef<NodeEdge> next = graph.getNextEdges(node);
  llvm::SmallVector<bool, 4> wanted;
  for (const NodeEdge &edge : next)
    wanted.push_back(isWanted(edge));
  llvm::SmallVector<GradientRef, 4> outputs(next.size(), nullptr);
  bool runs = any && (!isTarget[node] || llvm::is_contained(wanted, true));
  if (runs && (!runHooks(HookKind::NodePre, node, gradients) ||
               !actions.run(node, gradients, wanted, outputs) ||
               !runHooks(HookKind::NodePost, node, outputs)))
    return false;
  for (auto [edge, want, gradient] : llvm::zip(next, wanted, outputs))
    if (want && !deliver(edge, gradient))
      return false;
  return true;
}

bool Walk::run(ArrayRef<BackwardRoot> roots) {
  findKept(roots);
  std::vector<bool> isRoot(graph.size());
  for (const BackwardRoot &root : roots) {
    if (!isWanted(root.edge))
      continue;
    if (!arrive(root.edge, root.gradient))
      return false;
    if (waiting[root.edge.node] == 0 && !isRoot[root.edge.node])
      makeReady(root.edge.node);
    isRoot[root.edge.node] = true;
  }
  while (!ready.empty()) {
    uint32_t node = ready.top().node;
    ready.pop();
    if (!runNode(node))
      return false;
  }
  return true;
}

bool cutback::runBackward(const NodeGraph &graph, ArrayRef<BackwardRoot> roots,
                          ArrayRef<uint32_t> targets,
                          const BackwardActions &actions) {
  return Walk(graph, targets, actions).run(roots);
}
