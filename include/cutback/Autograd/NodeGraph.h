// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of differentiable ops that a backward walks, and the order in
// which it walks it. No types of MLIR: a gradient is a pointer to the caller.
//
// The order is that of PyTorch's engine, because floating-point sums depend on
// it; NodeGraphTest.cpp states it rule by rule.
#ifndef CUTBACK_AUTOGRAD_NODEGRAPH_H
#define CUTBACK_AUTOGRAD_NODEGRAPH_H

#include "cutback/Support/HookKind.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace cutback {

/// Where a gradient goes: input `input` of node `node`.
struct NodeEdge {
  static constexpr uint32_t kNone = ~0u;

  uint32_t node = kNone;
  uint32_t input = 0;

  /// An edge to what needs no gradient is invalid: nothing is computed for it.
  bool isValid() const { return node != kNone; }
};

/// One node a differentiable op. Its inputs are the gradients of the op's
/// results, its next edges lead to where the gradients of the operands go.
class NodeGraph {
public:
  /// The number of accumulate nodes: they run as soon as they are ready.
  static constexpr uint64_t kAccumulate = std::numeric_limits<uint64_t>::max();

  /// A node of an op with `numInputs` results. Its sequence number is that of
  /// its creation, counted over all ops (a graph is one thread of the forward),
  /// or `override`.
  uint32_t addNode(unsigned numInputs,
                   std::optional<uint64_t> override = std::nullopt);
  /// A leaf that collects the gradient of an argument: one input, no edges.
  uint32_t addAccumulate();
  /// Appends a next edge (operand by operand). False, and nothing changes, if
  /// another node has an edge to `node` already: its topological number would
  /// be wrong there.
  bool addNextEdge(uint32_t node, NodeEdge edge);

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  unsigned getNumInputs(uint32_t node) const { return nodes[node].numInputs; }
  llvm::ArrayRef<NodeEdge> getNextEdges(uint32_t node) const {
    return nodes[node].next;
  }
  /// The number that the next node gets by its place.
  uint64_t getNextSequence() const { return nextSequence; }
  uint64_t getSequence(uint32_t node) const { return nodes[node].sequence; }
  bool isAccumulate(uint32_t node) const {
    return nodes[node].sequence == kAccumulate;
  }
  /// Length of the longest path to a leaf. A path from a to b implies that
  /// a's number is larger.
  uint64_t getTopologicalNumber(uint32_t node) const {
    return nodes[node].topological;
  }
  /// False in O(1) where the topological numbers exclude a path; elsewhere a
  /// search that the same numbers prune.
  bool reaches(uint32_t from, uint32_t to) const;

private:
  struct Node {
    unsigned numInputs = 0;
    uint64_t sequence = 0;
    uint64_t topological = 0;
    bool hasParent = false;
    llvm::SmallVector<NodeEdge, 2> next;
  };
  std::vector<Node> nodes;
  uint64_t nextSequence = 0;
};

/// A gradient, as the caller sees it; null for none (zero).
using GradientRef = const void *;

/// A gradient that the backward starts with.
struct BackwardRoot {
  NodeEdge edge;
  GradientRef gradient = nullptr;
};

/// What the walk asks for. All return false to stop it.
struct BackwardActions {
  /// The sum of two gradients that arrived at one input, the earlier one first.
  llvm::function_ref<bool(GradientRef earlier, GradientRef later,
                          GradientRef &sum)>
      add;
  /// Runs a node that is no accumulate node: one gradient an input (at least
  /// one is not null), to one a next edge; `wanted` says which are asked for.
  llvm::function_ref<bool(uint32_t node, llvm::ArrayRef<GradientRef> inputs,
                          llvm::ArrayRef<bool> wanted,
                          llvm::MutableArrayRef<GradientRef> outputs)>
      run;
  /// The complete gradient of an accumulate node, not null.
  llvm::function_ref<bool(uint32_t node, GradientRef gradient)> accumulate;
  /// Hooks of a kind at a gradient that is not null, and may be replaced: at
  /// input `index` of a node, or for those behind it at output `index`. Null
  /// where there are none.
  llvm::function_ref<bool(HookKind kind, uint32_t node, unsigned index,
                          GradientRef &gradient)>
      hook = nullptr;
  /// The gradients at a target that is no accumulate node, one an input. Null
  /// where there is no such target.
  llvm::function_ref<bool(uint32_t node, llvm::ArrayRef<GradientRef> inputs)>
      capture = nullptr;
};

/// Walks the graph from the roots. `targets`: the nodes whose gradients are
/// asked for, mostly accumulate nodes; empty for all of these. Edges outside
/// every path to a target are trimmed.
///
///  1. A node is ready when all its edges from nodes of the walk have
///     delivered (a null gradient counts).
///  2. Ready nodes leave by sequence number, highest first; equal numbers in
///     the order in which they became ready.
///  3. Gradients at one input are summed as they arrive; a node's outputs are
///     delivered in the order of its edges.
///  4. A node at which no gradient arrived delivers none, and does not run.
///     Nor does a target from which no path leads to another one.
///  5. At a node: hooks of its tensors, then those that retain gradients; if
///     the node runs, those in front of it, the node, those behind it. At an
///     accumulate node: behind the accumulation those of the complete
///     gradient.
///
/// O((nodes + edges) log nodes).
bool runBackward(const NodeGraph &graph, llvm::ArrayRef<BackwardRoot> roots,
                 llvm::ArrayRef<uint32_t> targets,
                 const BackwardActions &actions);

} // namespace cutback

#endif // CUTBACK_AUTOGRAD_NODEGRAPH_H
