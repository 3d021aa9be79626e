// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The statements of one graph.
#ifndef CUTBACK_LIB_IMPORT_FXREADER_H
#define CUTBACK_LIB_IMPORT_FXREADER_H

#include "Calls.h"
#include "FxText.h"
#include "NestedGraphs.h"

#include "cutback/Dialect/Joint/Nested.h"

namespace cutback::fx {

/// One entry of the list that a graph returns, nested lists flattened.
struct Output {
  enum Kind : uint8_t { Value, None, Literal };
  Kind kind = None;
  bool isBackward = false;
  mlir::Value value;
  llvm::StringRef text;       ///< its name, or the literal
  llvm::StringRef descriptor; ///< "GradAOTOutput(…)", or empty
};

class FxReader {
public:
  FxReader(const SourceText &source, mlir::MLIRContext *context,
           ImportCounts &counts);

  /// Reads header, statements and return of the graph.
  mlir::LogicalResult read();

  Scope scope;
  CallImporter calls;
  std::vector<Output> outputs;

private:
  mlir::LogicalResult readParameters();
  mlir::LogicalResult readBody();
  mlir::LogicalResult readStatement(llvm::StringRef name);
  mlir::LogicalResult readDeclaration(const CallStatement &statement);
  mlir::LogicalResult readFlatten(llvm::StringRef first);
  bool isObject(size_t place, llvm::StringRef name);
  mlir::LogicalResult
  defineUntyped(llvm::ArrayRef<std::pair<size_t, llvm::StringRef>> parameters);
  mlir::LogicalResult readAssignment(CallStatement &statement);
  mlir::LogicalResult readCall(CallStatement &statement, llvm::StringRef path);
  mlir::LogicalResult readElement(const CallStatement &statement,
                                  llvm::StringRef tuple);
  mlir::LogicalResult readAttribute(const CallStatement &statement,
                                    llvm::StringRef path);
  mlir::LogicalResult readExpression(CallStatement &statement);
  mlir::LogicalResult finishExpression(CallStatement &statement,
                                       llvm::StringRef target);
  // Nested graphs (FxNested.cpp).
  mlir::LogicalResult inlineCall(const CallTarget &target,
                                 const CallStatement &statement);
  mlir::FailureOr<std::vector<Binding>> calledWith(const CallTarget &target,
                                                   const CallArguments &call);
  mlir::LogicalResult readGraph(llvm::StringRef text,
                                llvm::ArrayRef<Binding> operands);
  mlir::LogicalResult readNestedParameters(llvm::ArrayRef<Binding> operands);
  mlir::LogicalResult checkNesting(llvm::StringRef text, const char *at);
  mlir::LogicalResult failLiteralResult(llvm::StringRef graph,
                                        const Output &output);
  // Nested graphs as regions (FxRegions.cpp).
  mlir::LogicalResult nestedCall(const CallTarget &target,
                                 const CallStatement &statement);
  std::optional<llvm::StringRef> graphText(llvm::StringRef name);
  struct NamedText {
    llvm::StringRef name, text;
  };
  std::optional<llvm::SmallVector<NamedText>>
  graphTexts(joint::NestedKind kind, mlir::ArrayAttr values);
  bool isPlainGraph(llvm::StringRef text);
  mlir::Attribute markGraphs(mlir::Attribute value);
  mlir::LogicalResult readRegion(llvm::StringRef name, llvm::StringRef text,
                                 llvm::ArrayRef<joint::GraphInput> inputs,
                                 mlir::Region &region);
  mlir::LogicalResult endRegion(llvm::StringRef text);
  Binding literal(mlir::Attribute value);
  mlir::LogicalResult endStatement();
  mlir::LogicalResult readReturn();
  mlir::LogicalResult readOutputs(unsigned depth);
  mlir::LogicalResult readOutput();
  mlir::LogicalResult failCut(const char *at, const llvm::Twine &what) const {
    return scope.fail(at, what, kCut);
  }

  Lexer lexer;
  ArgumentReader reader;
  CommentReader comments;
  NestedGraphs nested;
  Place place;
  CallArguments args;
  size_t numNestedBytes = 0; ///< of text read in nested graphs
  bool hasGroups = false;    ///< inputs are declared behind the header
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_FXREADER_H
