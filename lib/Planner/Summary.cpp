// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures of a plan: what is saved, how many bytes it takes by each way of
// counting, what is recomputed, the peak. Everything is read off the numbers
// of the view and the halves; nothing here decides.
//
// Bytes are counted by three rules, because frameworks do: value by value; by
// storage, as PyTorch does, the largest saved view of each; and what the plan
// alone keeps alive, without storages of arguments and forward results. Linear
// but for one sort of the kinds of recomputed ops.

#include "Internal.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Planner/Reasons.h"

using namespace mlir;
using namespace cutback;

std::string cutback::describeLocation(Location loc) {
  std::string function;
  for (;;) {
    if (auto name = dyn_cast<NameLoc>(loc)) {
      function = name.getName().str();
      loc = name.getChildLoc();
    } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
      if (fused.getLocations().empty())
        return "";
      loc = fused.getLocations().front();
    } else {
      break;
    }
  }
  auto file = dyn_cast<FileLineColLoc>(loc);
  if (!file)
    return "";
  StringRef path = file.getFilename().getValue();
  std::string text = path.substr(path.rfind('/') + 1).str();
  if (!path.starts_with("<module ")) // those of PyTorch's own have no lines
    text += ":" + std::to_string(file.getLine());
  return function.empty() ? text : text + " in " + function;
}

namespace {

std::string opKind(Operation *op) {
  if (auto call = dyn_cast<joint::FrameworkCallOpInterface>(op))
    return call.getPacketName().str();
  return op->getName().getStringRef().str();
}

class Summary {
public:
  Summary(PartitionResult &result, const ValueSizes &sizes,
          const RooflineCosts *costs, const std::vector<OpPolicy> &policies,
          const TorchProblem *torch, const FxView *fx)
      : result(result), view(result.view), sets(*result.sets), sizes(sizes),
        costs(costs), policies(policies), torch(torch), fx(fx) {}

  void run() {
    result.ops = view.numOps();
    result.forwardOps = result.halves.forwardOps.size();
    result.backwardOps = result.halves.backwardOps.size();
    result.bytes = sizes.bytes;
    result.storage = sizes.storage;
    listSaved();
    countBytes();
    listRecomputed();
    listOpaque();
    listBanned();
    fillPeak();
    fillCosts();
  }

private:
  StringRef reasonOf(uint32_t value) {
    joint::GraphOp graph = view.graph;
    if (view.isArg(value))
      return reasonOfArgument(graph.getRole(value).getKind());
    if (sizes.isScalar(value))
      return reasons::kSize;
    uint32_t op = view.definer[value];
    if (policies[op] == OpPolicy::MustSave)
      return reasons::kPolicy;
    if (torch)
      return torchReason(value);
    if (view.traits[op].random && !view.traits[op].recomputable)
      return reasons::kRandom;
    if (!view.traits[op].recomputable || view.traits[op].ordered)
      return reasons::kOnce;
    if (view.traits[op].computeIntensive)
      return reasons::kExpensive;
    return reasons::kCheaper;
  }

  StringRef torchReason(uint32_t value) {
    if (result.given)
      value = result.given->numberOf[value];
    FxNodeId node = value == GraphView::kNone ? noFxNode : fx->nodeOf[value];
    const std::vector<BanReason> &banned = torch->rules().banned;
    bool isKnown = node != noFxNode && node < banned.size();
    return reasonOfBan(isKnown ? banned[node] : BanReason::None);
  }

  void add(uint32_t value, SavedValue::Kind kind) {
    SavedValue saved;
    saved.name = view.name(value);
    saved.kind = kind;
    saved.bytes = sizes.bytes[value];
    saved.argument = view.isArg(value);
    saved.reason = reasonOf(value).str();
    saved.value = value;
    if (uint32_t op = view.definer[value]; op != GraphView::kNone)
      saved.location = describeLocation(view.ops[op]->getLoc());
    result.saved.push_back(std::move(saved));
  }

  /// A constant is part of both halves; nobody hands it over.
  bool isConstant(uint32_t value) {
    joint::GraphOp graph = view.graph;
    return view.isArg(value) &&
           graph.getRole(value).getKind() == joint::RoleKind::Constant;
  }

