// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies without a solver: the two ends of the front, and the plan of
// an eager framework. Each marks the values that the forward hands over; what
// the backward does not read after all is dropped when the graph is split.
// Linear.

#include "cutback/Partition/Strategies.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// Which values an eager framework hands over. With tags it is what
/// AOTAutograd's default partitioner of 2.13 does with them: what is tagged
/// runs again, and saved is what its region reads from outside.
class EagerPlan {
public:
  EagerPlan(const GraphView &view, const GraphSets &sets,
            const ValueSizes &sizes, ArrayRef<OpPolicy> policies)
      : view(view), sets(sets), sizes(sizes), policies(policies),
        early(view.numOps(), 0) {
    plan.saved.assign(view.numValues(), 0);
  }

  Plan run() {
    findEarlyOps();
    for (uint32_t op = 0; op < view.numOps(); ++op)
      for (uint32_t value : view.operands(op))
        if (!early[op] || isTagged(op))
          save(value, early[op] ? op : GraphView::kNone);
    for (uint32_t value : view.gradients())
      save(value, GraphView::kNone);
    if (!policies.empty())
      savePinned();
    return std::move(plan);
  }

private:
  void findEarlyOps() {
    std::vector<uint8_t> inBackward = sets.findBackwardOps(view);
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      bool scalar = view.numResults(op) > 0;
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        scalar &= sizes.isScalar(r);
      early[op] =
          sets.ops[op] == GraphSet::Forward || (scalar && !inBackward[op]);
    }
  }

  bool isTagged(uint32_t op) const {
    return !policies.empty() && policies[op] == OpPolicy::MustRecompute;
  }
  /// The checkpoint region of an op, -1 outside of all.
  int64_t regionOf(uint32_t op) const {
    auto policy =
        view.traits[op].annotated
            ? view.ops[op]->getAttrOfType<PolicyAttr>(JointDialect::kPolicy)
            : PolicyAttr();
    return policy ? policy.getOutermost() : -1;
  }

  /// `value` is read by the backward, or by an op of the forward, `reader`,
  /// that the backward runs again.
  void save(uint32_t value, uint32_t reader) {
    uint32_t def = view.definer[value];
    if (def == GraphView::kNone) {
      plan.saved[value] |= sets.values[value] != GraphSet::Backward;
      return;
    }
    if (!early[def])
      return;
    // Sizes are handed over whatever their tags.
    if (isTagged(def) && !sizes.isScalar(value))
      plan.saved[value] |= reader != GraphView::kNone && regionOf(def) >= 0 &&
                           regionOf(reader) > regionOf(def);
    else if (reader == GraphView::kNone || sizes.isScalar(value) ||
             regionOf(def) < 0)
      plan.saved[value] = 1;
  }

  /// What a tag says to save, or no tag can make run twice; what the backward
  /// does not read of it is dropped later.
  void savePinned() {
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      const OpTraits &traits = view.traits[op];
      if (early[op] && (policies[op] == OpPolicy::MustSave || traits.ordered ||
                        !traits.recomputable))
        for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
             ++r)
          plan.saved[r] = 1;
    }
  }

  const GraphView &view;
  const GraphSets &sets;
  const ValueSizes &sizes;
  ArrayRef<OpPolicy> policies;
  std::vector<uint8_t> early; ///< by op: the forward runs it
  Plan plan;
};

} // namespace

Plan cutback::planEager(const GraphView &view, const GraphSets &sets,
                        const ValueSizes &sizes, ArrayRef<OpPolicy> policies) {
  bool isTagged = llvm::is_contained(policies, OpPolicy::MustRecompute);
  return EagerPlan(view, sets, sizes,
                   isTagged ? policies : ArrayRef<OpPolicy>())
      .run();
}

Plan cutback::planPrecompute(const GraphView &view, const GraphSets &sets) {
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  std::vector<uint8_t> inBackward = sets.findBackwardOps(view);
  auto save = [&](uint32_t value) {
    uint32_t def = view.definer[value];
    plan.saved[value] = def == GraphView::kNone
                            ? sets.values[value] != GraphSet::Backward
                            : !inBackward[def];
  };
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (inBackward[op])
      for (uint32_t value : view.operands(op))
        save(value);
  for (uint32_t value : view.gradients())
    save(value);
  return plan;
}

