// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which value is a view of which storage, and with what strides, when every
// new result is contiguous: the rule that the interpreter follows at run time
// and that the memory plan counts bytes with.
#ifndef CUTBACK_ANALYSIS_LAYOUTS_H
#define CUTBACK_ANALYSIS_LAYOUTS_H

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace cutback {

/// Sizes, strides and offset in elements.
struct Layout {
  llvm::SmallVector<int64_t, 5> sizes, strides;
  int64_t offset = 0;

  static Layout contiguous(llvm::ArrayRef<int64_t> sizes);
  /// Of what a size that depends on data hides: one dimension, of unknown size.
  static Layout unknown();
  bool isKnown() const;
  bool isContiguous() const;
  int64_t numel() const;
  /// Other sizes for the same elements in the same order. Nothing if these are
  /// not as many, or do not lie so that one stride a dimension is enough.
  std::optional<Layout> reshaped(llvm::ArrayRef<int64_t> sizes) const;
};

/// What a dialect says about its views; it adds an implementation to itself.
class ViewLayoutInterface
    : public mlir::DialectInterface::Base<ViewLayoutInterface> {
public:
  ViewLayoutInterface(mlir::Dialect *dialect) : Base(dialect) {}
  /// See the functions below. `viewLayout` need not check bounds.
  virtual int64_t getViewedOperand(mlir::Operation *op,
                                   unsigned result) const = 0;
  virtual std::optional<Layout>
  viewLayout(mlir::Operation *op, unsigned result, const Layout &base,
             llvm::ArrayRef<int64_t> resultSizes,
             llvm::ArrayRef<int64_t> operandInts) const = 0;
};

/// The operand that result `result` of `op` is a view of where strides allow
/// it; -1 if it is none. That is the operand whose storage the result shares
/// (RematerializableOpInterface::getAliasedOperand), and also that of `reshape`
/// and others that view or copy.
int64_t getViewedOperand(mlir::Operation *op, unsigned result);

/// The layout of result `result` of `op` as a view of operand
/// `getViewedOperand(op, result)`, whose layout is `base`; `resultSizes` are
/// the result's sizes. Nothing if the op is no view, or if strides do not allow
/// one (`view` of a transposed tensor), or if it would leave its base: then the
/// result is a new contiguous tensor. `operandInts[i]` is the value of integer
/// operand i (kDynamic where it is not known: then nothing, unless the op does
/// not need it; the list may be empty).
std::optional<Layout> viewLayout(mlir::Operation *op, unsigned result,
                                 const Layout &base,
                                 llvm::ArrayRef<int64_t> resultSizes,
                                 llvm::ArrayRef<int64_t> operandInts);

/// How a view lies.
struct ViewedLayout {
  Layout layout;
  /// Strides do not allow a view of the operand as it lies, but of a contiguous
  /// copy: the result is a new tensor, all of whose elements stand where
  /// `layout` has them in the operand's order.
  bool isOfCopy = false;
};

/// How result `result` of `op` lies on an operand that lies as `base`, or on a
/// contiguous copy of it; nothing if it is no view of either: then the op makes
/// it. An unknown base makes it unknown. The other arguments are those of
/// viewLayout.
std::optional<ViewedLayout> layoutOfView(mlir::Operation *op, unsigned result,
                                         const Layout &base,
                                         llvm::ArrayRef<int64_t> resultSizes,
                                         llvm::ArrayRef<int64_t> operandInts);

/// The same of all results of `op`, in their order. False if the op makes one
/// of them, for then it makes all of them. `layoutOf` says how an operand lies,
/// null of what lies nowhere; `sizesOf` which sizes a result has, nothing of
/// what is no tensor of known rank.
bool layoutsOfViews(
    mlir::Operation *op,
    llvm::function_ref<const Layout *(unsigned operand)> layoutOf,
    llvm::function_ref<std::optional<llvm::ArrayRef<int64_t>>(unsigned result)>
        sizesOf,
    llvm::ArrayRef<int64_t> operandInts,
    llvm::SmallVectorImpl<ViewedLayout> &layouts);

/// Whether a kernel reads elements of type `view` where elements of type
/// `memory` lie: equal ones, or the parts of complex numbers. It has no complex
/// numbers, and no bytes of numbers.
bool hasElements(mlir::Type memory, mlir::Type view);

/// Values of `function` that see the storage of an argument (views of it,
/// results of writes) which is written again before they are read last: they
/// are copied when they are made, so that they keep their values. An op that
/// `runsLast` reads behind all writes, wherever it stands. Linear.
llvm::SetVector<mlir::Value> findForcedCopies(
    mlir::Operation *function,
    llvm::function_ref<bool(mlir::Operation *)> runsLast = nullptr);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_LAYOUTS_H
