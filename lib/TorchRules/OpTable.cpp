// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op table: which packets PyTorch may recompute, views, random and compute
// intensive packets, by rule set.
//
// The rows are ops.tsv, turned into initializers when the build is configured;
// they are sorted by name, and a packet is found by bisection. That happens
// once per distinct packet of a graph, never per node: see
// torchrules::packetTraits, which adds the few names that rules mention by
// themselves.
#include "RuleView.h"

#include <algorithm>
#include <iterator>

using namespace cutback;
using namespace cutback::torchrules;

namespace {
struct OpRow {
  std::string_view name;
  std::string_view torch23;
  std::string_view torch213;
};

constexpr OpRow opRows[] = {
#include "TorchOps.inc"
};
} // namespace

uint8_t cutback::lookupTorchOp(TorchRuleSet rules, std::string_view packet) {
  const OpRow *row = std::lower_bound(
      std::begin(opRows), std::end(opRows), packet,
      [](const OpRow &row, std::string_view name) { return row.name < name; });
  if (row == std::end(opRows) || row->name != packet)
    return 0;
  uint8_t categories = 0;
  for (char flag :
       rules == TorchRuleSet::Torch23 ? row->torch23 : row->torch213) {
    if (flag == 'R' || flag == 'P')
      categories |= torchop::Recomputable;
    else if (flag == 'V')
      categories |= torchop::View;
    else if (flag == 'N')
      categories |= torchop::Random;
    else if (flag == 'C')
      categories |= torchop::ComputeIntensive;
  }
  return categories;
}

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Packets whose effect is known by name, whatever their schema says.
static bool isSideEffectPacket(TorchRuleSet rules, std::string_view packet) {
  if (startsWith(packet, "aten._assert") || startsWith(packet, "torch._assert"))
    return true;
  for (std::string_view name :
       {"aten.sym_constrain_range", "aten.sym_constrain_range_for_size",
        "profiler._record_function_enter",
        "profiler._record_function_enter_new", "profiler._record_function_exit",
        "inductor.accumulate_grad_", "inductor.resize_storage_bytes_"})
    if (packet == name)
      return true;
  return rules == TorchRuleSet::Torch23 &&
         (packet == "aten.copy_" || packet == "aten.index_put_");
}

/// Calls that CSE never merges because they draw random numbers.
static bool isRandomForCse(std::string_view packet) {
  static constexpr std::string_view names[] = {
      "_fused_dropout", "_standard_gamma", "bernoulli", "binomial", "dropout",
      "multinomial",    "native_dropout",  "normal",    "poisson",  "rand",
      "rand_like",      "randint",         "randn",     "randperm", "rrelu"};
  if (!startsWith(packet, "aten."))
    return false;
  packet.remove_prefix(5);
  return std::binary_search(std::begin(names), std::end(names), packet);
}

uint16_t torchrules::packetTraits(TorchRuleSet rules, std::string_view packet) {
  uint16_t traits = lookupTorchOp(rules, packet);
  if (traits & (torchop::Recomputable | torchop::Random))
    traits |= trait::Fusible;
  if (packet == "aten.cat")
    traits |= trait::Cat;
  else if (packet == "aten.lift_fresh_copy" || packet == "aten.lift_fresh")
    traits |= trait::LiftFresh;
  else if (packet == "aten.copy_")
    traits |= trait::Copy;
  else if (packet == "aten._assert_scalar")
    traits |= trait::AssertScalar;
  else if (packet == "_c10d_functional.wait_tensor")
    traits |= trait::WaitTensor;
  if (isSideEffectPacket(rules, packet))
    traits |= trait::SideEffect;
  if (isRandomForCse(packet) ||
      (rules == TorchRuleSet::Torch213 && packet == "aten.empty"))
    traits |= trait::NeverMerged;
  return traits;
}

/// The user's list names packets, or overloads of them: PyTorch's rules know
/// but packets.
static bool isUsers(const TorchRulesOptions &options, std::string_view packet) {
  for (std::string_view given : options.recomputable)
    if (startsWith(given, packet) &&
        (given.size() == packet.size() ||
         (given[packet.size()] == '.' &&
          packet.find('.') != std::string_view::npos)))
      return true;
  return false;
}

std::vector<uint16_t>
torchrules::tableOfPackets(const FxGraph &graph,
                           const TorchRulesOptions &options) {
  std::vector<uint16_t> ofPacket;
  ofPacket.reserve(graph.packets.size());
  for (const std::string &packet : graph.packets) {
    ofPacket.push_back(packetTraits(options.rules, packet));
    if (isUsers(options, packet))
      ofPacket.back() |= trait::Recomputable | trait::Fusible;
  }
  return ofPacket;
}

std::vector<uint16_t> torchrules::nodeTraits(const FxGraph &graph,
                                             const TorchRulesOptions &options) {
  TorchRuleSet rules = options.rules;
  std::vector<uint16_t> made;
  if (graph.packetTraits.empty() || graph.traitRules != unsigned(rules))
    made = tableOfPackets(graph, options);
  const std::vector<uint16_t> &ofPacket =
      made.empty() ? graph.packetTraits : made;
  uint16_t ofGetItem = packetTraits(rules, "operator.getitem");
  bool is213 = rules == TorchRuleSet::Torch213;
  std::vector<uint16_t> traits(graph.size(), 0);
  for (FxNodeId n = 0; n < graph.size(); ++n) {
    const FxNode &node = graph.nodes[n];
    if (node.kind == FxKind::GetItem)
      traits[n] = ofGetItem;
    else if (node.kind == FxKind::Call && node.packet < ofPacket.size())
      traits[n] = ofPacket[node.packet];
    if (is213 && node.has(fxflag::FunctionalWrapper))
      traits[n] |= trait::Wrapper;
    if (is213 && node.kind == FxKind::GetItem && !graph.inputs[n].empty() &&
        graph.nodes[graph.inputs[n][0]].has(fxflag::TritonWrapper))
      traits[n] |= trait::TritonItem;
  }
  return traits;
}
