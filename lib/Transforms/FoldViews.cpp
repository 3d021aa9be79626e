// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views that cancel each other, as Inductor takes them out of a joint graph
// after it has logged it: with them gone on all sides, the certificate can
// compare its halves with the logged graph.
//
// What a view does is asked of its dialect (viewLayout). A chain of views is
// the identity if it maps the layout of its base to itself. Strides of values
// are not known here, so two bases are tried, one with rows behind each other
// and one with columns: `as_strided`, which sets strides whatever they were,
// can agree with one of them at most. A view of a tensor that is not
// contiguous may be refused there, and then stays.
//
// An argument that is written later is left alone: a view reads it before.

#include "cutback/Transforms/FoldViews.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Joint.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Views in a row that are looked at.
static constexpr unsigned kMaxChain = 4;

/// The operand that `op`, a view without effects, looks at; null otherwise.
static Value viewed(Operation *op) {
  if (!op || op->getNumResults() != 1)
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto model = dyn_cast<RematerializableOpInterface>(op);
  if (!type || !type.hasStaticShape() || !model || model.hasOrderedEffects())
    return {};
  int64_t operand = model.getAliasedOperand(0);
  if (operand < 0 || operand != getViewedOperand(op, 0))
    return {};
  return op->getOperand(operand);
}

static bool isWritten(Value value) {
  return isa<BlockArgument>(value) &&
         llvm::any_of(value.getUsers(), [&](Operation *user) {
           auto write = dyn_cast<WriteOp>(user);
           return write && write.getDestination() == value;
         });
}

/// The layout of a tensor whose columns lie behind each other.
static Layout byColumns(ArrayRef<int64_t> sizes) {
  Layout layout = Layout::contiguous(sizes);
  int64_t stride = 1;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    layout.strides[i] = stride;
    stride *= std::max<int64_t>(size, 1);
  }
  return layout;
}

/// Whether `chain`, the last view first, maps `base` to itself.
static bool keeps(ArrayRef<Operation *> chain, const Layout &base) {
  Layout layout = base;
  for (Operation *op : llvm::reverse(chain)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<Layout> next =
        viewLayout(op, 0, layout, type.getShape(), /*operandInts=*/{});
    if (!next)
      return false;
    layout = std::move(*next);
  }
  return layout.sizes == base.sizes && layout.strides == base.strides &&
         layout.offset == base.offset;
}

/// The value under `op` that it shows as it is; null if there is none.
static Value findSame(Operation *op) {
  SmallVector<Operation *, kMaxChain> chain;
  Type type = op->getResult(0).getType();
  while (chain.size() < kMaxChain) {
    Value base = viewed(op);
    if (!base || isWritten(base))
      return {};
    chain.push_back(op);
    if (base.getType() == type) {
      ArrayRef<int64_t> sizes = cast<RankedTensorType>(type).getShape();
      if (keeps(chain, Layout::contiguous(sizes)) &&
          keeps(chain, byColumns(sizes)))
        return base;
    }
    op = base.getDefiningOp();
  }
  return {};
}

uint64_t cutback::foldViews(Block &block) {
  uint64_t folded = 0;
  for (Operation &op : block) {
    if (!viewed(&op) || op.use_empty())
      continue;
    if (Value same = findSame(&op)) {
      op.getResult(0).replaceAllUsesWith(same);
      ++folded;
    }
  }
  return folded;
}
