// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of a graph calls the results of ops that cannot keep it.
#ifndef CUTBACK_LIB_DIALECT_JOINT_TEXTNAMES_H
#define CUTBACK_LIB_DIALECT_JOINT_TEXTNAMES_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/StringRef.h"

namespace cutback::joint {

/// Gives the ops of `block` that are of other dialects than ours an attribute
/// `names` with what `text`, the region in braces that was parsed into the
/// block, calls their results. Ops that have names, or a result that is a
/// number in the text, are left alone. Linear; without such ops `text` is not
/// looked at.
void keepTextNames(mlir::Block &block, llvm::StringRef text);

} // namespace cutback::joint

#endif // CUTBACK_LIB_DIALECT_JOINT_TEXTNAMES_H
