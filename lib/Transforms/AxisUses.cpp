// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is an op independent along an axis? Nobody's list says so, the op itself
// does: its loops say which dimension of which operand the axis walks, and its
// element formula, built into a block that is thrown away, whether an element
// depends on where it is. `tril` has the loops of `add`, but asks for its row;
// `iota` asks for its place; `mean` asks for how many elements there are.
// A formula may ask for its place to load what stands there in an operand that
// its loops do not describe: then that is the dimension.
//
// A sum over the axis is one reduction that adds, with nothing behind it but
// casts. Products have no formula, so their factors are listed.
//
// A view is asked about on contiguous memory: a value's elements in their
// order. The axis is a block of memory of `stride × size` elements, again and
// again; its result has the axis where one dimension steps through such a block
// and all others stay inside of one step or step over whole blocks. So a view
// that merges or splits dimensions keeps the axis at another size, and parts
// are fractions.

#include "cutback/Transforms/AxisUses.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/ElementBuilder.h"
#include "cutback/Dialect/Joint/IterationSpace.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

using MaybeUse = std::optional<AxisUse>;

std::optional<ArrayRef<int64_t>> cutback::staticShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getShape();
}

bool cutback::isSizesParameter(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"size", "shape", "input_sizes"}, true)
      .Default(false);
}

static AxisUse emptyUse(Operation *op) {
  AxisUse use;
  use.operandDim.assign(op->getNumOperands(), AxisUse::kNone);
  use.resultDim.assign(op->getNumResults(), AxisUse::kNone);
  return use;
}

/// Sets `grains` from the sizes along the axis, or refuses.
static MaybeUse withGrains(Operation *op, AxisUse use) {
  auto add = [&](Value value, int dim) {
    if (dim != AxisUse::kNone)
      use.grains = std::gcd(use.grains, (*staticShape(value))[dim]);
  };
  for (auto [value, dim] : llvm::zip_equal(op->getOperands(), use.operandDim))
    add(value, dim);
  for (auto [value, dim] : llvm::zip_equal(op->getResults(), use.resultDim))
    add(value, dim);
  if (use.grains < 2)
    return std::nullopt;
  return use;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct Factors {
  StringRef left, right, result;
  bool hasSummand = false;
};
} // namespace

static std::optional<Factors> factorsOf(Operation *op) {
  auto model = dyn_cast<RematerializableOpInterface>(op);
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  if (!model || !call || !model.isComputeIntensive() ||
      call.getOverloadName() != "default")
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Factors>>(call.getPacketName())
      .Case("aten.mm", Factors{"mk", "kn", "mn"})
      .Case("aten.addmm", Factors{"mk", "kn", "mn", true})
      .Case("aten.bmm", Factors{"bmk", "bkn", "bmn"})
      .Case("aten.baddbmm", Factors{"bmk", "bkn", "bmn", true})
      .Default(std::nullopt);
}