Plan cutback::planRecomputeAll(const GraphView &view, const GraphSets &sets) {
  Plan plan;
  plan.saved.assign(view.numValues(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (sets.ops[op] == GraphSet::Forward &&
        (!view.traits[op].recomputable || view.traits[op].ordered))
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        plan.saved[r] = 1;
  return plan;
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

static OpPolicy policyOf(PolicyKind kind) {
  switch (kind) {
  case PolicyKind::MustSave:
    return OpPolicy::MustSave;
  case PolicyKind::PreferSave:
    return OpPolicy::PreferSave;
  case PolicyKind::MustRecompute:
  case PolicyKind::PreferRecompute:
    return OpPolicy::MustRecompute;
  case PolicyKind::AdviseRecompute:
    return OpPolicy::None;
  }
  return OpPolicy::None;
}

/// What to try instead of a name that no computed value has.
static std::string adviceOn(const GraphView &view, StringRef name,
                            bool isArgument) {
  if (isArgument)
    return "it is an argument, which is there whatever a policy says";
  std::vector<std::string_view> candidates;
  for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
    if (StringRef other = getValueName(view.values[value]); !other.empty())
      candidates.emplace_back(other.data(), other.size());
  std::vector<std::string> near =
      nearestNames(std::string_view(name.data(), name.size()), candidates, 3);
  return near.empty() ? "no name is near it; `cutback import` prints them all"
                      : "names near it are " + llvm::join(near, ", ");
}

/// Whoever asks for a view to be saved gets what it looks at: a view costs
/// nothing to compute again, and no bytes of its own can be saved.
static void moveToBases(const GraphView &view,
                        std::vector<OpPolicy> &policies) {
  for (uint32_t op = view.numOps(); op-- > 0;) {
    if (policies[op] == OpPolicy::MustSave && view.traits[op].literal)
      policies[op] = OpPolicy::None; // there is nothing to save
    if (policies[op] != OpPolicy::MustSave || !view.traits[op].view)
      continue;
    if (view.baseOf(op) == GraphView::kNone)
      continue;
    uint32_t base = view.definer[view.baseOf(op)];
    if (base != GraphView::kNone && policies[base] == OpPolicy::MustRecompute)
      continue; // a contradiction, which has a path to show
    policies[op] = OpPolicy::None;
    if (base != GraphView::kNone)
      policies[base] = OpPolicy::MustSave;
  }
}

/// Adds what the command line asks for.
static LogicalResult addByName(const GraphView &view,
                               const llvm::StringMap<std::string> &byName,
                               std::vector<OpPolicy> &policies) {
  llvm::StringMap<uint32_t> numbers;
  for (uint32_t value = 0; value < view.numValues(); ++value)
    numbers.try_emplace(view.name(value), value);
  SmallVector<StringRef> keys(byName.keys());
  llvm::sort(keys);
  GraphOp graph = view.graph;
  for (StringRef key : keys) {
    std::string spelled = byName.lookup(key);
    std::replace(spelled.begin(), spelled.end(), '-', '_');
    std::optional<PolicyKind> kind = symbolizePolicyKind(spelled);
    if (!kind) {
      auto diag = graph.emitOpError("unknown policy '")
                  << byName.lookup(key) << "' for '" << key << "'";
      diag.attachNote() << "policies are must-save, prefer-save, "
                           "must-recompute and prefer-recompute";
      return failure();
    }
    StringRef name = key.split('#').first;
    auto it = numbers.find(name);
    if (it == numbers.end() || view.isArg(it->second)) {
      auto diag = graph.emitOpError("has no computed value '")
                  << name << "' for a policy";
      diag.attachNote() << adviceOn(view, name, it != numbers.end());
      return failure();
    }
    policies[view.definer[it->second]] = policyOf(*kind);
  }
  return success();
}

FailureOr<std::vector<OpPolicy>>
cutback::collectPolicies(const GraphView &view,
                         const llvm::StringMap<std::string> &byName) {
  std::vector<OpPolicy> policies(view.numOps(), OpPolicy::None);
  MLIRContext *context = GraphOp(view.graph)->getContext();
  auto name = StringAttr::get(context, JointDialect::kPolicy);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!view.traits[op].annotated)
      continue;
    if (auto attr = view.ops[op]->getDiscardableAttr(name))
      policies[op] = policyOf(cast<PolicyAttr>(attr).getKind());
  }
  if (!byName.empty() && failed(addByName(view, byName, policies)))
    return failure();
  moveToBases(view, policies);
  return policies;
}
