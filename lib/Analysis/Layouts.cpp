// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts of views. Which op is a view, and how it moves over its base, only
// its dialect knows (ViewLayoutInterface); here are the parts that are the same
// for all: ops of dialect `joint`, the check that a view stays inside its base,
// and the values that must not be views because their base is written.

#include "cutback/Analysis/Layouts.h"

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cutback;

Layout Layout::contiguous(ArrayRef<int64_t> sizes) {
  Layout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  layout.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    layout.strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return layout;
}

Layout Layout::unknown() { return {{ShapedType::kDynamic}, {0}, 0}; }

bool Layout::isKnown() const {
  return sizes.size() != 1 || !ShapedType::isDynamic(sizes[0]);
}

int64_t Layout::numel() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

bool Layout::isContiguous() const {
  int64_t expected = 1;
  if (numel() == 0)
    return true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

std::optional<Layout> Layout::reshaped(ArrayRef<int64_t> newSizes) const {
  Layout layout = contiguous(newSizes);
  layout.offset = offset;
  if (layout.numel() != numel())
    return std::nullopt;
  if (numel() == 0 || isContiguous())
    return layout;
  // Dimensions that lie behind each other form one block, which the new sizes
  // must divide.
  int64_t next = static_cast<int64_t>(newSizes.size()) - 1;
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0;) {
    // The block [first, dim] and its elements.
    int64_t first = dim, count = sizes[dim], stride = strides[dim];
    while (first > 0 && (sizes[first - 1] == 1 || count == 1 ||
                         strides[first - 1] == count * stride)) {
      --first;
      if (count == 1)
        stride = strides[first];
      count *= sizes[first];
    }
    int64_t filled = 1;
    while (next >= 0 && (filled < count || newSizes[next] == 1)) {
      layout.strides[next] = filled * stride;
      filled *= newSizes[next--];
    }
    if (filled != count)
      return std::nullopt;
    dim = first - 1;
  }
  return layout;
}

/// The operand that an op of dialect `joint` hands through.
static int64_t getPassedOperand(Operation *op) {
  return isa<joint::BarrierOp, joint::WriteOp>(op) ? 0 : -1;
}

int64_t cutback::getViewedOperand(Operation *op, unsigned result) {
  if (int64_t passed = getPassedOperand(op); passed >= 0)
    return passed;
  Dialect *dialect = op->getDialect();
  if (auto *views = dialect
                        ? dialect->getRegisteredInterface<ViewLayoutInterface>()
                        : nullptr)
    return views->getViewedOperand(op, result);
  return -1;
}

static int64_t itemBytes(Value tensor) {
  return elementBytes(getElementTypeOrSelf(tensor));
}

/// First and last byte that a layout touches, the last excluded.
static std::pair<int64_t, int64_t> extent(const Layout &layout, int64_t bytes) {
  int64_t first = layout.offset, last = layout.offset;
  for (auto [size, stride] : llvm::zip_equal(layout.sizes, layout.strides))
    (stride < 0 ? first : last) += (size - 1) * stride;
  return {first * bytes, (last + 1) * bytes};
}

std::optional<Layout> cutback::viewLayout(Operation *op, unsigned result,
                                          const Layout &base,
                                          ArrayRef<int64_t> resultSizes,
                                          ArrayRef<int64_t> operandInts) {
  int64_t operand = getViewedOperand(op, result);
  if (operand < 0)
    return std::nullopt;
  if (getPassedOperand(op) >= 0)
    return base;
  auto *views = op->getDialect()->getRegisteredInterface<ViewLayoutInterface>();
  std::optional<Layout> layout =
      views->viewLayout(op, result, base, resultSizes, operandInts);
  if (!layout || ArrayRef<int64_t>(layout->sizes) != resultSizes)
    return std::nullopt;
  if (layout->numel() == 0)
    return layout;
  auto inner = extent(*layout, itemBytes(op->getResult(result)));
  auto outer = extent(base, itemBytes(op->getOperand(operand)));
  if (base.numel() == 0 || inner.first < outer.first ||
      inner.second > outer.second)
    return std::nullopt;
  return layout;
}

std::optional<ViewedLayout>
cutback::layoutOfView(Operation *op, unsigned result, const Layout &base,
                      ArrayRef<int64_t> resultSizes,
                      ArrayRef<int64_t> operandInts) {
  if (!base.isKnown() || ShapedType::isDynamicShape(resultSizes))
    return ViewedLayout{Layout::unknown(), false};
  if (auto layout = viewLayout(op, result, base, resultSizes, operandInts))
    return ViewedLayout{std::move(*layout), false};
  if (auto layout = viewLayout(op, result, Layout::contiguous(base.sizes),
                               resultSizes, operandInts))
    return ViewedLayout{std::move(*layout), true};
  return std::nullopt;
}

bool cutback::layoutsOfViews(
    Operation *op, llvm::function_ref<const Layout *(unsigned)> layoutOf,
    llvm::function_ref<std::optional<ArrayRef<int64_t>>(unsigned)> sizesOf,
    ArrayRef<int64_t> operandInts, SmallVectorImpl<ViewedLayout> &layouts) {
  layouts.clear();
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    int64_t operand = getViewedOperand(op, r);
    const Layout *base = operand < 0 ? nullptr : layoutOf(operand);
    std::optional<ArrayRef<int64_t>> sizes = sizesOf(r);
    if (!base || !sizes)
      return false;
    std::optional<ViewedLayout> layout =
        layoutOfView(op, r, *base, *sizes, operandInts);
    if (!layout)
      return false;
    layouts.push_back(std::move(*layout));
  }
  return !layouts.empty();
}

