// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments of a call of dialect `aten`, by name or by position in
// its schema.
#ifndef CUTBACK_DIALECT_ATEN_CALLREADER_H
#define CUTBACK_DIALECT_ATEN_CALLREADER_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/Infer.h"

namespace cutback::aten {

/// The arguments of an op. An optional parameter that its schema lacks is None.
class CallReader : private Arguments {
public:
  explicit CallReader(CallOp op);

  using Arguments::hasMisread;
  CallOp getOp() const { return op; }
  /// The argument as it stands, to be given to another call.
  Arg arg(ParamRef param) const;
  bool isNone(ParamRef param) const { return arg(param).isNone(); }
  /// The SSA value of the argument; null if it is None, a number or a list.
  mlir::Value value(ParamRef param) const;
  /// Position of the (first) operand of the argument among the op's operands,
  /// -1 if it has none.
  int operand(ParamRef param) const;
  /// The name of the parameter that operand number `operand` is (an entry of).
  llvm::StringRef parameterOf(unsigned operand) const;

  /// Literals; nothing where the argument is None, of another kind, or an SSA
  /// value.
  std::optional<int64_t> integer(ParamRef param) const;
  std::optional<double> number(ParamRef param) const;
  std::optional<bool> boolean(ParamRef param) const;
  /// Empty for None.
  llvm::StringRef string(ParamRef param) const;
  /// Null for None.
  mlir::Type dtype(ParamRef param) const;
  /// Entries of a list (of a single number where the schema takes one for
  /// all); None is the empty list.
  std::vector<Arg> list(ParamRef param) const;
  /// The same, if all entries are literal ints.
  std::optional<llvm::SmallVector<int64_t>> integers(ParamRef param) const;

private:
  mlir::Attribute attribute(ParamRef param) const { return item(param).value; }

  mutable CallOp op; ///< accessors of ops are not const
};

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_CALLREADER_H
