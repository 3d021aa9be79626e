// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tags at the boundary of checkpoint regions, and the regions themselves.
//
// A region is recomputed from its inputs. Where its input is made by another
// region, that one need not be recomputed as well: the op on the boundary is
// to be saved (25-partition-rules §10), and if that is a view, what it looks
// at. One look at the users of each tagged op decides; decisions are made
// before any tag changes, so that their order does not matter.
//
// `joint.checkpoint` is dissolved innermost ops and all: everything below one
// outermost region moves in front of it, in program order, and remembers the
// regions that it was in. Moving is relinking of list nodes; nothing is copied
// (that is expandRegions, behind the gradients). What a region asks for besides
// its policies stays as an attribute of the graph. Linear.

#include "cutback/Transforms/CleanTags.h"

#include "RegionPolicies.h"

#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/OpAccess.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool asksForRecompute(PolicyAttr policy) {
  return policy && policy.asksToRecompute();
}

Policies cutback::readPolicies(const GraphView &view) {
  Policies policies(view.numOps());
  StringAttr id;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!view.traits[op].annotated)
      continue;
    if (!id)
      id = StringAttr::get(view.ops[op]->getContext(), JointDialect::kPolicy);
    policies[op] =
        dyn_cast_or_null<PolicyAttr>(view.ops[op]->getDiscardableAttr(id));
  }
  return policies;
}

void cutback::warnOfOtherDraws(GraphOp graph) {
  graph.emitWarning("a checkpoint region with preserve_rng = false draws "
                    "other random numbers when it runs again: gradients "
                    "are not those of what the forward has computed");
}

/// Whether an op in a later region than `op` asks for a result of it.
static bool isOnBoundary(const GraphView &view, const Policies &policies,
                         uint32_t op) {
  int64_t region = policies[op].getOutermost();
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    for (uint32_t user : view.users(r))
      if (user < view.numOps() && asksForRecompute(policies[user]) &&
          policies[user].getOutermost() > region)
        return true;
  return false;
}

uint64_t cutback::cleanTags(const GraphView &view, Policies &policies) {
  std::vector<uint32_t> boundary;
  std::vector<uint8_t> isKnown(view.numOps(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!asksForRecompute(policies[op]) || !isOnBoundary(view, policies, op))
      continue;
    // A view has no bytes of its own.
    for (uint32_t at = op; !isKnown[at] && asksForRecompute(policies[at]);) {
      isKnown[at] = 1;
      boundary.push_back(at);
      uint32_t base = view.baseOf(at);
      if (base == GraphView::kNone || view.isArg(base))
        break;
      at = view.definer[base];
    }
  }
  for (uint32_t op : boundary) {
    PolicyAttr &policy = policies[op];
    policy = PolicyAttr::get(policy.getContext(), PolicyKind::MustSave,
                             policy.getRegion(), policy.getRun());
    view.ops[op]->setDiscardableAttr(JointDialect::kPolicy, policy);
  }
  return boundary.size();
}

uint64_t cutback::markReplays(GraphView &view) {
  std::vector<uint32_t> draws;
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (view.traits[op].random && view.traits[op].annotated)
      draws.push_back(op);
  uint64_t count = draws.empty() ? 0 : joint::markReplays(view.graph);
  for (uint32_t op : draws)
    view.readTraits(op);
  return count;
}

//===----------------------------------------------------------------------===//
// joint.checkpoint
//===----------------------------------------------------------------------===//

namespace {

class Flattener {
public:
  explicit Flattener(GraphOp graph)
      : graph(graph),
        policyId(StringAttr::get(graph.getContext(), JointDialect::kPolicy)) {}

  uint64_t run() {
    if (llvm::none_of(graph.getBlock(), llvm::IsaPred<CheckpointOp>))
      return 0;
    for (Operation &op : graph.getBlock())
      if (PolicyAttr policy = policyOf(&op))
        nextRegion = std::max(nextRegion, policy.getOutermost() + 1);
    Block &block = graph.getBlock();
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
      auto checkpoint = dyn_cast<CheckpointOp>(op);
      if (!checkpoint) {
        op = op->getNextNode();
        continue;
      }
      Operation *next = op->getNextNode();
      dissolve(checkpoint);
      ++nextRegion;
      op = next;
    }
    if (drawsAgain)
      warnOfOtherDraws(graph);
    return dissolved;
  }

private:
  /// A region at work: its policies, and the op behind the one being moved.
  struct Level {
    CheckpointOp checkpoint;
    Operation *next;
    int64_t children = 0; ///< regions in it so far
  };

