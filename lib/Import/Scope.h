// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph while it is read: its block, its arguments, and what each name
// stands for.
#ifndef CUTBACK_LIB_IMPORT_SCOPE_H
#define CUTBACK_LIB_IMPORT_SCOPE_H

#include "NameTable.h"
#include "SourceText.h"
#include "TypeText.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "llvm/Support/StringSaver.h"

#include <vector>

namespace cutback::fx {

/// What a name stands for.
struct Binding {
  enum Kind : uint8_t {
    Value,    ///< one SSA value
    Tuple,    ///< the results of a call, or some of them
    Constant, ///< `self._tensor_constant0`, whose type is not known yet
    Module,   ///< `self.body_0`, a nested graph
    Literal,  ///< what a nested graph is called with or gives: None, a number
    Results,  ///< what a nested graph gave
    Nothing,  ///< the result of a call that has none
    Random,   ///< a random state and the result of the op behind it
    Group,    ///< `primals` in `def forward(self, primals, tangents)`
  };
  Kind kind = Value;
  bool isBackward = false; ///< depends on a tangent
  uint32_t tuple = 0;      ///< for Tuple: index into Scope::tuples; for
                           ///< Random: into Scope::randomCalls; for Module,
                           ///< Literal, Results: into the list of that name
  mlir::Value value;       ///< for Value
};

/// A call that gives a tuple. An op has one result for each leaf; in a nested
/// tuple, a leaf is reached by a path of indices.
struct TupleCall {
  mlir::Operation *op = nullptr;
  std::vector<std::vector<unsigned>> paths; ///< empty: result i is [i]
  std::vector<llvm::StringRef> names;       ///< by result
  /// By result: strides, null where contiguous. Empty if all are.
  std::vector<mlir::Attribute> strides;
  /// By result: symbolic sizes as declared, null without. Empty if none has.
  std::vector<mlir::Attribute> dims;
};
struct TupleBinding {
  uint32_t call = 0;            ///< index into Scope::calls
  std::vector<unsigned> prefix; ///< empty: the whole tuple
};

/// A value that `call` computed in its nested graph, and that is called `name`
/// in the graph of the call: what halves know each other's values by.
struct TakenResult {
  mlir::Value value;
  llvm::StringRef call, name;
};

/// A random op that saves the state in front of it.
struct RandomCall {
  joint::OpaqueOp mark; ///< gives the state
  Binding result;       ///< of the op
};

/// What the names of one graph stand for. A nested graph has its own.
class Names {
public:
  /// `prefix` makes names of values unique among all graphs: "call." before
  /// those of the graph that `call` runs.
  explicit Names(llvm::StringRef prefix = {}) : prefix(prefix) {}

  llvm::StringRef prefix;
  NameTable table;
  std::vector<Binding> bindings; ///< by name
};

/// An argument of the graph, or a constant that is one to us.
struct Argument {
  llvm::StringRef name;
  llvm::StringRef descriptor; ///< "PlainAOTInput(idx=0)", or empty
  const DeclaredType *type = nullptr;
  bool isConstant = false;
};

class Scope {
public:
  Scope(mlir::MLIRContext *context, const SourceText &source)
      : context(context), source(source), types(context), builder(context) {
    region.push_back(new mlir::Block());
    builder.setInsertionPointToStart(&region.front());
  }

  /// The block that ops go to: the graph's, or that of the region that is read.
  mlir::Block &block() { return nestedBlock ? *nestedBlock : region.front(); }
  mlir::LogicalResult fail(const char *at, const llvm::Twine &what,
                           const llvm::Twine &next) const {
    return emitAt(context, source, at, what, next);
  }

  /// Binds `name`; fails if it is bound already.
  mlir::LogicalResult define(llvm::StringRef name, const Binding &binding) {
    if (!names.table.insert(name).second)
      return failRedefined(name);
    names.bindings.push_back(binding);
    return mlir::success();
  }
  /// Null, without an error, if `name` is not bound.
  Binding *find(llvm::StringRef name) {
    uint32_t number = names.table.find(name);
    return number == NameTable::kNone ? nullptr : &names.bindings[number];
  }
  mlir::LogicalResult failUndefined(llvm::StringRef name) const;
  /// What the value that `name` stands for is called: with the calls in front
  /// of it that led into the graph which is read. Lives as long as this.
  llvm::StringRef valueName(llvm::StringRef name) {
    if (names.prefix.empty())
      return name;
    return saver.save(names.prefix + name);
  }
  /// `text`, for as long as this lives.
  llvm::StringRef save(const llvm::Twine &text) { return saver.save(text); }

  /// Adds an argument to the block. Its position is that of its name.
  mlir::LogicalResult addArgument(const Argument &argument);
  /// Adds an input that is a Python object, of type none, in front of input
  /// number `place`: texts declare no type for it.
  mlir::LogicalResult insertObject(size_t place, llvm::StringRef name);
  /// Gives the constant `name`, bound as `binding`, its type.
  void addConstant(llvm::StringRef name, Binding &binding,
                   const DeclaredType &type);
  /// The annotation at `text`; null after an error.
  const DeclaredType *readType(llvm::StringRef text);

  mlir::MLIRContext *context;
  const SourceText &source;
  TypeTable types;
  mlir::OpBuilder builder;
  mlir::Region region;
  std::vector<Argument> arguments; ///< by block argument
  DeclaredType object;             ///< what Python objects are
  std::vector<TupleCall> calls;
  std::vector<TupleBinding> tuples;
  std::vector<RandomCall> randomCalls;
  std::vector<llvm::StringRef> modules; ///< "body_0"
  std::vector<mlir::Attribute> literals;
  std::vector<std::vector<Binding>> results; ///< of nested graphs, by call
  std::vector<TakenResult> taken;            ///< out of `results`
  Names names;                               ///< of the graph that is read
  unsigned nesting = 0;                      ///< how many calls lead into it
  mlir::Block *nestedBlock = nullptr; ///< of the region that is read, if any
  bool isStrict = false;              ///< no call is taken as declared
  bool isHalf = false;          ///< a forward or a backward, not a joint graph
  uint64_t numTupleResults = 0; ///< of all calls

private:
  mlir::LogicalResult failRedefined(llvm::StringRef name) const;

  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver{allocator};
  SourceText::Cursor cursor; ///< behind the last argument
};

/// A name in a message, cut where it is long.
inline std::string quoted(llvm::StringRef name) {
  return ("'" + name.take_front(80) + (name.size() > 80 ? "..." : "") + "'")
      .str();
}

/// True for inputs that only the backward has: tangents and its random state.
bool isBackwardInput(llvm::StringRef name, llvm::StringRef descriptor);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_SCOPE_H
