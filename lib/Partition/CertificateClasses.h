// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of values over three functions: the certificate's value numbering.
#ifndef CUTBACK_LIB_PARTITION_CERTIFICATECLASSES_H
#define CUTBACK_LIB_PARTITION_CERTIFICATECLASSES_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Support/MLIR/DefinitionMap.h"
#include "cutback/Support/NearIndex.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace cutback::certificate {

constexpr uint32_t kNone = ~uint32_t(0);

/// What a second run of an op would change.
enum class Conduct : uint8_t {
  Pure,   ///< nothing: all ops of one key are one class
  Once,   ///< perhaps something: one class, run as often as in the graph
  Draw,   ///< random numbers: each op is a class of its own
  Effect, ///< the world: each op is a class of its own, and in order
};

enum class Body : uint8_t { Joint = 0, Forward = 1, Backward = 2 };

/// One class of ops. Its results are value classes firstValue, firstValue + 1,
/// … ; its operands' classes lie between operandBegin and that of the next op
/// class.
struct OpClass {
  mlir::Operation *op; ///< the first op met
  uint32_t operandBegin, firstValue;
  uint32_t instance = kNone; ///< in `instances`, for all but Pure
  Conduct conduct = Conduct::Pure;
  uint8_t bodies = 0; ///< bit b: computed in body b
};

/// Where two expressions differ, and how to say it.
struct Difference {
  mlir::Location at;
  mlir::Operation *jointOp; ///< for a note; null: an argument
  std::string text;
};

/// Bookkeeping of classes that are not pure. Those of one key form a list, in
/// the order of the joint graph.
struct Instance {
  uint32_t opClass;
  uint32_t next = kNone;   ///< in the list
  uint32_t cursor = kNone; ///< head: the first one not used up; kNone: all are
  uint32_t tail = kNone;   ///< head: the last one
  uint32_t sequence = 0;   ///< place in the joint graph's order
  int32_t left = 0;        ///< how often the halves may still run it
};

/// Numbers the bodies of the joint graph, the forward and the backward with
/// common classes. Value classes 0 … numArgs-1 are the joint graph's arguments
/// as they are passed in; a write gives its argument the class of its result.
class ClassTable {
public:
  /// `isRewritten`: see HalvesSignature.
  ClassTable(joint::GraphOp graph, bool isRewritten);

  /// Numbers the joint graph. Must come first.
  void numberJoint();
  /// Numbers a half. `argClasses[i]` is the class of its argument i at the
  /// start; afterwards it is the class at the end. Fails with an error at an
  /// op that the joint graph does not run, or not so often.
  mlir::LogicalResult numberHalf(mlir::Block &block, Body body,
                                 std::vector<uint32_t> &argClasses);

  /// The class of a value of the function numbered last.
  uint32_t classOf(mlir::Value value) const {
    if (auto arg = mlir::dyn_cast<mlir::BlockArgument>(value))
      return arg.getOwner() == block ? argClasses[arg.getArgNumber()] : kNone;
    auto result = mlir::cast<mlir::OpResult>(value);
    uint32_t first = definitions.lookup(result.getOwner());
    return first == kNone ? kNone : first + result.getResultNumber();
  }
  /// Arguments of the joint graph at the end of its body.
  llvm::ArrayRef<uint32_t> jointArgs() const { return jointArgClasses; }

  uint32_t numArgs() const { return graphArgs; }
  uint32_t numValues() const { return owner.size(); }
  /// Op class that a value class is a result of, kNone for an argument.
  uint32_t ownerOf(uint32_t value) const { return owner[value]; }
  const OpClass &get(uint32_t opClass) const { return classes[opClass]; }
  llvm::ArrayRef<uint32_t> operandsOf(uint32_t opClass) const;
  /// Walks down from two different classes to the first difference between
  /// them. `start` says where they stand, and in `text` how to call the place.
  Difference explain(uint32_t found, uint32_t wanted, Difference start);
  /// Ops of the backward that compute what the forward has computed: each copy
  /// counts.
  uint64_t countRecomputed() const { return numRecomputed; }
  /// The first effect of the joint graph that neither half has, or kNone.
  uint32_t firstMissingEffect() const;
  /// Values that a compiler has rewritten to others which are equal but for
  /// rounding.
  uint64_t countRounded() const { return rounded.size(); }
  /// The op class that makes `valueClass`, if it is the call `name` of dialect
  /// aten; else kNone.
  uint32_t callOf(uint32_t valueClass, llvm::StringRef name) const;
  mlir::Type typeOf(uint32_t valueClass);

private:
  /// Which attributes of a kind of op count.
  struct Kind {
    bool wholeProperties = true;
    const joint::RematerializableOpInterface::Concept *model = nullptr;
    llvm::SmallVector<mlir::StringAttr, 4> attributes;
  };
  struct Key {
    mlir::Operation *op;
    llvm::ArrayRef<uint32_t> operands;
    llvm::ArrayRef<mlir::Value> captured;
    uint32_t newest = kNone; ///< of the operands' classes; kNone without any
    uint32_t tag = 0;        ///< of name and operands
  };

