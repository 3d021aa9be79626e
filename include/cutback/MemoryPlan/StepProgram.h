// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training step as one straight-line program of numbers: the forward, then
// the backward, with every size known and every value in its storage.
#ifndef CUTBACK_MEMORYPLAN_STEPPROGRAM_H
#define CUTBACK_MEMORYPLAN_STEPPROGRAM_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cutback {

/// A value of the step. A saved value is one: the forward's result and the
/// backward's argument have the same number.
struct StepValue {
  static constexpr uint32_t kNone = ~uint32_t(0);

  mlir::Value value; ///< as the first half that has it knows it
  mlir::Type type;   ///< static
  int64_t integer = mlir::ShapedType::kDynamic; ///< of sizes, where known
  uint32_t storage = kNone;                     ///< kNone: no tensor
  Layout layout; ///< in its storage, elements from its beginning
};

struct StepStorage {
  uint32_t value = 0; ///< the value that it was made for
  int64_t bytes = 0;
  bool isOutside = false; ///< an argument's: somebody else owns it
};

/// Attribute of a half: how many of its ops, in their order and without the
/// terminator, each launch runs (DenseI32ArrayAttr). Negative where an op of
/// the launch computes another element than the one whose turn it is.
inline constexpr llvm::StringLiteral kLaunches = "joint.launches";

/// Ops that run as one: ops begin … end-1 of the step.
struct StepLaunch {
  uint32_t begin = 0, end = 0;
  /// Every op computes its element i when the others compute theirs.
  bool isAligned = true;
};

/// Ops are numbered as they run; the terminators of the halves are ops too, so
/// that what a half returns is used when it ends.
struct StepProgram {
  static constexpr uint32_t kNone = StepValue::kNone;

  std::vector<mlir::Operation *> ops;
  /// Operands of op i (repeated ones too, and what its regions read).
  std::vector<uint32_t> operandBegin, operandList;
  /// Results of op i are the values resultBegin[i] … resultEnd[i]-1.
  std::vector<uint32_t> resultBegin, resultEnd;
  std::vector<StepValue> values;
  std::vector<StepStorage> storages;
  /// Op number of the forward's terminator, of the only one if there is no
  /// backward.
  uint32_t forwardEnd = 0;
  std::vector<uint32_t> forwardResults, saved, gradients; ///< values
  /// In the order in which they run. From `joint.launches` of the halves; an op
  /// each where they have none.
  std::vector<StepLaunch> launches;
  std::vector<uint32_t> launchOf; ///< by op
  /// By op: the first op of its part of its launch. Ops of one part have to do
  /// with each other by what the launch makes, or are pointwise on as many
  /// elements, so that one loop nest has both. Parts run in any order.
  std::vector<uint32_t> partOf;

  uint32_t numOps() const { return ops.size(); }
  llvm::ArrayRef<uint32_t> operands(uint32_t op) const {
    return llvm::ArrayRef(operandList)
        .slice(operandBegin[op], operandBegin[op + 1] - operandBegin[op]);
  }
  /// Name of a value, or "%<number>" without one.
  std::string name(uint32_t value) const;
  /// Name of an op: that of its first result.
  std::string opName(uint32_t op) const;
  bool inBackward(uint32_t op) const { return op > forwardEnd; }
  const StepLaunch &launch(uint32_t op) const { return launches[launchOf[op]]; }
  /// True of what runs nothing and lies nowhere on its own, so that it may
  /// stand in front of any reader: a view of its base, a literal that each
  /// reader has in itself, a size.
  bool isFree(uint32_t op) const;
  /// Fills in `partOf` of ops from `first` on, the beginning of a launch. Near
  /// linear.
  void findParts(uint32_t first);

  /// Lets op forwardEnd + 1 + order[i] of the backward run as its i-th; the
  /// terminator stays. `launchSizes` are those of `joint.launches` then; empty
  /// if an op each is one. Numbers become what ofPartition makes of the
  /// reordered function. False, with nothing changed, where only that can tell
  /// which views are copies: the backward has regions or writes arguments.
  /// Linear.
  bool reorderBackward(llvm::ArrayRef<uint32_t> order,
                       llvm::ArrayRef<int32_t> launchSizes);

  /// The step of a partition. `graph` gives hints of symbols and may be null;
  /// `symbols` stand over them. Fails with an error at the value whose size is
  /// not known, or does not fit 64 bits. Linear.
  static mlir::FailureOr<StepProgram>
  ofPartition(joint::PartitionOp partition, joint::GraphOp graph,
              const llvm::StringMap<int64_t> &symbols);
  /// The step of a graph that is run as it stands.
  static mlir::FailureOr<StepProgram>
  ofGraph(joint::GraphOp graph, const llvm::StringMap<int64_t> &symbols);

private:
  void findPartsOf(const StepLaunch &launch);
};

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_STEPPROGRAM_H
