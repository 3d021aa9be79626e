// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a list of saved nodes to the two halves.
//
//  1. split the saved nodes: symbolic scalars are sizes, the rest tensors
//  2. extract the backward; saved values that it does not use are dropped
//     (2.13: also those that only a dead wait_tensor uses)
//  3. every symbol in a size, tensor or tangent that the backward is given
//     must be bound: the nodes that bind the missing ones join the sizes,
//     in front
//  4. extract both halves; calls that both contain are recomputed, and those
//     of them that are tagged and random have to be replayed
//
// Extraction itself is extractHalf (Classify.cpp): what can be computed from
// what the half is given, then dead code elimination.
//
// Complexity: linear; sorting the few symbols of one type apart.
#include "RuleView.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace cutback;
using namespace cutback::torchrules;

namespace {
class HalvesExtraction {
public:
  HalvesExtraction(const RuleView &view, const TorchNetwork *network,
                   TorchHalves &halves)
      : view(view), graph(view.graph), network(network), halves(halves) {}

  std::optional<TorchRulesError> run(const std::vector<FxNodeId> &saved);

private:
  bool isAssertedBool(FxNodeId n) const;
  void split(const std::vector<FxNodeId> &saved);
  std::optional<TorchRulesError> mark(Half half, std::vector<uint8_t> &marks);
  bool repair(const std::vector<uint8_t> &marks, FxNodeId &n) const;
  bool isUsed(const std::vector<uint8_t> &marks, FxNodeId n) const;
  void bindSymbols();
  std::vector<FxNodeId> listNodes(const std::vector<uint8_t> &marks) const;

  const RuleView &view;
  const FxGraph &graph;
  const TorchNetwork *network; ///< or null
  TorchHalves &halves;
};
} // namespace

/// Computed by the half that these marks are of, not given to it.
static bool isInHalf(uint8_t marks) {
  constexpr uint8_t computed = halfbit::Valid | halfbit::Live;
  return (marks & (computed | halfbit::Input)) == computed;
}

/// 2.13 does not save a bool that nothing but `_assert_scalar` reads.
bool HalvesExtraction::isAssertedBool(FxNodeId n) const {
  if (view.is23() || graph.nodes[n].value != FxValue::SymBool)
    return false;
  for (FxNodeId user : graph.users[n])
    if (!view.is(user, trait::AssertScalar))
      return false;
  return true;
}

void HalvesExtraction::split(const std::vector<FxNodeId> &saved) {
  for (FxNodeId n : saved) {
    if (!graph.nodes[n].isSymbolic())
      halves.savedTensors.push_back(n);
    else if (!isAssertedBool(n))
      halves.savedSizes.push_back(n);
  }
}

/// 2.13 follows a result that its half cannot compute to the argument that it
/// was written to: a write, or a view of a kernel's argument.
bool HalvesExtraction::repair(const std::vector<uint8_t> &marks,
                              FxNodeId &n) const {
  while (!(marks[n] & halfbit::Valid)) {
    const FxNode &node = graph.nodes[n];
    if (view.is23())
      return false;
    if (node.destination != noFxNode)
      n = node.destination;
    else if (view.is(n, trait::View) && !graph.inputs[n].empty())
      n = graph.inputs[n][0];
    else
      return false;
  }
  return true;
}

/// Extracts one half from the lists of `halves`.
std::optional<TorchRulesError>
HalvesExtraction::mark(Half half, std::vector<uint8_t> &marks) {
  bool forward = half == Half::Forward;
  marks.assign(graph.size(), 0);
  for (FxNodeId n = 0; n < graph.outputNode(); ++n) {
    const FxNode &node = graph.nodes[n];
    if (forward
            ? node.isInput()
            : node.role == FxRole::Tangent || node.role == FxRole::BackwardSeed)
      marks[n] = halfbit::Input;
  }
  std::vector<FxNodeId> results;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph.outputs[i] != noFxNode &&
        (i < graph.numForwardOutputs) == forward)
      results.push_back(graph.outputs[i]);
  for (const auto *list : {&halves.savedTensors, &halves.savedSizes})
    for (FxNodeId n : *list) {
      if (forward)
        results.push_back(n);
      else
        marks[n] |= halfbit::Input;
    }
  markValid(view, half, marks);
  for (FxNodeId n : results) {
    FxNodeId result = n;
    if (!repair(marks, result))
      return TorchRulesError{
          "the " + std::string(forward ? "forward" : "backward") +
              " cannot compute its result '" + std::string(graph.name(n)) +
              "' from what it is given",
          n, "save the values that it depends on"};
    marks[result] |= halfbit::Live | halfbit::Result;
  }
  markLive(view, marks);
  return std::nullopt;
}

/// Does the backward use this input, by more than dead wait_tensors?
bool HalvesExtraction::isUsed(const std::vector<uint8_t> &marks,
                              FxNodeId n) const {
  if (view.is23() || (marks[n] & halfbit::Result))
    return marks[n] & halfbit::Live;
  for (FxNodeId user : graph.users[n]) {
    if (!isInHalf(marks[user]))
      continue;
    if (!view.is(user, trait::WaitTensor) || (marks[user] & halfbit::Result))
      return true;
    for (FxNodeId next : graph.users[user])
      if (isInHalf(marks[next]))
        return true;
  }
  return false;
}

