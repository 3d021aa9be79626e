// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution and its gradients as products: their sizes, and their
// descriptions (PrecompiledCalls.h). Which product is which:
// CallConvolution.cpp.
#ifndef CUTBACK_LIB_TARGET_CUDA_CONVOLUTION_H
#define CUTBACK_LIB_TARGET_CUDA_CONVOLUTION_H

#include "CallDescription.h"

namespace cutback::cuda {

/// Places x = first + q * stride of the wide side, which the same taps t =
/// firstTap + u * everyTap reach: from place base + q - u * reach of the
/// narrow side.
struct ConvolutionPhase {
  llvm::SmallVector<int64_t, 3> first, count, firstTap, taps, everyTap, base,
      reach;
};
/// As many phases as a description has, one product each, and as many as a
/// text has: a text of more looks at each tap whether it reaches a place.
inline constexpr int64_t kMostPhases = 8192, kMostPhasesOfText = 8;

struct ConvolutionProblem {
  mlir::Value input, weight, bias;
  mlir::Value output; ///< backward: its gradient
  llvm::SmallVector<int64_t, 3> stride, padding, dilation;
  int64_t groups = 1;
  bool isTransposed = false;

  mlir::Value narrow() const { return isTransposed ? input : output; }
  mlir::Value wide() const { return isTransposed ? output : input; }
  llvm::ArrayRef<int64_t> narrowPlaces() const {
    return sizesOf(narrow()).drop_front(2);
  }
  llvm::ArrayRef<int64_t> widePlaces() const {
    return sizesOf(wide()).drop_front(2);
  }
  llvm::ArrayRef<int64_t> taps() const { return sizesOf(weight).drop_front(2); }
  int64_t images() const { return sizesOf(input)[0]; }
  /// Channels of a group.
  int64_t wideGroup() const { return sizesOf(weight)[1]; }
  int64_t narrowGroup() const { return sizesOf(weight)[0] / groups; }

  /// All of them; none where they are more than kMostPhases.
  llvm::SmallVector<ConvolutionPhase, 8> phases() const;
};

/// One list behind the other: images, or channels, and the sizes of windows.
llvm::SmallVector<int64_t, 5> with(int64_t front, llvm::ArrayRef<int64_t> back);

/// What the text of a convolution's kernels says, as numbers. Nothing where a
/// tensor has elements that no function takes.
class ConvolutionDescription {
public:
  explicit ConvolutionDescription(const ConvolutionProblem &problem)
      : p(problem) {}

  /// `out` is the narrow side, or its gradient; `wide` what it is made of.
  std::optional<PrecompiledCall> narrow(mlir::Value wide,
                                        mlir::Value out) const;
  /// `out` is the wide side, or its gradient: a product a phase, one after the
  /// other; `narrow` is what it is made of.
  std::optional<PrecompiledCall>
  wide(mlir::Value narrow, mlir::Value out,
       llvm::ArrayRef<ConvolutionPhase> phases) const;
  /// Of the narrow and the wide side one is the input, the other the output's
  /// gradient.
  std::optional<PrecompiledCall>
  weightGradient(mlir::Value narrow, mlir::Value wide, mlir::Value out) const;
  std::optional<PrecompiledCall> biasGradient(mlir::Value out) const;

private:
  precompiled::Tensor grouped(mlir::Value tensor, int64_t operand, size_t dim,
                              int64_t channels) const;
  llvm::SmallVector<int64_t, 3> onEachAxis(int64_t number) const;
  llvm::SmallVector<int64_t, 3> withoutPadding() const;
  void describeResult(precompiled::Product &product, mlir::Value out,
                      int64_t channels) const;
  precompiled::Product describePhase(mlir::Value narrow, mlir::Value out,
                                     const ConvolutionPhase &phase) const;
  std::optional<PrecompiledCall>
  describeAll(llvm::ArrayRef<precompiled::Product> products,
              mlir::Value out) const;

  const ConvolutionProblem &p;
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_CONVOLUTION_H