  void enter(CheckpointOp checkpoint) {
    // Deeper regions run with the one around them.
    if (levels.size() < kMaxRegionDepth) {
      path.push_back(levels.empty() ? nextRegion : levels.back().children++);
      RegionWishes wishes;
      wishes.earlyStop =
          checkpoint.getEarlyStop() && !checkpoint.getReentrant();
      wishes.preserveRng = checkpoint.getPreserveRng();
      if (auto budget =
              checkpoint->getAttrOfType<FloatAttr>(RegionWishes::kBudget))
        wishes.budget = budget.getValueAsDouble();
      setRegionWishes(graph, path, wishes);
    }
    drawsAgain |= !checkpoint.getPreserveRng();
    taggedAttrs.clear();
    levels.push_back({checkpoint, &checkpoint.getBody().front().front()});
  }

  /// Moves everything below `outermost` in front of it.
  void dissolve(CheckpointOp outermost) {
    enter(outermost);
    while (!levels.empty()) {
      Operation *op = levels.back().next;
      if (isa<YieldOp>(op)) {
        leave();
        continue;
      }
      levels.back().next = op->getNextNode();
      if (auto inner = dyn_cast<CheckpointOp>(op)) {
        enter(inner);
        continue;
      }
      prefetchOp(levels.back().next);
      tag(op);
      op->moveBefore(outermost);
    }
  }

  /// All ops of the innermost region are out: its results are its yield's
  /// operands.
  void leave() {
    CheckpointOp checkpoint = levels.back().checkpoint;
    Operation *yield = checkpoint.getBody().front().getTerminator();
    checkpoint->replaceAllUsesWith(yield->getOperands());
    if (path.size() == levels.size())
      path.pop_back();
    levels.pop_back();
    taggedAttrs.clear();
    checkpoint->erase();
    ++dissolved;
  }

  /// Ops of one region mostly have the same attributes, so the new ones are
  /// made once. What regions say for ops of one name is asked for each op.
  void tag(Operation *op) {
    if (hasPolicies()) {
      setPolicy(op);
      return;
    }
    Attribute &tagged = taggedAttrs[op->getDiscardableAttrDictionary()];
    if (tagged) {
      op->setDiscardableAttrs(cast<DictionaryAttr>(tagged));
      return;
    }
    setPolicy(op);
    tagged = op->getDiscardableAttrDictionary();
  }

  bool hasPolicies() const {
    return llvm::any_of(levels, [](Level level) {
      return level.checkpoint.getPoliciesAttr() != nullptr;
    });
  }

  /// The innermost region that names the op decides; `must_save` anywhere
  /// wins. In a region that only advises, so does everything else.
  void setPolicy(Operation *op) {
    PolicyKind kind = PolicyKind::PreferRecompute;
    PolicyAttr own = policyOf(op);
    if (own)
      kind = own.getKind();
    for (Level &level : levels) {
      bool advises = level.checkpoint.getAdvise() ||
                     level.checkpoint->hasAttr(RegionWishes::kBudget);
      if (advises && kind != PolicyKind::MustSave && !own)
        kind = PolicyKind::AdviseRecompute;
      DictionaryAttr policies = level.checkpoint.getPoliciesAttr();
      if (own || !policies)
        continue;
      auto named = policies.getAs<PolicyAttr>(op->getName().getStringRef());
      if (named && kind != PolicyKind::MustSave)
        kind = named.getKind();
    }
    op->setDiscardableAttr(
        policyId, PolicyAttr::get(op->getContext(), kind, path, /*run=*/0));
  }

  GraphOp graph;
  SmallVector<Level> levels;
  SmallVector<int64_t> path; ///< of the innermost region
  StringAttr policyId;
  /// By discardable attributes of an op: those with a tag of the region at
  /// work.
  llvm::SmallDenseMap<Attribute, Attribute, 4> taggedAttrs;
  int64_t nextRegion = 0;
  uint64_t dissolved = 0;
  bool drawsAgain = false;
};

} // namespace

uint64_t cutback::flattenCheckpoints(GraphOp graph) {
  return Flattener(graph).run();
}
