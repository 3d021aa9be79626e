// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds narrow places of a forward program by one sweep over the last uses of
// its values, and makes a graph of what is between two of them: arguments for
// what crosses the first, ops outside erased from the last to the first.

#include "CutStage.h"

#include "cutback/Analysis/GraphView.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Decompose/Functionalize.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class StageCutter {
public:
  explicit StageCutter(GraphOp graph)
      : graph(graph), view(GraphView::build(graph)),
        takesGradient(view.numValues(), 0), lastUse(view.numValues(), 0) {
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      takesGradient[arg] = graph.getArgAttr(arg, kRequiresGrad) ||
                           graph.getRole(arg).getKind() == RoleKind::Param;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      bool depends = llvm::any_of(view.operands(op), [&](uint32_t value) {
        return takesGradient[value] != 0;
      });
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        takesGradient[r] = depends && isFloating(view.types[r]);
    }
    for (uint32_t value = 0; value < view.numValues(); ++value)
      if (auto users = view.users(value); !users.empty())
        lastUse[value] = users.back();
  }

  bool run(double begin, double end) {
    std::vector<uint32_t> places = findPlaces();
    uint32_t first = nearest(places, begin);
    uint32_t last = end >= 1 ? view.numOps() : nearest(places, end);
    if (first >= last || !areStatic(crossing(first)))
      return false;
    if (last < view.numOps())
      replaceOutput(crossing(last));
    std::vector<uint32_t> given = crossing(first);
    for (uint32_t op = view.numOps(); op-- > last;)
      view.ops[op]->erase();
    for (uint32_t value : given)
      addInput(value);
    for (uint32_t op = first; op-- > 0;)
      view.ops[op]->erase();
    return true;
  }

private:
  static bool isFloating(Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && isa<FloatType>(shaped.getElementType());
  }

  /// Inputs whose sizes need no names.
  bool areStatic(const std::vector<uint32_t> &values) const {
    return llvm::all_of(values, [&](uint32_t value) {
      auto shaped = dyn_cast<ShapedType>(view.types[value]);
      return shaped && shaped.hasStaticShape();
    });
  }

  /// Values of ops before `place` that are read from there on.
  std::vector<uint32_t> crossing(uint32_t place) const {
    std::vector<uint32_t> values;
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (view.definer[value] < place && lastUse[value] >= place)
        values.push_back(value);
    return values;
  }

  /// Where one value that takes a gradient crosses.
  std::vector<uint32_t> findPlaces() const {
    std::vector<int> change(view.numOps() + 2, 0);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      if (takesGradient[value] && lastUse[value] > view.definer[value]) {
        ++change[view.definer[value] + 1];
        --change[lastUse[value] + 1];
      }
    std::vector<uint32_t> places;
    int open = 0;
    for (uint32_t place = 0; place < view.numOps(); ++place) {
      open += change[place];
      if (open == 1)
        places.push_back(place);
    }
    return places;
  }

  uint32_t nearest(const std::vector<uint32_t> &places, double part) const {
    double wanted = part * view.numOps();
    uint32_t best = view.numOps();
    for (uint32_t place : places)
      if (best == view.numOps() ||
          std::abs(place - wanted) < std::abs(best - wanted))
        best = place;
    return best;
  }

  void replaceOutput(const std::vector<uint32_t> &values) {
    SmallVector<Value> results;
    for (uint32_t value : values)
      if (takesGradient[value])
        results.push_back(view.values[value]);
    OpBuilder builder(graph.getOutput());
    Operation *old = graph.getOutput();
    OutputOp::create(builder, graph.getLoc(), results, ArrayRef<int32_t>());
    old->erase();
    graph.setNumForwardResults(results.size());
    graph.removeResAttrsAttr();
    setType(results);
  }

  void setType(ValueRange results) {
    graph.setFunctionTypeAttr(TypeAttr::get(FunctionType::get(
        graph.getContext(), graph.getBlock().getArgumentTypes(),
        TypeRange(results))));
  }

  void addInput(uint32_t value) {
    Builder builder(graph.getContext());
    Value old = view.values[value];
    BlockArgument arg =
        graph.getBlock().addArgument(old.getType(), graph.getLoc());
    old.replaceAllUsesWith(arg);
    NamedAttrList attrs;
    attrs.set(JointDialect::kName,
              builder.getStringAttr("stage_" + view.name(value)));
    attrs.set(JointDialect::kRole,
              RoleAttr::get(builder.getContext(), RoleKind::Input, StringAttr(),
                            -1, false));
    if (takesGradient[value])
      attrs.set(kRequiresGrad, builder.getUnitAttr());
    SmallVector<Attribute> all(graph.getArgAttrsAttr().begin(),
                               graph.getArgAttrsAttr().end());
    all.push_back(attrs.getDictionary(builder.getContext()));
    graph.setArgAttrsAttr(builder.getArrayAttr(all));
    setType(graph.getOutput().getOperands());
  }

  GraphOp graph;
  GraphView view;
  std::vector<uint8_t> takesGradient;
  std::vector<uint32_t> lastUse; ///< an op, or the number of ops: the output
};

} // namespace

bool cutback::test::cutStage(GraphOp graph, double begin, double end) {
  if (failed(functionalize(graph)))
    return false;
  return StageCutter(graph).run(begin, end);
}
