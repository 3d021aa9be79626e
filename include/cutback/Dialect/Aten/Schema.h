// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of op schemas: parameters with kinds, defaults and aliases of
// every op of dialect `aten`. It is read from the schema strings in the ODS
// files, once a context, and serves all readers and printers.
#ifndef CUTBACK_DIALECT_ATEN_SCHEMA_H
#define CUTBACK_DIALECT_ATEN_SCHEMA_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace cutback::aten {

class InferCall;
/// Result types of one call, see Infer.h; one function a rule.
using InferFn = mlir::LogicalResult (*)(const InferCall &,
                                        llvm::SmallVectorImpl<mlir::Type> &);

/// Kind of one parameter or result, without its `[]` and `?`.
enum class ParamKind : uint8_t {
  Tensor,
  /// A number, or a symbolic scalar of type index, f64 or i1.
  Scalar,
  /// int and SymInt alike.
  Int,
  Float,
  Bool,
  Str,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
};

struct SchemaParam {
  llvm::StringRef name;
  ParamKind kind = ParamKind::Tensor;
  bool isList = false;          ///< `Tensor[]`, `int[2]`
  bool isOptional = false;      ///< `Tensor?`: None is allowed
  bool elementOptional = false; ///< `Tensor?[]`: entries may be None
  bool keywordOnly = false;     ///< stands behind `*`
  bool isWritten = false;       ///< `Tensor(a!)`
  char aliasSet = 0;            ///< 'a' of `Tensor(a)`, 0 without
  unsigned listSize = 0;        ///< 2 of `int[2]`; one value stands for all
  /// Filled in when the argument is not given; null if it must be given.
  mlir::Attribute defaultValue;
};

struct SchemaResult {
  ParamKind kind = ParamKind::Tensor;
  bool isList = false;
  bool isWritten = false;
  char aliasSet = 0;
};

class InferCall;
/// Result types of one call; see Infer.h.
using InferFn = mlir::LogicalResult (*)(const InferCall &call,
                                        llvm::SmallVectorImpl<mlir::Type> &);

/// What result `result` of an op is in some other release.
struct OtherResult {
  unsigned result = 0;
  mlir::Type type;
};

struct Schema {
  llvm::StringRef packet;   ///< "aten.mul", "prims.iota", "operator.add"
  llvm::StringRef overload; ///< "Tensor", "default"; empty for operator.*
  mlir::OperationName op;
  std::vector<SchemaParam> params;
  std::vector<SchemaResult> results;
  std::vector<OtherResult> otherReleases;
  /// Null for an op whose results cannot be inferred.
  InferFn infer = nullptr;

  explicit Schema(mlir::OperationName op) : op(op) {}
  /// Parameters before the first keyword-only one.
  unsigned getNumPositional() const;
  /// Position of the parameter called `name`, or -1.
  int find(llvm::StringRef name) const;
  /// A call gives a tuple or a list (even of one value).
  bool returnsTuple() const {
    return results.size() != 1 || results.front().isList;
  }
};

/// Looks schemas up by the name that a text has: "aten.mul.Tensor",
/// "aten.mm.default", "prims.iota.default", "operator.mul", "torch.sym_float",
/// "math.trunc". Owned by the dialect: valid as long as the context is.
class SchemaTable {
public:
  /// Loads dialect `aten` if it is not loaded.
  static const SchemaTable &get(mlir::MLIRContext *context);

  const Schema *lookup(llvm::StringRef torchName) const;
  const Schema *lookup(mlir::OperationName op) const;
  llvm::ArrayRef<const Schema *> all() const;

  struct Impl;
  explicit SchemaTable(Impl &impl) : impl(impl) {}

private:
  Impl &impl;
};

/// The entry of an argument list for `value`, given for `param`: an int for a
/// float becomes one, a single value for `int[2]` a list. Null if the value
/// does not fit the parameter.
mlir::Attribute canonicalizeArg(const SchemaParam &param,
                                mlir::Attribute value);

/// True if an operand of type `type` may stand for (an element of) `param`.
bool acceptsOperand(const SchemaParam &param, mlir::Type type);

/// Infers the result types of the call `schema(args)` on operands of the given
/// types, also for `?`. `operandInts[i]` is the value of integer operand i
/// where it is known (for evaluation under size hints), else kDynamic; the
/// array may be empty. An error is emitted at `loc` if one is given. Results
/// that the schema leaves undefined have type `none`.
mlir::LogicalResult inferResultTypes(
    const Schema &schema, mlir::ArrayAttr args, mlir::TypeRange operandTypes,
    llvm::ArrayRef<int64_t> operandInts, std::optional<mlir::Location> loc,
    llvm::SmallVectorImpl<mlir::Type> &results);

/// Creates the op of `schema` with a full-length argument skeleton. `names` is
/// null or one name a result.
mlir::Operation *createCall(mlir::OpBuilder &builder, mlir::Location loc,
                            const Schema &schema, mlir::ArrayAttr args,
                            mlir::ValueRange operands,
                            mlir::TypeRange resultTypes, mlir::ArrayAttr names);

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_SCHEMA_H
