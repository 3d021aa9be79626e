// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits on how deep MLIR nests, and on what its attributes expand to.
#ifndef CUTBACK_LIB_IMPORT_MLIRNESTING_H
#define CUTBACK_LIB_IMPORT_MLIRNESTING_H

#include "SourceText.h"

#include "mlir/IR/Operation.h"

namespace cutback::fx {

/// Fails with an error if MLIR text nests deeper than its parser, which is
/// recursive, can go, or has shapes and affine maps so long that it would not
/// come back. Linear.
mlir::LogicalResult checkBrackets(const SourceText &source,
                                  mlir::MLIRContext &context);

/// Fails with an error, at the op, if what was parsed nests so deep, or expands
/// to so much, that whoever walks or prints it would not come back: attributes
/// and types are shared when they are read, and written out when they are
/// printed. Linear in what is shared; nothing recursive. To be asked before
/// anything else looks at `root`; what fails must not be taken apart either.
mlir::LogicalResult checkExpansion(mlir::Operation *root);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_MLIRNESTING_H
