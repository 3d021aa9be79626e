// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tosa`: the elementwise ops are those that carry its trait; products and
// convolutions are kept rather than computed again; reshapes, slices and
// transpositions are views (a consumer reads through them); constants are
// literals. FLOPs count two for each multiplication of the plain algorithm.
// Shapes under hints come from tosa's own shape inference. Control flow,
// variables and `custom` have no model: their effects decide.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "Models.h"

#include "cutback/Analysis/Layouts.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::upstream;

namespace {

double dimAt(ArrayRef<int64_t> shape, unsigned i) {
  return i < shape.size() ? countElements(shape.slice(i, 1)) : 1.0;
}

struct ProductCost : CostModelOpInterface::FallbackModel<ProductCost> {
  double getFlops(Operation *op, Shapes shapes) const {
    ArrayRef<int64_t> left = operandShape(shapes, 0);
    ArrayRef<int64_t> right = operandShape(shapes, 1);
    double results = countElements(resultShape(op, shapes, 0));
    if (isa<tosa::MatMulOp>(op)) // [n, h, c] x [n, c, w]
      return 2 * results * dimAt(left, 2);
    if (isa<tosa::DepthwiseConv2DOp>(op)) // weights [kh, kw, c, m]
      return 2 * results * dimAt(right, 0) * dimAt(right, 1);
    // Weights [outputs, ..., inputs]; transposed, each input element goes
    // through all of them.
    if (isa<tosa::TransposeConv2DOp>(op))
      return 2 * countElements(left) * countElements(right.drop_back());
    return 2 * results * countElements(right.drop_front());
  }
  bool usesMatrixUnits(Operation *) const { return true; }
};

/// One FLOP for each element of a window.
struct PoolCost : CostModelOpInterface::FallbackModel<PoolCost> {
  double getFlops(Operation *op, Shapes shapes) const {
    auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel");
    return countElements(resultShape(op, shapes, 0)) *
           (kernel ? countElements(kernel.asArrayRef()) : 1.0);
  }
  bool usesMatrixUnits(Operation *) const { return false; }
};

struct AxisFusible : FusibleOpInterface::FallbackModel<AxisFusible> {
  FusionKind getFusionKind(Operation *) const { return FusionKind::Reduction; }
  bool getIterationSpace(Operation *op, Shapes shapes,
                         IterationSpace &space) const {
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    return axis && reductionSpace(shapes, 1, axis.getInt(), space);
  }
};

using AxisReduction = Kind<Rematerializable<>, AxisFusible, PerOperand<1>>;
using Product =
    Kind<Rematerializable<-1, true>, Fusible<FusionKind::Never>, ProductCost>;
using Pool = Kind<Rematerializable<>, Fusible<FusionKind::Never>, PoolCost>;

bool isTranscendental(RegisteredOperationName name) {
  TypeID id = name.getTypeID();
  for (TypeID costly :
       {TypeID::get<tosa::CosOp>(), TypeID::get<tosa::ErfOp>(),
        TypeID::get<tosa::ExpOp>(), TypeID::get<tosa::LogOp>(),
        TypeID::get<tosa::PowOp>(), TypeID::get<tosa::RsqrtOp>(),
        TypeID::get<tosa::SigmoidOp>(), TypeID::get<tosa::SinOp>(),
        TypeID::get<tosa::TanhOp>()})
    if (id == costly)
      return true;
  return false;
}

void attachElementwise(MLIRContext &context) {
  for (RegisteredOperationName name : opsOf(context, "tosa")) {
    if (!name.hasTrait<OpTrait::tosa::TosaElementwiseOperator>())
      continue;
    if (isTranscendental(name))
      Pointwise<10>::attach(name);
    else
      Pointwise<1>::attach(name);
  }
  Pointwise<1>::attachTo<tosa::CastOp, tosa::MulOp, tosa::RescaleOp,
                         tosa::TableOp>(context);
}

/// Reshapes and transpositions; what slices and tiles ask for is in operands of
/// a type without a value here.
class TosaViews : public ViewLayoutInterface {
public:
  using ViewLayoutInterface::ViewLayoutInterface;

  int64_t getViewedOperand(Operation *op, unsigned) const override {
    return isa<tosa::ReshapeOp, tosa::TransposeOp>(op) ? 0 : -1;
  }

  std::optional<Layout> viewLayout(Operation *op, unsigned, const Layout &base,
                                   ArrayRef<int64_t> resultSizes,
                                   ArrayRef<int64_t>) const override {
    auto transpose = dyn_cast<tosa::TransposeOp>(op);
    if (!transpose)
      return base.reshaped(resultSizes);
    Layout layout;
    layout.offset = base.offset;
    for (int32_t dim : transpose.getPerms()) {
      if (dim < 0 || dim >= static_cast<int64_t>(base.sizes.size()))
        return std::nullopt;
      layout.sizes.push_back(base.sizes[dim]);
      layout.strides.push_back(base.strides[dim]);
    }
    return layout;
  }
};

} // namespace

void cutback::registerTosaModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *dialect) {
    dialect->addInterfaces<TosaViews>();
    for (RegisteredOperationName name : opsOf(*context, "tosa"))
      Kind<TosaFormula>::attach(name);
    attachElementwise(*context);
    Product::attachTo<tosa::MatMulOp, tosa::Conv2DOp, tosa::Conv3DOp,
                      tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(
        *context);
    Pool::attachTo<tosa::AvgPool2dOp, tosa::MaxPool2dOp>(*context);
    Reduction<1>::attachTo<tosa::ArgMaxOp>(*context);
    AxisReduction::attachTo<tosa::ReduceAllOp, tosa::ReduceAnyOp,
                            tosa::ReduceMaxOp, tosa::ReduceMinOp,
                            tosa::ReduceProductOp, tosa::ReduceSumOp>(*context);
    View::attachTo<tosa::IdentityOp, tosa::ReshapeOp, tosa::SliceOp,
                   tosa::TransposeOp>(*context);
    Gather::attachTo<tosa::GatherOp, tosa::PadOp, tosa::ResizeOp,
                     tosa::ReverseOp, tosa::TileOp>(*context);
    Concat::attachTo<tosa::ConcatOp>(*context);
    Move::attachTo<tosa::ScatterOp>(*context);
    LiteralKind::attachTo<tosa::ConstOp, tosa::ConstShapeOp>(*context);
  });
}
