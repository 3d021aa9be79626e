// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group grows from its root in rounds:
//
//   1. Who reads or makes a large value belongs to it: else the value would
//      have to be there as a whole. Large are values about as large as the
//      root's result; not what a product makes of them (a gradient of the
//      root's factors), nor the factors: there the group ends.
//   2. What lies between two of its ops in one half belongs to it: else the
//      parts would have to wait for each other. What lies between the halves
//      may be whole.
//
// Each op of a group says how it walks the axis (AxisUses.h); values get their
// dimension from whoever comes first, and all others must agree. An op that
// sums over the axis gives its result behind the last part, so nothing of the
// same half may read it.

#include "cutback/Transforms/SplitGroup.h"

#include "cutback/Analysis/Names.h"

using namespace mlir;
using namespace cutback;

static int64_t numelOf(Value value) {
  auto shape = staticShape(value);
  int64_t numel = shape ? 1 : 0;
  for (int64_t size : shape.value_or(ArrayRef<int64_t>()))
    numel *= size;
  return numel;
}

static bool isProduct(const GraphView &view, uint32_t op) {
  return view.traits[op].computeIntensive && view.numResults(op) == 1;
}

std::vector<uint32_t> cutback::findSplitRoots(const GraphView &view,
                                              const GraphSets &sets) {
  std::vector<std::pair<int64_t, uint32_t>> found;
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    if (!isProduct(view, op) || sets.ops[op] != GraphSet::Forward)
      continue;
    int64_t numel = numelOf(view.values[view.resultBegin[op]]);
    auto use = numel ? findAxisUse(view.ops[op], {true, 0, 0}) : std::nullopt;
    if (!use || use->isSum)
      continue;
    bool isLarge = true;
    for (auto [i, dim] : llvm::enumerate(use->operandDim))
      if (dim != AxisUse::kNone)
        isLarge &= numel > numelOf(view.values[view.operands(op)[i]]);
    if (isLarge)
      found.emplace_back(numel, op);
  }
  llvm::stable_sort(
      found, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<uint32_t> roots;
  for (auto [numel, op] : found)
    roots.push_back(op);
  return roots;
}

bool SplitGroup::hasReduction(const GraphView &view) const {
  return llvm::any_of(forwardOps, [&](uint32_t op) {
    return !view.traits[op].computeIntensive &&
           !isLarge[view.resultBegin[op]] &&
           llvm::any_of(view.operands(op),
                        [&](uint32_t operand) { return isLarge[operand]; });
  });
}

namespace {

class Grower {
public:
  Grower(const GraphView &view, const GraphSets &sets, uint32_t root,
         SplitRefusal &refusal)
      : view(view), sets(sets), root(root), refusal(refusal),
        isBackward(sets.findBackwardOps(view)) {
    group.root = root;
    group.uses.resize(view.numOps());
    group.axis.assign(view.numValues(), AxisUse::kNone);
    isBoundary.assign(view.numValues(), 0);
    largeNumel =
        numelOf(view.values[view.resultBegin[root]]) * kLargePercent / 100;
  }

  std::optional<SplitGroup> run() {
    for (uint32_t operand : view.operands(root))
      isBoundary[operand] = 1;
    if (!join(root, {true, 0, 0}))
      return std::nullopt;
    do
      if (!spread())
        return std::nullopt;
    while (addBetween());
    if (isRefused || !check())
      return std::nullopt;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (group.contains(op))
        (inBackward(op) ? group.backwardOps : group.forwardOps).push_back(op);
    group.isLarge.assign(view.numValues(), 0);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      group.isLarge[value] =
          group.axis[value] != AxisUse::kNone && isLarge(value);
    return std::move(group);
  }

private:
  bool refuse(uint32_t op, const Twine &why) {
    refusal = {op, why.str()};
    isRefused = true;
    return false;
  }

  /// Whatever is not of the forward is made where the backward reads it.
  bool inBackward(uint32_t op) const {
    return sets.ops[op] != GraphSet::Forward || isBackward[op];
  }

  bool isLarge(uint32_t value) const {
    return !isBoundary[value] && numelOf(view.values[value]) >= largeNumel;
  }

  /// Takes `op` into the group, which walks the axis at `place`.
  bool join(uint32_t op, AxisPlace place) {
    if (group.contains(op))
      return true;
    const OpTraits &traits = view.traits[op];
    std::optional<AxisUse> use;
    if (auto policy = view.ops[op]->getAttrOfType<joint::PolicyAttr>(
            joint::JointDialect::kPolicy);
        policy && !policy.asksToRecompute())
      return refuse(op, "has a policy that is not to recompute it");
    if (!traits.keepsOrder() && !traits.readsOldValue && !traits.copy)
      use = findAxisUse(view.ops[op], place);
    if (!use)
      return refuse(op, "does not run in parts");
    group.uses[op] = use;
    group.grains = std::gcd(group.grains, use->grains);
    bool readsGroup = false;
    for (auto [i, dim] : llvm::enumerate(use->operandDim)) {
      uint32_t operand = view.operands(op)[i];
      if (dim == AxisUse::kNone)
        continue;
      readsGroup |= group.axis[operand] != AxisUse::kNone;
      if (isLarge(operand) && !view.isArg(operand) &&
          !setAxis(operand, dim, op))
        return false;
    }
    bool isEnd = op != root && isProduct(view, op) && readsGroup;
    for (auto [r, dim] : llvm::enumerate(use->resultDim)) {
      uint32_t result = view.resultBegin[op] + r;
      isBoundary[result] |= isEnd;
      if (dim != AxisUse::kNone && !setAxis(result, dim, op))
        return false;
    }
    return true;
  }

