// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training step as numbers: the view of each function that it runs, one
// behind the other, and the storages that their values lie in.
#ifndef CUTBACK_MEMORYPLAN_STEPVIEW_H
#define CUTBACK_MEMORYPLAN_STEPVIEW_H

#include "cutback/Analysis/GraphView.h"
#include "cutback/Analysis/Layouts.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cutback {

/// A value of the step. A saved value is one: the forward's result and the
/// backward's argument have the same number.
struct StepValue {
  static constexpr uint32_t kNone = GraphView::kNone;

  mlir::Type type;                              ///< static
  int64_t integer = mlir::ShapedType::kDynamic; ///< of sizes, where known
  uint32_t storage = kNone;                     ///< kNone: no tensor
  uint32_t layout = 0;                          ///< number of StepView::layouts
};

struct StepStorage {
  uint32_t value = 0; ///< the value that it was made for
  int64_t bytes = 0;
  bool isOutside = false; ///< an argument's: somebody else owns it
  /// Its size depends on data: outside, in a buffer of its own, which the step
  /// allocates when it knows the size.
  bool isOfUnknownSize = false;
  /// No value lies in it: graphs of the call that makes `value` do, while it
  /// runs.
  bool isScratch = false;
  /// Of one of unknown size: the bytes that it has at most, as symbols bound
  /// them. Negative: nobody says.
  int64_t mostBytes = -1;
};

/// What becomes of a value whose size only a run tells.
enum class UnknownSizes { AreErrors, LieOutside };

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

/// A function of the step, and what its numbers are among those of the step.
struct StepSegment {
  GraphView view;
  uint32_t firstOp = 0;    ///< the step's number of op 0
  uint32_t firstValue = 0; ///< of the first value that no earlier one hands in
  /// By argument, of the first ones: the value of an earlier segment.
  std::vector<uint32_t> given;

  /// The terminator is an op of the step.
  uint32_t endOp() const { return firstOp + view.numOps() + 1; }
  uint32_t valueOf(uint32_t value) const {
    return value < given.size() ? given[value]
                                : firstValue + value - given.size();
  }
  /// Of a value of the step that this segment has first: its own number.
  uint32_t numberOf(uint32_t value) const {
    return value - firstValue + given.size();
  }
};

/// Another order for a segment: op ops[i] runs as its i-th; the terminator
/// stays. `launchSizes` are those of `joint.launches` then; empty if an op each
/// is one.
struct StepOrder {
  llvm::ArrayRef<uint32_t> ops;
  llvm::ArrayRef<int32_t> launchSizes;
};

/// Numbers of the step for what an op of a segment reads.
class StepOperands {
public:
  StepOperands(const StepSegment &segment, llvm::ArrayRef<uint32_t> values)
      : segment(&segment), values(values) {}

  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  uint32_t operator[](size_t i) const { return segment->valueOf(values[i]); }
  uint32_t front() const { return (*this)[0]; }

  struct ToStep {
    const StepSegment *segment;
    uint32_t operator()(uint32_t value) const {
      return segment->valueOf(value);
    }
  };
  using iterator = llvm::mapped_iterator<const uint32_t *, ToStep>;
  iterator begin() const { return {values.begin(), ToStep{segment}}; }
  iterator end() const { return {values.end(), ToStep{segment}}; }

private:
  const StepSegment *segment;
  llvm::ArrayRef<uint32_t> values;
};

/// Ops are numbered as they run, segment by segment; terminators are ops too,
/// so that what a segment returns is used when it ends. Values: arguments and
/// results of the first segment, then those of the others, without what they
/// are handed by earlier ones.
struct StepView {
  static constexpr uint32_t kNone = GraphView::kNone;

  /// Forward and backward, or a graph that is run as it stands.
  std::vector<StepSegment> segments;
  std::vector<StepValue> values;
  /// In its storage, in elements from its beginning; the first one is nobody's.
  /// What lies contiguously from the beginning has one with all of its type.
  std::vector<Layout> layouts = {Layout()};
  std::vector<StepStorage> storages;
  std::vector<uint32_t> forwardResults, saved, gradients; ///< values
  /// In the order in which they run. From `joint.launches` of the halves; an op
  /// each where they have none.
  std::vector<StepLaunch> launches;
  std::vector<uint32_t> launchOf; ///< by op
  /// By op: the first op of its part of its launch. Ops of one part have to do
  /// with each other by what the launch makes, or are pointwise on as many
  /// elements, so that one loop nest has both. Parts run in any order.
  std::vector<uint32_t> partOf;

