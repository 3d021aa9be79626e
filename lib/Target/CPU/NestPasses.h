// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of a nest run in which pass over a row.
#ifndef CUTBACK_LIB_TARGET_CPU_NESTPASSES_H
#define CUTBACK_LIB_TARGET_CPU_NESTPASSES_H

#include "cutback/Dialect/Kernel/Kernel.h"

#include <vector>

namespace cutback::cpu {

struct NestPasses {
  /// Up to `heldBytes` of a row are kept between passes.
  NestPasses(kernel::NestOp nest, int64_t heldBytes);

  /// One an element, not one a row.
  bool isElement(mlir::Value value) const { return isReduced.lookup(value); }
  bool isStorePass(unsigned pass) const {
    return pass == storePass && !elementStores.empty();
  }
  /// Elements of a row.
  int64_t numReduced() const;

  unsigned numPasses = 0;
  /// By pass its reductions, and indices of them.
  std::vector<llvm::SmallVector<mlir::Operation *>> sums;
  /// By pass the elements of it that are kept for later ones.
  std::vector<llvm::SmallVector<mlir::Value>> held;
  /// Choices, and the first pass that may read them.
  std::vector<std::pair<mlir::Operation *, unsigned>> picks;
  llvm::SmallVector<kernel::StoreOp> elementStores, rowStores;
  /// By scalar: the first pass that may read it.
  llvm::DenseMap<mlir::Value, unsigned> levelOf;

private:
  void findHeld(int64_t most);

  kernel::NestOp nest;
  llvm::DenseMap<mlir::Value, bool> isReduced;
  unsigned storePass = 0;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_NESTPASSES_H
