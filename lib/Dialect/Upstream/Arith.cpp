// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `arith`: every op works element by element and costs one FLOP an element;
// constants are literals. On `index` its ops compute sizes, so they are
// evaluated where a graph's sizes are asked for under hints; on tensors a
// result has the shape of the operands.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::upstream;

namespace {

/// a op b where it is known and defined.
std::optional<int64_t> compute(Operation *op, int64_t a, int64_t b) {
  int64_t value = 0;
  if (isa<arith::AddIOp>(op))
    return __builtin_add_overflow(a, b, &value) ? std::nullopt
                                                : std::optional(value);
  if (isa<arith::SubIOp>(op))
    return __builtin_sub_overflow(a, b, &value) ? std::nullopt
                                                : std::optional(value);
  if (isa<arith::MulIOp>(op))
    return __builtin_mul_overflow(a, b, &value) ? std::nullopt
                                                : std::optional(value);
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::max(a, b);
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return std::min(a, b);
  // Sizes are not negative; where a divisor is, nothing is known.
  if (a < 0 || b <= 0)
    return std::nullopt;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op))
    return a / b;
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return llvm::divideCeil(a, b);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return a % b;
  return std::nullopt;
}

/// The shape of an elementwise result: that of the operand known best.
Type sameShape(Type declared, ArrayRef<Type> operandTypes) {
  Type best = declared;
  for (Type type : operandTypes)
    if (auto shaped = dyn_cast<RankedTensorType>(type))
      if (auto now = cast<ShapedType>(best); !now.hasStaticShape())
        best = cast<ShapedType>(declared).clone(shaped.getShape());
  return best;
}

struct IntegerSizes
    : joint::SizeEvaluationOpInterface::FallbackModel<IntegerSizes> {
  bool evaluateSizes(Operation *op, ArrayRef<Type> operandTypes,
                     ArrayRef<int64_t> ints, SmallVectorImpl<Type> &types,
                     SmallVectorImpl<int64_t> &results) const {
    Type declared = op->getResult(0).getType();
    if (isa<RankedTensorType>(declared)) {
      types.push_back(sameShape(declared, operandTypes));
      results.push_back(ShapedType::kDynamic);
      return true;
    }
    // What is not known (kDynamic) is negative, as no size is.
    if (llvm::any_of(ints, [](int64_t value) { return value < 0; }))
      return false;
    std::optional<int64_t> value;
    if (ints.size() == 1 && isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      value = ints[0];
    else if (ints.size() == 2)
      value = compute(op, ints[0], ints[1]);
    if (!value || *value < 0)
      return false;
    types.push_back(declared);
    results.push_back(*value);
    return true;
  }
};

} // namespace

void cutback::registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    for (RegisteredOperationName name : opsOf(*context, "arith")) {
      Kind<ElementwiseFormula>::attach(name);
      if (name.getTypeID() != TypeID::get<arith::ConstantOp>())
        Pointwise<1>::attach(name);
    }
    LiteralKind::attachTo<arith::ConstantOp>(*context);
    Kind<IntegerSizes>::attachTo<
        arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp,
        arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::DivSIOp,
        arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
        arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp, arith::IndexCastOp,
        arith::IndexCastUIOp>(*context);
  });
}
