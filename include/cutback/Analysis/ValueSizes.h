// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes, shapes and storages of all values of a graph, with symbolic sizes
// replaced by their hints.
#ifndef CUTBACK_ANALYSIS_VALUESIZES_H
#define CUTBACK_ANALYSIS_VALUESIZES_H

#include "cutback/Analysis/GraphView.h"

#include "llvm/ADT/StringMap.h"

namespace cutback {

enum class ValueKind : uint8_t {
  Tensor,
  Size,  ///< index: a symbolic integer
  Bool,  ///< i1: a symbolic condition
  Float, ///< f64: a symbolic number
  Other, ///< none, and what no dialect here knows
};

struct ValueSizes {
  /// By value: elements × item size, i1 counting one byte; 8 for scalars. A
  /// tensor with a dimension that is not known counts `fallbackElements`
  /// elements (PyTorch's rule), and is marked in `unknown`. Literals count 0
  /// unless the graph returns them.
  std::vector<int64_t> bytes;
  std::vector<uint8_t> unknown;
  std::vector<ValueKind> kind;
  /// By value: the value whose storage it lies in; itself if it is no view.
  std::vector<uint32_t> storage;
  /// By value: its type under the hints (its declared type if it is static).
  std::vector<mlir::Type> type;

  /// By value: the number that a `Size` is, kDynamic where it is not known.
  /// Empty where all sizes are static.
  std::vector<int64_t> number;

  static constexpr int64_t fallbackElements = 4096;

  bool isScalar(uint32_t value) const {
    return kind[value] == ValueKind::Size || kind[value] == ValueKind::Bool ||
           kind[value] == ValueKind::Float;
  }
  /// Bytes of the storage that `value` lies in.
  int64_t storageBytes(uint32_t value) const { return bytes[storage[value]]; }

  /// Hints come from the graph's `symbols`; `symbols` overrides them. Fails
  /// with an error at the graph if a size does not fit 64 bits, or an override
  /// names a symbol that the graph does not have. Linear.
  static mlir::FailureOr<ValueSizes>
  compute(const GraphView &view, const llvm::StringMap<int64_t> &symbols);

  /// compute(), but a size that does not fit 64 bits counts 0 bytes and is
  /// listed in `tooLarge`: whether it matters shows when dead code is gone.
  static mlir::FailureOr<ValueSizes>
  computeAll(const GraphView &view, const llvm::StringMap<int64_t> &symbols);
  /// Values whose size does not fit 64 bits, ascending.
  std::vector<uint32_t> tooLarge;
  /// Fails with an error at the first of them.
  mlir::LogicalResult checkSizes(const GraphView &view) const;

  /// Follows GraphView::removeOps. Linear.
  void renumber(const Renumbering &renumbering);
};

} // namespace cutback

#endif // CUTBACK_ANALYSIS_VALUESIZES_H
