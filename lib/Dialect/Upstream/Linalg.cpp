// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `linalg` on tensors. One model serves named and generic ops alike, because
// what an op is stands in its structure:
//
//   1. `fill` is a literal;
//   2. a body that only hands its one input through is a view: transposition
//      and broadcast cost nothing, for a consumer reads through the maps;
//   3. parallel iterators and maps that permute or drop dimensions: pointwise;
//      other maps, or a body that reads tensors by itself: a gather;
//   4. a contraction with rows, columns and a sum, or a convolution whose body
//      reads its window: a product, kept rather than computed again;
//   5. other reductions fuse with pointwise neighbours, windows (pooling) do
//      not.
//
// FLOPs are the size of the iteration domain, under size hints, times what the
// ops in the body cost by their own models. `outs` operands are operands like
// any other; where they are `tensor.empty` or `fill`, those are literals and
// cost nothing. On memrefs an op has effects and is left alone.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "Models.h"

#include "cutback/Analysis/Layouts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::upstream;

namespace {

enum class Structure {
  Effect,
  Literal,
  View,
  Pointwise,
  Gather,
  Product,
  Window,
  Reduction
};

/// The input that the body hands through unchanged, or -1.
int64_t passedInput(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return -1;
  Block *body = op.getBlock();
  if (!llvm::hasSingleElement(*body))
    return -1;
  auto arg = dyn_cast<BlockArgument>(body->getTerminator()->getOperand(0));
  if (!arg || arg.getOwner() != body ||
      arg.getArgNumber() >= static_cast<unsigned>(op.getNumDpsInputs()))
    return -1;
  OpOperand &input = op->getOpOperand(arg.getArgNumber());
  bool isView = isa<RankedTensorType>(input.get().getType()) &&
                op.getMatchingIndexingMap(&input).isProjectedPermutation() &&
                op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
  return isView ? static_cast<int64_t>(arg.getArgNumber()) : -1;
}

/// True if every map picks each dimension at most once; a dimension of one that
/// is broadcast is read at 0.
bool picksDimensions(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
}

/// True if the body reads tensors by itself.
bool readsInBody(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return llvm::any_of(inner.getOperandTypes(),
                        [](Type type) { return isa<ShapedType>(type); });
  });
}

/// Rows, columns and a sum. A dot product and a matrix-vector product move as
/// many bytes as they compute: they are reductions.
bool isMatrixProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() &&
         !dims->k.empty();
}

Structure classify(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return Structure::Effect;
  if (isa<linalg::FillOp>(op.getOperation()))
    return Structure::Literal;
  if (passedInput(op) >= 0)
    return Structure::View;
  if (readsInBody(op))
    return Structure::Gather;
  if (linalg::isaConvolutionOpInterface(op))
    return llvm::all_of(op.getDpsInputOperands(),
                        [&](OpOperand *input) {
                          return op.payloadUsesValueFromOperand(input);
                        })
               ? Structure::Product
               : Structure::Window;
  bool picks = picksDimensions(op);
  if (op.getNumReductionLoops() == 0)
    return picks ? Structure::Pointwise : Structure::Gather;
  if (isMatrixProduct(op))
    return Structure::Product;
  return picks ? Structure::Reduction : Structure::Window;
}

Structure classify(Operation *op) {
  return classify(cast<linalg::LinalgOp>(op));
}

struct StructuredRematerializable
    : RematerializableOpInterface::FallbackModel<StructuredRematerializable> {
  bool isRecomputable(Operation *op) const { return isMemoryEffectFree(op); }
  int64_t getAliasedOperand(Operation *op, unsigned) const {
    auto structured = cast<linalg::LinalgOp>(op);
    return structured.hasPureTensorSemantics() ? passedInput(structured) : -1;
  }
  bool isRandom(Operation *) const { return false; }
  bool isComputeIntensive(Operation *op) const {
    return classify(op) == Structure::Product;
  }
  bool hasOrderedEffects(Operation *op) const {
    return !isMemoryEffectFree(op);
  }
};

/// The loops of the op, bound to the dimensions that its maps pick.
bool structuredLoops(linalg::LinalgOp op, Shapes shapes,
                     IterationSpace &space) {
  unsigned numOperands = op->getNumOperands();
  Structure structure = classify(op);
  if (structure == Structure::Literal || structure == Structure::Gather)
    return gatherSpace(shapes, numOperands, space);
  if ((structure != Structure::Pointwise &&
       structure != Structure::Reduction) ||
      !picksDimensions(op) || op.getNumLoops() > 127)
    return false;
  space = IterationSpace();
  space.extents.assign(op.getNumLoops(), ShapedType::kDynamic);
  for (utils::IteratorType type : op.getIteratorTypesArray())
    space.isReduced.push_back(type != utils::IteratorType::parallel);
  space.operands.resize(numOperands);
  space.isGathered.assign(numOperands, 0);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    ArrayRef<int64_t> shape = operandShape(shapes, number);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (map.getNumResults() != shape.size())
      return false;
    for (auto [size, expr] : llvm::zip_equal(shape, map.getResults())) {
      auto axis = dyn_cast<AffineDimExpr>(expr);
      space.operands[number].push_back(
          axis ? static_cast<int8_t>(axis.getPosition())
               : IterationSpace::kOnce);
      if (axis)
        space.extents[axis.getPosition()] = size;
    }
  }
  // Results are written in the order of the axes that are left.
  int8_t last = -1;
  for (OpOperand &init : op.getDpsInitsMutable())
    for (int8_t axis : space.operands[init.getOperandNumber()]) {
      if (axis <= last || space.isReduced[axis])
        return false;
      last = axis;
    }
  return op.getNumDpsInits() == 1 &&
         llvm::none_of(space.extents, ShapedType::isDynamic);
}

