// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers where an op of an exported program takes a number.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_COMPLEXNUMBERS_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_COMPLEXNUMBERS_H

#include "GraphReader.h"

namespace cutback::pt2 {

/// One call that a reader is at.
class ComplexNumbers {
public:
  /// `args` change where a number among them is complex. `result` is null, or
  /// what the only result of the call is declared as.
  ComplexNumbers(GraphReader &reader, fx::CallArguments &args,
                 const fx::CallStatement *result, const fx::Place &place,
                 JsonValue node)
      : reader(reader), args(args), result(result), place(place), node(node) {}

  /// The op to call with `args`: `target` if no number is complex. Emits an
  /// error where there is none.
  mlir::FailureOr<const fx::CallTarget *> settle(const fx::CallTarget &target);

private:
  /// One argument; all of a call are given by name or in order.
  struct Argument {
    size_t place;         ///< in `args.values`
    size_t operand;       ///< in `args.operands`
    llvm::StringRef name; ///< of the parameter
  };
  std::vector<Argument> find(const aten::Schema &schema) const;
  const aten::Schema *overloadOfTensors(const aten::Schema &schema,
                                        llvm::ArrayRef<Argument> numbers) const;
  void drop(const Argument &argument);
  bool multiplyBefore(const aten::Schema &schema, const Argument &factor);
  mlir::LogicalResult fillAfter(const fx::CallTarget &target,
                                const Argument &number);
  llvm::StringRef nameAt(const aten::Schema &schema, size_t i) const;

  GraphReader &reader;
  fx::CallArguments &args;
  const fx::CallStatement *result;
  const fx::Place &place;
  JsonValue node;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_COMPLEXNUMBERS_H
