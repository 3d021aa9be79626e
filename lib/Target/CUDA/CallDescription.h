// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls as numbers, for the functions that were compiled with Cutback: what
// their text says to a compiler.
#ifndef CUTBACK_LIB_TARGET_CUDA_CALLDESCRIPTION_H
#define CUTBACK_LIB_TARGET_CUDA_CALLDESCRIPTION_H

#include "CallText.h"

#include "cutback/Target/CPU/PrecompiledCalls.h"

namespace cutback::cuda {

/// Nothing for elements that no such function takes.
std::optional<precompiled::Type> precompiledType(mlir::Value tensor);

/// Elements of parameter `operand`; `outer`: between matrices, or groups.
precompiled::Tensor describeTensor(mlir::Value tensor, int64_t operand,
                                   int64_t outer = 0);

/// How many elements dimension `dim` moves by: none where it has one index.
int64_t strideOf(const Layout &layout, size_t dim);

/// A number that is an index of dimension `dim`.
precompiled::Index describeIndex(const Layout &layout, size_t dim);

/// A number that is one index a dimension, of `sizes`, from `first` on; nothing
/// for more of them than a description has room for.
std::optional<precompiled::Index>
describeIndices(const Layout &layout, size_t first,
                llvm::ArrayRef<int64_t> sizes);

/// A number that is an index of dimension `first` (images, or channels) and of
/// windows: `sizes` says of how many each. Along axis i, dimension 2 + i, index
/// w is at scale[i] * w + shift[i].
precompiled::Index describeWindows(const Layout &layout, size_t first,
                                   llvm::ArrayRef<int64_t> sizes,
                                   llvm::ArrayRef<int64_t> scale,
                                   llvm::ArrayRef<int64_t> shift);

/// These products, one after the other, for each of `outer` matrices or groups;
/// nothing where a tensor has elements that no such function takes.
std::optional<PrecompiledCall>
describeProducts(llvm::ArrayRef<precompiled::Product> products, int64_t outer,
                 llvm::ArrayRef<mlir::Value> tensors);

/// `tensor` as parameter `operand`; nothing where a description has no room for
/// its dimensions.
std::optional<precompiled::StridedTensor> describeStrided(mlir::Value tensor,
                                                          int64_t operand);

/// A dimension of a description: one of a tensor, with as many elements.
struct StridedDim {
  int64_t size, stride;
};
/// The tensor with these dimensions.
std::optional<precompiled::StridedTensor>
withDims(std::optional<precompiled::StridedTensor> tensor,
         llvm::ArrayRef<StridedDim> dims);

/// What a CPU runs in place of a kernel: `function`, which is told `tensors`
/// and `numbers` (Target/CPU/StridedCalls.h). Nothing if a tensor was not
/// described.
template <typename Numbers>
std::optional<PrecompiledCall>
describeCall(const char *function,
             llvm::ArrayRef<std::optional<precompiled::StridedTensor>> tensors,
             const Numbers &numbers) {
  PrecompiledCall call{function, ""};
  appendDescription(call.description,
                    precompiled::StridedCall{int64_t(tensors.size())});
  for (const std::optional<precompiled::StridedTensor> &tensor : tensors) {
    if (!tensor)
      return std::nullopt;
    appendDescription(call.description, *tensor);
  }
  appendDescription(call.description, numbers);
  return call;
}
/// The same of the parameters of these names: none where there is no such one.
template <typename Numbers>
std::optional<PrecompiledCall>
describeCall(const char *function, const CallWriter &text,
             llvm::ArrayRef<const char *> names, const Numbers &numbers) {
  std::vector<std::optional<precompiled::StridedTensor>> tensors;
  for (const char *name : names)
    tensors.push_back(text.strided(name));
  return describeCall(function, tensors, numbers);
}

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_CALLDESCRIPTION_H
