// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arguments of a program have their elements in one storage.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_SHAREDSTORAGE_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_SHAREDSTORAGE_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Import/Weights.h"

namespace cutback::pt2 {

/// By argument: the qualified name of an earlier one, or nothing.
struct SharedStorage {
  llvm::SmallVector<llvm::StringRef> tied;   ///< is the same tensor
  llvm::SmallVector<llvm::StringRef> shares; ///< another tensor of its storage
};

/// `block` reads the arguments that have `roles`.
SharedStorage findShared(llvm::ArrayRef<joint::RoleAttr> roles,
                         mlir::Block &block, const WeightFile *weights);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_SHAREDSTORAGE_H