  void listSaved() {
    joint::GraphOp graph = view.graph;
    for (uint32_t value : result.halves.savedSizes)
      add(value, SavedValue::Size);
    for (uint32_t value : result.halves.savedTensors) {
      if (isConstant(value))
        continue;
      bool seed =
          view.isArg(value) &&
          (graph.getRole(value).getKind() == joint::RoleKind::RngSeed ||
           graph.getRole(value).getKind() == joint::RoleKind::RngOffset);
      add(value, seed ? SavedValue::Seed : SavedValue::Tensor);
    }
  }

  void countBytes() {
    std::vector<uint8_t> counted(view.numValues(), 0), others(counted);
    // As PyTorch counts a storage: the largest saved view of it.
    std::vector<int64_t> largest(view.numValues(), 0);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      others[arg] = 1;
    for (uint32_t value : view.forwardResults())
      others[sizes.storage[value]] = 1;
    for (uint32_t value : result.halves.savedTensors) {
      if (isConstant(value))
        continue;
      uint32_t base = sizes.storage[value];
      result.savedPlainBytes += sizes.bytes[value];
      if (view.isArg(value))
        result.argumentBytes += sizes.bytes[value];
      result.savedStorageBytes +=
          std::max<int64_t>(0, sizes.bytes[value] - largest[base]);
      largest[base] = std::max(largest[base], sizes.bytes[value]);
      if (counted[base])
        continue;
      counted[base] = 1;
      if (!others[base])
        result.savedBytes += sizes.bytes[base];
    }
  }

  /// A call with several results has a name of its own.
  std::string callName(uint32_t op) {
    if (auto call = view.ops[op]->getAttrOfType<StringAttr>("joint.call"))
      return call.str();
    return view.numResults(op) ? view.name(view.resultBegin[op])
                               : opKind(view.ops[op]);
  }

  void listAsTorch() {
    std::vector<uint8_t> isReplayed(fx->graph.size(), 0);
    for (FxNodeId node : torch->halves().replayedRandom) {
      isReplayed[node] = 1;
      result.replayedRandom.push_back(std::string(fx->graph.name(node)));
    }
    if (result.given) // its parts are listed
      return;
    for (FxNodeId node : torch->halves().recomputed)
      if (!isReplayed[node])
        result.recomputed.push_back(std::string(fx->graph.name(node)));
  }

  void listRecomputed() {
    std::vector<OpCount> &counts = result.recomputedByKind;
    llvm::StringMap<size_t> index;
    for (uint32_t op : result.halves.recomputed) {
      // PyTorch's rules do not know of runs.
      if (!torch || result.given || view.traits[op].copy)
        result.recomputed.push_back(callName(op));
      std::string kind = opKind(view.ops[op]);
      auto [it, isNew] = index.try_emplace(kind, counts.size());
      if (isNew)
        counts.push_back({kind, 0});
      ++counts[it->second].count;
    }
    if (torch)
      listAsTorch();
    llvm::stable_sort(counts, [](const OpCount &a, const OpCount &b) {
      return a.count > b.count;
    });
  }

  void listOpaque() {
    llvm::StringMap<size_t> index;
    for (Operation *op : view.ops) {
      auto opaque = dyn_cast<joint::OpaqueOp>(op);
      if (!opaque)
        continue;
      if (joint::isTakenAsDeclared(op)) {
        noteDeclared(opaque);
        continue;
      }
      auto [it, isNew] =
          index.try_emplace(opaque.getCallee(), result.opaque.size());
      if (isNew)
        result.opaque.push_back({opaque.getCallee().str(), 0});
      ++result.opaque[it->second].count;
    }
  }

  void noteDeclared(joint::OpaqueOp op) {
    std::string callee = op.getCallee().str();
    auto known = llvm::find_if(result.asDeclared, [&](const DeclaredOps &ops) {
      return ops.op == callee;
    });
    if (known == result.asDeclared.end()) {
      result.asDeclared.push_back({callee, joint::declaredPlace(op).str(),
                                   joint::declaredWhy(op).str()});
      known = std::prev(result.asDeclared.end());
    }
    ++known->count;
  }

