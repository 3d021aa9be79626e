// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls taken as declared: ops that are known, in a file that says otherwise.
//
// What a recorded graph declares is what the framework did, so where it
// contradicts a signature or a type rule, the file is right about itself: it
// is of another release. Such a call is a `joint.opaque` with the op's name
// and the declared types. It can be planned: its bytes are those of the types,
// and what its name stands for (drawing random numbers, matrix products) is
// still so. It cannot be run or differentiated, which takes a meaning.
#ifndef CUTBACK_DIALECT_JOINT_DECLARED_H
#define CUTBACK_DIALECT_JOINT_DECLARED_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/DialectInterface.h"

#include <optional>
#include <string>

namespace cutback::joint {

/// Discardable attribute of `joint.opaque`: a dictionary of two strings,
/// `place` ("joint.txt:14", of the input) and `why` (the contradiction). Both
/// may be empty.
inline constexpr llvm::StringLiteral kDeclared = "joint.declared";

mlir::DictionaryAttr declaredAttr(mlir::MLIRContext *context,
                                  llvm::StringRef place, llvm::StringRef why);
bool isTakenAsDeclared(mlir::Operation *op);
/// "taken as joint.txt:14 declares it ('x' is declared as f32, but …)"; for
/// messages. The op is taken as declared.
std::string declaredText(mlir::Operation *op);
/// What the op's attribute says, empty where it has none.
llvm::StringRef declaredPlace(mlir::Operation *op);
llvm::StringRef declaredWhy(mlir::Operation *op);

/// What holds of a call by its name, whatever its types.
struct CalleeFacts {
  bool isRandom = false, hasOrderedEffects = false, isComputeIntensive = false,
       usesMatrixUnits = false;
};

/// What a dialect of framework calls knows of a call by its name; it adds an
/// implementation to itself.
class CalleeInterface : public mlir::DialectInterface::Base<CalleeInterface> {
public:
  CalleeInterface(mlir::Dialect *dialect) : Base(dialect) {}
  /// Nothing if the callee is none of the dialect.
  virtual std::optional<CalleeFacts> factsOf(OpaqueOp call) const = 0;
  /// FLOPs of one execution, see CostModelOpInterface; 0 if the callee is none
  /// of the dialect.
  virtual double
  flopsOf(OpaqueOp call,
          llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) const = 0;
};

/// Of a call that is taken as declared, what is known of its callee; nothing
/// of others.
std::optional<CalleeFacts> calleeFacts(OpaqueOp call);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_DECLARED_H
