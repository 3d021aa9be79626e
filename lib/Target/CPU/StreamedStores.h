// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results that are larger than caches, written past them.
#ifndef CUTBACK_LIB_TARGET_CPU_STREAMEDSTORES_H
#define CUTBACK_LIB_TARGET_CPU_STREAMEDSTORES_H

#include "NestScopes.h"

namespace cutback::cpu {

class StreamedStores {
public:
  StreamedStores(NestScopes &scopes, const KernelFrame &frame)
      : scopes(scopes), frame(frame) {}

  /// Whether a store writes neighbors along `inner` in a large memory.
  bool isStreamed(kernel::StoreOp store, size_t inner);
  /// Takes over those of `stores` that are, in place of those before: up to
  /// `capacity` elements of each wait for a flush().
  void choose(llvm::ArrayRef<kernel::StoreOp> stores, size_t inner,
              int64_t capacity);
  bool isNeeded() const { return !streams.empty(); }

  /// The innermost loop computes element `place` of those that wait.
  void setPlace(mlir::Value place) { scopes.setStreamPlace(place); }
  /// Writes `count` elements that wait. The first is that of the indices that
  /// are set now.
  void flush(mlir::Value count);
  /// The same, of those that lie in `memory` from `first` on.
  void copy(kernel::StoreOp store, mlir::Value memory, mlir::Value first,
            mlir::Value count);

  /// Behind all loops: other threads see what was written.
  void fence();

private:
  /// Elements of `from` behind `first`, one by one, to behind `target`.
  void copyElements(mlir::Value from, mlir::Value first, mlir::Value to,
                    mlir::Value target, mlir::Value begin, mlir::Value end);

  NestScopes &scopes;
  const KernelFrame &frame;
  llvm::SmallVector<kernel::StoreOp, 2> streams;
  bool isUsed = false;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_STREAMEDSTORES_H