/// Whether `op` takes sizes of tensors, and none of their elements.
static bool readsSizesAlone(Operation *op) {
  auto fusible = dyn_cast<joint::FusibleOpInterface>(op);
  return fusible && fusible.getFusionKind() == joint::FusionKind::View &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

namespace {

/// Numbers of ops in the order they run, and who sees an argument.
class CopyFinder {
public:
  CopyFinder(Operation *function,
             llvm::function_ref<bool(Operation *)> runsLast)
      : function(function), runsLast(runsLast) {}

  llvm::SetVector<Value> run() {
    // Most functions write nothing.
    bool isWritten =
        function->walk([](joint::WriteOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!isWritten)
      return {};
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      numbers[op] = ++numOps;
      if (auto write = dyn_cast<joint::WriteOp>(op))
        writes[write.getDestination()].push_back(
            {numOps, write.getSide() == joint::Side::Forward});
    });
    findViews();
    // From the last to the first: who reads a view of a view is known by then.
    llvm::DenseSet<Value> mayBe;
    for (const View &view : llvm::reverse(views)) {
      Operation *op = view.value.getDefiningOp();
      unsigned made = numbers.lookup(op);
      Read read = op->getParentOp() == function ? lastRead(view.value)
                                                : Read{numOps, false};
      if (llvm::any_of(writes[view.argument], [&](const Write &write) {
            return made < write.op && read.isAfter(write);
          }))
        mayBe.insert(view.value);
      else
        readThrough[view.value] = read;
    }
    // A view of a copy is a view.
    llvm::SetVector<Value> copies;
    llvm::DenseSet<Value> isOfCopy;
    for (const View &view : views)
      if (isOfCopy.contains(view.source) ||
          (mayBe.contains(view.value) && copies.insert(view.value)))
        isOfCopy.insert(view.value);
    return copies;
  }

private:
  struct View {
    Value value, source; ///< what it is a view of
    Value argument;      ///< what both see
  };

  struct Write {
    unsigned op;
    bool isForward;
  };

  /// The last op that reads a value. One that runs last does so after all
  /// writes of the forward; those of the backward stay after their readers.
  struct Read {
    unsigned op = 0;
    bool runsLast = false;

    bool isAfter(const Write &write) const {
      return write.op <= op || (runsLast && write.isForward);
    }
    void add(const Read &other) {
      op = std::max(op, other.op);
      runsLast |= other.runsLast;
    }
  };

  void findViews() {
    llvm::DenseMap<Value, Value> seen;
    for (auto &[argument, list] : writes)
      seen[argument] = argument;
    auto see = [&](Value value, Value source) {
      if (Value argument = seen.lookup(source)) {
        seen[value] = argument;
        views.push_back({value, source, argument});
      }
    };
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isYield(op))
        for (auto [value, source] :
             llvm::zip(op->getParentOp()->getResults(), op->getOperands()))
          see(value, source);
      for (OpResult result : op->getResults())
        if (int64_t operand = getViewedOperand(op, result.getResultNumber());
            operand >= 0)
          see(result, op->getOperand(operand));
    });
  }

  /// The last op that reads `value` or a view of it. Ops of a region run until
  /// the op is over that has the region.
  Read lastRead(Value value) {
    Read last;
    for (Operation *user : value.getUsers()) {
      if (readsSizesAlone(user))
        continue;
      Operation *outer = user;
      while (outer->getParentOp() && outer->getParentOp() != function)
        outer = outer->getParentOp();
      last.add({numbers.lookup(outer == user ? user : lastInside(outer)),
                runsLast && runsLast(user)});
      for (Value result : user->getResults())
        last.add(readThrough.lookup(result));
      if (isYield(user))
        for (Value result : user->getParentOp()->getResults())
          last.add(readThrough.lookup(result));
    }
    return last;
  }

  /// Its operands are the results of the op around it.
  bool isYield(Operation *op) const {
    return op->hasTrait<OpTrait::IsTerminator>() &&
           op->getParentOp() != function &&
           op->getNumOperands() == op->getParentOp()->getNumResults();
  }

  static Operation *lastInside(Operation *op) {
    Operation *last = op;
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) { last = inner; });
    return last;
  }

  Operation *function;
  llvm::function_ref<bool(Operation *)> runsLast;
  unsigned numOps = 0;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::MapVector<Value, SmallVector<Write, 1>> writes; ///< by argument
  std::vector<View> views;
  llvm::DenseMap<Value, Read> readThrough; ///< of views that are no copies
};

} // namespace

bool cutback::hasElements(Type memory, Type view) {
  auto complex = dyn_cast<ComplexType>(memory);
  return complex ? complex.getElementType() == view : memory == view;
}

llvm::SetVector<Value>
cutback::findForcedCopies(Operation *function,
                          llvm::function_ref<bool(Operation *)> runsLast) {
  return CopyFinder(function, runsLast).run();
}
