// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of an exported graph, and of the graphs inside of it, become ops.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H

#include "../Calls.h"
#include "Autocast.h"
#include "NodeArguments.h"
#include "NodePlaces.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Nested.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace cutback::pt2 {

class GraphReader {
public:
  GraphReader(Fields &fields, ImportCounts &counts);

  /// Adds an argument called `name`, declared in `frame`, to the block.
  mlir::FailureOr<mlir::BlockArgument>
  addArgument(Frame &frame, llvm::StringRef name, JsonValue at, bool isScalar);
  /// The place of `at` in the file. A position costs a look at the text since
  /// the last one; one in front of that gets the place of the whole text.
  mlir::Location locate(JsonValue at);
  /// Call it between the arguments and the nodes.
  void endArguments();
  /// Fails with an error where the nodes show a known fault of an exporter.
  mlir::LogicalResult checkFaults() const;
  /// Reads the nodes of `graph`, whose inputs `frame` has.
  mlir::LogicalResult readNodes(JsonValue graph, Frame &frame);

  /// What checkpoint regions ask for besides, for attribute `joint.regions`;
  /// null if they ask for nothing.
  mlir::DictionaryAttr regionWishes() const;

  /// A name like this one that no other value of the graph has.
  llvm::StringRef uniqueName(llvm::StringRef name);
  llvm::StringRef nameOf(mlir::Value value) const;

  Fields &fields;
  ImportCounts &counts;
  fx::Scope scope;
  fx::CallImporter calls;
  Types types;
  NodeArguments arguments;
  NodePlaces places;

private:
  struct Node {
    JsonValue json;
    llvm::StringRef target, name;
    fx::Place place;
    /// Inputs and outputs in front of those of the op: 2 and 1 of a call that
    /// hands a token on.
    unsigned firstInput = 0, firstOutput = 0;
  };
  mlir::LogicalResult readNode(JsonValue json, Frame &frame);
  mlir::LogicalResult readCall(const Node &node, Frame &frame);
  mlir::LogicalResult readAssert(const Node &node, const fx::CallTarget &target,
                                 Frame &frame);
  mlir::LogicalResult readResults(const Node &node, const Frame &frame);
  mlir::LogicalResult addResult(JsonValue at, JsonValue name,
                                const Frame &frame, bool isScalar);
  mlir::Value handedThrough(mlir::OpResult result, const Frame &frame);
  mlir::LogicalResult bindResults(const Node &node, mlir::Operation *op,
                                  Frame &frame);
  mlir::LogicalResult placeStrided(const Node &node, const aten::Schema &schema,
                                   const Frame &frame); // Strided.cpp
  void markView(mlir::Operation *op, const Node &node, const Frame &frame);
  mlir::LogicalResult failForeign(const Node &node);
  const fx::CallTarget *splitTarget(const fx::CallTarget &target);
  const fx::CallTarget &targetOf(const Node &node);
  /// What is called once the arguments in `args` are known.
  mlir::FailureOr<const fx::CallTarget *>
  settleTarget(const Node &node, const fx::CallTarget &target);
  mlir::Value complexNumber(double real, double imaginary);

  // Overloads that write to what they are given (OutVariants.cpp).
  static bool isOutVariant(const fx::CallTarget &target);
  mlir::LogicalResult
  readOutVariant(const Node &node, const fx::CallTarget &target, Frame &frame);
  mlir::LogicalResult writeOut(const Node &node,
                               llvm::ArrayRef<mlir::Value> destinations,
                               mlir::ValueRange values, Frame &frame);

  // Calls on lists of tensors (ForeachCalls.cpp).
  struct ForeachArgument;
  static bool isForeach(const fx::CallTarget &target);
  std::vector<ForeachArgument> foreachArguments(JsonValue inputs);
  const aten::Schema *foreachMeant(const fx::CallTarget &target,
                                   llvm::ArrayRef<ForeachArgument> arguments);
  mlir::LogicalResult readForeach(const Node &node,
                                  const fx::CallTarget &target, Frame &frame);

  // Ops that take a graph (HigherOrder.cpp).
  struct Region;
  mlir::LogicalResult readHigherOrder(const Node &node, Frame &frame);
  mlir::LogicalResult readEffect(const Node &node, Frame &frame);
  mlir::LogicalResult readRegion(const Node &node, const Frame &frame,
                                 Region &region);
  mlir::LogicalResult readGradientRegion(const Node &node, Frame &frame);
  mlir::LogicalResult readAutocastRegion(const Node &node, Frame &frame);
  mlir::LogicalResult readCheckpoint(const Node &node, Frame &frame);
  // Those that run their graphs more or less often than once (NestedNodes.cpp).
  mlir::LogicalResult readNested(const Node &node, joint::NestedKind kind,
                                 llvm::StringRef callee, Frame &frame);
  mlir::LogicalResult readNestedGraph(JsonValue graph,
                                      llvm::ArrayRef<joint::GraphInput> inputs,
                                      mlir::Region &region);
  mlir::LogicalResult bindNestedInputs(JsonValue graph,
                                       llvm::ArrayRef<joint::GraphInput> inputs,
                                       Frame &inner);
  mlir::LogicalResult endNestedGraph(JsonValue graph, Frame &inner);
  mlir::LogicalResult inlineGraph(const Region &region,
                                  llvm::SmallVectorImpl<mlir::Value> &outputs);
  mlir::LogicalResult bindOutputs(const Node &node, Frame &frame,
                                  llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult castOperands(const Node &node, const aten::Schema &schema,
                                   const Frame &frame);
  mlir::Value detached(mlir::Value value, const fx::Place &place);
  mlir::Value detach(mlir::Value value, const fx::Place &place);
  void detachOperands(const Node &node);
  void noteGradientMode(mlir::Operation *op);
  mlir::Value emit(llvm::StringRef callee, mlir::Value operand,
                   llvm::ArrayRef<aten::NamedArg> named,
                   const llvm::Twine &name, const fx::Place &place);

  fx::SourceText::Cursor cursor;
  mlir::Location nodeLocation;      ///< of the node that is read
  JsonValue attentionBackward;      ///< a node of CPU attention's gradient
  bool hasAttentionForward = false; ///< CPU attention itself
  Autocast autocast;
  bool hasGradients = true; ///< of the region that is read
  unsigned depth = 0;       ///< of graphs in graphs
  /// Regions nest a few levels; reading them is recursive.
  static constexpr unsigned kMaxRegions = 32;
  /// The checkpoint region that is read, outermost first; by level, how many
  /// regions there have been.
  llvm::SmallVector<int64_t> checkpoint, numCheckpoints;
  mlir::NamedAttrList wishes; ///< by region
  /// Values that were made where gradients are off, and what they are where
  /// gradients are on.
  llvm::DenseSet<mlir::Value> withoutGradient;
  llvm::DenseMap<mlir::Value, mlir::Value> detachedValues;
  llvm::DenseSet<mlir::Value> argumentsWithGradient;

  fx::CallArguments args;
  llvm::SmallVector<fx::CallStatement, 4> results;
  llvm::SmallVector<llvm::StringRef, 4> resultNames; ///< in the frame
  llvm::StringMap<unsigned> usedNames; ///< and the last number given to each
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_GRAPHREADER_H
