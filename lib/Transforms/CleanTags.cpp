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

#include "cutback/Transforms/ExpandRegions.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool asksForRecompute(PolicyAttr policy) {
  return policy && policy.asksToRecompute();
}

/// The op whose result the first result of `op` is a view of, or null.
static Operation *baseOf(Operation *op) {
  auto model = dyn_cast<RematerializableOpInterface>(op);
  int64_t operand =
      model && op->getNumResults() ? model.getAliasedOperand(0) : -1;
  return operand < 0 ? nullptr : op->getOperand(operand).getDefiningOp();
}

uint64_t cutback::cleanTags(GraphOp graph) {
  llvm::MapVector<Operation *, PolicyAttr> boundary;
  for (Operation &op : graph.getBlock()) {
    PolicyAttr policy = policyOf(&op);
    if (!asksForRecompute(policy))
      continue;
    int64_t region = policy.getOutermost();
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          PolicyAttr other = policyOf(user);
          return asksForRecompute(other) && other.getOutermost() > region;
        }))
      // A view has no bytes of its own.
      for (Operation *at = &op; at && asksForRecompute(policyOf(at));
           at = baseOf(at))
        boundary.try_emplace(at, policyOf(at));
  }
  for (auto [op, policy] : boundary)
    op->setAttr(JointDialect::kPolicy,
                PolicyAttr::get(op->getContext(), PolicyKind::MustSave,
                                policy.getRegion(), policy.getRun()));
  return boundary.size();
}

//===----------------------------------------------------------------------===//
// joint.checkpoint
//===----------------------------------------------------------------------===//

namespace {

class Flattener {
public:
  explicit Flattener(GraphOp graph) : graph(graph) {}

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
      graph.emitWarning("a checkpoint region with preserve_rng = false draws "
                        "other random numbers when it runs again: gradients "
                        "are not those of what the forward has computed");
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
      setRegionWishes(graph, path, wishes);
    }
    drawsAgain |= !checkpoint.getPreserveRng();
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
    checkpoint->erase();
    ++dissolved;
  }

  /// The innermost region that names the op decides; `must_save` anywhere
  /// wins. In a region that only advises, so does everything else.
  void tag(Operation *op) {
    PolicyKind kind = PolicyKind::PreferRecompute;
    PolicyAttr own = policyOf(op);
    if (own)
      kind = own.getKind();
    for (Level &level : levels) {
      if (level.checkpoint.getAdvise() && kind != PolicyKind::MustSave && !own)
        kind = PolicyKind::AdviseRecompute;
      DictionaryAttr policies = level.checkpoint.getPoliciesAttr();
      if (own || !policies)
        continue;
      auto named = policies.getAs<PolicyAttr>(op->getName().getStringRef());
      if (named && kind != PolicyKind::MustSave)
        kind = named.getKind();
    }
    op->setAttr(JointDialect::kPolicy,
                PolicyAttr::get(op->getContext(), kind, path, /*run=*/0));
  }

  GraphOp graph;
  SmallVector<Level> levels;
  SmallVector<int64_t> path; ///< of the innermost region
  int64_t nextRegion = 0;
  uint64_t dissolved = 0;
  bool drawsAgain = false;
};

} // namespace

uint64_t cutback::flattenCheckpoints(GraphOp graph) {
  return Flattener(graph).run();
}
