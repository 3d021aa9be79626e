// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.nested`: calls that run graphs of their own, and what each hands to
// its graphs and makes of what they give.
#ifndef CUTBACK_DIALECT_JOINT_NESTED_H
#define CUTBACK_DIALECT_JOINT_NESTED_H

#include "cutback/Dialect/Joint/Joint.h"

#include <optional>

namespace cutback::joint {

/// The calls whose graphs are known.
enum class NestedKind {
  Cond,
  WhileLoop,
  WhileLoopStack, ///< gives the carried values of all rounds
  Scan,
  FlexAttention,
  FlexAttentionBackward,
};

/// Of "higher_order.cond"; nothing for other callees.
std::optional<NestedKind> nestedKindOf(llvm::StringRef callee);

/// How many graphs such a call has.
unsigned numGraphsOf(NestedKind kind);

/// The names of graphs in an argument list, in its order.
void collectGraphs(mlir::ArrayAttr args,
                   llvm::SmallVectorImpl<mlir::FlatSymbolRefAttr> &graphs);

/// One input of a nested graph.
struct GraphInput {
  enum Source {
    Operand, ///< operand number `operand` of the call
    Slice,   ///< one entry of that operand's first dimension
    Literal, ///< `literal`: the graph's region has no argument for it
    Own,     ///< the call makes it up (a score, an index)
  };
  Source source = Own;
  unsigned operand = 0;
  mlir::Attribute literal;
};

/// What a call hands to its graph number `graph`. Nothing if the argument list
/// is none of such a call.
std::optional<llvm::SmallVector<GraphInput>>
graphInputs(NestedKind kind, mlir::ArrayAttr args, unsigned graph);

/// The types of the results of a call with `graphs`, in order; `none` for a
/// None. Nothing if the graphs are none of such a call.
std::optional<llvm::SmallVector<mlir::Type>>
nestedResultTypes(NestedKind kind, mlir::ArrayAttr args,
                  mlir::TypeRange operands,
                  llvm::ArrayRef<mlir::Region *> graphs);

} // namespace cutback::joint

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/NestedOps.h.inc"

namespace cutback::joint {

/// The graph in `region` as a `joint.graph` at the end of `module`: arguments
/// of role input without names, and as results the values that it gives.
GraphOp copyGraph(mlir::Region &region, mlir::ModuleOp module);

/// Moves the body of `graph` into the empty `region`; what it gives are the
/// forward results of `graph`, which is erased.
void moveGraph(GraphOp graph, mlir::Region &region);

/// How often `op` runs the body of its loop, where sizes say that: a scan, and
/// a loop that stacks what each round gives. Nothing of other loops, whose end
/// depends on data; of what is no loop, 1. `shapes` are those of operands and
/// results.
std::optional<int64_t> roundsOf(NestedOp op,
                                llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

} // namespace cutback::joint

#endif // CUTBACK_DIALECT_JOINT_NESTED_H
