// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of an exported graph, and of the graphs inside of it, become ops.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H

#include "../Calls.h"
#include "NodeArguments.h"
#include "NodePlaces.h"

#include "llvm/ADT/StringSet.h"

namespace cutback::pt2 {

class GraphReader {
public:
  GraphReader(Fields &fields, ImportCounts &counts);

  /// Adds an argument called `name`, declared in `frame`, to the block.
  mlir::FailureOr<mlir::BlockArgument>
  addArgument(Frame &frame, llvm::StringRef name, JsonValue at, bool isScalar);
  /// Call it between the arguments and the nodes.
  void endArguments();
  /// Reads the nodes of `graph`, whose inputs `frame` has.
  mlir::LogicalResult readNodes(JsonValue graph, Frame &frame);

  Fields &fields;
  ImportCounts &counts;
  fx::Scope scope;
  fx::CallBuilder calls;
  Types types;
  NodeArguments arguments;
  NodePlaces places;

private:
  struct Node {
    JsonValue json;
    llvm::StringRef target, name;
    fx::Place place;
  };
  mlir::LogicalResult readNode(JsonValue json, Frame &frame);
  mlir::LogicalResult readCall(const Node &node, Frame &frame);
  mlir::LogicalResult readAssert(const Node &node, const fx::CallTarget &target,
                                 Frame &frame);
  mlir::LogicalResult readResults(const Node &node, const Frame &frame);
  mlir::LogicalResult addResult(JsonValue at, JsonValue name,
                                const Frame &frame, bool isScalar);
  mlir::LogicalResult bindResults(const Node &node, mlir::Operation *op,
                                  Frame &frame);
  void markView(mlir::Operation *op, const Node &node, const Frame &frame);
  mlir::LogicalResult readHigherOrder(const Node &node, Frame &frame);
  /// A name that no other value of the graph has.
  llvm::StringRef uniqueName(llvm::StringRef name);

  fx::CallArguments args;
  llvm::SmallVector<fx::CallStatement, 4> results;
  llvm::SmallVector<llvm::StringRef, 4> resultNames; ///< in the frame
  llvm::StringSet<> usedNames;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H
