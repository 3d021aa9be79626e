// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tensor`: reshapes, casts and slices are views of their operand (they become
// none or a subview when buffers are made); insertions and concatenations write
// what their producers could write themselves; `empty` and `splat` are
// literals. Sizes are followed through all of these under a graph's hints:
// static numbers in attributes, the rest in operands of type `index`.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "Models.h"

#include "cutback/Analysis/Layouts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::upstream;

namespace {

using Ints = ArrayRef<int64_t>;

constexpr int64_t kUnknown = ShapedType::kDynamic;

int64_t intAt(Ints ints, unsigned i) {
  return i < ints.size() && ints[i] >= 0 ? ints[i] : kUnknown;
}

ArrayRef<int64_t> shapeAt(ArrayRef<Type> types, unsigned i) {
  auto type = i < types.size() ? dyn_cast<RankedTensorType>(types[i])
                               : RankedTensorType();
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// `declared` with each `?` replaced by the next operand from `first` on.
SmallVector<int64_t> fill(ArrayRef<int64_t> declared, Ints ints,
                          unsigned first) {
  SmallVector<int64_t> shape(declared);
  for (int64_t &dim : shape)
    if (ShapedType::isDynamic(dim))
      dim = intAt(ints, first++);
  return shape;
}

SmallVector<int64_t> collapse(tensor::CollapseShapeOp op,
                              ArrayRef<int64_t> source) {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    int64_t &product = shape.emplace_back(1);
    for (int64_t dim : group)
      product = dim >= static_cast<int64_t>(source.size()) ||
                        ShapedType::isDynamic(source[dim]) ||
                        ShapedType::isDynamic(product)
                    ? kUnknown
                    : product * source[dim];
  }
  return shape;
}

SmallVector<int64_t> pad(tensor::PadOp op, ArrayRef<int64_t> source,
                         Ints ints) {
  unsigned numLow = op.getLow().size();
  SmallVector<int64_t> low = fill(op.getStaticLow(), ints, 1);
  SmallVector<int64_t> high = fill(op.getStaticHigh(), ints, 1 + numLow);
  SmallVector<int64_t> shape(low.size(), kUnknown);
  for (size_t i = 0; i < shape.size() && i < source.size(); ++i)
    if (!ShapedType::isDynamic(low[i]) && !ShapedType::isDynamic(high[i]) &&
        !ShapedType::isDynamic(source[i]))
      shape[i] = low[i] + source[i] + high[i];
  return shape;
}

SmallVector<int64_t> concat(tensor::ConcatOp op, ArrayRef<Type> types) {
  SmallVector<int64_t> shape(shapeAt(types, 0));
  uint64_t along = op.getDim();
  for (unsigned i = 1; i < op.getInputs().size() && along < shape.size(); ++i) {
    ArrayRef<int64_t> next = shapeAt(types, i);
    bool isKnown = along < next.size() && !ShapedType::isDynamic(next[along]) &&
                   !ShapedType::isDynamic(shape[along]);
    shape[along] = isKnown ? shape[along] + next[along] : kUnknown;
  }
  return shape;
}

/// The shape of the one result; empty where nothing is known of it.
SmallVector<int64_t> shapeOf(Operation *op, ArrayRef<Type> types, Ints ints) {
  auto declared = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!declared)
    return {};
  if (isa<tensor::EmptyOp, tensor::GenerateOp>(op))
    return fill(declared.getShape(), ints, 0);
  if (isa<tensor::SplatOp>(op))
    return fill(declared.getShape(), ints, 1);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return fill(expand.getStaticOutputShape(), ints, 1);
  if (auto collapsed = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapse(collapsed, shapeAt(types, 0));
  if (auto padded = dyn_cast<tensor::PadOp>(op))
    return pad(padded, shapeAt(types, 0), ints);
  if (auto joined = dyn_cast<tensor::ConcatOp>(op))
    return concat(joined, types);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<int64_t> sizes =
        fill(slice.getStaticSizes(), ints, 1 + slice.getOffsets().size());
    SmallVector<int64_t> shape;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!dropped.test(i))
        shape.push_back(size);
    return shape;
  }
  return SmallVector<int64_t>(shapeAt(types, 0)); // casts
}

