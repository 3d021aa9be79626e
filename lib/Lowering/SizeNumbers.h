// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that depend on the symbols of a step, and the expressions that they
// are.
#ifndef CUTBACK_LIB_LOWERING_SIZENUMBERS_H
#define CUTBACK_LIB_LOWERING_SIZENUMBERS_H

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <string>
#include <vector>

namespace cutback {

/// Sets of values of the symbols for which a step is looked at.
inline constexpr size_t kSizePoints = 3;
/// A number in each of them.
using SizeNumber = std::array<int64_t, kSizePoints>;

class SizeNumbers {
public:
  /// Whether symbols of one hint have one value, too: some graphs want that
  /// (a batch of inputs and one of labels), and do not say it.
  enum class EqualHints { Apart, Together };
  /// What values are multiples of: of what texts and ops divide by, or of the
  /// hints too, for ops that divide and do not say it (a group norm).
  enum class Multiples { OfTexts, OfHints };
  struct Kind {
    EqualHints equal;
    Multiples multiples;
  };

  /// `symbols`, a graph's, and the size expressions in `halves` that are no
  /// sums of products of them ("s0//2"). Values are primes, times what the
  /// expressions divide by, far from each other and in the symbols' ranges if
  /// that can be; no size in `halves` is a multiple of one. A symbol whose
  /// range is one value has that.
  SizeNumbers(mlir::DictionaryAttr symbols,
              llvm::ArrayRef<mlir::Operation *> halves, Kind kind = Kind());
  /// The only value in the range of a symbol; nothing if there are more.
  static std::optional<int64_t> valueOf(mlir::NamedAttribute symbol);
  /// Whether two symbols of more than one value have one hint.
  static bool hasEqualHints(mlir::DictionaryAttr symbols);

  mlir::MLIRContext *getContext() const { return context; }
  const llvm::StringMap<int64_t> &point(size_t i) const { return points[i]; }
  /// The text of symbol `i` of an expression.
  const std::string &text(unsigned i) const { return atoms[i].text; }

  /// The expression that has these values: a number, a product, a sum of
  /// products. Nothing if none is found.
  std::optional<mlir::AffineExpr> exprOf(const SizeNumber &number) const;

private:
  struct Atom {
    std::string text;
    SizeNumber values;
  };

  void choosePoints(mlir::DictionaryAttr symbols,
                    llvm::ArrayRef<mlir::Operation *> halves, int64_t multiple);
  int64_t withinRange(llvm::StringRef name, size_t point, int64_t least,
                      int64_t most, int64_t multiple,
                      llvm::function_ref<bool(int64_t)> isFree);
  void joinEqualHints(mlir::DictionaryAttr symbols);
  int64_t multipleOf(mlir::NamedAttribute symbol, int64_t multiple) const;
  void addQuotients(mlir::DictionaryAttr symbols);
  void addAtom(llvm::StringRef text);
  std::optional<mlir::AffineExpr> find(SizeNumber number, unsigned depth) const;

  mlir::MLIRContext *context;
  Kind kind;
  std::array<llvm::StringMap<int64_t>, kSizePoints> points;
  std::vector<Atom> atoms;
  std::vector<unsigned> bySize; ///< atoms, the largest first
};

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_SIZENUMBERS_H
