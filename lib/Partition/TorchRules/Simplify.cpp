// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dead code elimination and CSE as PyTorch's partitioner does them first.
//
// DCE sweeps in reverse and keeps impure nodes. CSE walks in order and
// replaces a call by an earlier one with equal target and equal arguments,
// never a placeholder, `get_attr`, `output` or a random call. 2.13 adds: never
// `empty`, never a value whose storage the graph returns, and only within one
// mutation region, that is with no writing call in between; behind a write the
// later call becomes the one that others are compared with.
//
// PyTorch keeps one candidate per *hash* of target and arguments, and its
// comparison is finer than its hash: brackets do not take part, and Python
// hashes -1 like -2. A call that finds another one at its hash is neither
// replaced nor remembered. That is visible (of three calls with -1, -2, -2 the
// third stays), so calls are looked up here by what Python would hash.
//
// Complexity: linear in nodes and arguments, expected.
#include "RuleView.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::torchrules;

namespace {
class FxSimplifier {
public:
  FxSimplifier(const RuleView &view, FxGraph &graph)
      : view(view), graph(graph), keep(graph.size(), 1),
        replacement(graph.size()) {
    for (FxNodeId n = 0; n < graph.size(); ++n)
      replacement[n] = n;
  }

  void eliminateDeadCode();
  void eliminateCommonSubexpressions();
  /// Takes from the old graph what stays as it is.
  FxGraph compact();
  void reportStandIns(std::vector<FxNodeId> &standIn) const;

private:
  bool mayMerge(FxNodeId n) const;
  uint64_t hashOf(FxNodeId n) const;
  bool hashAlike(FxNodeId a, FxNodeId b) const;
  bool equal(FxNodeId a, FxNodeId b) const;
  void findSharedStorages();
  void copyRows(FxNodeId n, const std::vector<FxNodeId> &number,
                std::vector<FxNodeId> &stamp, FxGraph &result) const;

  const RuleView &view;
  FxGraph &graph;
  std::vector<uint8_t> keep;
  std::vector<FxNodeId> replacement;
  /// Per storage: does a result lie in it?
  std::vector<uint8_t> returned;
};
} // namespace

void FxSimplifier::eliminateDeadCode() {
  std::vector<uint8_t> live(graph.size(), 0);
  live[graph.outputNode()] = 1;
  for (FxNodeId n = static_cast<FxNodeId>(graph.size()); n-- > 0;) {
    if (!live[n] && !view.isImpure(n)) {
      keep[n] = 0;
      continue;
    }
    for (FxNodeId operand : graph.inputs[n])
      live[operand] = 1;
  }
}

void FxSimplifier::findSharedStorages() {
  returned.assign(graph.storageBytes.size(), 0);
  if (view.is23())
    return;
  for (FxNodeId n : graph.inputs[graph.outputNode()])
    if (graph.nodes[n].value == FxValue::Tensor && graph.nodes[n].storage >= 0)
      returned[graph.nodes[n].storage] = 1;
}

bool FxSimplifier::mayMerge(FxNodeId n) const {
  const FxNode &node = graph.nodes[n];
  if (!node.isCall() || view.is(n, trait::NeverMerged))
    return false;
  return node.value != FxValue::Tensor || node.storage < 0 ||
         !returned[node.storage];
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

uint64_t FxSimplifier::hashOf(FxNodeId n) const {
  uint64_t hash = mix(0, graph.targets[n]);
  hash = mix(hash, graph.skeletons[graph.skeleton[n]].alike);
  for (FxNodeId arg : graph.args[n])
    hash = mix(hash, replacement[arg]);
  return hash;
}

/// Would Python's hash() of both calls be equal? Brackets and keywords do not
/// take part.
bool FxSimplifier::hashAlike(FxNodeId a, FxNodeId b) const {
  if (graph.targets[a] != graph.targets[b] ||
      graph.skeletons[graph.skeleton[a]].alike !=
          graph.skeletons[graph.skeleton[b]].alike)
    return false;
  FxRow<uint32_t> left = graph.args[a], right = graph.args[b];
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(),
      [&](FxNodeId l, FxNodeId r) { return replacement[l] == replacement[r]; });
}

/// For two calls that hash alike.
bool FxSimplifier::equal(FxNodeId a, FxNodeId b) const {
  return graph.skeleton[a] == graph.skeleton[b];
}

