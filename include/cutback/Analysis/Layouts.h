// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which value is a view of which storage, and with what strides, when every
// new result is contiguous: the rule that the interpreter follows at run time
// and that the memory plan counts bytes with.
#ifndef CUTBACK_ANALYSIS_LAYOUTS_H
#define CUTBACK_ANALYSIS_LAYOUTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace cutback {

/// Sizes, strides and offset in elements.
struct Layout {
  llvm::SmallVector<int64_t, 5> sizes, strides;
  int64_t offset = 0;

  static Layout contiguous(llvm::ArrayRef<int64_t> sizes);
  bool isContiguous() const;
  int64_t numel() const;
};

/// The layout of result `result` of `op` as a view of its operand
/// `RematerializableOpInterface::getAliasedOperand(result)`, whose layout is
/// `base`; `resultSizes` are the result's sizes. Nothing if the op is no view,
/// or if strides do not allow one (`view` of a transposed tensor): then the
/// result is a new contiguous tensor. `operandInts[i]` is the value of integer
/// operand i (kDynamic where it is not known: then nothing, unless the op does
/// not need it).
std::optional<Layout> viewLayout(mlir::Operation *op, unsigned result,
                                 const Layout &base,
                                 llvm::ArrayRef<int64_t> resultSizes,
                                 llvm::ArrayRef<int64_t> operandInts);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_LAYOUTS_H
