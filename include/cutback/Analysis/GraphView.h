// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A straight-line program as numbers: a training graph, a half or stage of it,
// the ops of a launch, a function of upstream ops. All analyses and the
// partitioner work on flat arrays indexed by op and value numbers; MLIR is
// asked once, when the view is built, and touched again only when ops are moved
// or the two halves are written.
#ifndef CUTBACK_ANALYSIS_GRAPHVIEW_H
#define CUTBACK_ANALYSIS_GRAPHVIEW_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cutback {

/// What the interfaces of dialect `joint` say of one op, asked once.
struct OpTraits {
  joint::FusionKind fusion = joint::FusionKind::Never;
  bool recomputable : 1;     ///< a second run gives the same bits
  bool random : 1;           ///< draws random numbers
  bool computeIntensive : 1; ///< matrix product, convolution, attention
  bool ordered : 1;          ///< has effects: runs once, in order
  bool view : 1;             ///< result 0 aliases an operand
  bool hasModel : 1;         ///< implements RematerializableOpInterface
  bool readsOldValue : 1;    ///< of an argument that the forward writes later
  bool literal : 1;          ///< nothing to compute, never saved
  bool annotated : 1;        ///< has discardable attributes
  bool hasRegions : 1;
  bool copy : 1; ///< of the run of a checkpoint region: of the backward
  OpTraits()
      : recomputable(false), random(false), computeIntensive(false),
        ordered(false), view(false), hasModel(false), readsOldValue(false),
        literal(false), annotated(false), hasRegions(false), copy(false) {}

  /// Stays behind every such op that it stood behind.
  bool keepsOrder() const { return ordered || (random && !recomputable); }
};

/// What became of numbers after ops were taken out.
struct Renumbering {
  /// By old number: the new one, of the stand-in where there is one; kNone for
  /// what is gone.
  std::vector<uint32_t> newOp, newValue;
  /// By new number: the old one.
  std::vector<uint32_t> oldValue;
};

/// Numbers: ops 0 … numOps-1 in program order (the terminator, if there is one,
/// is number `numOps`); values: the arguments first, then the results in op
/// order. The arguments are those of the block, and behind them, where the
/// block is part of an op that sees what stands above it, what it reads from
/// there. Read only; valid while the block is not changed.
struct GraphView {
  static constexpr uint32_t kNone = ~uint32_t(0);

  /// Null where the block is no graph's.
  joint::GraphOp graph;
  joint::OutputOp output;
  mlir::Operation *terminator = nullptr; ///< null where there is none
  std::vector<mlir::Operation *> ops;
  std::vector<mlir::Value> values;
  std::vector<mlir::Type> types; ///< by value
  std::vector<OpTraits> traits;  ///< by op
  /// By value: the value that it aliases, or kNone.
  std::vector<uint32_t> aliasOf;
  uint32_t numArgs = 0;

  /// Results of op i are values resultBegin[i] … resultBegin[i+1]-1.
  std::vector<uint32_t> resultBegin;
  /// Operands (value numbers, repeated ones too) of op i, and behind them the
  /// values that its regions read from outside; row numOps is the terminator's.
  std::vector<uint32_t> operandBegin, operandList;
  /// By value: the op that defines it, kNone for an argument.
  std::vector<uint32_t> definer;
  /// By value: its users (op numbers, distinct, ascending; numOps is the
  /// terminator).
  std::vector<uint32_t> userBegin, userList;

  uint32_t numOps() const { return ops.size(); }
  uint32_t numValues() const { return values.size(); }
  llvm::ArrayRef<uint32_t> operands(uint32_t op) const {
    return llvm::ArrayRef(operandList)
        .slice(operandBegin[op], operandBegin[op + 1] - operandBegin[op]);
  }
  llvm::ArrayRef<uint32_t> users(uint32_t value) const {
    return llvm::ArrayRef(userList).slice(
        userBegin[value], userBegin[value + 1] - userBegin[value]);
  }
  uint32_t numResults(uint32_t op) const {
    return resultBegin[op + 1] - resultBegin[op];
  }
  /// The value that the first result of `op` aliases, or kNone.
  uint32_t baseOf(uint32_t op) const {
    return numResults(op) ? aliasOf[resultBegin[op]] : kNone;
  }
  /// By value: the value that it lies in when nothing is copied, itself if it
  /// is no view. Linear.
  std::vector<uint32_t> findStorages() const;
  /// Name of a value, or "%<number>" without one.
  std::string name(uint32_t value) const;
  bool isArg(uint32_t value) const { return value < numArgs; }
  /// What the terminator hands over.
  llvm::ArrayRef<uint32_t> results() const { return operands(numOps()); }
  /// Of a graph: forward results and gradients, as value numbers.
  llvm::ArrayRef<uint32_t> forwardResults() const;
  llvm::ArrayRef<uint32_t> gradients() const;
  /// By value: 1 for a gradient.
  std::vector<uint8_t> markGradients() const;

  /// Numbers a block, which has about `expectedOps` ops, if that is known.
  /// Linear; about 100 ns an op.
  static GraphView build(mlir::Block &block, size_t expectedOps = 0);
  static GraphView build(joint::GraphOp graph, size_t expectedOps = 0);

  /// Follows the graph after the ops marked in `isErased` were erased, without
  /// asking MLIR again. `standIn` has, by value, the earlier value that its
  /// users read now, or the value itself. Linear.
  Renumbering removeOps(llvm::ArrayRef<uint8_t> isErased,
                        llvm::ArrayRef<uint32_t> standIn);

  /// Follows the block after its ops were moved: op order[i] is the i-th now.
  /// `order` is a permutation in which everything comes behind what it reads.
  /// Returns, by old number of a value, the new one. Linear.
  std::vector<uint32_t> reorderOps(llvm::ArrayRef<uint32_t> order);

  /// The arguments of the block and none of its ops: the beginning of a view
  /// that takes rows from this one, with room for `expectedOps` of them.
  GraphView withoutOps(size_t expectedOps) const;
  /// Adds op `op` of `from` behind the others, with the values that
  /// `newValue(v)` numbers in the place of its operands; its results get the
  /// next numbers. Users are old until finish().
  template <typename NewValue>
  void addOp(const GraphView &from, uint32_t op, NewValue newValue) {
    for (uint32_t value : from.operands(op))
      operandList.push_back(newValue(value));
    operandBegin.push_back(operandList.size());
    resultBegin.push_back(values.size());
    for (uint32_t r = from.resultBegin[op]; r < from.resultBegin[op + 1]; ++r) {
      uint32_t alias = from.aliasOf[r];
      values.push_back(from.values[r]);
      types.push_back(from.types[r]);
      aliasOf.push_back(alias == kNone ? kNone : newValue(alias));
      definer.push_back(ops.size());
    }
    ops.push_back(from.ops[op]);
    traits.push_back(from.traits[op]);
  }
  /// Adds the terminator's operands, and finds the users.
  template <typename NewValue>
  void finish(const GraphView &from, NewValue newValue) {
    for (uint32_t value : from.results())
      operandList.push_back(newValue(value));
    operandBegin.push_back(operandList.size());
    resultBegin.push_back(values.size());
    findUsers();
  }

  /// Asks MLIR again about an op whose attributes were changed.
  void readTraits(uint32_t op);

private:
  void findUsers();
};

} // namespace cutback

#endif // CUTBACK_ANALYSIS_GRAPHVIEW_H
