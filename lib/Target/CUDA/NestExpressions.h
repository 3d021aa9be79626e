// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars of a loop nest as expressions of one thread: names, indices, values.
#ifndef CUTBACK_LIB_TARGET_CUDA_NESTEXPRESSIONS_H
#define CUTBACK_LIB_TARGET_CUDA_NESTEXPRESSIONS_H

#include "KernelText.h"
#include "ScalarText.h"

#include "llvm/ADT/StringSet.h"

namespace cutback::cuda {

/// What the lines of a nest are written with: the text so far, and which
/// expression each value is. Loops are its heir's.
class NestExpressions {
protected:
  NestExpressions(kernel::NestOp nest, const NestSchedule &schedule,
                  llvm::ArrayRef<std::string> names, llvm::StringRef block,
                  unsigned indent, std::string &problem);

  using Mapping = NestSchedule;

  /// Notes why the nest has no text; false.
  bool fail(mlir::Operation *op, const llvm::Twine &why);

  //===--- Names ----------------------------------------------------------===//

  /// `wanted`, with a number behind it where that is taken.
  std::string unique(const std::string &wanted);
  std::string memoryName(mlir::Value memory) const {
    return names[llvm::cast<mlir::BlockArgument>(memory).getArgNumber()];
  }
  static int64_t memorySize(mlir::Value memory) {
    return llvm::cast<mlir::MemRefType>(memory.getType()).getNumElements();
  }
  /// A name that tells what `value` is.
  std::string nameFor(mlir::Value value);

  //===--- Lines ----------------------------------------------------------===//

  /// Of numbers of elements.
  std::string indexType() const { return isWide ? "long long" : "int"; }
  std::string blockNumber() const {
    return isWide ? "(long long)" + block : block;
  }

  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text) {
    line(text + " {");
    indent += 2;
  }
  void close() {
    indent -= 2;
    line("}");
  }

  //===--- Indices --------------------------------------------------------===//

  /// The number of the element that a thread is at, or of its first of four.
  std::string elementNumber(bool ofFour) const;
  /// "Four<float>": what a thread has of a row at a time.
  std::string neighbours(const std::string &type) const {
    const char *name = schedule.width == 4   ? "Four<"
                       : schedule.width == 2 ? "Two<"
                                             : "One<";
    return name + type + ">";
  }
  /// "load4": a function of as many.
  std::string ofWidth(const char *function) const {
    return function + std::to_string(schedule.width);
  }
  std::string rowNumber() const {
    return schedule.mapping == Mapping::Columns ? "column" : "row";
  }
  /// Whether an axis is one of the element's number, not of the row's.
  bool isOfElement(unsigned axis) const {
    return schedule.mapping == Mapping::Elements || nest.getReduced()[axis];
  }
  llvm::SmallVector<unsigned> axesOf(bool ofElement) const;
  /// An axis by itself, from the number of the row or element.
  Text axisText(unsigned axis, bool ofFour = false) const;
  /// Adds factor * text to a sum.
  static void addTerm(std::string &sum, int64_t factor, const Text &text);
  /// Axes of one kind in a linear form: one factor of their number where they
  /// lie behind each other. Nothing where they do not.
  std::optional<int64_t> collapse(llvm::ArrayRef<int64_t> byAxis,
                                  bool ofElement) const;

  struct Access {
    std::string index;
    bool isOfFour = false; ///< may be read and written `width` at a time
    bool isChecked = false;
  };
  /// The index at which `memory` is read or written; four at a time only if
  /// `tryFour`.
  std::optional<Access> accessOf(mlir::AffineMap map, mlir::ValueRange indices,
                                 mlir::Value memory, bool tryFour);
  Text affineText(mlir::AffineExpr expr, mlir::ValueRange indices);
  /// Elements of a row, or of all.
  int64_t elements() const {
    return schedule.mapping == Mapping::Elements ? schedule.kept
                                                 : schedule.reduced;
  }

  //===--- Expressions ----------------------------------------------------===//

  /// What `value` is called, or the expression that it is.
  Text text(mlir::Value value);
  /// Whether the one reader of `value` may have it in its own expression.
  bool isInline(mlir::Value value, const Text &expression) const;
  /// `value` is `expression` from here on.
  void define(mlir::Value value, const Text &expression, bool mayInline = true);

  /// Each writes what an op computes; false where it has no text.
  bool writeScalar(mlir::Operation *op);
  bool writeLoad(kernel::LoadOp load);
  bool writeDraw(kernel::DrawOp draw);
  std::string checkedIndex(const std::string &index, const std::string &size,
                           bool isWrapped = false) {
    result.checks = true;
    return (isWrapped ? "wrapped(" : "checked(") + index + ", " + size +
           ", problem)";
  }

  mutable kernel::NestOp nest; ///< accessors of ops are not const
  const NestSchedule &schedule;
  llvm::ArrayRef<std::string> names;
  std::string block;
  unsigned indent;
  std::string &problem;
  NestText result;
  NestPlan plan;
  llvm::DenseMap<mlir::Value, std::string> heldNames;
  llvm::StringSet<> used;
  unsigned numNamed = 0;
  bool isWide = false; ///< more than 32 bits count
  llvm::DenseMap<mlir::Value, Text> texts;
  llvm::DenseSet<mlir::Operation *> fours; ///< loads of four, in this loop
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_NESTEXPRESSIONS_H
