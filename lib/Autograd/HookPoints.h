// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which gradients of a walk have hooks.
#ifndef CUTBACK_LIB_AUTOGRAD_HOOKPOINTS_H
#define CUTBACK_LIB_AUTOGRAD_HOOKPOINTS_H

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Autograd/NodeGraph.h"
#include "cutback/Dialect/Joint/Hook.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace cutback {

/// The points that are asked for, by the node and the gradient at which they
/// are.
class HookPoints {
public:
  /// `edgeOf` says where the gradient of a value of the forward goes. Fails,
  /// with an error at the graph, where a name is that of nothing, or of what
  /// has no gradient of that kind.
  llvm::LogicalResult resolve(joint::GraphOp graph, const NodeGraph &nodes,
                              llvm::ArrayRef<HookRequest> requests,
                              llvm::function_ref<NodeEdge(mlir::Value)> edgeOf);

  bool empty() const { return points.empty(); }

  /// The points of a kind at this gradient, which are placed now: their names,
  /// in the order in which they were asked for.
  llvm::SmallVector<llvm::StringRef, 1> place(HookKind kind, uint32_t node,
                                              unsigned index);

  /// Behind the walk: fails, with an error at the graph, where it passed no
  /// gradient that a request names.
  llvm::LogicalResult checkPlaced(joint::GraphOp graph) const;

private:
  struct Point {
    std::string name;
    std::vector<size_t> requests; ///< that ask for it
  };
  /// Of hooks in front of a node and behind it the index is 0: they are on all
  /// of its gradients.
  using Place = std::tuple<HookKind, uint32_t, unsigned>;

  llvm::LogicalResult add(joint::GraphOp graph, size_t request,
                          mlir::Value value, NodeEdge edge, bool isLeaf);

  std::map<Place, std::vector<Point>> points;
  std::vector<HookRequest> requests;
  std::vector<bool> isPlaced; ///< by request
};

/// By which a pattern knows an argument: the name of its role, else "input.N",
/// else its own.
std::string nameOfArgument(joint::GraphOp graph, unsigned arg);
/// Whether `name` has characters of a pattern.
bool isPattern(llvm::StringRef name);
/// Parameters that fit `pattern`, of those that `isActive`; an error at the
/// graph if there is none.
mlir::FailureOr<llvm::SmallVector<unsigned>>
findByPattern(joint::GraphOp graph, llvm::StringRef pattern,
              llvm::function_ref<bool(unsigned)> isActive);
/// The argument or value called `name`; null for none.
mlir::Value findNamed(joint::GraphOp graph, llvm::StringRef name);
/// An error at the graph with names that `name` may have meant.
llvm::LogicalResult failUnknownName(joint::GraphOp graph, llvm::StringRef name);

/// Puts a `joint.hook` at the insertion point of `builder`; its result, or
/// `gradient` where it has none.
mlir::Value buildHook(mlir::OpBuilder &builder, mlir::Location loc,
                      HookKind kind, llvm::StringRef point,
                      mlir::Value gradient, int64_t key, mlir::StringAttr name);

} // namespace cutback

#endif // CUTBACK_LIB_AUTOGRAD_HOOKPOINTS_H