void FxSimplifier::eliminateCommonSubexpressions() {
  findSharedStorages();
  FlatIndex candidates(graph.size());
  std::vector<uint32_t> region(graph.size(), 0);
  uint32_t writes = 0;
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    if (!keep[n])
      continue;
    if (!view.is23() && graph.nodes[n].has(fxflag::MutableSchema))
      ++writes;
    region[n] = writes;
    if (!mayMerge(n))
      continue;
    uint64_t hash = hashOf(n);
    FxNodeId *candidate = candidates.findPlace(
        hash, [&](FxNodeId other) { return hashAlike(other, n); });
    if (!candidate) {
      candidates.insert(hash, n);
      continue;
    }
    FxNodeId earlier = *candidate;
    if (!equal(earlier, n))
      continue;
    if (region[earlier] != region[n]) {
      *candidate = n;
      continue;
    }
    replacement[n] = earlier;
    keep[n] = 0;
  }
}

/// Copies the rows of one node, with operands replaced and renumbered.
void FxSimplifier::copyRows(FxNodeId n, const std::vector<FxNodeId> &number,
                            std::vector<FxNodeId> &stamp,
                            FxGraph &result) const {
  FxNodeId self = number[n];
  auto renumber = [&](FxNodeId old) { return number[replacement[old]]; };
  for (FxNodeId operand : graph.inputs[n]) {
    FxNodeId now = renumber(operand);
    if (stamp[now] == self + 1)
      continue;
    stamp[now] = self + 1;
    result.inputs.items.push_back(now);
  }
  for (FxNodeId operand : graph.args[n])
    result.args.items.push_back(renumber(operand));
  result.inputs.close();
  result.args.close();
  if (!graph.skeletons[graph.skeleton[n]].isFlat)
    for (FxNodeId operand : graph.someDirectArgs[n])
      result.someDirectArgs.append(self, renumber(operand));
  if (!graph.clonedArgs.empty())
    for (FxNodeId operand : graph.clonedArgs[n])
      result.clonedArgs.append(self, renumber(operand));
  if (!graph.symbols.empty())
    for (uint32_t symbol : graph.symbols[n])
      result.symbols.append(self, symbol);
}

FxGraph FxSimplifier::compact() {
  FxGraph result;
  result.numForwardOutputs = graph.numForwardOutputs;
  result.packets = std::move(graph.packets);
  result.packetTraits = std::move(graph.packetTraits);
  result.traitRules = graph.traitRules;
  result.symbolNames = std::move(graph.symbolNames);
  result.storageBytes = std::move(graph.storageBytes);
  result.literalHash = std::move(graph.literalHash);
  result.skeletonTokens = std::move(graph.skeletonTokens);
  result.reserveLike(graph);
  std::vector<FxNodeId> number(graph.size(), noFxNode);
  std::vector<FxNodeId> stamp(graph.size(), 0);
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    if (!keep[n])
      continue;
    number[n] = static_cast<FxNodeId>(result.nodes.size());
    result.nodes.push_back(graph.nodes[n]);
    FxNodeId &destination = result.nodes.back().destination;
    if (destination != noFxNode)
      destination = number[replacement[destination]];
    result.targets.push_back(graph.targets[n]);
    result.skeleton.push_back(graph.skeleton[n]);
    result.binds.push_back(graph.binds[n]);
    result.origin.push_back(graph.origin[n]);
    if (graph.hasNames())
      result.appendName(graph.name(n));
    copyRows(n, number, stamp, result);
  }
  for (FxNodeId n : graph.outputs)
    result.outputs.push_back(n == noFxNode ? n : number[replacement[n]]);
  result.skeletons = std::move(graph.skeletons);
  result.computeUsers();
  return result;
}

void FxSimplifier::reportStandIns(std::vector<FxNodeId> &standIn) const {
  standIn.resize(graph.size());
  for (FxNodeId n = 0; n < graph.size(); ++n)
    standIn[n] = keep[n] ? n : replacement[n] != n ? replacement[n] : noFxNode;
}

FxGraph cutback::simplifyFxGraph(FxGraph graph,
                                 const TorchRulesOptions &options,
                                 std::vector<FxNodeId> *standIn) {
  graph.packetTraits = tableOfPackets(graph, options.rules);
  graph.traitRules = static_cast<unsigned>(options.rules);
  RuleView view(graph, options);
  FxSimplifier simplifier(view, graph);
  simplifier.eliminateDeadCode();
  if (options.cse)
    simplifier.eliminateCommonSubexpressions();
  if (standIn)
    simplifier.reportStandIns(*standIn);
  return simplifier.compact();
}
