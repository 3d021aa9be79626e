// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint tags, brought into the form that the rules read.
//
// 2.3 has one tag, the number of the region to recompute, 0 to save. A tagged
// node that feeds a later region is saved: that is the region's boundary. A
// tagged MUST_SAVE (or PREFER_SAVE) means number 0.
//
// 2.13 has policies, and turns more into MUST_SAVE, in this order: boundaries
// and values with backward hooks (only where anything is tagged), collectives,
// results of calls with effects, and sources of writes that the backward
// repeats.
//
// Complexity: linear.
#include "RuleView.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::torchrules;

static bool isTagged(FxPolicy policy) { return isRecompute(policy); }

static void saveBoundaries(const RuleView &view,
                           std::vector<FxPolicy> &policy) {
  const FxGraph &graph = view.graph;
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    if (!isTagged(policy[n]))
      continue;
    bool anyTaggedUser = false, later = false;
    for (FxNodeId user : graph.users[n]) {
      if (!isTagged(policy[user]))
        continue;
      anyTaggedUser = true;
      later |= graph.nodes[user].region > graph.nodes[n].region &&
               graph.nodes[n].region >= 0;
    }
    bool hooked = !view.is23() && graph.nodes[n].has(fxflag::BackwardHook) &&
                  !anyTaggedUser;
    if (later || hooked)
      policy[n] = FxPolicy::MustSave;
  }
}

/// The getitems of a call that no other getitem reads.
static void saveLeaves(const FxGraph &graph, FxNodeId root,
                       std::vector<FxPolicy> &policy) {
  std::vector<FxNodeId> stack{root};
  while (!stack.empty()) {
    FxNodeId n = stack.back();
    stack.pop_back();
    bool leaf = true;
    for (FxNodeId user : graph.users[n])
      if (graph.nodes[user].kind == FxKind::GetItem) {
        stack.push_back(user);
        leaf = false;
      }
    if (leaf && n != root)
      policy[n] = FxPolicy::MustSave;
  }
}

/// A primal that both halves write: the forward's source must not be computed
/// again. Writes of inputs stand at the end of a joint graph.
static void saveRepeatedWrites(const RuleView &view,
                               std::vector<FxPolicy> &policy) {
  const FxGraph &graph = view.graph;
  std::vector<uint8_t> isWritten(graph.size(), 0);
  for (FxNodeId n = graph.outputNode(); n-- > 0;) {
    if (!view.is(n, trait::Copy))
      break;
    FxNodeId destination = graph.nodes[n].destination;
    if (destination == noFxNode)
      continue;
    if (view.isPinnedToBackward(n))
      isWritten[destination] = 1;
    FxRow<uint32_t> args = graph.directArgs(n);
    if (view.isPinnedToForward(n) && args.size() > 1 && isWritten[destination])
      policy[args[1]] = FxPolicy::MustSave;
  }
}

std::vector<FxPolicy> torchrules::cleanTags(const RuleView &view,
                                            bool &anyRecompute) {
  const FxGraph &graph = view.graph;
  std::vector<FxPolicy> policy(graph.size());
  anyRecompute = false;
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    policy[n] = graph.nodes[n].policy;
    anyRecompute |= isTagged(policy[n]);
  }
  if (anyRecompute)
    saveBoundaries(view, policy);
  if (view.is23())
    return policy;
  if (!view.options.optimizeCollectives)
    for (FxNodeId n = 0; n < graph.size(); ++n)
      if (graph.nodes[n].has(fxflag::Collective) && !isTagged(policy[n]))
        policy[n] = FxPolicy::MustSave;
  for (FxNodeId n = 0; n < graph.size(); ++n)
    if (graph.nodes[n].has(fxflag::Effectful) && !isTagged(policy[n]) &&
        !graph.nodes[n].has(fxflag::TagBackward))
      saveLeaves(graph, n, policy);
  saveRepeatedWrites(view, policy);
  return policy;
}
