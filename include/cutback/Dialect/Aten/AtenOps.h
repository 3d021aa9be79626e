// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op classes of dialect `aten`, for code that matches or builds one of
// them by name: `isa<aten::MmOp>(op)`, `aten::MmOp::create(builder, ...)`.
#ifndef CUTBACK_DIALECT_ATEN_ATENOPS_H
#define CUTBACK_DIALECT_ATEN_ATENOPS_H

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/Builders.h"

namespace cutback::aten {

/// What MLIR knows the class of an op by: the address of its data.
inline mlir::TypeID getTypeId(const OpInfo &info) {
  return mlir::TypeID::getFromOpaquePointer(&info);
}

/// A call of one op, with all that CallOp has. `Concrete` says of which op:
/// getOperationName() is its name in MLIR, getOpInfo() its data.
template <typename Concrete> class CallOf : public CallOp {
  friend Concrete;
  CallOf() = default;

public:
  using CallOp::CallOp;

  static bool classof(mlir::Operation *op) {
    return aten::getOpInfo(op->getName()) == &Concrete::getOpInfo();
  }
  static mlir::TypeID resolveTypeID() {
    return getTypeId(Concrete::getOpInfo());
  }
  /// `args` and `names` as in CallProperties.
  static Concrete create(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::TypeRange types, mlir::ValueRange operands,
                         mlir::ArrayAttr args, mlir::ArrayAttr names = {}) {
    mlir::OperationState state(location, Concrete::getOperationName());
    CallOp::build(state, types, operands, args, names);
    return mlir::cast<Concrete>(builder.create(state));
  }
};

#define ATEN_OP(Class, name, ...)                                              \
  class Class : public CallOf<Class> {                                         \
  public:                                                                      \
    using CallOf::CallOf;                                                      \
    static constexpr llvm::StringLiteral getOperationName() { return name; }   \
    static const OpInfo &getOpInfo();                                          \
  };
#include "cutback/Dialect/Aten/AtenOps.inc"

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_ATENOPS_H
