// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `math`: every op works element by element. Ten FLOPs stand for a
// transcendental function (a polynomial of that length, as in dialect `aten`),
// one for what a vector unit has as an instruction. Ops that a later MLIR adds
// count as transcendental until they are named here.

#include "cutback/Dialect/Upstream/ExternalModels.h"

#include "Models.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::upstream;

/// True for ops that are an instruction or two.
static bool isCheap(RegisteredOperationName name) {
  TypeID id = name.getTypeID();
  for (TypeID cheap :
       {TypeID::get<math::AbsFOp>(), TypeID::get<math::AbsIOp>(),
        TypeID::get<math::CeilOp>(), TypeID::get<math::FloorOp>(),
        TypeID::get<math::CopySignOp>(), TypeID::get<math::RoundOp>(),
        TypeID::get<math::RoundEvenOp>(), TypeID::get<math::TruncOp>(),
        TypeID::get<math::CountLeadingZerosOp>(),
        TypeID::get<math::CountTrailingZerosOp>(), TypeID::get<math::CtPopOp>(),
        TypeID::get<math::IsFiniteOp>(), TypeID::get<math::IsInfOp>(),
        TypeID::get<math::IsNaNOp>(), TypeID::get<math::IsNormalOp>()})
    if (id == cheap)
      return true;
  return false;
}

void cutback::registerMathModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    for (RegisteredOperationName name : opsOf(*context, "math")) {
      Kind<ElementwiseFormula>::attach(name);
      if (name.getTypeID() == TypeID::get<math::FmaOp>())
        Pointwise<2>::attach(name);
      else if (isCheap(name))
        Pointwise<1>::attach(name);
      else
        Pointwise<10>::attach(name);
    }
  });
}