  /// Equal but for the classes of operands.
  bool sameCall(uint32_t a, uint32_t b);
  bool differOnlyBelow(uint32_t found, uint32_t wanted);
  bool isAfterWrite(uint32_t found, uint32_t wanted) const;
  std::string nameOf(uint32_t valueClass);
  /// An effect of the joint graph of this kind that no half has had yet, or
  /// kNone.
  uint32_t unusedEffectLike(mlir::Operation *op) const;
  const Kind &kindOf(mlir::Operation *op);
  uint64_t hashAttributes(mlir::Operation *op);
  bool equalAttributes(mlir::Operation *a, mlir::Operation *b);
  bool isIgnored(mlir::NamedAttribute attribute) const;
  template <typename Same, typename Mark>
  bool equalOps(mlir::Region &left, mlir::Region &right, Same same, Mark mark);
  bool equalRegions(mlir::Operation *a, llvm::ArrayRef<uint32_t> aOperands,
                    const Key &key);
  Key keyOf(mlir::Operation *op);
  uint64_t hashOf(const Key &key);
  bool sameTypes(mlir::Operation *a, mlir::Operation *b) const;
  bool matches(uint32_t opClass, const Key &key);
  uint32_t find(const Key &key);
  uint32_t add(const Key &key, Conduct conduct, bool isListed);
  uint32_t addInstance(uint32_t opClass, uint32_t head);
  void numberJointOp(mlir::Operation *op);
  mlir::FailureOr<uint32_t> matchHalfOp(mlir::Operation *op);
  mlir::FailureOr<uint32_t> takeInstance(const Key &key, uint32_t head);
  uint32_t pickInstance(const Key &key, uint32_t head);
  mlir::FailureOr<uint32_t> addForeign(const Key &key);
  /// Notes a first run of a draw, which must not precede one before it.
  mlir::LogicalResult takeDraw(mlir::Operation *op, uint32_t instance);
  // Random ops that are run again with a saved state.
  /// True if `mark` is about the op behind it, and is remembered.
  bool noteMark(joint::OpaqueOp mark);
  /// Does what the mark says with the class of the op behind it.
  void leaveMark(uint32_t opClass);
  /// The class of a random op behind a mark that replays.
  mlir::FailureOr<uint32_t> replay(const Key &key);
  /// The class of a draw with a number, which may be run any number of times.
  mlir::FailureOr<uint32_t> drawNumbered(const Key &key, mlir::Attribute number,
                                         uint32_t head);

  // Where graphs were rewritten since (CertificateRewrites.cpp).
  uint32_t rewritten(mlir::Operation *op, uint32_t opClass);
  uint32_t shownBy(mlir::Operation *op, uint32_t opClass);
  uint32_t constantLike(mlir::Operation *op, uint32_t opClass);
  bool isWritten(uint32_t valueClass);
  // Patterns of compilers (CertificatePatterns.cpp).
  uint32_t patternLike(mlir::Operation *op, uint32_t opClass);
  uint32_t unchangedBy(mlir::Operation *op, uint32_t opClass);
  int64_t keptOperand(uint32_t opClass);
  uint32_t castOf(uint32_t base, mlir::Type element, uint32_t own);
  bool isEverywhere(uint32_t opClass, unsigned operand, double number);
  uint32_t scatteredLike(mlir::Operation *op, uint32_t opClass);
  int64_t countsAlong(uint32_t valueClass, int64_t rank);
  uint32_t indexOfLines(uint32_t valueClass, int64_t dim,
                        llvm::ArrayRef<int64_t> shape);
  uint32_t drawnLike(mlir::Operation *op, uint32_t opClass);
  static bool isDrawnAs(mlir::Operation *drawn, mlir::Operation *op);
  uint32_t scaledLike(mlir::Operation *op, uint32_t opClass);
  uint32_t lessItsLargest(uint32_t valueClass, mlir::Attribute &dims);

