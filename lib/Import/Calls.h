// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes ops of calls.
#ifndef CUTBACK_LIB_IMPORT_CALLS_H
#define CUTBACK_LIB_IMPORT_CALLS_H

#include "Arguments.h"
#include "Comments.h"
#include "GetItems.h"
#include "Scope.h"

#include "cutback/Dialect/Aten/Schema.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Import/Import.h"

namespace cutback::fx {

/// What is known of a callee, found once for each name.
struct CallTarget {
  enum Kind : uint8_t {
    Known,   ///< an op of dialect aten
    Unknown, ///< joint.opaque
    Copy,    ///< joint.write
    Assert,  ///< joint.assert
    Check,   ///< looks at type and sizes alone; programs drop it
    Graph,   ///< runs a nested graph, and nothing else
    InPlace, ///< changes an operand: an error
    Foreign, ///< nothing that an ATen graph has: an error
  };
  Kind kind = Foreign;
  bool keepsType = false; ///< its result has the type of its only operand
  const aten::Schema *schema = nullptr;
  llvm::StringRef name; ///< without "torch.ops."
};

/// Why a call is none that the op has here; where, and what to do next.
struct Contradiction {
  const char *at = nullptr; ///< null: there is none
  std::string what, next;
};

/// A statement `name: "type" = target(args)`.
struct CallStatement {
  llvm::StringRef name;
  const DeclaredType *declared = nullptr; ///< null without an annotation
  const char *typeAt = nullptr;           ///< of the annotation
  const char *at = nullptr;               ///< of the call
};

class CallImporter {
public:
  CallImporter(Scope &scope, ImportCounts &counts);

  /// `path` as the text has it; valid as long as the builder.
  const CallTarget &target(llvm::StringRef path);

  /// Makes the op at the end of the block, and binds the statement's name.
  mlir::LogicalResult build(const CallTarget &target, const CallArguments &args,
                            const CallStatement &statement, const Place &place);
  /// The same for a call whose results are all declared with it, as exported
  /// programs have them: binds nothing, and gives the op. `statement` has the
  /// call's own name. A result without a declaration is undefined. An op that
  /// changes an operand is made if it has a schema.
  mlir::FailureOr<mlir::Operation *>
  buildDeclared(const CallTarget &target, const CallArguments &args,
                const CallStatement &statement,
                llvm::ArrayRef<CallStatement> results, const Place &place);
  /// Makes `joint.nested` with `graphs`, and binds the statement's name.
  mlir::LogicalResult
  buildNested(const CallTarget &target, joint::NestedKind kind,
              const CallArguments &args, const CallStatement &statement,
              std::vector<std::unique_ptr<mlir::Region>> &graphs,
              const Place &place);
  /// The same for a node that declares its results, and binds nothing.
  mlir::FailureOr<mlir::Operation *>
  buildDeclaredNested(const CallTarget &target, joint::NestedKind kind,
                      const CallArguments &args, const CallStatement &statement,
                      llvm::ArrayRef<CallStatement> results,
                      std::vector<std::unique_ptr<mlir::Region>> &graphs,
                      const Place &place);
  /// Binds `name` to element `index` of the tuple `tuple`.
  mlir::LogicalResult bindElement(const CallStatement &statement,
                                  llvm::StringRef tuple, llvm::StringRef index);
  mlir::FailureOr<mlir::Value> nameResult(const CallStatement &statement,
                                          TupleCall &call, unsigned result);
  /// Binds the statement's name to what `binding` stands for, which must be of
  /// the type that the statement declares; `giver` is whom a message names.
  mlir::LogicalResult bindAs(const CallStatement &statement,
                             const Binding &binding, llvm::StringRef giver);
  /// From here on `text` is what tells the types of tuples. Gives the text that
  /// did before.
  GetItems exchangeText(GetItems other) {
    return std::exchange(getItems, std::move(other));
  }
  /// Gives the results of tuples their names. Call it once, at the end.
  void nameTuples();

  llvm::ArrayRef<joint::WriteOp> getWrites() const { return writes; }

private:
  struct Skeleton {
    mlir::ArrayAttr args;
    /// Operand i of the op is operand order[i] of the text; empty: the same.
    std::vector<unsigned> order;
  };
  using Types = llvm::SmallVector<mlir::Type, 2>;