  uint32_t numOps() const {
    return segments.empty() ? 0 : segments.back().endOp();
  }
  /// Op number of the forward's terminator, of the only one if there is no
  /// backward.
  uint32_t forwardEnd() const { return segments.front().endOp() - 1; }
  bool inBackward(uint32_t op) const { return op > forwardEnd(); }

  const StepSegment &segmentOf(uint32_t op) const {
    size_t at = 0;
    while (op >= segments[at].endOp())
      ++at;
    return segments[at];
  }
  const StepSegment &segmentWith(uint32_t value) const {
    size_t at = segments.size() - 1;
    while (value < segments[at].firstValue)
      --at;
    return segments[at];
  }
  mlir::Operation *op(uint32_t op) const;
  /// What the interfaces say of an op; of a terminator, nothing.
  const OpTraits &traits(uint32_t op) const {
    static const OpTraits none;
    const StepSegment &segment = segmentOf(op);
    return op + 1 == segment.endOp()
               ? none
               : segment.view.traits[op - segment.firstOp];
  }
  /// Operands of an op (repeated ones too, and what its regions read).
  StepOperands operands(uint32_t op) const {
    const StepSegment &segment = segmentOf(op);
    return {segment, segment.view.operands(op - segment.firstOp)};
  }
  /// What an op computes: numbers that follow each other.
  llvm::iota_range<uint32_t> results(uint32_t op) const {
    const StepSegment &segment = segmentOf(op);
    const uint32_t *begin = &segment.view.resultBegin[op - segment.firstOp];
    uint32_t count = op + 1 == segment.endOp() ? 0 : begin[1] - begin[0];
    uint32_t first = segment.firstValue - segment.given.size() + begin[0];
    return llvm::seq(first, first + count);
  }
  const Layout &layoutOf(uint32_t value) const {
    return layouts[values[value].layout];
  }
  bool makesStorage(uint32_t value) const {
    uint32_t storage = values[value].storage;
    return storage != kNone && storages[storage].value == value;
  }
  /// The op that makes `storage`, none outside.
  uint32_t maker(uint32_t storage) const;
  const StepLaunch &launch(uint32_t op) const { return launches[launchOf[op]]; }
  /// As the first segment that has it knows it.
  mlir::Value value(uint32_t value) const;
  /// Name of a value, or "%<number>" without one.
  std::string name(uint32_t value) const;
  /// Name of an op: that of its first result.
  std::string opName(uint32_t op) const;
  /// True of what moves no data: a view that could be one, or a size.
  bool isView(uint32_t op) const;
  /// True of what runs nothing and lies nowhere on its own, so that it may
  /// stand in front of any reader: a view of its base, a literal that each
  /// reader has in itself, a size.
  bool isFree(uint32_t op) const;
  /// Adds the launches of the ops of a segment, its terminator alone, behind
  /// those of the segments before it. `sizes` are those of `joint.launches`;
  /// where they are used up, an op is one. Near linear.
  void addLaunches(const StepSegment &segment, llvm::ArrayRef<int32_t> sizes);

  /// Gives the last segments, one for each of `orders`, another order. Numbers
  /// become what ofPartition makes of the reordered functions. False, with
  /// nothing changed, where only that can tell which views are copies: one of
  /// these segments has regions or writes arguments. Linear.
  bool reorder(llvm::ArrayRef<StepOrder> orders);

  /// The step of a partition. `graph` gives hints of symbols and may be null;
  /// `symbols` stand over them. Fails with an error at the value whose size is
  /// not known, or does not fit 64 bits. Linear.
  ///
  /// With UnknownSizes::LieOutside such a value lies outside, hints do not
  /// count, and what may be a view of a known storage keeps it alive.
  static mlir::FailureOr<StepView>
  ofPartition(joint::PartitionOp partition, joint::GraphOp graph,
              const llvm::StringMap<int64_t> &symbols,
              UnknownSizes unknown = UnknownSizes::AreErrors);
  /// The step of a graph that is run as it stands.
  static mlir::FailureOr<StepView>
  ofGraph(joint::GraphOp graph, const llvm::StringMap<int64_t> &symbols);

private:
  bool makesStorages(uint32_t op) const;
  void findParts(const StepSegment &segment);
  void findPartsOf(const StepLaunch &launch);
};

} // namespace cutback

#endif // CUTBACK_MEMORYPLAN_STEPVIEW_H
