// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument list of a framework call, stored as one attribute.
//
// An op of dialect `aten`, and `joint.opaque`, holds its SSA operands in one
// flat list and, in the attribute `args`, the skeleton of the call: an array
// with one entry a parameter of the schema. `#joint.operand` stands for the
// next SSA operand, `#joint.none` for None, a nested array for a list. Ints
// are i64 attributes, floats f64, bools i1, dtypes type attributes; devices,
// layouts and memory formats are strings. So two calls are the same exactly
// if name, operands and one uniqued attribute are.
#ifndef CUTBACK_DIALECT_JOINT_CALLARGS_H
#define CUTBACK_DIALECT_JOINT_CALLARGS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cutback::joint {

/// On a graph whose text had neither strides nor descriptors (releases before
/// 2.8 or so). PyTorch's rules run without those facts there: a constant has no
/// value, a write belongs to where it stands, and dead random calls stay.
inline constexpr llvm::StringLiteral kUnannotatedText = "joint.unannotated";

/// Op attribute (unit): the op stands where gradients are off.
inline constexpr llvm::StringLiteral kNoGrad = "joint.no_grad";

/// Number of SSA operands that the skeleton `args` asks for.
unsigned countOperands(mlir::ArrayAttr args);

/// Prints `(%a, [%s, 16], 0.5, dtype = f32)`. Entries from `numPositional` on
/// are printed as `keyword = value`, and left out where `isDefault(index)`;
/// positional entries at the end that are defaults are left out too.
void printCallArgs(mlir::OpAsmPrinter &p, mlir::OperandRange operands,
                   mlir::ArrayAttr args,
                   llvm::function_ref<llvm::StringRef(unsigned)> keyword,
                   unsigned numPositional,
                   llvm::function_ref<bool(unsigned)> isDefault);

/// One parsed argument: its keyword (empty if positional) and its skeleton.
struct ParsedArg {
  llvm::StringRef keyword;
  mlir::Attribute value;
};

/// Parses what `printCallArgs` prints; operands are appended in the order of
/// the text. Emits an error at the offending token.
mlir::ParseResult parseCallArgs(
    mlir::OpAsmParser &parser, llvm::SmallVectorImpl<ParsedArg> &args,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);

/// The trailing ` : (types) -> types` of a call, with operands resolved.
mlir::ParseResult
parseCallTypes(mlir::OpAsmParser &parser, mlir::OperationState &state,
               llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands);
void printCallTypes(mlir::OpAsmPrinter &p, mlir::Operation *op);

/// Names last: reads the SSA names of the results being parsed into the
/// attribute `names` (nothing for numbered results).
void parseResultNames(mlir::OpAsmParser &parser, mlir::OperationState &state);

/// The entry of the attribute `names` for a result, null where it has none; of
/// a copy of a checkpoint region with its run behind it (kRunSuffix), which
/// the attribute need not have.
mlir::StringAttr getResultName(mlir::OpResult result);

/// Suggests names of results, as getResultName() has them, as SSA names.
void setResultNames(mlir::Operation *op, mlir::Attribute names,
                    llvm::function_ref<void(mlir::Value, llvm::StringRef)> set);

/// The name of a value: from `names` of its op, or `joint.name` of the
/// argument; null, or empty, where there is none.
mlir::StringAttr getValueNameAttr(mlir::Value value);
llvm::StringRef getValueName(mlir::Value value);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_CALLARGS_H
