// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of tensors as strided views, and copies by one index map a dimension.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_PARTS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_PARTS_H

#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

/// Elements start, start + step, ... of dimension `dim`, `length` of them; the
/// caller keeps them inside.
Tensor slicePart(Tensor tensor, int64_t dim, int64_t start, int64_t length,
                 int64_t step = 1);
/// Element `index` of dimension `dim`, which goes.
Tensor selectPart(Tensor tensor, int64_t dim, int64_t index);
/// The diagonal of two dimensions, as the last one.
Tensor diagonalPart(const Tensor &tensor, int64_t offset, int64_t dim1,
                    int64_t dim2);
/// The bounds of a slice as Python takes them: [first, last).
std::pair<int64_t, int64_t> sliceBounds(const KernelCall &call, int64_t size);

/// For each dimension, the place of the source that each place of the result
/// comes from; -1 leaves the result as it is.
using IndexMaps = std::vector<std::vector<int64_t>>;

/// 0, 1, ... of every dimension.
IndexMaps identityMaps(llvm::ArrayRef<int64_t> sizes);
/// Result 0 from `source` by `maps`, elsewhere `fill`.
mlir::LogicalResult gatherByMaps(const KernelCall &call, const Tensor &source,
                                 const IndexMaps &maps,
                                 const RuntimeValue &fill = {});
/// The gradient of the same: result 0, of sizes `sizes`, collects the elements
/// of `gradient`.
mlir::LogicalResult addByMaps(const KernelCall &call, const Tensor &gradient,
                              const IndexMaps &maps,
                              llvm::ArrayRef<int64_t> sizes);

/// Sets all elements to a number.
void fill(const Tensor &tensor, const RuntimeValue &value);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_PARTS_H
