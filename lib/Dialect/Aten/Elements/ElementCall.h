// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call whose elements are computed: its operands as scalars, promoted as
// PyTorch promotes them, and its results.
//
// Formulas compute in the *compute type* of a type: f32 for half precision,
// which is rounded once at the end; i32 for integers that it holds, i64 for the
// others, so that all are signed (u64 has none). A number or a 0-d tensor
// beside half precision keeps f32, except where its value decides
// (`exact`: comparisons).
#ifndef CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_ELEMENTCALL_H
#define CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_ELEMENTCALL_H

#include "Num.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/Elements.h"

namespace cutback::aten::elements {

/// The compute type of an element type; null if it has none.
mlir::Type computeTypeOf(mlir::Type type);
/// The same, a float: integers that are computed on as floats are f32.
mlir::Type realTypeOf(mlir::Type type);

/// Indices, one a dimension.
using Places = llvm::SmallVector<Num, 6>;
/// Element `number`, in row-major order, of a tensor of `sizes`.
Places unravel(Num number, llvm::ArrayRef<int64_t> sizes);

class ElementCall : public CallReader {
public:
  using Params = std::initializer_list<ParamRef>;

  ElementCall(mlir::Operation *op, ElementBuilder &elements, Results &results)
      : CallReader(CallOp(op)), op(op), elements(elements), results(results) {}

  //===-- Types -----------------------------------------------------------===//
  /// Of operand `i`, element types with their sign; a symbolic size is i64.
  mlir::Type operandType(unsigned i) const;
  mlir::Type resultType(unsigned i = 0) const;
  /// True if the first `count` operands are tensors; a number may stand where a
  /// tensor is wanted.
  bool hasTensors(unsigned count) const;
  /// A dimension counted from 0; nothing if there is no such dimension.
  static std::optional<unsigned> dimension(int64_t dim, size_t rank);
  /// Of an argument, `literal` or not; null for None.
  mlir::Type typeOf(ParamRef param) const;
  /// What PyTorch promotes the arguments to that are not None.
  mlir::Type promoted(Params params) const;

  //===-- Scalars ---------------------------------------------------------===//
  /// Operand `i`, as an element of its type.
  Num element(unsigned i) const;
  /// An argument as an element of `to`: an element of a tensor, or a number.
  Num argument(ParamRef param, mlir::Type to) const;
  /// The same, rounded to the promoted type `common` first.
  Num promotedArgument(ParamRef param, mlir::Type common, mlir::Type to,
                       bool exact) const;
  /// A literal number. Where it is another kind of argument, there is no
  /// formula.
  double literal(ParamRef param, std::optional<double> ifNone = {}) const;
  /// Of type `index`: this iteration along an axis, a constant, an integer
  /// argument (0 where it is None), an integer.
  Num axis(unsigned axis) const { return Num(elements, elements.index(axis)); }
  Num index(int64_t number) const;
  Num index(ParamRef param) const;
  Num toIndex(const Num &number) const;
  /// An index where it is inside of [0, `size`), an error where it is not;
  /// with `isWrapped` one below 0 counts from the end.
  Num choose(const Num &place, int64_t size, bool isWrapped) const;
  /// An index as i64.
  Num toInteger(const Num &index) const;
  /// The element of operand `i` at `places`, of type `index`. With conditions,
  /// `otherwise` where one of them is false, 0 without that.
  Num load(unsigned i, llvm::ArrayRef<Num> places,
           llvm::ArrayRef<Num> conditions = {},
           const Num &otherwise = {}) const;

  //===-- Whole formulas --------------------------------------------------===//
  /// Result 0 = f(arguments...) in the compute type of the promoted type.
  template <typename F>
  llvm::LogicalResult ordered(Params params, F f, bool exact = false) const {
    mlir::Type common = promoted(params);
    return apply(params, common, computeTypeOf(common), exact, f);
  }
  /// The same in floating point.
  template <typename F>
  llvm::LogicalResult real(Params params, F f, bool exact = false) const {
    mlir::Type common = promoted(params);
    return apply(params, common, realTypeIn(common), exact, f);
  }
  /// A float where the promoted type is none: that of the result, or f64.
  mlir::Type realTypeIn(mlir::Type common) const;

  /// Appends `nums`, of compute types, as elements of the results. Fails where
  /// one of them is null or an argument was not a literal.
  llvm::LogicalResult give(llvm::ArrayRef<Num> nums) const;
  llvm::LogicalResult give(const Num &num) const {
    return give(llvm::ArrayRef<Num>(num));
  }
  /// Appends `num`, an element of type `from`.
  llvm::LogicalResult giveAs(const Num &num, mlir::Type from) const;

  mlir::Operation *op;
  ElementBuilder &elements;

private:
  template <typename F>
  llvm::LogicalResult apply(Params params, mlir::Type common, mlir::Type in,
                            bool exact, F f) const {
    llvm::SmallVector<Num, 3> x;
    for (ParamRef param : params)
      x.push_back(promotedArgument(param, common, in, exact));
    if (!llvm::all_of(x, [](const Num &num) { return bool(num); }))
      return llvm::failure();
    if constexpr (std::is_invocable_v<F, Num>)
      return give(f(x[0]));
    else if constexpr (std::is_invocable_v<F, Num, Num>)
      return give(f(x[0], x[1]));
    else
      return give(f(x[0], x[1], x[2]));
  }

  Results &results;
  mutable bool hasFailed = false;
};

} // namespace cutback::aten::elements

#endif // CUTBACK_LIB_DIALECT_ATEN_ELEMENTS_ELEMENTCALL_H