  mlir::LogicalResult reportForeignEffect(const Key &key);
  mlir::LogicalResult reportUsedUp(mlir::Operation *op, uint32_t opClass);
  void define(mlir::Operation *op, uint32_t opClass);

  joint::GraphOp graph;
  uint32_t graphArgs;
  mlir::Dialect *jointDialect;
  mlir::StringAttr namesId;
  mlir::DictionaryAttr noAttributes;
  bool isRewritten;

  std::vector<OpClass> classes;
  std::vector<uint32_t> operandClasses;
  std::vector<uint32_t> owner; ///< by value class
  std::vector<Instance> instances;
  llvm::DenseMap<mlir::Attribute, uint32_t> instanceByName;
  NearIndex listed; ///< op classes by key, near their newest operand
  std::vector<Kind> kinds;
  llvm::DenseMap<const void *, uint32_t> kindIndex;
  /// In front of `kindIndex`.
  struct RecentKind {
    const void *name = nullptr;
    uint32_t kind = 0;
  };
  RecentKind recentKinds[64];

  // The function at work.
  mlir::Block *block = nullptr;
  Body body = Body::Joint;
  DefinitionMap definitions;
  std::vector<uint32_t> argClasses, jointArgClasses;
  llvm::SmallVector<uint32_t, 16> scratch;
  llvm::SmallVector<mlir::Value, 4> capturedScratch;
  uint32_t nextSequence = 0, lastSequence = 0;
  uint32_t lastDraw = kNone; ///< the latest instance that was drawn
  uint32_t guess = 0;        ///< the class behind the one met last
  bool hadEffect = false;
  uint64_t numRecomputed = 0;
  mlir::Operation *savingMark = nullptr; ///< of the next op
  uint32_t replayedState = kNone;        ///< of the next op, a value class
  /// Value class of a saved state → op class that draws with it.
  llvm::DenseMap<uint32_t, uint32_t> drawOfState;
  /// `joint.replay` → op class, of draws that a half has run.
  llvm::DenseMap<mlir::Attribute, uint32_t> drawOfNumber;
  /// The same, of the joint graph, which may have copies of a draw.
  llvm::DenseMap<mlir::Attribute, uint32_t> drawInJoint;
  /// What a constant is everywhere, and on which device.
  using Fill = std::pair<mlir::Attribute, mlir::Attribute>;
  llvm::DenseMap<uint32_t, Fill> fills; ///< by value class
  llvm::DenseMap<std::tuple<mlir::Type, mlir::Attribute, mlir::Attribute>,
                 uint32_t>
      constants;
  /// Value class and the type of its elements → the class of the cast.
  llvm::DenseMap<std::pair<uint32_t, mlir::Type>, uint32_t> casts;
  llvm::DenseMap<uint32_t, uint32_t> innerOfCast; ///< what is cast
  /// One number a line of a tensor: its type, dimension of the lines, class of
  /// the index, and the numbers behind it and at it.
  using Scattered = std::tuple<mlir::Type, int64_t, uint32_t, mlir::Attribute,
                               mlir::Attribute>;
  uint32_t scattered(const Scattered &what, uint32_t own);
  llvm::DenseMap<Scattered, uint32_t> scatters;
  llvm::DenseMap<uint32_t, Scattered> scatterOf; ///< by value class
  /// Numbers of a seed → the draw of the joint graph: value classes.
  llvm::DenseMap<uint32_t, uint32_t> draws;
  llvm::DenseSet<uint32_t> rounded; ///< op classes
};

/// `number` as an element of `type`, null if it is none.
mlir::Attribute asElement(mlir::Attribute number, mlir::Type type);
/// The device that a call names, or null.
mlir::Attribute deviceOf(mlir::Operation *op);

/// A mark that saves the state of the random generator for the op behind it.
bool savesRandomState(mlir::Operation *op);

/// "'mul_3' (aten.mul.Tensor)", "argument 'x'", "result 1 of …".
std::string describe(mlir::Value value);
std::string describe(mlir::Operation *op);

} // namespace cutback::certificate

#endif // CUTBACK_LIB_PARTITION_CERTIFICATECLASSES_H
