// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a segment of an optimizer as a graph of tensor ops: what an update and
// an accumulation have in common.
#ifndef CUTBACK_LIB_TRAINING_SEGMENTGRAPH_H
#define CUTBACK_LIB_TRAINING_SEGMENTGRAPH_H

#include "cutback/Training/Update.h"

#include "cutback/Dialect/Aten/CallBuilder.h"

namespace cutback {

class SegmentGraphBuilder {
protected:
  /// `made` has its parameters and gets module and graph.
  SegmentGraphBuilder(joint::GraphOp step, UpdateGraph &made)
      : step(step), made(made), builder(step.getContext()) {}

  /// An argument of the graph, before begin().
  void addArgument(llvm::StringRef name, mlir::Type type);
  /// The graph itself, with an empty block, in which ops are built from now on.
  void begin(llvm::ArrayRef<mlir::Type> results);
  /// The next one, in the order in which they were added.
  mlir::Value nextArgument();
  /// Whether all of it was built, and verifies.
  mlir::LogicalResult end(mlir::ValueRange results);

  mlir::Value call(llvm::StringRef name, llvm::ArrayRef<aten::Arg> positional,
                   llvm::ArrayRef<aten::NamedArg> named = {});
  /// What is built from now on is of this parameter.
  void locateAt(const UpdatedParameter &parameter);
  void write(mlir::Value argument, mlir::Value value);

  joint::GraphOp step;
  UpdateGraph &made;
  mlir::OpBuilder builder;

private:
  mlir::Location here() { return location.value_or(step.getLoc()); }

  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::DictionaryAttr> attributes;
  unsigned next = 0;
  std::optional<aten::ValueNamer> namer;
  std::optional<mlir::Location> location;
  bool hasFailed = false;
};

} // namespace cutback

#endif // CUTBACK_LIB_TRAINING_SEGMENTGRAPH_H
