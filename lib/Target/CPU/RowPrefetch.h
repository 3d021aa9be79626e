// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is fetched while a row is computed.
#ifndef CUTBACK_LIB_TARGET_CPU_ROWPREFETCH_H
#define CUTBACK_LIB_TARGET_CPU_ROWPREFETCH_H

#include "NestPasses.h"
#include "NestScopes.h"
#include "StreamedStores.h"

namespace cutback::cpu {

class RowPrefetch {
public:
  /// `row`, `inner`: the groups that step from row to row, and along one.
  /// `rowsAtOnce` go through a pass together.
  RowPrefetch(NestScopes &scopes, size_t row, size_t inner, int64_t rowsAtOnce)
      : scopes(scopes), row(row), inner(inner), rowsAtOnce(rowsAtOnce) {}

  /// Chooses what is fetched in `pass`; nothing in most.
  void choose(kernel::NestOp nest, const NestPasses &passes,
              StreamedStores &streams, unsigned pass);
  /// Lines of the next rows of all that is read.
  void addLoads(kernel::NestOp nest);
  bool isNeeded() const { return !fetched.empty(); }

  /// Of `count` elements from the innermost index on that is set.
  void emit(int64_t count);

private:
  struct Fetched {
    mlir::Value memory;
    mlir::AffineMap map;
    mlir::ValueRange indices;
    int64_t ahead; ///< elements
    bool isWritten;
  };
  void add(mlir::Value memory, mlir::AffineMap map, mlir::ValueRange indices,
           bool isWritten);

  NestScopes &scopes;
  const size_t row, inner;
  const int64_t rowsAtOnce;
  llvm::SmallVector<Fetched> fetched;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_ROWPREFETCH_H
