// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that runs a part of a numbered graph: what halves and phases have
// in common.
#ifndef CUTBACK_LIB_PARTITION_FUNCTIONEMITTER_H
#define CUTBACK_LIB_PARTITION_FUNCTIONEMITTER_H

#include "cutback/Analysis/GraphView.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace cutback {

/// The part of a graph that one function runs; all are numbers of the view.
struct FunctionPart {
  llvm::StringRef suffix; ///< appended to the name of the graph
  /// The arguments: first those that carry handed values, as many as
  /// `numHanded`, then arguments of the graph.
  llvm::ArrayRef<uint32_t> args;
  size_t numHanded = 0;
  llvm::ArrayRef<uint32_t> ops; ///< in the order in which they run
  llvm::ArrayRef<uint32_t> results;
  /// By op: it has run in an earlier function. Empty: none has.
  llvm::ArrayRef<uint8_t> isCopy = {};
};

/// Writes functions of one graph, one after the other. Values are mapped by
/// number in one array (copyOp), and ops appended at the end of a block: no
/// hash table, no insertion in the middle.
class FunctionEmitter {
public:
  /// The functions come after `place`.
  FunctionEmitter(const GraphView &view, joint::GraphOp place);

  /// Arguments keep role and name; those that carry handed values have the
  /// name of the value and the role `saved`. Copies are called NAME_recompute
  /// and carry `joint.recompute`, with numbers that go on from function to
  /// function. Linear.
  mlir::func::FuncOp emit(const FunctionPart &part);

  /// GraphView::name as an attribute; mostly it is one already.
  mlir::StringAttr nameOf(uint32_t value);
  /// At the end of what was written.
  mlir::OpBuilder &getBuilder() { return builder; }

private:
  llvm::SmallVector<mlir::Type> typesOf(llvm::ArrayRef<uint32_t> values) const;
  mlir::func::FuncOp createFunction(const FunctionPart &part);
  mlir::DictionaryAttr argAttrs(uint32_t value, bool isHanded);
  void addOps(const FunctionPart &part, mlir::Block *block);
  void markRecomputed(mlir::Operation *op, bool isOfRun);

  const GraphView &view;
  joint::GraphOp graph;
  mlir::OpBuilder builder;
  mlir::StringAttr recomputeName, nameId, namesId;
  mlir::NamedAttribute savedRole;
  std::vector<mlir::Value> mapping; ///< by value number, of the one at work
  int64_t nextRecompute = 0;
};

} // namespace cutback

#endif // CUTBACK_LIB_PARTITION_FUNCTIONEMITTER_H
