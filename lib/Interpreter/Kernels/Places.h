// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places of a tensor that index tensors name, for the ops that read there and
// the ops that write there.
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_PLACES_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_PLACES_H

#include "Values.h"

namespace cutback::interpreter {

/// For each element of a result of `sizes`, an element of a tensor.
struct Places {
  Sizes sizes;
  std::vector<int64_t> at;
};

/// `self[indices]` as NumPy has it, masks included. With `clamp`, an index
/// that is out of range stands for the first or the last element.
mlir::FailureOr<Places> placesOfIndices(const KernelCall &call,
                                        llvm::ArrayRef<int64_t> self,
                                        bool clamp = false);
/// The places that `index` names along `dim` of a tensor of sizes `self`, one
/// an element of `index`; the other coordinates are those of the element. As
/// PyTorch's `gather` and `scatter`, no index is negative: a class of -5 is an
/// error, not the fifth from the end.
mlir::FailureOr<Places> placesAlong(const KernelCall &call,
                                    llvm::ArrayRef<int64_t> self, int64_t dim,
                                    const Tensor &index);
/// The elements of a tensor of sizes `from` that have the coordinates of the
/// elements of `sizes`, which are no larger.
std::vector<int64_t> cornerMap(llvm::ArrayRef<int64_t> from,
                               llvm::ArrayRef<int64_t> sizes);

/// The elements of `self` at `places`, as result 0.
mlir::LogicalResult pick(const KernelCall &call, const Tensor &self,
                         const Places &places);
/// A copy of `self`, as result 0.
Tensor copyAsResult(const KernelCall &call, const Tensor &self);

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_PLACES_H