static MaybeUse ofProduct(Operation *op, AxisPlace place,
                          const Factors &factors) {
  unsigned first = factors.hasSummand;
  AxisUse use = emptyUse(op);
  if (op->getNumOperands() != first + 2)
    return std::nullopt;
  auto dimOf = [](StringRef letters, char letter) {
    size_t at = letters.find(letter);
    return at == StringRef::npos ? AxisUse::kNone : static_cast<int>(at);
  };
  StringRef asked = place.isResult         ? factors.result
                    : place.index == first ? factors.left
                    : place.index > first  ? factors.right
                                           : StringRef();
  if (place.dim >= asked.size())
    return std::nullopt;
  char axis = asked[place.dim];
  use.operandDim[first] = dimOf(factors.left, axis);
  use.operandDim[first + 1] = dimOf(factors.right, axis);
  use.resultDim[0] = dimOf(factors.result, axis);
  use.isSum = use.resultDim[0] == AxisUse::kNone;
  if (!factors.hasSummand)
    return withGrains(op, std::move(use));
  if (use.isSum)
    return std::nullopt; // each part would add the summand
  // The summand broadcasts.
  auto summand = *staticShape(op->getOperand(0));
  auto result = *staticShape(op->getResult(0));
  int dim = use.resultDim[0] - static_cast<int>(result.size() - summand.size());
  if (dim >= 0 && summand[dim] == result[use.resultDim[0]])
    use.operandDim[0] = dim;
  return withGrains(op, std::move(use));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The dimension of a view that walks a dimension of its base, which is one
/// block of `span` elements a time; kNone if none does, nothing if elements of
/// one step lie in several.
static std::optional<int> walkedBy(const Layout &view, int64_t span,
                                   int64_t grains) {
  int walking = AxisUse::kNone;
  int64_t step = 0;
  for (auto [dim, size] : llvm::enumerate(view.sizes)) {
    int64_t stride = view.strides[dim];
    if (size == 1 || stride <= 0 || stride >= span || stride * size != span ||
        size % grains != 0)
      continue;
    // Of several the outermost: the others are inside of its steps.
    if (walking == AxisUse::kNone || stride > step) {
      walking = static_cast<int>(dim);
      step = stride;
    }
  }
  if (walking == AxisUse::kNone)
    return std::nullopt;
  int64_t inside = view.offset % span;
  for (auto [dim, size] : llvm::enumerate(view.sizes)) {
    int64_t stride = view.strides[dim];
    if (static_cast<int>(dim) == walking || stride % span == 0)
      continue;
    if (stride < 0)
      return std::nullopt;
    inside += (size - 1) * stride;
  }
  if (inside >= step)
    return std::nullopt;
  return walking;
}

/// A dimension of an operand of a view at which parts can begin.
static MaybeUse ofViewedDim(Operation *op, const Layout &view, unsigned operand,
                            unsigned dim) {
  ArrayRef<int64_t> base = *staticShape(op->getOperand(operand));
  int64_t stride = 1;
  for (int64_t size : base.drop_front(dim + 1))
    stride *= size;
  // As many parts as both can have.
  for (auto [at, size] : llvm::enumerate(view.sizes)) {
    int64_t grains = std::gcd(base[dim], size);
    if (grains < 2)
      continue;
    std::optional<int> walking = walkedBy(view, stride * base[dim], grains);
    if (!walking || static_cast<size_t>(*walking) != at)
      continue;
    AxisUse use = emptyUse(op);
    use.operandDim[operand] = static_cast<int>(dim);
    use.resultDim[0] = *walking;
    return withGrains(op, std::move(use));
  }
  return std::nullopt;
}

static MaybeUse ofView(Operation *op, AxisPlace place, unsigned operand) {
  auto base = staticShape(op->getOperand(operand));
  auto result = staticShape(op->getResult(0));
  // Strides that are arguments are those of the whole.
  auto call = dyn_cast<FrameworkCallOpInterface>(op);
  bool hasStrides =
      call && llvm::StringSwitch<bool>(call.getPacketName())
                  .Cases({"aten.as_strided", "aten._reshape_alias"}, true)
                  .Default(false);
  if (!base || !result || hasStrides || op->getNumResults() != 1 ||
      op->getNumOperands() != 1 ||
      getElementTypeOrSelf(op->getOperand(operand).getType()) !=
          getElementTypeOrSelf(op->getResult(0).getType()))
    return std::nullopt;
  std::optional<ViewedLayout> view =
      layoutOfView(op, 0, Layout::contiguous(*base), *result, {});
  if (!view || view->isOfCopy || !view->layout.isKnown())
    return std::nullopt;
  if (!place.isResult)
    return ofViewedDim(op, view->layout, operand, place.dim);
  // An axis that the operand does not have is broadcast.
  if (view->layout.strides[place.dim] == 0) {
    AxisUse use = emptyUse(op);
    use.resultDim[0] = static_cast<int>(place.dim);
    return withGrains(op, std::move(use));
  }
  for (unsigned dim = 0; dim < base->size(); ++dim)
    if (MaybeUse use = ofViewedDim(op, view->layout, operand, dim);
        use && use->resultDim[0] == static_cast<int>(place.dim))
      return use;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Loops with a formula
//===----------------------------------------------------------------------===//

namespace {

/// Builds a formula and watches what it asks for.
class Watcher final : public ElementBuilder {
public:
  Watcher(Operation *op, int axis)
      : ElementBuilder(builder, op->getLoc()), op(op), axis(axis),
        builder(op->getContext()),
        loadedAlong(op->getNumOperands(), AxisUse::kNone) {
    builder.setInsertionPointToEnd(&block);
    own = any(builder.getIndexType());
  }

  Value operand(unsigned i) override {
    Type type = getElementTypeOrSelf(op->getOperand(i).getType());
    if (auto integer = dyn_cast<IntegerType>(type))
      type = IntegerType::get(type.getContext(), integer.getWidth());
    return any(type);
  }
  Value index(unsigned asked) override {
    return static_cast<int>(asked) == axis ? own : any(builder.getIndexType());
  }
  Value load(unsigned i, ArrayRef<Value> indices, Value, Value) override {
    for (auto [dim, value] : llvm::enumerate(indices)) {
      if (value != own)
        continue;
      int at = static_cast<int>(dim);
      isClear &= loadedAlong[i] == AxisUse::kNone || loadedAlong[i] == at;
      loadedAlong[i] = at;
    }
    loads.emplace_back(i, llvm::is_contained(indices, own));
    return operand(i);
  }
  bool isLoaded(unsigned i) const {
    return llvm::any_of(loads, [&](auto load) { return load.first == i; });
  }
  Value choose(Value place, Value, bool) override {
    isClear &= place != own;
    return place;
  }
  Value reduce(Combine how, Value element) override {
    ++numReductions;
    isAdded = how == Combine::Add;
    return reduced = any(element.getType());
  }
  Value reduceIndex(bool, Value) override {
    ++numReductions;
    isAdded = false;
    return reduced = any(builder.getI64Type());
  }
  int64_t numReduced() override {
    asksForCount = true;
    return 2;
  }

  /// Its place along the axis serves to load from there, and to nothing else.
  bool isIndependent() const {
    for (auto [i, isAlong] : loads)
      if (!isAlong && loadedAlong[i] != AxisUse::kNone)
        return false;
    return isClear && own.use_empty();
  }
  /// The result is the sum, but for casts.
  bool isSum(Value result) const {
    while (Operation *cast = result.getDefiningOp()) {
      if (cast->getNumOperands() != 1 || !isa<CastOpInterface>(cast))
        return false;
      result = cast->getOperand(0);
    }
    return numReductions == 1 && isAdded && !asksForCount && result == reduced;
  }
  int loadedDim(unsigned i) const { return loadedAlong[i]; }

private:
  Value any(Type type) { return block.addArgument(type, loc); }

  Operation *op;
  int axis;
  Block block;
  OpBuilder builder;
  Value own, reduced;
  SmallVector<int, 4> loadedAlong;
  SmallVector<std::pair<unsigned, bool>, 4> loads;
  unsigned numReductions = 0;
  bool isAdded = false, asksForCount = false, isClear = true;
};

/// The loops of an op.
class Loops {
public:
  static std::optional<Loops> of(Operation *op) {
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    auto lowerable = dyn_cast<LowerableOpInterface>(op);
    if (!fusible || !lowerable || op->getNumResults() == 0 ||
        op->getNumRegions() != 0)
      return std::nullopt;
    Loops loops;
    SmallVector<ArrayRef<int64_t>> shapes;
    for (Value value : op->getOperands())
      if (!loops.addShape(value, shapes))
        return std::nullopt;
    for (Value value : op->getResults())
      if (!isa<ShapedType>(value.getType()) || !loops.addShape(value, shapes))
        return std::nullopt;
    if (!fusible.getIterationSpace(shapes, loops.space) ||
        loops.space.updated >= 0 ||
        !(loops.space.isPick || lowerable.hasElement()))
      return std::nullopt;
    loops.resultRank = shapes.back().size();
    return loops;
  }

  /// The dimension of the results that axis `axis` is, or kNone.
  int resultDim(unsigned axis) const {
    if (space.isReduced[axis])
      return AxisUse::kNone;
    if (resultRank == space.extents.size())
      return static_cast<int>(axis);
    return static_cast<int>(
        llvm::count(ArrayRef(space.isReduced).take_front(axis), 0));
  }

  std::optional<unsigned> axisOf(AxisPlace place) const {
    if (!place.isResult) {
      if (space.isGathered[place.index] ||
          place.dim >= space.operands[place.index].size() ||
          space.operands[place.index][place.dim] < 0)
        return std::nullopt;
      return space.operands[place.index][place.dim];
    }
    for (unsigned axis = 0; axis < space.extents.size(); ++axis)
      if (resultDim(axis) == static_cast<int>(place.dim))
        return axis;
    return std::nullopt;
  }

  IterationSpace space;

private:
  static bool addShape(Value value,
                       SmallVectorImpl<ArrayRef<int64_t>> &shapes) {
    auto shape = staticShape(value);
    if (isa<ShapedType>(value.getType()) && !shape)
      return false;
    shapes.push_back(shape.value_or(ArrayRef<int64_t>()));
    return true;
  }

  size_t resultRank = 0;
};

} // namespace

/// The dimension of operand `i` along `axis`; nothing if it is not one.
static std::optional<int> alongOperand(Operation *op, const Loops &loops,
                                       const Watcher &watcher, unsigned i,
                                       unsigned axis) {
  const IterationSpace &space = loops.space;
  // `zeros_like` reads no element, and has the sizes of what it is given.
  if (space.isGathered[i] && !watcher.isLoaded(i) &&
      staticShape(op->getOperand(i)) == staticShape(op->getResult(0)))
    return loops.resultDim(axis);
  if (space.isGathered[i])
    return watcher.loadedDim(i);
  if (watcher.loadedDim(i) != AxisUse::kNone)
    return std::nullopt;
  int found = AxisUse::kNone;
  for (auto [dim, walking] : llvm::enumerate(space.operands[i])) {
    if (walking != static_cast<int>(axis))
      continue;
    if (found != AxisUse::kNone)
      return std::nullopt; // a diagonal
    found = static_cast<int>(dim);
  }
  return found;
}

static MaybeUse alongAxis(Operation *op, const Loops &loops, unsigned axis) {
  if (loops.space.concatAxis == static_cast<int>(axis))
    return std::nullopt;
  bool isReduced = loops.space.isReduced[axis];
  if (isReduced && (loops.space.isPick || op->getNumResults() != 1))
    return std::nullopt;
  Watcher watcher(op, static_cast<int>(axis));
  SmallVector<Value> results;
  // A pick is the element of its row that an index says, and nothing else.
  if (!loops.space.isPick &&
      (failed(cast<LowerableOpInterface>(op).buildElement(watcher, results)) ||
       !watcher.isIndependent() || (isReduced && !watcher.isSum(results[0]))))
    return std::nullopt;
  AxisUse use = emptyUse(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    std::optional<int> dim = alongOperand(op, loops, watcher, i, axis);
    if (!dim)
      return std::nullopt;
    use.operandDim[i] = *dim;
  }
  use.isSum = isReduced;
  use.resultDim.assign(op->getNumResults(), loops.resultDim(axis));
  return withGrains(op, std::move(use));
}

static MaybeUse ofLoops(Operation *op, AxisPlace place) {
  std::optional<Loops> loops = Loops::of(op);
  if (!loops)
    return std::nullopt;
  if (place.isResult || !loops->space.isGathered[place.index]) {
    std::optional<unsigned> axis = loops->axisOf(place);
    return axis ? alongAxis(op, *loops, *axis) : std::nullopt;
  }
  // The formula says which axis loads along the dimension.
  for (unsigned axis = 0; axis < loops->space.extents.size(); ++axis)
    if (MaybeUse use = alongAxis(op, *loops, axis);
        use && use->operandDim[place.index] == static_cast<int>(place.dim))
      return use;
  return std::nullopt;
}

MaybeUse cutback::findAxisUse(Operation *op, AxisPlace place) {
  auto model = dyn_cast<RematerializableOpInterface>(op);
  if (!model || model.isRandom() || model.hasOrderedEffects())
    return std::nullopt;
  for (Value value : op->getResults())
    if (!staticShape(value))
      return std::nullopt;
  for (Value value : op->getOperands())
    if (isa<ShapedType>(value.getType()) && !staticShape(value))
      return std::nullopt;
  if (std::optional<Factors> factors = factorsOf(op))
    return ofProduct(op, place, *factors);
  if (int64_t viewed = getViewedOperand(op, 0); viewed >= 0)
    return ofView(op, place, static_cast<unsigned>(viewed));
  return ofLoops(op, place);
}
