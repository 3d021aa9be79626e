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
  /// Takes out what is not kept.
  void compact();
  void reportStandIns(std::vector<FxNodeId> &standIn) const;

private:
  bool mayMerge(FxNodeId n) const;
  uint64_t hashOf(FxNodeId n) const;
  bool hashAlike(FxNodeId a, FxNodeId b) const;
  bool equal(FxNodeId a, FxNodeId b) const;
  void findSharedStorages();
  void moveRows(FxNodeId n, FxNodeId self);
  void renumberSparse(FxSparseRows &rows, bool areNodes) const;

  /// A row of the old graph, and how many items of the new one there are.
  struct Mover {
    uint32_t begin = 0, end = 0, kept = 0;
    /// Rows up to `n` may have been written over, but for where it ends.
    void next(const FxRows &rows, FxNodeId n) {
      begin = end;
      end = rows.begin[n + 1];
    }
  };

  const RuleView &view;
  FxGraph &graph;
  std::vector<uint8_t> keep;
  std::vector<FxNodeId> replacement;
  /// By old number: the new one. By new number: the last reader, plus one.
  std::vector<FxNodeId> number, stamp;
  Mover inputs, args;
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

/// Keeps the rows of node `n`, which is called `self` from now on, with
/// operands replaced and renumbered.
void FxSimplifier::moveRows(FxNodeId n, FxNodeId self) {
  auto renumber = [&](FxNodeId old) { return number[replacement[old]]; };
  for (uint32_t i = inputs.begin; i < inputs.end; ++i) {
    FxNodeId now = renumber(graph.inputs.items[i]);
    if (stamp[now] == self + 1)
      continue;
    stamp[now] = self + 1;
    graph.inputs.items[inputs.kept++] = now;
  }
  for (uint32_t i = args.begin; i < args.end; ++i)
    graph.args.items[args.kept++] = renumber(graph.args.items[i]);
  graph.inputs.begin[self + 1] = inputs.kept;
  graph.args.begin[self + 1] = args.kept;
}

/// The rows that few nodes have are made anew.
void FxSimplifier::renumberSparse(FxSparseRows &rows, bool areNodes) const {
  if (rows.empty())
    return;
  FxSparseRows result;
  for (FxNodeId n = 0; n < keep.size(); ++n)
    if (keep[n])
      for (uint32_t item : rows[n])
        result.append(number[n], areNodes ? number[replacement[item]] : item);
  rows = std::move(result);
}

/// Everything moves towards the front, so it moves in place.
void FxSimplifier::compact() {
  number.assign(graph.size(), noFxNode);
  stamp.assign(graph.size(), 0);
  FxNodeId now = 0;
  for (FxNodeId n = 0; n < keep.size(); ++n) {
    inputs.next(graph.inputs, n);
    args.next(graph.args, n);
    if (!keep[n])
      continue;
    number[n] = now;
    FxNode &node = graph.nodes[now] = graph.nodes[n];
    if (node.destination != noFxNode)
      node.destination = number[replacement[node.destination]];
    graph.targets[now] = graph.targets[n];
    graph.skeleton[now] = graph.skeleton[n];
    graph.binds[now] = graph.binds[n];
    graph.origin[now] = graph.origin[n];
    moveRows(n, now++);
  }
  graph.nodes.resize(now);
  graph.targets.resize(now);
  graph.skeleton.resize(now);
  graph.binds.resize(now);
  graph.origin.resize(now);
  graph.inputs.begin.resize(now + 1);
  graph.args.begin.resize(now + 1);
  graph.inputs.items.resize(inputs.kept);
  graph.args.items.resize(args.kept);
  renumberSparse(graph.someDirectArgs, true);
  renumberSparse(graph.clonedArgs, true);
  renumberSparse(graph.symbols, false);
  if (graph.hasNames())
    graph.keepNames(keep);
  for (FxNodeId &n : graph.outputs)
    n = n == noFxNode ? n : number[replacement[n]];
  graph.computeUsers();
}

void FxSimplifier::reportStandIns(std::vector<FxNodeId> &standIn) const {
  standIn.resize(graph.size());
  for (FxNodeId n = 0; n < graph.size(); ++n)
    standIn[n] = keep[n] ? n : replacement[n] != n ? replacement[n] : noFxNode;
}

FxGraph cutback::simplifyFxGraph(FxGraph graph,
                                 const TorchRulesOptions &options,
                                 std::vector<FxNodeId> *standIn) {
  graph.packetTraits = tableOfPackets(graph, options);
  graph.traitRules = static_cast<unsigned>(options.rules);
  RuleView view(graph, options);
  FxSimplifier simplifier(view, graph);
  simplifier.eliminateDeadCode();
  if (options.cse)
    simplifier.eliminateCommonSubexpressions();
  if (standIn)
    simplifier.reportStandIns(*standIn);
  simplifier.compact();
  return graph;
}