struct StructuredFusible
    : FusibleOpInterface::FallbackModel<StructuredFusible> {
  FusionKind getFusionKind(Operation *op) const {
    switch (classify(op)) {
    case Structure::Literal:
      return FusionKind::Create;
    case Structure::View:
      return FusionKind::View;
    case Structure::Pointwise:
      return FusionKind::Pointwise;
    case Structure::Gather:
      return FusionKind::Gather;
    case Structure::Reduction:
      return FusionKind::Reduction;
    case Structure::Effect:
    case Structure::Product:
    case Structure::Window:
      return FusionKind::Never;
    }
    return FusionKind::Never;
  }
  bool getIterationSpace(Operation *op, Shapes shapes,
                         IterationSpace &space) const {
    return structuredLoops(cast<linalg::LinalgOp>(op), shapes, space);
  }
};

struct StructuredLiteral
    : LiteralOpInterface::FallbackModel<StructuredLiteral> {
  bool isLiteral(Operation *op) const {
    return classify(op) == Structure::Literal;
  }
  bool isUndefined(Operation *) const { return false; }
};

/// Size of the iteration domain: each loop is bound to a dimension of an
/// operand.
double domainSize(linalg::LinalgOp op, Shapes shapes) {
  SmallVector<int64_t> dims;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    llvm::append_range(dims, operandShape(shapes, i));
  AffineMap bounds = op.getShapesToLoopsMap();
  if (!bounds || bounds.getNumDims() != dims.size())
    return 0;
  double size = 1;
  for (AffineExpr bound : bounds.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(bound);
    int64_t extent = dim ? dims[dim.getPosition()] : ShapedType::kDynamic;
    size *= ShapedType::isDynamic(extent) ? 1.0 : static_cast<double>(extent);
  }
  return size;
}

struct StructuredCost : CostModelOpInterface::FallbackModel<StructuredCost> {
  double getFlops(Operation *op, Shapes shapes) const {
    auto structured = cast<linalg::LinalgOp>(op);
    Structure structure = classify(structured);
    if (structure == Structure::View || structure == Structure::Literal)
      return 0;
    double perPoint = 0;
    SmallVector<ArrayRef<int64_t>> scalars;
    for (Operation &inner : *structured.getBlock()) {
      auto model = dyn_cast<CostModelOpInterface>(&inner);
      if (!model)
        continue;
      scalars.assign(inner.getNumOperands() + inner.getNumResults(), {});
      perPoint += model.getFlops(scalars);
    }
    return perPoint * domainSize(structured, shapes);
  }
  bool usesMatrixUnits(Operation *op) const {
    return classify(op) == Structure::Product;
  }
};

using Structured = Kind<StructuredRematerializable, StructuredFusible,
                        StructuredLiteral, StructuredCost, StructuredFormula>;

/// What hands its input through its maps: a dimension of the result walks over
/// the one of the input that has its iterator, or stays where it is.
class LinalgViews : public ViewLayoutInterface {
public:
  using ViewLayoutInterface::ViewLayoutInterface;

  int64_t getViewedOperand(Operation *op, unsigned) const override {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    return structured && classify(structured) == Structure::View
               ? passedInput(structured)
               : -1;
  }

  std::optional<Layout> viewLayout(Operation *op, unsigned, const Layout &base,
                                   ArrayRef<int64_t> resultSizes,
                                   ArrayRef<int64_t>) const override {
    auto structured = cast<linalg::LinalgOp>(op);
    AffineMap map = structured.getMatchingIndexingMap(
        &op->getOpOperand(passedInput(structured)));
    if (map.getNumResults() != base.sizes.size() ||
        map.getNumDims() != resultSizes.size())
      return std::nullopt;
    Layout layout;
    layout.offset = base.offset;
    layout.sizes.assign(resultSizes.begin(), resultSizes.end());
    layout.strides.assign(resultSizes.size(), 0);
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      layout.strides[map.getDimPosition(i)] = base.strides[i];
    return layout;
  }
};

} // namespace

void cutback::registerLinalgModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, linalg::LinalgDialect *dialect) {
        dialect->addInterfaces<LinalgViews>();
        for (RegisteredOperationName name : opsOf(*context, "linalg"))
          if (name.hasInterface<linalg::LinalgOp>())
            Structured::attach(name);
        // Maximum, difference, exponential, sum and quotient.
        Reduction<14>::attachTo<linalg::SoftmaxOp>(*context);
        Gather::attachTo<linalg::PackOp, linalg::UnPackOp>(*context);
      });
}
