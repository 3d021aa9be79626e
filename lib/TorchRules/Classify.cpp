// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the forward needs and what depends on a tangent.
//
//  F  the nodes of the forward graph that PyTorch would extract for the
//     forward's results: all inputs, ancestors of the results, and impure
//     nodes that can be computed from the inputs
//  B  tangents and all their users, transitively; 2.13 also starts from the
//     nodes that are pinned to the backward
//  gradient results  the results that are not the forward's
//
// F and gradient results may meet (a gradient that needs no tangent). What is
// in none of the three is unclaimed. `output` belongs to none.
//
// Complexity: linear; one sweep forward and one backward.
#include "RuleView.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::torchrules;

/// 2.13 runs what has effects in one half only: the backward if it was traced
/// there, else the forward. What depends on a tangent was traced there, tag or
/// not.
void RuleView::pinNodes() {
  std::vector<uint8_t> closure(graph.size(), 0);
  for (FxNodeId n = 0; n < graph.outputNode(); ++n) {
    const FxNode &node = graph.nodes[n];
    bool backward = node.role == FxRole::Tangent ||
                    node.has(fxflag::TagBackward | fxflag::MustBeBackward);
    for (FxNodeId operand : graph.inputs[n])
      backward |= closure[operand] != 0;
    closure[n] = backward;
    bool writes = node.has(fxflag::MutableSchema);
    if (node.has(fxflag::MustBeBackward) || (writes && backward))
      traits[n] |= trait::PinnedBackward;
    bool effects =
        writes || is(n, trait::SideEffect) ||
        node.has(fxflag::Effectful | fxflag::Assert | fxflag::SideEffect);
    if (node.has(fxflag::MustBeForward) || (effects && !backward))
      traits[n] |= trait::PinnedForward;
  }
}

bool RuleView::clones(FxNodeId user, FxNodeId n) const {
  if (!is(user, trait::Wrapper))
    return false;
  FxRow<uint32_t> cloned = graph.clonedArgs[user];
  return std::find(cloned.begin(), cloned.end(), n) != cloned.end();
}

static bool isPinnedToOther(const RuleView &view, Half half, FxNodeId n) {
  return half == Half::Forward ? view.isPinnedToBackward(n)
                               : view.isPinnedToForward(n);
}

void torchrules::markValid(const RuleView &view, Half half,
                           std::vector<uint8_t> &marks) {
  const FxGraph &graph = view.graph;
  FxNodeId output = graph.outputNode();
  for (FxNodeId n = 0; n < output; ++n) {
    const FxNode &node = graph.nodes[n];
    if (marks[n] & halfbit::Input) {
      marks[n] |= halfbit::Valid;
      continue;
    }
    if (node.kind == FxKind::Placeholder || isPinnedToOther(view, half, n))
      continue;
    bool valid = true;
    for (FxNodeId operand : graph.inputs[n])
      valid &= (marks[operand] & halfbit::Valid) != 0;
    if (valid)
      marks[n] |= halfbit::Valid;
  }
}

void torchrules::markLive(const RuleView &view, std::vector<uint8_t> &marks) {
  const FxGraph &graph = view.graph;
  for (FxNodeId n = graph.outputNode(); n-- > 0;) {
    if (!(marks[n] & halfbit::Valid))
      continue;
    if (marks[n] & halfbit::Input)
      continue;
    if (!(marks[n] & halfbit::Live) && !view.isImpure(n))
      continue;
    marks[n] |= halfbit::Live;
    for (FxNodeId operand : graph.inputs[n])
      marks[operand] |= halfbit::Live;
  }
}

void torchrules::extractHalf(const RuleView &view, Half half,
                             std::vector<uint8_t> &marks) {
  markValid(view, half, marks);
  markLive(view, marks);
}

void torchrules::classifyNodes(const RuleView &view, TorchNetwork &network) {
  const FxGraph &graph = view.graph;
  FxNodeId output = graph.outputNode();
  std::vector<uint8_t> marks(graph.size(), 0);
  for (FxNodeId n = 0; n < output; ++n)
    if (graph.nodes[n].isInput())
      marks[n] = halfbit::Input;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    if (i < graph.numForwardOutputs && graph.outputs[i] != noFxNode)
      marks[graph.outputs[i]] |= halfbit::Live;
  extractHalf(view, Half::Forward, marks);

  network.sets.assign(graph.size(), 0);
  network.forwardOrder.assign(graph.size(), ~0u);
  uint32_t order = 0;
  bool anyBackward = false;
  for (FxNodeId n = 0; n < output; ++n) {
    uint8_t set = 0;
    if ((marks[n] & halfbit::Input) ||
        (marks[n] & (halfbit::Live | halfbit::Valid)) ==
            (halfbit::Live | halfbit::Valid)) {
      set = torchset::Forward;
      network.forwardOrder[n] = order++;
    }
    bool closure =
        graph.nodes[n].role == FxRole::Tangent || view.isPinnedToBackward(n);
    for (FxNodeId operand : graph.inputs[n])
      closure |= (network.sets[operand] & torchset::TangentClosure) != 0;
    if (closure)
      set |= torchset::TangentClosure;
    anyBackward |= closure;
    network.sets[n] = set;
  }
  for (size_t i = graph.numForwardOutputs; i < graph.outputs.size(); ++i)
    if (graph.outputs[i] != noFxNode) {
      network.sets[graph.outputs[i]] |= torchset::GradientResult;
      anyBackward = true;
    }
  network.emptyBackward = !anyBackward;
}
