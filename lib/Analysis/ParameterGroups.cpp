// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of parameters, on the forward ops of a joint graph that a gradient
// passes: those from which a differentiated result can be reached, over
// operands that can have a gradient.
//
//   1. from the inputs: all of those ops that they reach
//   2. from each parameter: ops outside of 1, up to the first in 1, which are
//      its intermediates
//   3. parameters with a common intermediate are joined (union-find), so that
//      also groups that meet late are one
//
// PyTorch's function walks the nodes of autograd, which are as many as the
// calls of the model; here they are the ops of the graph.

#include "cutback/Analysis/ParameterGroups.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class GroupFinder {
public:
  GroupFinder(const GraphView &view, const GraphSets &sets)
      : view(view), sets(sets), leads(view.numOps(), 0),
        ofInputs(view.numOps(), 0), lastVisit(view.numOps(), GraphView::kNone) {
  }

  std::vector<ParameterGroup> run() {
    findLeading();
    GraphOp graph = view.graph;
    std::vector<uint32_t> parameters, met;
    for (int32_t arg : graph.getOutput().getGradientOf())
      if (graph.getRole(arg).getKind() == RoleKind::Input)
        reach(arg, /*stopAtInputs=*/false, met);
      else
        parameters.push_back(arg);
    for (uint32_t op : met)
      ofInputs[op] = 1;
    std::vector<std::vector<uint32_t>> intermediates;
    for (uint32_t parameter : parameters) {
      intermediates.emplace_back();
      reach(parameter, /*stopAtInputs=*/true, intermediates.back());
    }
    return join(parameters, intermediates);
  }

private:
  static bool isFloating(Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    Type element = shaped ? shaped.getElementType() : Type();
    return element && isa<FloatType, ComplexType>(element);
  }

  /// The gradient of `op` flows to its operand `index`.
  bool passes(uint32_t op, unsigned index) const {
    auto model = dyn_cast<DifferentiableOpInterface>(view.ops[op]);
    return leads[op] && model && index < view.ops[op]->getNumOperands() &&
           model.canHaveGradient(index) &&
           isFloating(view.types[view.operands(op)[index]]);
  }

  void findLeading() {
    GraphOp graph = view.graph;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      RoleAttr role = graph.getRole(arg);
      if (role.getKind() == RoleKind::Tangent ||
          role.getKind() == RoleKind::GradSeed)
        lead(view.forwardResults()[role.getOf()]);
    }
    for (uint32_t op = view.numOps(); op-- > 0;) {
      if (sets.ops[op] != GraphSet::Forward || view.ops[op]->hasAttr(kNoGrad))
        leads[op] = 0;
      if (leads[op])
        for (auto [i, value] : llvm::enumerate(view.operands(op)))
          if (passes(op, i))
            lead(value);
    }
  }
  void lead(uint32_t value) {
    if (uint32_t def = view.definer[value]; def != GraphView::kNone)
      leads[def] = 1;
  }

  /// Adds to `found` the ops that a gradient passes on its way to `value`; or,
  /// of those, the first ones that are of the inputs. An op is found once a
  /// call, and with the inputs' calls once in all.
  void reach(uint32_t value, bool stopAtInputs, std::vector<uint32_t> &found) {
    uint32_t visit = stopAtInputs ? value : view.numValues();
    std::vector<uint32_t> stack = {value};
    while (!stack.empty()) {
      uint32_t next = stack.back();
      stack.pop_back();
      for (uint32_t op : view.users(next)) {
        if (op == view.numOps() || lastVisit[op] == visit || !reads(op, next))
          continue;
        lastVisit[op] = visit;
        if (!stopAtInputs || ofInputs[op])
          found.push_back(op);
        if (stopAtInputs && ofInputs[op])
          continue;
        for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1];
             ++r)
          stack.push_back(r);
      }
    }
    llvm::sort(found);
  }
  bool reads(uint32_t op, uint32_t value) const {
    for (auto [i, operand] : llvm::enumerate(view.operands(op)))
      if (operand == value && passes(op, i))
        return true;
    return false;
  }

  static std::vector<ParameterGroup>
  join(const std::vector<uint32_t> &parameters,
       const std::vector<std::vector<uint32_t>> &intermediates) {
    llvm::EquivalenceClasses<uint32_t> classes;
    llvm::DenseMap<uint32_t, uint32_t> firstOf;
    for (auto [parameter, met] : llvm::zip_equal(parameters, intermediates)) {
      classes.insert(parameter);
      for (uint32_t op : met)
        classes.unionSets(parameter,
                          firstOf.try_emplace(op, parameter).first->second);
    }
    llvm::MapVector<uint32_t, ParameterGroup> groups;
    for (auto [parameter, met] : llvm::zip_equal(parameters, intermediates)) {
      ParameterGroup &group = groups[classes.getLeaderValue(parameter)];
      group.parameters.push_back(parameter);
      group.intermediates.insert(group.intermediates.end(), met.begin(),
                                 met.end());
    }
    std::vector<ParameterGroup> list;
    for (auto &[leader, group] : groups) {
      llvm::sort(group.intermediates);
      group.intermediates.erase(
          std::unique(group.intermediates.begin(), group.intermediates.end()),
          group.intermediates.end());
      list.push_back(std::move(group));
    }
    return list;
  }

  const GraphView &view;
  const GraphSets &sets;
  /// By op of the forward: a gradient passes it; an input reaches it.
  std::vector<uint8_t> leads, ofInputs;
  std::vector<uint32_t> lastVisit; ///< by op
};

} // namespace

std::vector<ParameterGroup>
cutback::findParameterGroups(const GraphView &view, const GraphSets &sets) {
  return GroupFinder(view, sets).run();
}
