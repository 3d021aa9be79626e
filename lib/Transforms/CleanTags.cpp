// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tags at the boundary of checkpoint regions, and the regions themselves.
//
// A region is recomputed from its inputs. Where its input is made by another
// region, that one need not be recomputed as well: the op on the boundary is
// to be saved (25-partition-rules §10). One look at the users of each tagged
// op decides; decisions are made before any tag changes, so that their order
// does not matter.
//
// `joint.checkpoint` is dissolved innermost ops and all: everything below one
// outermost region moves in front of it, in program order. Moving is relinking
// of list nodes; nothing is copied. Linear.

#include "cutback/Transforms/CleanTags.h"

#include "mlir/IR/Builders.h"

#include <vector>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static PolicyAttr policyOf(Operation *op) {
  return op->getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
}

static bool asksForRecompute(PolicyAttr policy) {
  return policy && (policy.getKind() == PolicyKind::MustRecompute ||
                    policy.getKind() == PolicyKind::PreferRecompute);
}

uint64_t cutback::cleanTags(GraphOp graph) {
  std::vector<std::pair<Operation *, int64_t>> boundary;
  for (Operation &op : graph.getBlock()) {
    PolicyAttr policy = policyOf(&op);
    if (!asksForRecompute(policy))
      continue;
    int64_t region = policy.getRegion();
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          PolicyAttr other = policyOf(user);
          return asksForRecompute(other) && other.getRegion() > region;
        }))
      boundary.emplace_back(&op, region);
  }
  for (auto [op, region] : boundary)
    op->setAttr(
        JointDialect::kPolicy,
        PolicyAttr::get(op->getContext(), PolicyKind::MustSave, region));
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
        nextRegion = std::max(nextRegion, policy.getRegion() + 1);
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
    return dissolved;
  }

private:
  /// A region at work: its policies, and the op behind the one being moved.
  struct Level {
    CheckpointOp checkpoint;
    DictionaryAttr policies;
    Operation *next;
  };

  void enter(CheckpointOp checkpoint) {
    if (!checkpoint.getPreserveRng())
      checkpoint.emitWarning("preserve_rng = false has no effect: what is "
                             "recomputed draws the forward's numbers again");
    if (!checkpoint.getEarlyStop())
      checkpoint.emitWarning("early_stop = false has no effect: what the "
                             "backward does not need is not recomputed");
    levels.push_back({checkpoint, checkpoint.getPoliciesAttr(),
                      &checkpoint.getBody().front().front()});
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
    levels.pop_back();
    checkpoint->erase();
    ++dissolved;
  }

  /// The innermost region that names the op decides; `must_save` anywhere
  /// wins.
  void tag(Operation *op) {
    MLIRContext *context = op->getContext();
    PolicyKind kind = PolicyKind::PreferRecompute;
    if (PolicyAttr own = policyOf(op)) {
      kind = own.getKind();
    } else {
      for (const Level &level : levels) {
        if (!level.policies)
          continue;
        auto named =
            level.policies.getAs<PolicyAttr>(op->getName().getStringRef());
        if (named && kind != PolicyKind::MustSave)
          kind = named.getKind();
      }
    }
    op->setAttr(JointDialect::kPolicy,
                PolicyAttr::get(context, kind, nextRegion));
  }

  GraphOp graph;
  SmallVector<Level> levels;
  int64_t nextRegion = 0;
  uint64_t dissolved = 0;
};

} // namespace

uint64_t cutback::flattenCheckpoints(GraphOp graph) {
  return Flattener(graph).run();
}
