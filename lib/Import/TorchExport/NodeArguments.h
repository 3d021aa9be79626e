// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of nodes.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEARGUMENTS_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEARGUMENTS_H

#include "../Arguments.h"
#include "Names.h"

#include "cutback/Dialect/Aten/Schema.h"

#include <functional>

namespace cutback::pt2 {

class NodeArguments {
public:
  NodeArguments(Fields &fields, Types &types);

  /// Reads the `inputs` of a node. Arguments get the names of `schema`'s
  /// parameters, or the node's where there is no schema. Those in front of
  /// input `first` are passed over.
  mlir::LogicalResult read(JsonValue inputs, const aten::Schema *schema,
                           const Frame &frame, fx::CallArguments &args,
                           unsigned first = 0);
  /// The names, in the frame, of the operands that were read last.
  llvm::ArrayRef<llvm::StringRef> operandNames() const { return names; }
  /// The value called `name`; null where it is undefined.
  mlir::FailureOr<mlir::Value> value(JsonValue at, llvm::StringRef name,
                                     const Frame &frame);
  /// Makes the value of a complex literal; null after an error.
  std::function<mlir::Value(double real, double imaginary)> makeComplex;

private:
  using Result = mlir::FailureOr<mlir::Attribute>;

  Result argument(JsonValue arg, fx::CallArguments &args);
  Result literal(llvm::StringRef kind, JsonValue value);
  Result list(llvm::StringRef kind, JsonValue value);
  Result use(JsonValue at, JsonValue name, fx::CallArguments &args);
  /// An entry of a list of scalars: a name or a number.
  Result scalar(JsonValue value, fx::CallArguments &args);
  /// {"name": …} or, in a list of optional ones, {"as_tensor": …}.
  Result tensor(JsonValue value, fx::CallArguments &args);
  template <typename Read> Result entries(JsonValue value, Read &&read);
  Result unknown(JsonValue at, llvm::StringRef kind);
  Result complexNumber(JsonValue value, fx::CallArguments &args);
  Result graph(JsonValue value);

  Fields &fields;
  Types &types;
  mlir::Builder builder;
  mlir::Attribute operandAttr, noneAttr;
  const Frame *frame = nullptr;
  llvm::SmallVector<llvm::StringRef, 8> names;
  llvm::DenseMap<llvm::StringRef, mlir::Attribute> literals; ///< by JSON text
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEARGUMENTS_H