  void classify(llvm::StringRef path, CallTarget &target);
  mlir::FailureOr<joint::NestedOp>
  makeNested(const CallTarget &target, joint::NestedKind kind,
             const CallArguments &args, const CallStatement &statement,
             std::vector<std::unique_ptr<mlir::Region>> &graphs,
             const Place &place);
  mlir::LogicalResult buildKnown(const CallTarget &target,
                                 const CallArguments &args,
                                 const CallStatement &statement,
                                 const Place &place);
  mlir::LogicalResult makeKnown(const CallTarget &target,
                                const CallArguments &args,
                                const CallStatement &statement,
                                const Place &place);
  // Calls taken as declared (DeclaredCalls.cpp).
  /// Fails: with an error, or by keeping what is wrong where calls may be
  /// taken as declared.
  mlir::LogicalResult contradict(const char *at, const llvm::Twine &what,
                                 const llvm::Twine &next);
  /// Contradicts where a call is annotated, or its elements are, otherwise
  /// than the op gives them.
  mlir::LogicalResult checkElements(const aten::Schema &schema,
                                    const CallStatement &statement,
                                    llvm::ArrayRef<mlir::Type> types,
                                    bool isTuple);
  /// The text says what the statement's call gives.
  bool isDeclared(const CallStatement &statement);
  void markDeclared(joint::OpaqueOp op, const Contradiction &why);
  mlir::FailureOr<mlir::Operation *>
  makeDeclared(const CallTarget &target, const CallArguments &args,
               const CallStatement &statement,
               llvm::ArrayRef<CallStatement> results, const Place &place);
  // Ops that are not known, or, for the reason `why`, taken as declared.
  mlir::Operation *makeUnknown(const CallTarget &target,
                               const CallArguments &args,
                               const CallStatement &statement,
                               llvm::ArrayRef<CallStatement> results,
                               const Contradiction &why, const Place &place);
  mlir::LogicalResult buildUnknown(const CallTarget &target,
                                   const CallArguments &args,
                                   const CallStatement &statement,
                                   const Place &place,
                                   const Contradiction &why = {});
  joint::OpaqueOp buildOpaque(const CallTarget &target,
                              const CallArguments &args,
                              const CallStatement &statement,
                              llvm::ArrayRef<mlir::Type> types, bool isSingle,
                              const Contradiction &why, const Place &place);
  /// Brings the arguments into the schema's form and infers the results, or
  /// takes `declared` where no rule tells them.
  struct TypedCall {
    const Skeleton *skeleton = nullptr;
    llvm::ArrayRef<mlir::Value> operands;
    const Types *types = nullptr;
  };
  mlir::LogicalResult typeCall(const aten::Schema &schema,
                               const CallArguments &args, const char *at,
                               const Types *declared, TypedCall &call);
  /// Tells an op that makes a tensor of nothing the type that is declared,
  /// where it would take a default one that is another.
  mlir::LogicalResult tellDefaultType(const aten::Schema &schema,
                                      mlir::Type declared, const char *at,
                                      TypedCall &call);
  mlir::Operation *create(const aten::Schema &schema, const TypedCall &call,
                          mlir::TypeRange types, mlir::StringAttr name,
                          mlir::DictionaryAttr attrs, const Place &place);
  // Random ops inside of PyTorch's wrappers (RandomCalls.cpp).
  /// The wrapped op, if it is known and the graph is a half.
  const CallTarget *wrappedTarget(const CallTarget &wrapper,
                                  const CallArguments &args);
  joint::OpaqueOp createMark(const CallTarget &wrapper,
                             llvm::ArrayRef<mlir::Type> types,
                             llvm::ArrayRef<mlir::Value> operands,
                             const Place &place);
  mlir::LogicalResult buildReplayed(const CallTarget &wrapper,
                                    const CallTarget &inner,
                                    const CallArguments &args,
                                    const CallStatement &statement,
                                    const Place &place);
  mlir::LogicalResult bindRandom(const CallStatement &statement,
                                 const Binding &pair, llvm::StringRef index,
                                 unsigned element);
  mlir::LogicalResult buildWrite(const CallArguments &args,
                                 const CallStatement &statement,
                                 const Place &place);
  mlir::LogicalResult buildAssert(const CallTarget &target,
                                  const CallArguments &args,
                                  const CallStatement &statement,
                                  const Place &place);

  /// The argument list of the schema, from the one of the text.
  const Skeleton *mapArguments(const aten::Schema &schema,
                               const CallArguments &args, const char *at);
  mlir::LogicalResult fillSlots(const aten::Schema &schema,
                                const CallArguments &args, const char *at,
                                llvm::SmallVectorImpl<int> &slots);
  const Types *inferTypes(const aten::Schema &schema, mlir::ArrayAttr args,
                          llvm::ArrayRef<mlir::Value> operands, const char *at);
  mlir::LogicalResult checkOperands(const aten::Schema &schema,
                                    mlir::ArrayAttr args,
                                    llvm::ArrayRef<mlir::Value> operands,
                                    const char *at);
  /// The type of a result that is inferred and declared.
  mlir::FailureOr<mlir::Type> reconcile(const CallStatement &statement,
                                        mlir::Type inferred,
                                        llvm::StringRef callee);
  mlir::DictionaryAttr attributes(const CallStatement &statement,
                                  const Place &place, bool isNamed,
                                  bool keepDims);
  mlir::LogicalResult bindTuple(mlir::Operation *op,
                                std::vector<std::vector<unsigned>> paths,
                                llvm::StringRef name, bool isBackward);
  void describeResults(mlir::Operation *op,
                       llvm::ArrayRef<CallStatement> results);
  mlir::LogicalResult bindResult(const CallStatement &statement,
                                 const Binding &call, llvm::StringRef tuple,
                                 llvm::StringRef index, unsigned element);
  mlir::StringAttr nameAttr(llvm::StringRef name);
  mlir::ArrayAttr names(llvm::StringRef name);
  void countOpaque(llvm::StringRef callee);

  Scope &scope;
  ImportCounts &counts;
  GetItems getItems;
  const aten::SchemaTable &schemas;
  mlir::StringAttr callName, dimsName, policyName, stridesName;
  llvm::StringMap<CallTarget> targets;
  llvm::StringMap<unsigned> opaqueIndex;
  Contradiction *contradiction = nullptr; ///< set while one is looked for
  KeyTable skeletonKeys, typeKeys;
  std::vector<Skeleton> skeletons; ///< without `args`: it failed
  Skeleton told; ///< of the call that is made, by its declared type
  std::vector<std::optional<Types>> inferred; ///< nothing: it failed
  std::vector<joint::WriteOp> writes;
  llvm::SmallVector<const void *, 24> key;
  llvm::SmallVector<mlir::Value, 8> operands;
};

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_CALLS_H
