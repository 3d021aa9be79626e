// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds calls of dialect `aten` the way one writes them in PyTorch:
//
//   CallBuilder b(builder, loc);
//   Value y = b.call(op::sum_dim_IntList, {x, {0, -1}, true});
//   Value z = b.call(op::_to_copy, {y}, {{"dtype", b.f32()}});
//
// Arguments that are left out take their defaults, result types are inferred.
// What VJP rules, decompositions, functionalization and tests write their ops
// with.
#ifndef CUTBACK_DIALECT_ATEN_CALLBUILDER_H
#define CUTBACK_DIALECT_ATEN_CALLBUILDER_H

#include "cutback/Dialect/Aten/Schema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <initializer_list>
#include <type_traits>

namespace cutback::aten {

/// One argument of a call: a value, a number, a string, a dtype, None, or a
/// list of arguments.
class Arg {
public:
  /// None.
  Arg() = default;
  Arg(std::nullptr_t) {}
  /// A null value is None.
  Arg(mlir::Value value) : kind(value ? Kind::Value : Kind::None) {
    this->value = value;
  }
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Arg(T number)
      : kind(std::is_same_v<T, bool> ? Kind::Bool : Kind::Int),
        integer(static_cast<int64_t>(number)) {}
  Arg(double number) : kind(Kind::Float), real(number) {}
  Arg(const char *text) : kind(Kind::String), text(text) {}
  Arg(llvm::StringRef text) : kind(Kind::String), text(text) {}
  Arg(mlir::Type dtype) : kind(Kind::Attribute) {
    attribute = mlir::TypeAttr::get(dtype);
  }
  /// An entry of another op's `args` that holds no operand.
  explicit Arg(mlir::Attribute attribute);
  Arg(std::initializer_list<Arg> list) : kind(Kind::List), list(list) {}
  Arg(llvm::ArrayRef<Arg> list)
      : kind(Kind::List), list(list.begin(), list.end()) {}
  Arg(const llvm::SmallVectorImpl<Arg> &list) : Arg(llvm::ArrayRef(list)) {}
  Arg(const std::vector<Arg> &list) : kind(Kind::List), list(list) {}
  Arg(llvm::ArrayRef<int64_t> list);
  Arg(const llvm::SmallVectorImpl<int64_t> &list)
      : Arg(llvm::ArrayRef<int64_t>(list)) {}
  Arg(llvm::ArrayRef<mlir::Value> list);
  Arg(const llvm::SmallVectorImpl<mlir::Value> &list)
      : Arg(llvm::ArrayRef<mlir::Value>(list)) {}

  bool isNone() const { return kind == Kind::None; }
  bool isValue() const { return kind == Kind::Value; }
  bool isList() const { return kind == Kind::List; }
  /// The value, null if it is none.
  mlir::Value getValue() const { return value; }
  /// The number, if it is a literal int.
  std::optional<int64_t> getInt() const;
  /// The number, if it is a literal int, float or bool.
  std::optional<double> getNumber() const;
  llvm::ArrayRef<Arg> getList() const { return list; }

private:
  friend class CallBuilder;
  enum class Kind { None, Value, Int, Float, Bool, String, Attribute, List };
  mlir::Attribute skeleton(mlir::MLIRContext *context,
                           llvm::SmallVectorImpl<mlir::Value> &operands) const;

  Kind kind = Kind::None;
  mlir::Value value;
  mlir::Attribute attribute;
  int64_t integer = 0;
  double real = 0;
  llvm::StringRef text;
  std::vector<Arg> list;
};

/// An argument with its name in the schema.
struct NamedArg {
  llvm::StringRef name;
  Arg arg;
};

/// Gives out names that no value of a graph has: "mul", "mul_1", … as FX does.
class ValueNamer {
public:
  /// Takes the names of all arguments and results in `root`.
  explicit ValueNamer(mlir::Operation *root);
  mlir::StringAttr next(llvm::StringRef stem);

private:
  /// Names of one stem: a graph of a million values has a hundred stems, so
  /// the table stays in the nearest cache.
  struct Family {
    bool isTaken = false; ///< the stem itself
    unsigned next = 1;    ///< the number to try
    llvm::DenseSet<unsigned> taken;
  };

  /// False if `name` is in use.
  bool take(llvm::StringRef name);

  mlir::MLIRContext *context;
  llvm::StringMap<Family> families;
};

/// Builds calls at the insertion point of an OpBuilder. After an error (which
/// is emitted at the location) `failed()` holds, and every further call gives
/// null without another message; so a rule may check once, at its end.
class CallBuilder {
public:
  CallBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              ValueNamer *namer = nullptr);

  /// The one result of `torchName` ("aten.mul.Tensor", "aten.mm.default",
  /// "prims.iota.default"). An argument that holds a null value where the
  /// schema wants a tensor is an error.
  mlir::Value call(llvm::StringRef torchName, llvm::ArrayRef<Arg> positional,
                   llvm::ArrayRef<NamedArg> named = {});
  /// All results; empty after an error. With `numResults` the number of
  /// results of an op that gives a list (`split`) is checked.
  llvm::SmallVector<mlir::Value> callMany(llvm::StringRef torchName,
                                          llvm::ArrayRef<Arg> positional,
                                          llvm::ArrayRef<NamedArg> named = {});

  bool failed() const { return hasFailed; }
  llvm::LogicalResult result() const { return llvm::failure(hasFailed); }
  /// Emits `message` at the location; the builder has failed.
  void error(const llvm::Twine &message);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  ValueNamer *getNamer() const { return namer; }

  /// Size `dim` (counted from the end if negative) of `tensor`: a number, or
  /// for `?` the value of `aten.sym_size.int`.
  Arg size(mlir::Value tensor, int64_t dim);
  /// All sizes of `tensor`, for `view`, `expand`, `full`.
  Arg sizes(mlir::Value tensor);
  /// Number of elements as a number or a symbolic size.
  Arg numel(mlir::Value tensor);
  /// Product of two sizes, folded where both are numbers.
  Arg times(const Arg &a, const Arg &b);

  mlir::Type f32();
  mlir::Type i64();
  mlir::Type boolean();

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ValueNamer *namer;
  bool hasFailed = false;
};

/// Rank, element type and static sizes of a tensor value.
int64_t rankOf(mlir::Value tensor);
mlir::Type elementOf(mlir::Value tensor);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);
/// `dim` counted from 0.
inline int64_t wrapDim(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + (rank == 0 ? 1 : rank) : dim;
}

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_CALLBUILDER_H