struct TensorSizes : SizeEvaluationOpInterface::FallbackModel<TensorSizes> {
  bool evaluateSizes(Operation *op, ArrayRef<Type> types, Ints ints,
                     SmallVectorImpl<Type> &resultTypes,
                     SmallVectorImpl<int64_t> &resultInts) const {
    Type declared = op->getResult(0).getType();
    resultInts.push_back(kUnknown);
    resultTypes.push_back(declared);
    if (isa<tensor::DimOp>(op)) {
      ArrayRef<int64_t> shape = shapeAt(types, 0);
      int64_t dim = intAt(ints, 1);
      if (dim >= 0 && dim < static_cast<int64_t>(shape.size()))
        resultInts.back() = shape[dim];
      return true;
    }
    SmallVector<int64_t> shape = shapeOf(op, types, ints);
    auto tensor = dyn_cast<RankedTensorType>(declared);
    if (!tensor || shape.size() != static_cast<size_t>(tensor.getRank()))
      return false;
    resultTypes.back() = tensor.clone(shape);
    return true;
  }
};

/// Slices move by offsets and strides, the others keep elements in their order.
class TensorViews : public ViewLayoutInterface {
public:
  using ViewLayoutInterface::ViewLayoutInterface;

  int64_t getViewedOperand(Operation *op, unsigned) const override {
    return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ExtractSliceOp, tensor::ReshapeOp>(op)
               ? 0
               : -1;
  }

  std::optional<Layout> viewLayout(Operation *op, unsigned, const Layout &base,
                                   ArrayRef<int64_t> resultSizes,
                                   Ints ints) const override {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return sliceOf(slice, base, ints);
    return base.reshaped(resultSizes);
  }

private:
  static std::optional<Layout> sliceOf(tensor::ExtractSliceOp op,
                                       const Layout &base, Ints ints) {
    unsigned numOffsets = op.getOffsets().size();
    unsigned numSizes = op.getSizes().size();
    SmallVector<int64_t> offsets = fill(op.getStaticOffsets(), ints, 1);
    SmallVector<int64_t> sizes =
        fill(op.getStaticSizes(), ints, 1 + numOffsets);
    SmallVector<int64_t> steps =
        fill(op.getStaticStrides(), ints, 1 + numOffsets + numSizes);
    if (llvm::is_contained(offsets, kUnknown) ||
        llvm::is_contained(sizes, kUnknown) ||
        llvm::is_contained(steps, kUnknown))
      return std::nullopt;
    Layout layout;
    layout.offset = base.offset;
    llvm::SmallBitVector dropped = op.getDroppedDims();
    for (size_t i = 0; i < sizes.size() && i < base.sizes.size(); ++i) {
      layout.offset += offsets[i] * base.strides[i];
      if (dropped.test(i))
        continue;
      layout.sizes.push_back(sizes[i]);
      layout.strides.push_back(steps[i] * base.strides[i]);
    }
    return layout;
  }
};

} // namespace

void cutback::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            tensor::TensorDialect *dialect) {
    dialect->addInterfaces<TensorViews>();
    LiteralKind::attachTo<tensor::SplatOp>(*context);
    UndefinedKind::attachTo<tensor::EmptyOp>(*context);
    View::attachTo<tensor::BitcastOp, tensor::CastOp, tensor::CollapseShapeOp,
                   tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                   tensor::ReshapeOp>(*context);
    Concat::attachTo<tensor::ConcatOp, tensor::InsertOp, tensor::InsertSliceOp>(
        *context);
    Gather::attachTo<tensor::GatherOp, tensor::PadOp>(*context);
    Create::attachTo<tensor::FromElementsOp, tensor::GenerateOp>(*context);
    Move::attachTo<tensor::ScatterOp>(*context);
    // Numbers of the host.
    Pointwise<0>::attachTo<tensor::DimOp, tensor::RankOp, tensor::ExtractOp>(
        *context);
    Kind<TensorSizes>::attachTo<tensor::CastOp, tensor::CollapseShapeOp,
                                tensor::ConcatOp, tensor::DimOp,
                                tensor::EmptyOp, tensor::ExpandShapeOp,
                                tensor::ExtractSliceOp, tensor::GenerateOp,
                                tensor::PadOp, tensor::SplatOp>(*context);
  });
}
