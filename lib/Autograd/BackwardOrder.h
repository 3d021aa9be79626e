// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user says about the order of a backward.
#ifndef CUTBACK_LIB_AUTOGRAD_BACKWARDORDER_H
#define CUTBACK_LIB_AUTOGRAD_BACKWARDORDER_H

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Autograd/NodeGraph.h"

#include "llvm/ADT/MapVector.h"

namespace cutback {

/// Numbers of nodes, and where communication stands.
class BackwardOrder {
public:
  BackwardOrder(joint::GraphOp graph, const DifferentiateOptions &options)
      : graph(graph), options(options) {}

  /// Finds the values that `options.sequence` names. Fails, with an error at
  /// the graph, if there is none of a name. Linear.
  llvm::LogicalResult readNames();
  /// The number for a node of `op` with edges to `next`, which is created next
  /// in `nodes`; nothing for that of its place.
  std::optional<uint64_t> numberOf(mlir::Operation *op,
                                   llvm::ArrayRef<NodeEdge> next,
                                   const NodeGraph &nodes);
  /// After the last node. Fails where a value that has a number has no node.
  llvm::LogicalResult checkNumbers();

  /// The VJP of `op` built the ops from `first` to the end of the block.
  void built(mlir::Operation *op, mlir::Operation *first);
  /// When all ops that nobody uses are gone: waits go to their first readers.
  void settle();

private:
  bool isAsked(mlir::Operation *op) const;
  std::optional<uint64_t> givenTo(mlir::Operation *op) const;

  joint::GraphOp graph;
  const DifferentiateOptions &options;
  /// By op that a name stands for: its number, and whether it has a node.
  llvm::MapVector<mlir::Operation *, std::pair<uint64_t, bool>> given;
  uint64_t ahead = 0;      ///< more than any number by place
  std::vector<bool> leads; ///< by node: a path from it ends at communication
  std::vector<mlir::Operation *> waits;
};

} // namespace cutback

#endif // CUTBACK_LIB_AUTOGRAD_BACKWARDORDER_H
