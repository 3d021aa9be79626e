// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this folder. Each is a thin shell around a library function of
// the same name; what it does and costs is said there and in Passes.td.
//
// Simplifications take every function in what they run on, so that one flag
// serves graphs, halves and whole modules. The others are tied to one kind of
// op. None keeps state: functions of a module may go in parallel.

#include "cutback/Transforms/Passes.h"

#include "cutback/Transforms/CleanTags.h"
#include "cutback/Transforms/CommonSubexpressions.h"
#include "cutback/Transforms/DeadCode.h"
#include "cutback/Transforms/ExpandRegions.h"
#include "cutback/Transforms/ReorderBackward.h"

namespace cutback {
#define GEN_PASS_DEF_ELIMINATEDEADCODE
#define GEN_PASS_DEF_ELIMINATECOMMONSUBEXPRESSIONS
#define GEN_PASS_DEF_CLEANTAGS
#define GEN_PASS_DEF_FLATTENCHECKPOINTS
#define GEN_PASS_DEF_EXPANDREGIONS
#define GEN_PASS_DEF_REORDERBACKWARD
#include "cutback/Transforms/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

/// Calls `simplify` on the body of each function in `root` that has one block.
void forEachBody(Operation *root, llvm::function_ref<void(Block &)> simplify) {
  root->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (function.getFunctionBody().hasOneBlock())
      simplify(function.getFunctionBody().front());
    return WalkResult::skip();
  });
}

struct EliminateDeadCode
    : cutback::impl::EliminateDeadCodeBase<EliminateDeadCode> {
  void runOnOperation() override {
    forEachBody(getOperation(), [](Block &block) { eliminateDeadCode(block); });
  }
};

struct EliminateCommonSubexpressions
    : cutback::impl::EliminateCommonSubexpressionsBase<
          EliminateCommonSubexpressions> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &block) { eliminateCommonSubexpressions(block); });
  }
};

struct CleanTags : cutback::impl::CleanTagsBase<CleanTags> {
  void runOnOperation() override {
    GraphView view = GraphView::build(getOperation());
    Policies policies = readPolicies(view);
    cleanTags(view, policies);
  }
};

struct FlattenCheckpoints
    : cutback::impl::FlattenCheckpointsBase<FlattenCheckpoints> {
  void runOnOperation() override { flattenCheckpoints(getOperation()); }
};

struct ExpandRegions : cutback::impl::ExpandRegionsBase<ExpandRegions> {
  void runOnOperation() override {
    GraphView view = GraphView::build(getOperation());
    Policies policies = readPolicies(view);
    if (!hasRegionsToExpand(view, policies))
      return;
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    if (failed(sets))
      return signalPassFailure();
    (void)expandRegions(view, *sets, policies);
  }
};

struct ReorderBackward : cutback::impl::ReorderBackwardBase<ReorderBackward> {
  using ReorderBackwardBase::ReorderBackwardBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock() || !isBackward(function))
      return;
    reorderBackward(function, unknownDimension);
  }

  static bool isBackward(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto role = function.getArgAttrOfType<joint::RoleAttr>(
          i, joint::JointDialect::kRole);
      if (role && (role.getKind() == joint::RoleKind::Tangent ||
                   role.getKind() == joint::RoleKind::GradSeed))
        return true;
    }
    return false;
  }
};

} // namespace