  void listBannedByTorch() {
    const TorchNetwork &rules = torch->rules();
    for (FxNodeId node = 0; node < rules.reasons.size(); ++node)
      if (rules.reasons[node])
        result.banned.push_back(
            {fx->valueOf[node], fx->opOf[node], rules.reasons[node]});
  }

  /// Without PyTorch's rules an op is banned if a second run would be wrong, or
  /// if the user says so.
  void listBannedOps() {
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      const OpTraits &traits = view.traits[op];
      if (sets.ops[op] != GraphSet::Forward || !view.numResults(op))
        continue;
      uint32_t rules = 0;
      if (policies[op] == OpPolicy::MustSave)
        rules |= BannedOp::ByPolicy;
      if (traits.random && !traits.recomputable)
        rules |= BannedOp::Random;
      else if (!traits.recomputable || traits.ordered)
        rules |= BannedOp::OnlyOnce;
      uint32_t value =
          view.numResults(op) == 1 ? view.resultBegin[op] : GraphView::kNone;
      if (rules)
        result.banned.push_back({value, op, rules});
    }
  }

  void listBanned() { torch ? listBannedByTorch() : listBannedOps(); }

  void fillPeak() {
    if (result.memory)
      return fillPlannedPeak();
    StepPeak peak =
        simulateStep(view, result.halves, sizes.bytes, sizes.storage);
    result.peak.bytes = peak.bytes;
    result.peak.lowerBound = peak.lowerBound;
    result.peak.inBackward = peak.inBackward;
    result.peak.savedBytes = peak.saved;
    result.peak.gradientBytes = peak.gradients;
    result.peak.temporaryBytes = peak.temporary;
    if (peak.op != GraphView::kNone && view.numResults(peak.op))
      result.peak.at = view.name(view.resultBegin[peak.op]);
  }

  void fillPlannedPeak() {
    const MemoryPlan &memory = *result.memory;
    const PlannedPeak &peak = memory.peak;
    result.peak = {memory.arenaBytes(), memory.lowerBound(), "",
                   peak.inBackward,     peak.saved,          peak.gradients,
                   peak.temporaries,    peak.results,        true,
                   memory.isLeastOrder};
    uint32_t first = peak.inBackward ? memory.program.forwardEnd() + 1 : 0;
    const std::vector<uint32_t> &ops =
        peak.inBackward ? result.halves.backwardOps : result.halves.forwardOps;
    // The terminator of a half is no op of the graph.
    if (uint32_t at = peak.op - first; at < ops.size())
      if (view.numResults(ops[at]))
        result.peak.at = view.name(view.resultBegin[ops[at]]);
  }

  void fillCosts() {
    result.distance.assign(view.numValues(), -1);
    for (uint32_t v = view.numValues(); v-- > 0;) {
      double best = -1;
      for (uint32_t user : view.users(v)) {
        double d = -1;
        if (user == view.numOps())
          continue;
        if (sets.ops[user] != GraphSet::Forward)
          d = 0;
        else
          for (uint32_t r = view.resultBegin[user];
               r < view.resultBegin[user + 1]; ++r)
            if (result.distance[r] >= 0 && (d < 0 || result.distance[r] < d))
              d = result.distance[r];
        if (d >= 0 && (best < 0 || d + 1 < best))
          best = d + 1;
      }
      result.distance[v] = best;
    }
    if (!costs)
      return;
    result.saveCost = costs->savePs;
    result.recomputeCost = costs->recomputePs;
    PlanPrice price = pricePlan(view, sets, sizes, *costs, result.halves);
    result.modelPs = price.ps;
  }

  PartitionResult &result;
  const GraphView &view;
  const GraphSets &sets;
  const ValueSizes &sizes;
  const RooflineCosts *costs;
  const std::vector<OpPolicy> &policies;
  const TorchProblem *torch;
  const FxView *fx;
};

} // namespace

void cutback::summarize(PartitionResult &result, const ValueSizes &sizes,
                        const RooflineCosts *costs,
                        const std::vector<OpPolicy> &policies,
                        const TorchProblem *torch, const FxView *fx) {
  Summary(result, sizes, costs, policies, torch, fx).run();
}
