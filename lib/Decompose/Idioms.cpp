// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several rules write: sizes that may be symbolic, views that may be the
// identity, reductions of losses, and the question whether a gradient is asked
// for. An op that would change nothing is not built.
//
// Sizes fold where both are numbers, so that a program without symbols gets
// none. The question is a walk back over the ops that have gradients: linear,
// and asked once for each attention with a mask.

#include "Rules.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

Arg decompose::plus(CallBuilder &b, const Arg &a, const Arg &c) {
  if (a.getInt() && c.getInt())
    return Arg(*a.getInt() + *c.getInt());
  if (a.getInt() == 0)
    return c;
  if (c.getInt() == 0)
    return a;
  return Arg(b.call(op::operator_add, {a, c}));
}

Arg decompose::floorDiv(CallBuilder &b, const Arg &a, int64_t c) {
  if (c == 1)
    return a;
  if (a.getInt() && c > 0)
    return Arg(*a.getInt() / c - (*a.getInt() % c < 0 ? 1 : 0));
  return Arg(b.call(op::operator_floordiv, {a, c}));
}

Arg decompose::countOf(CallBuilder &b, Value tensor, int64_t from, int64_t to) {
  Arg count(int64_t(1));
  for (int64_t dim = from; dim < to; ++dim)
    count = b.times(count, b.size(tensor, dim));
  return count;
}

/// The sizes are those of the value, as far as numbers can tell.
static bool isShapeOf(Value value, const std::vector<Arg> &sizes) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.size() != sizes.size())
    return false;
  for (auto [have, want] : llvm::zip_equal(shape, sizes))
    if (ShapedType::isDynamic(have) || want.getInt() != have)
      return false;
  return true;
}

Value decompose::viewAs(CallBuilder &b, Value value,
                        const std::vector<Arg> &sizes) {
  if (!value || isShapeOf(value, sizes))
    return value;
  return b.call(op::view, {value, sizes});
}

Value decompose::expandTo(CallBuilder &b, Value value,
                          const std::vector<Arg> &sizes) {
  if (!value || isShapeOf(value, sizes))
    return value;
  return b.call(op::expand, {value, sizes});
}

Value decompose::castTo(CallBuilder &b, Value value, Type type) {
  if (!value || elementOf(value) == type)
    return value;
  return b.call(op::_to_copy, {value}, {{"dtype", type}});
}

Value decompose::withGradientOf(CallBuilder &b, Value value, Value history) {
  // Infinity - infinity is no zero; an argument is finite. Of complex numbers
  // nothing keeps the gradient and takes infinity away.
  if (history && !isa<BlockArgument>(history) &&
      !isa<ComplexType>(elementOf(history)))
    history = b.call(op::nan_to_num, {history});
  if (!value || !history)
    return {};
  auto detach = [&](Value of) { return b.call(op::detach, {of}); };
  Value zero = b.call(op::sub_Tensor, {history, detach(history)});
  return b.call(op::add_Tensor, {detach(value), zero});
}

Value decompose::sliceOf(CallBuilder &b, Value value, int64_t dim,
                         const Arg &start, const Arg &end) {
  return b.call(op::slice_Tensor, {value, dim, start, end});
}

Value decompose::reduceLoss(CallBuilder &b, Value loss, int64_t reduction) {
  if (reduction == 0)
    return loss;
  return b.call(reduction == 1 ? op::mean : op::sum, {loss});
}

Value decompose::reduceLoss(Rewrite &c, Value loss) {
  return reduceLoss(c.b, loss, c.r.integer("reduction").value_or(1));
}

SmallVector<int64_t> decompose::allDims(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
}

/// As differentiation decides which arguments take a gradient. A graph that has
/// its gradients is not differentiated again, and a half neither.
static bool takesGradient(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  auto graph = dyn_cast_or_null<joint::GraphOp>(parent);
  if (!graph)
    return !isa_and_nonnull<FunctionOpInterface>(parent);
  if (joint::hasBackward(graph))
    return false;
  unsigned index = argument.getArgNumber();
  if (graph.getArgAttr(index, "joint.requires_grad"))
    return true;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i)
    if (graph.getArgAttr(i, "joint.requires_grad"))
      return false;
  joint::RoleAttr role = graph.getRole(index);
  return role && role.getKind() == joint::RoleKind::Param;
}

bool decompose::mayHaveGradient(Value value) {
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      if (takesGradient(cast<BlockArgument>(next)))
        return true;
      continue;
    }
    auto model = dyn_cast<joint::DifferentiableOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if ((!model || model.canHaveGradient(static_cast<unsigned>(i))) &&
          isa<RankedTensorType>(operand.getType()) &&
          isa<FloatType, ComplexType>(elementOf(operand)) &&
          seen.insert(operand).second)
        work.push_back(operand);
  }
  return false;
}
