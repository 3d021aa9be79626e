// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the inputs and outputs of a graph are for.
#ifndef CUTBACK_LIB_IMPORT_ROLES_H
#define CUTBACK_LIB_IMPORT_ROLES_H

#include "FxReader.h"

namespace cutback::fx {

/// Outputs by number, arguments by block argument.
struct GraphRoles {
  llvm::SmallVector<unsigned> forward; ///< outputs that are forward results
  struct Gradient {
    unsigned output, argument;
  };
  llvm::SmallVector<Gradient> gradients; ///< by argument
  /// Outputs that are the new value of an argument, in the backward: the
  /// random state's offset.
  llvm::SmallVector<Gradient> writes;
  llvm::SmallVector<joint::RoleAttr> arguments;
};

/// Decides for a joint graph; fails with an error in the text if counts, types
/// or dependences do not fit.
mlir::FailureOr<GraphRoles> assignJointRoles(const FxReader &reader,
                                             const FxRequest &request);

/// Roles of the arguments alone, for the other kinds of graphs.
llvm::SmallVector<joint::RoleAttr>
assignArgumentRoles(const FxReader &reader, const FxRequest &request,
                    llvm::ArrayRef<int64_t> tangentOf);

/// True if a gradient has its argument's type. The argument's may know sizes
/// that the gradient's leaves open; those are put in.
bool refineGradient(mlir::Value gradient, mlir::Type argument);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_ROLES_H