  bool setAxis(uint32_t value, int dim, uint32_t op) {
    if (group.axis[value] == dim)
      return true;
    if (group.axis[value] != AxisUse::kNone)
      return refuse(op, "walks another dimension of '" + view.name(value) +
                            "' than others");
    group.axis[value] = dim;
    toSpread.push_back(value);
    return true;
  }

  /// Who makes and reads large values.
  bool spread() {
    while (!toSpread.empty()) {
      uint32_t value = toSpread.back();
      toSpread.pop_back();
      auto dim = static_cast<unsigned>(group.axis[value]);
      uint32_t def = view.definer[value];
      if (def != GraphView::kNone &&
          !join(def, {true, value - view.resultBegin[def], dim}))
        return false;
      if (!isLarge(value))
        continue;
      for (uint32_t user : view.users(value)) {
        if (user == view.numOps())
          return refuse(def, "is a result of the graph");
        if (!joinReader(user, value))
          return false;
      }
    }
    return true;
  }

  bool joinReader(uint32_t user, uint32_t value) {
    for (auto [i, operand] : llvm::enumerate(view.operands(user))) {
      if (operand != value)
        continue;
      if (i >= view.ops[user]->getNumOperands())
        return refuse(user, "reads it in a graph of its own");
      if (!join(user, {false, static_cast<unsigned>(i),
                       static_cast<unsigned>(group.axis[value])}))
        return false;
      if (group.uses[user]->operandDim[i] != group.axis[value])
        return refuse(user, "reads all of '" + view.name(value) + "'");
    }
    return true;
  }

  /// Takes in what lies between ops of the group in one half; whether there
  /// was anything.
  bool addBetween() {
    bool any = false;
    for (bool half : {false, true}) {
      std::vector<uint8_t> isBehind(view.numOps(), 0),
          isBefore(view.numOps(), 0);
      auto isHere = [&](uint32_t op) {
        return op < view.numOps() && inBackward(op) == half;
      };
      for (uint32_t op = 0; op < view.numOps(); ++op)
        if (isHere(op))
          for (uint32_t operand : view.operands(op))
            if (uint32_t def = view.definer[operand];
                def != GraphView::kNone && isHere(def))
              isBehind[op] |= isBehind[def] || group.contains(def);
      for (uint32_t op = view.numOps(); op-- > 0;)
        if (isHere(op))
          for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
               ++r)
            for (uint32_t user : view.users(r))
              isBefore[op] |=
                  isHere(user) && (isBefore[user] || group.contains(user));
      for (uint32_t op = 0; op < view.numOps(); ++op)
        if (isBehind[op] && isBefore[op] && !group.contains(op)) {
          if (!joinBetween(op))
            return false;
          any = true;
        }
    }
    return any;
  }

  bool joinBetween(uint32_t op) {
    for (auto [i, operand] : llvm::enumerate(view.operands(op)))
      if (group.axis[operand] != AxisUse::kNone &&
          i < view.ops[op]->getNumOperands())
        return join(op, {false, static_cast<unsigned>(i),
                         static_cast<unsigned>(group.axis[operand])});
    return refuse(op, "needs all parts, and parts need it");
  }

  /// Nothing reads in parts what is whole behind the last part of its half.
  bool check() {
    if (group.grains < 2)
      return refuse(root, "has no axis that divides");
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (!group.contains(op))
        continue;
      for (auto [i, operand] : llvm::enumerate(view.operands(op))) {
        int dim = group.uses[op]->operandDim[i];
        uint32_t def = view.definer[operand];
        bool isOfGroup = def != GraphView::kNone && group.contains(def);
        if (isOfGroup && group.axis[operand] != AxisUse::kNone &&
            dim != AxisUse::kNone && dim != group.axis[operand])
          return refuse(op, "walks another dimension of '" +
                                view.name(operand) + "' than others");
        bool isWhole =
            dim == AxisUse::kNone || group.axis[operand] == AxisUse::kNone;
        if (isOfGroup && isWhole && inBackward(def) == inBackward(op))
          return refuse(op, "needs all of '" + view.name(operand) + "'");
      }
    }
    return true;
  }

  const GraphView &view;
  const GraphSets &sets;
  uint32_t root;
  SplitRefusal &refusal;
  std::vector<uint8_t> isBackward;
  SplitGroup group;
  std::vector<uint8_t> isBoundary; ///< by value: never large
  std::vector<uint32_t> toSpread;
  int64_t largeNumel = 0;
  bool isRefused = false;
};

} // namespace

std::optional<SplitGroup> cutback::findSplitGroup(const GraphView &view,
                                                  const GraphSets &sets,
                                                  uint32_t root,
                                                  SplitRefusal &refusal) {
  return Grower(view, sets, root, refusal).run();
}