void HalvesExtraction::bindSymbols() {
  std::vector<FxNodeId> binder(graph.symbolNames.size(), noFxNode);
  for (FxNodeId n = 0; n < graph.outputNode(); ++n)
    if (graph.binds[n] >= 0 && binder[graph.binds[n]] == noFxNode)
      binder[graph.binds[n]] = n;

  std::vector<uint8_t> bound(graph.symbolNames.size(), 0);
  std::vector<FxNodeId> binding, derived;
  for (FxNodeId n : halves.savedSizes) {
    if (graph.binds[n] < 0) {
      derived.push_back(n);
      continue;
    }
    bound[graph.binds[n]] = 1;
    binding.push_back(n);
  }
  std::vector<uint32_t> missing;
  auto bindFor = [&](FxNodeId n) {
    missing.clear();
    for (uint32_t symbol : graph.symbols[n])
      if (!bound[symbol]) {
        bound[symbol] = 1;
        missing.push_back(symbol);
      }
    std::sort(missing.begin(), missing.end(), [&](uint32_t a, uint32_t b) {
      return graph.symbolNames[a] < graph.symbolNames[b];
    });
    for (uint32_t symbol : missing)
      if (binder[symbol] != noFxNode)
        binding.push_back(binder[symbol]);
  };
  for (FxNodeId n : derived)
    bindFor(n);
  for (FxNodeId n : halves.savedTensors)
    bindFor(n);
  for (FxNodeId n = 0; n < graph.outputNode(); ++n)
    if (graph.nodes[n].role == FxRole::Tangent)
      bindFor(n);
  halves.savedSizes = std::move(binding);
  halves.savedSizes.insert(halves.savedSizes.end(), derived.begin(),
                           derived.end());
}

std::vector<FxNodeId>
HalvesExtraction::listNodes(const std::vector<uint8_t> &marks) const {
  std::vector<FxNodeId> nodes;
  for (FxNodeId n = 0; n < graph.outputNode(); ++n)
    if (isInHalf(marks[n]))
      nodes.push_back(n);
  return nodes;
}

std::optional<TorchRulesError>
HalvesExtraction::run(const std::vector<FxNodeId> &saved) {
  halves = TorchHalves();
  split(saved);
  std::vector<uint8_t> marks;
  if (auto error = mark(Half::Backward, marks))
    return error;
  for (auto *list : {&halves.savedTensors, &halves.savedSizes})
    list->erase(std::remove_if(list->begin(), list->end(),
                               [&](FxNodeId n) { return !isUsed(marks, n); }),
                list->end());
  bindSymbols();
  if (auto error = mark(Half::Forward, marks))
    return error;
  halves.forwardNodes = listNodes(marks);
  if (auto error = mark(Half::Backward, marks))
    return error;
  halves.backwardNodes = listNodes(marks);
  std::set_intersection(halves.forwardNodes.begin(), halves.forwardNodes.end(),
                        halves.backwardNodes.begin(),
                        halves.backwardNodes.end(),
                        std::back_inserter(halves.recomputed));
  halves.recomputed.erase(
      std::remove_if(halves.recomputed.begin(), halves.recomputed.end(),
                     [&](FxNodeId n) { return !graph.nodes[n].isCall(); }),
      halves.recomputed.end());
  bool anyRecompute = false;
  std::vector<FxPolicy> cleaned;
  if (!network)
    cleaned = cleanTags(view, anyRecompute);
  const std::vector<FxPolicy> &policy = network ? network->policy : cleaned;
  for (FxNodeId n : halves.recomputed)
    if (isRecompute(policy[n]) && graph.nodes[n].has(fxflag::SeededRandom))
      halves.replayedRandom.push_back(n);
  return std::nullopt;
}

std::optional<TorchRulesError>
cutback::extractTorchHalves(const FxGraph &graph,
                            const TorchRulesOptions &options,
                            const std::vector<FxNodeId> &saved,
                            TorchHalves &halves, const TorchNetwork *network) {
  RuleView view = network ? RuleView(graph, options, network->traits)
                          : RuleView(graph, options);
  return HalvesExtraction(view, network, halves).run(saved);
}

TorchSavedBytes
cutback::countSavedBytes(const FxGraph &graph,
                         const std::vector<FxNodeId> &savedTensors) {
  TorchSavedBytes bytes;
  std::vector<int64_t> counted(graph.storageBytes.size(), 0);
  for (FxNodeId n : savedTensors) {
    const FxNode &node = graph.nodes[n];
    bytes.plain += node.size;
    if (node.kind == FxKind::Placeholder)
      bytes.primal += node.size;
    if (node.storage < 0) {
      bytes.storage += node.size;
      continue;
    }
    int64_t &largest = counted[node.storage];
    bytes.storage += std::max<int64_t>(node.size - largest, 0);
    largest = std::max(largest, node.size);
  }
  return bytes;
}
