// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the formula of an op (LowerableOpInterface) is built with: the scalars
// of one iteration of the op's loops.
#ifndef CUTBACK_DIALECT_JOINT_ELEMENTBUILDER_H
#define CUTBACK_DIALECT_JOINT_ELEMENTBUILDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

namespace cutback::joint {

/// How a reduction combines elements. Max and Min of floating point are NaN if
/// any element is; of integers they are signed, unless said otherwise.
enum class Combine : uint8_t {
  Add,
  Mul,
  Max,
  Min,
  MaxUnsigned,
  MinUnsigned,
  And,
  Or
};

/// Scalars are of the tensor's element type, which is signless here: i8 for
/// ui8. All axes are those of the op's IterationSpace.
class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  virtual ~ElementBuilder() = default;

  /// The element of operand `i` that this iteration reads; of an operand that
  /// is no tensor, its value.
  virtual mlir::Value operand(unsigned i) = 0;
  /// This iteration along `axis`; of type `index`.
  virtual mlir::Value index(unsigned axis) = 0;
  /// The element of operand `i` (one that is gathered) at `indices`, one of
  /// type `index` for each dimension. Only where `mask` (i1) is true, if there
  /// is one; elsewhere it is `otherwise`, and nothing is read.
  virtual mlir::Value load(unsigned i, llvm::ArrayRef<mlir::Value> indices,
                           mlir::Value mask = {},
                           mlir::Value otherwise = {}) = 0;
  /// `place`, of type `index`, where it is inside of [0, `size`); an error when
  /// the kernel runs where it is not. With `isWrapped` a place below 0 counts
  /// from the end. What data name is chosen so before it is loaded.
  virtual mlir::Value choose(mlir::Value place, mlir::Value size,
                             bool isWrapped) = 0;
  /// The combination of `element` over all iterations of the reduced axes. It
  /// starts with the neutral element, or for Max and Min with the first one.
  virtual mlir::Value reduce(Combine how, mlir::Value element) = 0;
  /// Where the greatest (else the least) `element` is among the reduced axes,
  /// counted from 0 in row-major order, as i64: the first NaN, else the first
  /// of equal ones.
  virtual mlir::Value reduceIndex(bool greatest, mlir::Value element) = 0;
  /// Iterations of all reduced axes together, for which sizes are known.
  virtual int64_t numReduced() = 0;

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_ELEMENTBUILDER_H
